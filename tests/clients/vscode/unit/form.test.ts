import assert from "node:assert/strict";
import { test } from "node:test";
import { formBody, type FormView } from "../../../../clients/vscode/src/spec/form";
import type { Schema } from "../../../../clients/vscode/src/spec/schema";

const buffer: Schema = { properties: { type: { enum: ["float32", "int8"] }, shape: { description: "Extents." }, init: { properties: { normal: {}, fill: {} } } } };
const schema: Schema = { properties: { args: { items: { anyOf: [buffer] } }, compare: { enum: ["exact"] }, launch: { properties: { grid: { description: "Blocks." } } } } };
const spec = { sizes: { n: 3 }, launch: { grid: null, block: [32] }, args: [
  { name: "y", type: "float32", shape: ["n"], output: true }, { name: "n", type: "int32", value: "n" }, { struct: [] }], expect: { op: "softmax", dim: 1 } };

function form(of: unknown, more: Partial<FormView> = {}): string {
  return formBody({ file: "k.check.json", text: JSON.stringify(of), schema, problems: [], notes: [], operators: ["softmax"], ...more }).text;
}

const field = (markup: string, path: string): string =>
  markup.split("<").find((tag) => /^(input|select|textarea)/.test(tag) && tag.includes(`data-path="${path}"`) && tag.includes('data-change="set"')) ?? "";

test("fields have the spec's values, and the schema's words and choices", () => {
  const markup = form(spec);
  assert.match(field(markup, "args[0].shape"), /value="n".*title="Extents\."/);
  assert.match(field(markup, "launch.block"), /value="32"/);
  assert.match(markup, /<option value="int8" >/);
  assert.match(field(markup, "args[1].value"), /value="n"/);
});

test("a member that must be filled in, or that the server objects to, is marked; its neighbours are not", () => {
  const markup = form(spec, { problems: [{ path: "args[0].shape[0]", severity: "error", message: "no size is called m" }] });
  assert.match(field(markup, "launch.grid"), /aria-invalid="true"/);
  assert.match(field(markup, "args[0].shape"), /no size is called m" aria-invalid="true"/);
  assert.match(field(markup, "args[0].type"), /aria-invalid="false"/);
  assert.match(field(markup, "launch.block"), /aria-invalid="false"/);
});

test("what has no fields of its own is JSON", () => {
  assert.match(form(spec), /<textarea[^>]*data-path="args\[2\]"[^>]*>\{\s*&quot;struct&quot;/);
  assert.match(form(spec), /<textarea[^>]*data-path="expect"[^>]*>[^<]*&quot;dim&quot;: 1/);
  assert.match(form({ launches: [] }), /data-path="launches"/);
});

test("hostile texts stay texts", () => {
  const markup = form({ ...spec, kernel: '"><script>alert(1)</script>' });
  assert.doesNotMatch(markup, /<script>/);
});

test("what is no object is said so", () => {
  assert.match(form([]), /no JSON object/);
});
