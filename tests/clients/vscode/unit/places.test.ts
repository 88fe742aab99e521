import assert from "node:assert/strict";
import { test } from "node:test";
import { characterOf, resolveFile } from "../../../../clients/vscode/src/places";

test("a file is looked for beside the source, then beneath the workspace", () => {
  const files = ["/w/a/k.cu", "/w/a/x.cuh", "/w/y.cuh", "/w/x.cuh"];
  const find = (name: string): string | undefined => resolveFile(name, "/w/a/k.cu", ["/w"], (file) => files.includes(file));
  assert.equal(find("x.cuh"), "/w/a/x.cuh");
  assert.equal(find("y.cuh"), "/w/y.cuh");
  assert.equal(find("/w/x.cuh"), "/w/x.cuh");
  assert.equal(find("/no/x.cuh"), undefined);
  assert.equal(find("z.cuh"), undefined);
});

test("the source's own name is the source, also before it is saved", () => {
  assert.equal(resolveFile("k.cu", "/w/a/k.cu", [], () => false), "/w/a/k.cu");
});

test("a column in bytes becomes a character in UTF-16", () => {
  const line = "/* ä𝛼 */ x"; // ä: 2 bytes, 1 unit; 𝛼: 4 bytes, 2 units
  const at = Buffer.byteLength(line.slice(0, line.indexOf("x"))) + 1;
  assert.equal(characterOf(line, at), line.indexOf("x"));
  assert.equal(characterOf(line, 1), 0);
  assert.equal(characterOf(line, 999), line.length);
});
