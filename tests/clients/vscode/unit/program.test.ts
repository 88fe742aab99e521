import assert from "node:assert/strict";
import { test } from "node:test";
import { findProgram, type Places } from "../../../../clients/vscode/src/program";

function places(programs: string[], more: Partial<Places> = {}): Places {
  return { setting: "", home: "/home/me", path: "/usr/bin:/opt/bin", folder: "/home/me/project",
           isProgram: (file) => programs.includes(file), ...more };
}

test("the first folder of PATH wins, then ~/.local/bin", () => {
  const all = ["/home/me/.local/bin/upskilld", "/opt/bin/upskilld"];
  assert.deepEqual(findProgram(places(all)), { program: "/opt/bin/upskilld" });
  assert.deepEqual(findProgram(places(all.slice(0, 1))), { program: "/home/me/.local/bin/upskilld" });
});

test("a relative folder of PATH is passed over: it would be the workspace's", () => {
  assert.ok("problem" in findProgram(places(["bin/upskilld", "upskilld"], { path: "bin::." })));
});

test("without a program the problem says where it was looked for", () => {
  const found = findProgram(places([]));
  assert.match("problem" in found ? found.problem : "", /PATH.*~\/\.local\/bin/);
});

test("the setting is taken alone", () => {
  const all = ["/usr/bin/upskilld", "/home/me/x/upskilld", "/home/me/project/build/upskilld"];
  assert.deepEqual(findProgram(places(all, { setting: "~/x/upskilld" })), { program: "/home/me/x/upskilld" });
  assert.deepEqual(findProgram(places(all, { setting: "${workspaceFolder}/build/upskilld" })),
                   { program: "/home/me/project/build/upskilld" });
  const missing = findProgram(places(all, { setting: "/no/upskilld" }));
  assert.match("problem" in missing ? missing.problem : "", /\/no\/upskilld/);
});

test("a setting that is not absolute is refused, also without a workspace", () => {
  for (const more of [{ setting: "upskilld" }, { setting: "${workspaceFolder}", folder: undefined }]) {
    assert.ok("problem" in findProgram(places(["upskilld"], more)));
  }
});
