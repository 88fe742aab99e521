import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, roleOf } from "../../../../clients/vscode/src/spec/change";
import { fieldText, member, pieces, readField, readPath, readSpec, setMember, withMember, writePath } from "../../../../clients/vscode/src/spec/member";

const text = `{
  "sizes": {"n": 1000},
  "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]},
  "args": [
    {"name": "y", "type": "float32", "shape": ["n"], "output": true},
    {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}},
    {"name": "n", "type": "int32", "value": "n"}
  ],
  "expect": null
}
`;
const after = (change: Parameters<typeof changed>[1], from = text): unknown => JSON.parse(changed(from, change));
const at = (spec: unknown, path: string): unknown => member(spec as never, readPath(path));

test("paths are the server's, there and back", () => {
  for (const path of ["args[0].shape", "sizes[12].n", "expect.expression.y", "args[2].init.normal[1]"]) {
    assert.equal(writePath(readPath(path)), path);
  }
  assert.deepEqual(readPath("args[2].shape"), ["args", 2, "shape"]);
});

test("commas within brackets do not part a list", () => {
  assert.deepEqual(pieces("ceil_div(n, 256), max(a, min(b, 2)) ,4"), ["ceil_div(n, 256)", "max(a, min(b, 2))", "4"]);
  assert.deepEqual(pieces(" "), []);
});

test("what is written in a field and shown in it is the same", () => {
  const cases = [["extents", "ceil_div(n, 256), 2"], ["value", "-Infinity"], ["value", "0.5"], ["values", "0, 1"], ["text", "k<float>"]] as const;
  for (const [kind, written] of cases) assert.equal(fieldText(kind, readField(kind, written)), written);
  assert.deepEqual(readField("extents", "ceil_div(n, 256), 2"), ["ceil_div(n, 256)", 2]);
  assert.equal(readField("number", "abc"), "abc"); // the server says what is wrong with it
  assert.equal(readField("text", "  "), undefined);
});

test("a change leaves the rest of the text as it is", () => {
  const changedText = changed(text, { action: "set", path: "args[0].shape", kind: "extents", value: "n, 2" });
  const lines = changedText.split("\n");
  assert.deepEqual(lines.slice(0, 4), text.split("\n").slice(0, 4));
  assert.deepEqual(at(JSON.parse(changedText), "args[0].shape"), ["n", 2]);
  assert.equal(setMember(text, ["sizes", "n"], 7).length, 1);
  const two = changed(text, { action: "add", path: "sizes" }).split("\n");
  assert.deepEqual(two.toSpliced(1, 1), text.split("\n").toSpliced(1, 1), "one line changed");
  assert.match(changed(text, { action: "set", path: "trials", kind: "number", value: "5" }), /\n  "trials": 5\n/);
});

test("a required member that is emptied becomes null, another goes", () => {
  assert.equal(at(after({ action: "set", path: "launch.grid", kind: "extents", value: "" }), "launch.grid"), null);
  const strict = withMember(text, ["strict"], true);
  assert.equal(at(after({ action: "set", path: "strict", kind: "flag", value: "false" }, strict), "strict"), undefined);
});

test("roles", () => {
  assert.deepEqual((readSpec(text)?.["args"] as never[]).slice(0, 2).map(roleOf), ["output", "input"]);
  assert.equal(roleOf({ output: true, init: { fill: "NaN" } }), "output");
  const both = after({ action: "role", path: "args[1]", value: "in and out" });
  assert.deepEqual(at(both, "args[1]"), { name: "x", type: "float32", shape: ["n"], init: { normal: [0, 1] }, output: true });
  const scratch = after({ action: "role", path: "args[1]", value: "scratch" });
  assert.deepEqual(at(scratch, "args[1]"), { name: "x", type: "float32", shape: ["n"], scratch: true });
  assert.deepEqual(at(after({ action: "role", path: "args[0]", value: "input" }), "args[0].init"), { normal: [0, 1] });
});

test("cases and sizes", () => {
  const two = changed(text, { action: "add", path: "sizes" });
  assert.deepEqual(at(JSON.parse(two), "sizes"), [{ n: 1000 }, { n: 1000 }]);
  assert.deepEqual(at(after({ action: "addSize", value: "m" }, two), "sizes"), [{ n: 1000, m: 1 }, { n: 1000, m: 1 }]);
  assert.deepEqual(at(after({ action: "addSize", value: "m" }), "sizes"), { n: 1000, m: 1 });
  assert.equal(changed(text, { action: "addSize", value: "1; drop" }), text);
  assert.deepEqual(at(after({ action: "remove", path: "sizes[0]" }, two), "sizes"), [{ n: 1000 }]);
});

test("what is expected begins with the outputs' names, and with nothing that could pass", () => {
  assert.deepEqual(at(after({ action: "expect", value: "expression" }), "expect"), { expression: { y: "" } });
  assert.equal(at(after({ action: "expect", value: "null" }), "expect"), null);
});

test("arguments are added at the end and removed", () => {
  const three = changed(text, { action: "add", path: "args", value: "scalar" });
  assert.equal((at(JSON.parse(three), "args") as unknown[]).length, 4);
  assert.equal(at(JSON.parse(three), "args[3].type"), "int32");
  assert.equal((at(after({ action: "remove", path: "args[0]" }), "args") as unknown[]).length, 2);
});

test("a text that is no object is left alone", () => {
  for (const broken of ["", "[", "3", "{\"a\": "]) {
    assert.equal(changed(broken, { action: "add", path: "sizes" }), broken);
  }
});
