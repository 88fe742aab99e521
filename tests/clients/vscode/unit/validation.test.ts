// The page is made of answers of the real program, recorded by record.py.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { metrics } from "../../../../clients/vscode/src/validation/heat";
import { validationBody, type Shown } from "../../../../clients/vscode/src/validation/page";
import type { Validation } from "../../../../clients/vscode/src/validation/result";

const folder = join(process.env["REPOSITORY"] ?? "", "tests/clients/vscode/answers");
const answer = (name: string): Validation => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));

function body(result: Validation, more: Partial<Shown> = {}): string {
  return validationBody({ file: "k.cu", folder: "/w", title: "the server's words", result, metric: metrics[0], current: true, ...more }).text;
}

const text = (markup: string): string => markup.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

test("findings have their places, related ones too", () => {
  const result = answer("out_of_bounds");
  const shown = body(result);
  assert.ok(result.findings.length > 0);
  for (const { message, line, code } of result.findings) {
    assert.ok(text(shown).includes(message), message);
    assert.match(shown, new RegExp(`data-line="${line}"`));
    assert.match(shown, new RegExp(`<code class="code">${code}</code>`));
  }
});

test("a failed kernel: the server's words, the first wrong elements, the histogram", () => {
  const result = answer("fail");
  const shown = body(result);
  assert.match(shown, /<header class="bad">/);
  assert.match(shown, /<h1[^>]*>the server&#39;s words</);
  const first = result.cases[0]?.outputs?.[0];
  assert.ok(first?.samples?.length && first.histogram?.length);
  assert.match(shown, new RegExp(`<td>\\[${first.samples[0]?.index.join(", ")}\\]</td>`));
  for (const { log2_error: power } of first.histogram) assert.ok(text(shown).includes(power === "-Infinity" ? " none " : `from 2^${power}`));
  assert.match(text(shown), /seed 0x/);
  assert.match(text(shown), /never written: 1\b/);
});

test("a pass says how it was looked at, and shows no wrong elements", () => {
  const result = answer("pass");
  const shown = text(body(result));
  assert.doesNotMatch(shown, /Wrong elements/);
  assert.ok(shown.includes(`looked for: ${result.checks?.join(", ")}`));
  assert.ok(shown.includes("No faster than"), "the roofline");
});

test("what did not compile shows the compiler's findings and no cases", () => {
  const shown = text(body(answer("not_compiled")));
  assert.match(shown, /What went wrong/);
  assert.match(shown, /Compiler/);
  assert.doesNotMatch(shown, / Cases /);
});

test("nobody judged: the hint tells how to", () => {
  const result = answer("unjudged");
  assert.equal(result.verdict, "unjudged");
  assert.match(body(result), /<header class="unsure">/);
  assert.ok(text(body(result)).includes("not judged"));
});

test("every line's counters can be clicked, the chosen heat is marked", () => {
  const result = answer("fail");
  const shown = body(result);
  for (const { line } of result.counters?.by_line ?? []) assert.match(shown, new RegExp(`data-line="${line}"`));
  assert.match(shown, /data-metric="instructions" aria-pressed="true"/);
  assert.match(body(result, { metric: undefined }), /data-metric="" aria-pressed="true"/);
});

test("a stale result says so", () => {
  assert.match(text(body(answer("pass"), { current: false })), /edited since/);
});

test("hostile texts of a kernel stay texts", () => {
  const result = { ...answer("pass"), printf: "<script>alert(1)</script>" };
  assert.doesNotMatch(body(result), /<script>/);
});
