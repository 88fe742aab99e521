// Members of a check spec by their paths ("args[0].shape"), as the server names them, and how a
// field of the form writes its value. Nothing here knows the editor.
import { applyEdits, findNodeAtLocation, getNodeValue, modify, parseTree, type Edit } from "jsonc-parser";

export type Path = (string | number)[];
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Spec = { [name: string]: Json };

export function readPath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) => (index === undefined ? name : Number(index)));
}

export function writePath(path: Path): string {
  return path.map((step, i) => (typeof step === "number" ? `[${step}]` : i ? `.${step}` : step)).join("");
}

// undefined: it is no JSON object.
export function readSpec(text: string): Spec | undefined {
  const errors: [] = [];
  const root = parseTree(text, errors);
  return root?.type === "object" && errors.length === 0 ? (getNodeValue(root) as Spec) : undefined;
}

export function member(spec: Json | undefined, path: Path): Json | undefined {
  let at: Json | undefined = spec;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Array.isArray(at) ? at[Number(step)] : at[String(step)];
  }
  return at;
}

// The edits that give the member this value; undefined takes it out. What else is in the text stays,
// and only a member that is new to the whole spec gets lines of its own.
export function setMember(text: string, path: Path, value: Json | undefined, append = false): Edit[] {
  const isNew = member(readSpec(text), path.slice(0, 1)) === undefined;
  return modify(text, path, value, {
    ...(isNew ? { formattingOptions: { tabSize: 2, insertSpaces: true, eol: "\n" } } : {}), isArrayInsertion: append,
  });
}

export function withMember(text: string, path: Path, value: Json | undefined, append = false): string {
  return applyEdits(text, setMember(text, path, value, append));
}

// Where the member stands, or the nearest around it.
export function offsetOf(text: string, path: Path): number {
  const root = parseTree(text);
  for (let length = path.length; root && length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node) return node.offset;
  }
  return 0;
}

// Pieces between commas that stand in no bracket: "ceil_div(n, 2), 4" has two.
export function pieces(text: string): string[] {
  const found = [""];
  let depth = 0;
  for (const letter of text) {
    depth += "([{".includes(letter) ? 1 : ")]}".includes(letter) ? -1 : 0;
    if (letter === "," && depth === 0) found.push("");
    else found[found.length - 1] += letter;
  }
  return found.map((piece) => piece.trim()).filter((piece) => piece !== "");
}

export type FieldKind = "text" | "extent" | "extents" | "value" | "values" | "number" | "flag" | "json";

function number(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) ? value : undefined;
}

function value(text: string): Json {
  return text === "true" ? true : text === "false" ? false : number(text) ?? text;
}

function json(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text; // the server says what is wrong with it
  }
}

// What a person wrote in a field; an empty one takes its member out.
export function readField(kind: FieldKind, text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  switch (kind) {
    case "text": return trimmed;
    case "flag": return trimmed === "true" ? true : undefined;
    case "extent": case "number": return number(trimmed) ?? trimmed;
    case "value": return value(trimmed);
    case "extents": case "values": return pieces(trimmed).map(value);
    case "json": return json(trimmed);
  }
}

export function fieldText(kind: FieldKind, of: Json | undefined): string {
  if (of === undefined || of === null) return "";
  if (kind === "json") return JSON.stringify(of, null, 1);
  if ((kind === "extents" || kind === "values") && Array.isArray(of)) return of.map(String).join(", ");
  return typeof of === "object" ? JSON.stringify(of) : String(of);
}
