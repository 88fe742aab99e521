import assert from "node:assert/strict";
import { test } from "node:test";
import { serverSettings } from "../../../../clients/vscode/src/settings";

test("what was left alone is not sent", () => {
  const untouched: Record<string, unknown> = { defines: {}, includeDirs: [], std: "", options: undefined };
  assert.deepEqual(serverSettings((name) => untouched[name]), {});
});

test("the keys are those of upskilld.yaml", () => {
  const set: Record<string, unknown> = {
    defines: { BLOCK: 128 }, includeDirs: ["inc"], std: "c++17", options: ["-use_fast_math"],
  };
  assert.deepEqual(serverSettings((name) => set[name]), {
    defines: { BLOCK: 128 }, include_dirs: ["inc"], std: "c++17", options: ["-use_fast_math"],
  });
});
