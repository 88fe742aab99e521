import assert from "node:assert/strict";
import { test } from "node:test";
import { heat, LEVELS, metrics, present, type Metric } from "../../../../clients/vscode/src/validation/heat";
import type { LineCounters } from "../../../../clients/vscode/src/validation/result";

const metric = (id: string): Metric => metrics.find((one) => one.id === id) ?? assert.fail(id);
const lines: LineCounters[] = [
  { file: "k.cu", line: 1, instructions: 1, active_lanes_percent: 100 },
  { file: "k.cu", line: 2, instructions: 59, active_lanes_percent: 50, global_sectors: 32, global_sectors_ideal: 8 },
  { file: "k.cu", line: 3, instructions: 40, active_lanes_percent: 100, global_sectors: 8, global_sectors_ideal: 8 },
];

test("shares add up, the hottest line has the highest level, the coldest at least the lowest", () => {
  const hot = heat(lines, metric("instructions"));
  assert.equal(hot.reduce((sum, { share }) => sum + share, 0), 1);
  assert.deepEqual(hot.map(({ level }) => level), [1, LEVELS, 4]); // 40 of 59 lies between 3/5 and 4/5
});

test("lines without any of it are left out", () => {
  assert.deepEqual(heat(lines, metric("wasted")).map(({ counters, value }) => [counters.line, value]), [[2, 24]]);
  assert.deepEqual(heat(lines, metric("idle")).map(({ value }) => value), [29.5]);
  assert.deepEqual(heat([], metric("instructions")), []);
});

test("only what some line has can be chosen", () => {
  assert.deepEqual(present(lines).map(({ id }) => id), ["instructions", "sectors", "wasted", "idle"]);
});
