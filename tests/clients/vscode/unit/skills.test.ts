import assert from "node:assert/strict";
import { test } from "node:test";
import { about, grouped, names, warnings, type Skill } from "../../../../clients/vscode/src/skills/skill";

function skill(name: string, more: Partial<Skill> = {}): Skill {
  return { name, description: "", uri: `skill://project/${name}/SKILL.md`, path: `/w/${name}`, source: "project",
           trusted: true, danger: [], installed_for: [], ...more };
}

test("skills stand in groups by where they come from, by name", () => {
  const all = [skill("b"), skill("z", { source: "bundled" }), skill("a"), skill("u", { source: "user" })];
  assert.deepEqual(grouped(all).map(({ label, skills }) => [label, skills.map(({ name }) => name)]),
    [["Project", ["a", "b"]], ["User", ["u"]], ["Bundled with upskilld", ["z"]]]);
});

test("what makes a skill dangerous is told with its line", () => {
  const told = warnings(skill("a", { danger: [{ rule: "pipe_to_shell", line: 7, message: "runs what it fetches" }], misnamed: "looks like b" }));
  assert.deepEqual(told, ["pipe_to_shell, line 7: runs what it fetches", "looks like b"]);
  assert.deepEqual(warnings(skill("a")), []);
});

test("where it is installed is told", () => {
  assert.equal(about(skill("a", { installed_for: ["codex", "cursor"] })), "installed for codex, cursor");
});

test("names are parted by commas and blanks", () => {
  assert.deepEqual(names(" generic.a, generic.b  c,"), ["generic.a", "generic.b", "c"]);
});
