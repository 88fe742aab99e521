import assert from "node:assert/strict";
import { test } from "node:test";
import { serverSettings } from "../../../../clients/vscode/src/settings";

test("what was left alone is not sent", () => {
  const untouched: Record<string, unknown> = { defines: {}, includeDirs: [], std: "", options: undefined };
  assert.deepEqual(serverSettings((name) => untouched[name], false), { with_clangd: false });
});

test("the keys are those of upskilld.yaml", () => {
  const set: Record<string, unknown> = {
    defines: { BLOCK: 128 }, includeDirs: ["inc"], std: "c++17", options: ["-use_fast_math"],
  };
  assert.deepEqual(serverSettings((name) => set[name], false), {
    defines: { BLOCK: 128 }, include_dirs: ["inc"], std: "c++17", options: ["-use_fast_math"],
    with_clangd: false,
  });
});

test("what clangd says too is left to it when it is there, unless the setting says otherwise", () => {
  const clangd = (choice: string, there: boolean): unknown => serverSettings((name) => (name === "withClangd" ? choice : undefined), there)["with_clangd"];
  assert.deepEqual([clangd("auto", true), clangd("auto", false)], [true, false]);
  assert.deepEqual([clangd("on", false), clangd("off", true)], [true, false]);
});
