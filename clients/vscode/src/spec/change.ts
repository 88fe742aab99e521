// What a click or an entry in the form does to a check spec's text. Nothing here knows the editor.
import { fieldText, member, readField, readPath, readSpec, withMember, type FieldKind, type Json, type Path, type Spec } from "./member";

export type Change =
  | { action: "set"; path: string; kind: FieldKind; value: string }
  | { action: "role"; path: string; value: string }
  | { action: "init"; path: string; value: string }
  | { action: "expect"; value: string }
  | { action: "add"; path: string; value?: string }
  | { action: "addSize"; value: string }
  | { action: "remove"; path: string };

export const roles = ["input", "output", "in and out", "scratch"] as const;

const firstContents: Record<string, Json> = {
  normal: [0, 1], uniform: [0, 1], integers: [0, 10], fill: 0, arange: [0, 1], values: [0], file: "input.npy",
};

const isFloat = (type: Json | undefined): boolean => typeof type === "string" && /float/.test(type);

function usualInit(argument: Json | undefined): Json {
  return isFloat(member(argument, ["type"])) ? { normal: [0, 1] } : { integers: [0, 10] };
}

export function roleOf(argument: Json | undefined): string {
  const output = member(argument, ["output"]) === true;
  if (member(argument, ["scratch"]) === true) return "scratch";
  if (!output) return "input";
  const init = member(argument, ["init"]);
  // "NaN" is the poison that a plain output has anyway.
  return init === undefined || member(init, ["fill"]) === "NaN" ? "output" : "in and out";
}

function setRole(text: string, spec: Spec, path: Path, role: string): string {
  const argument = member(spec, path);
  const has = member(argument, ["init"]) !== undefined && roleOf(argument) !== "output";
  const init = role === "input" || role === "in and out" ? (has ? member(argument, ["init"]) : usualInit(argument)) : undefined;
  const wanted: [string, Json | undefined][] = [
    ["output", role === "output" || role === "in and out" ? true : undefined],
    ["scratch", role === "scratch" ? true : undefined], ["init", init],
  ];
  return wanted.reduce((all, [name, value]) => setIfOther(all, [...path, name], value), text);
}

function setIfOther(text: string, path: Path, value: Json | undefined): string {
  const now = member(readSpec(text), path);
  return JSON.stringify(now) === JSON.stringify(value) ? text : withMember(text, path, value);
}

const outputs = (spec: Spec): string[] => (Array.isArray(spec["args"]) ? spec["args"] : [])
  .filter((argument) => member(argument, ["output"]) === true)
  .map((argument) => fieldText("text", member(argument, ["name"]))).filter((name) => name !== "");

const byOutput = (spec: Spec, value: (name: string) => Json): Json =>
  Object.fromEntries(outputs(spec).map((name) => [name, value(name)]));

function firstExpectation(spec: Spec, kind: string): Json {
  switch (kind) {
    case "expression": return { expression: byOutput(spec, () => "") };
    case "op": return { op: "" };
    case "values": return { values: byOutput(spec, () => []) };
    case "files": return { files: byOutput(spec, (name) => `${name}.npy`) };
    case "kernel": return { kernel: { kernel: "" } };
    default: return null;
  }
}

// One object of sizes becomes a list of them.
function addCase(text: string, spec: Spec): string {
  const sizes = spec["sizes"] ?? {};
  const list: Json[] = Array.isArray(sizes) ? sizes : [sizes];
  return withMember(text, ["sizes"], [...list, list[list.length - 1] ?? {}]);
}

function addSize(text: string, spec: Spec, name: string): string {
  const sizes = spec["sizes"] ?? {};
  if (!/^[A-Za-z_]\w*$/.test(name)) return text;
  return Array.isArray(sizes)
    ? sizes.reduce((all: string, _, i) => setIfOther(all, ["sizes", i, name], 1), text)
    : withMember(text, ["sizes", name], 1);
}

const newArgument: Record<string, Json> = {
  buffer: { name: "x", type: "float32", shape: ["n"], init: { normal: [0, 1] } },
  scalar: { name: "n", type: "int32", value: "n" },
};

function add(text: string, spec: Spec, path: string, what = "buffer"): string {
  if (path === "sizes") return addCase(text, spec);
  const list = Array.isArray(spec["args"]) ? spec["args"] : [];
  return withMember(text, ["args", list.length], newArgument[what] ?? null, true);
}

// A member whose value must be there stays, as null: the server says that it is missing.
function set(text: string, change: Change & { action: "set" }): string {
  const path = readPath(change.path);
  const value = readField(change.kind, change.value);
  const must = /(^|\.)(grid|block|shape|value|name|type)$/.test(change.path) || path[0] === "sizes";
  return setIfOther(text, path, value === undefined && must ? null : value);
}

// The text after the change; the same when it is no object or cannot be changed so.
export function changed(text: string, change: Change): string {
  const spec = readSpec(text);
  if (!spec) return text;
  switch (change.action) {
    case "set": return set(text, change);
    case "role": return setRole(text, spec, readPath(change.path), change.value);
    case "init": return withMember(text, readPath(change.path), { [change.value]: firstContents[change.value] ?? null });
    case "expect": return withMember(text, ["expect"], firstExpectation(spec, change.value));
    case "add": return add(text, spec, change.path, change.value);
    case "addSize": return addSize(text, spec, change.value.trim());
    case "remove": return withMember(text, readPath(change.path), undefined);
  }
}
