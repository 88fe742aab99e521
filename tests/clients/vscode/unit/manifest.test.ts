import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const repository = process.env["REPOSITORY"] ?? "";
const read = (path: string): string => readFileSync(join(repository, path), "utf8");
const manifest = JSON.parse(read("clients/vscode/package.json"));

test("the extension has the program's version", () => {
  const version = /version: '([^']+)'/.exec(read("meson.build"))?.[1];
  assert.equal(manifest.version, version);
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(read("clients/vscode/package-lock.json"), /"resolved":/);
});

test("every command has its code", () => {
  const code = read("clients/vscode/src/extension.ts") + read("clients/vscode/src/skills/view.ts");
  for (const { command } of manifest.contributes.commands) {
    assert.match(code, new RegExp(`\\b${command.replace(/^upskilld\./, "")}\\b`), command);
  }
});
