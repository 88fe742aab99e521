// A check spec as a form. Nothing here knows the editor.
import { section } from "../findings";
import { html, type Html } from "../html";
import { roleOf, roles } from "./change";
import { fieldText, member, readPath, readSpec, type FieldKind, type Json, type Spec } from "./member";
import { choices, describe, members, type Schema } from "./schema";

export interface Problem { path: string; severity: "error" | "warning" | "info"; message: string }
export interface Note { member: string; why: string }

export interface FormView {
  file: string;
  text: string;
  schema: Schema;
  problems: readonly Problem[]; // the server's, of this text
  notes: readonly Note[]; // what kernel/init could not know
  operators: readonly string[];
}

class Fields {
  constructor(readonly view: FormView, readonly spec: Spec) {}

  at(path: string): Json | undefined {
    return member(this.spec, readPath(path));
  }

  private problemsOf(path: string): Problem[] {
    return this.view.problems.filter((problem) => problem.path === path || problem.path.startsWith(`${path}.`) ||
      problem.path.startsWith(`${path}[`));
  }

  // What every field has: its words, and whether the server objects to its own member.
  private common(path: string, label: string, own = true): Html {
    const problem = own ? this.problemsOf(path)[0] : undefined;
    const words = [describe(this.view.schema, readPath(path)), problem?.message].filter(Boolean).join("\n");
    const wrong = problem?.severity === "error" || this.at(path) === null;
    return html`data-path="${path}" aria-label="${label}" title="${words}" aria-invalid="${String(wrong)}"`;
  }

  // Beneath a field: the list of all is at the top, which may be out of sight.
  private objection(path: string): Html {
    const problem = this.problemsOf(path).find(({ severity }) => severity === "error");
    const { message = "", path: at = "" } = problem ?? {};
    return problem ? html`<p class="bad words">${message.startsWith(`${at}: `) ? message.slice(at.length + 2) : message}</p>` : html``;
  }

  input(path: string, kind: FieldKind, label: string, size = 14, list = ""): Html {
    return html`<input data-change="set" data-kind="${kind}" size="${size}" ${list ? html`list="${list}"` : html``} value="${fieldText(kind, this.at(path))}" ${this.common(path, label)}>${this.objection(path)}`;
  }

  area(path: string, label: string, rows = 3): Html {
    const text = fieldText("json", this.at(path));
    return html`<textarea data-change="set" data-kind="json" rows="${Math.min(14, Math.max(rows, text.split("\n").length))}" spellcheck="false" ${this.common(path, label)}>${text}</textarea>${this.objection(path)}`;
  }

  select(path: string, label: string, options: readonly string[], chosen: string, change = "set"): Html {
    const all = options.includes(chosen) ? options : [chosen, ...options];
    return html`<select data-change="${change}" data-kind="text" ${this.common(path, label, change === "set")}>${all.map((one) =>
      html`<option value="${one}" ${one === chosen ? html`selected` : html``}>${one || "–"}</option>`)}</select>`;
  }

  check(path: string, label: string): Html {
    return html`<label><input type="checkbox" data-change="set" data-kind="flag" ${this.at(path) === true ? html`checked` : html``} ${this.common(path, label)}> ${label}</label>`;
  }

  row(label: string, field: Html, path: string): Html {
    return html`<tr><th scope="row">${label}</th><td>${field}<p class="dim words">${describe(this.view.schema, readPath(path))}</p></td></tr>`;
  }
}

/* --- what is wrong --- */

function problems({ problems: list }: FormView): Html {
  if (list.length === 0) return html`<p class="good" role="status">The server finds nothing wrong with it.</p>`;
  return html`<ul class="findings" aria-label="What the server says">${list.map(({ path, severity, message }) =>
    html`<li class="${severity}"><span class="severity">${severity}</span> ${path && html`<button class="link" data-action="goto" data-path="${path}">${path}</button>`} <span class="message">${message}</span></li>`)}</ul>`;
}

function notes({ notes: list }: FormView): Html {
  return list.length === 0 ? html`` : html`<div class="hint"><p>Not known from the source:</p><ul>${list.map(({ member: path, why }) =>
    html`<li><button class="link" data-action="goto" data-path="${path}">${path}</button> ${why}</li>`)}</ul></div>`;
}

/* --- sizes --- */

function sizes(f: Fields): Html {
  const value = f.at("sizes") ?? {};
  const list = Array.isArray(value) ? value : [value];
  const names = [...new Set(list.flatMap((one) => (typeof one === "object" && one !== null ? Object.keys(one) : [])))];
  const base = (i: number): string => (Array.isArray(value) ? `sizes[${i}]` : "sizes");
  const row = (i: number): Html => html`<tr><th scope="row">case ${i + 1}</th>${names.map((name) =>
    html`<td>${f.input(`${base(i)}.${name}`, "number", `${name} of case ${i + 1}`, 8)}</td>`)}
<td>${list.length > 1 && html`<button class="second" data-action="remove" data-path="${base(i)}" aria-label="Remove case ${i + 1}">Remove</button>`}</td></tr>`;
  return section("Sizes", html`<p class="dim">${describe(f.view.schema, ["sizes"])}</p>
<table><thead><tr><th></th>${names.map((name) => html`<th scope="col">${name}</th>`)}<th></th></tr></thead><tbody>${list.map((_, i) => row(i))}</tbody></table>
<p class="actions"><button class="second" data-action="add" data-path="sizes">Add Case</button>
<input id="size" size="10" placeholder="name" aria-label="Name of a new size"><button class="second" data-action="addSize" data-from="size">Add Size</button></p>`);
}

/* --- launch --- */

function launch(f: Fields): Html {
  const rows: [string, FieldKind, string][] = [
    ["launch.grid", "extents", "grid"], ["launch.block", "extents", "block"], ["launch.cluster", "extents", "cluster"],
    ["launch.shared_bytes", "extent", "shared bytes"],
  ];
  return section("Launch", html`<table class="form">${f.row("kernel", f.input("kernel", "text", "kernel", 30), "kernel")}
${rows.map(([path, kind, label]) => f.row(label, f.input(path, kind, label, 30), path))}
${f.row("", f.check("launch.cooperative", "cooperative"), "launch.cooperative")}</table>`);
}

/* --- arguments --- */

const isObject = (value: Json | undefined): value is Spec => typeof value === "object" && value !== null && !Array.isArray(value);

function contents(f: Fields, path: string, init: Json | undefined): Html {
  if (!isObject(init)) return html``;
  const [kind = ""] = Object.keys(init);
  const kinds = members(f.view.schema, readPath(`${path}.init`));
  const field = kind === "fill" ? "value" : kind === "file" ? "text" : "values";
  return html`${f.select(`${path}.init`, "first contents", kinds, kind, "init")} ${f.input(`${path}.init.${kind}`, field, `${kind} of the first contents`, 12)}`;
}

function more(argument: Spec): string {
  const shown = ["name", "type", "shape", "init", "output", "scratch", "value"];
  return Object.keys(argument).filter((name) => !shown.includes(name)).join(", ");
}

function labelled(label: string, field: Html): Html {
  return html`<div><span class="dim label" aria-hidden="true">${label}</span>${field}</div>`;
}

function typeOf(f: Fields, path: string, argument: Spec): Html {
  return labelled("type", f.select(`${path}.type`, "type", choices(f.view.schema, readPath(`${path}.type`)), fieldText("text", argument["type"])));
}

function buffer(f: Fields, path: string, argument: Spec): Html {
  const role = roleOf(argument);
  return html`${typeOf(f, path, argument)}${labelled("shape", f.input(`${path}.shape`, "extents", "shape", 12))}
${labelled("role", f.select(path, "role", roles, role, "role"))}
${role !== "output" && isObject(argument["init"]) && labelled("first contents", contents(f, path, argument["init"]))}`;
}

function scalar(f: Fields, path: string, argument: Spec): Html {
  return html`${typeOf(f, path, argument)}${labelled("value", f.input(`${path}.value`, "value", "value", 12))}`;
}

function argumentFields(f: Fields, argument: Json, path: string, i: number): Html {
  if (!isObject(argument) || (!("shape" in argument) && !("value" in argument))) {
    return html`<div class="whole">${f.area(path, `argument ${i + 1}`, 1)}</div>`;
  }
  const also = more(argument);
  return html`${labelled("name", f.input(`${path}.name`, "text", `name of argument ${i + 1}`, 9))}
${"shape" in argument ? buffer(f, path, argument) : scalar(f, path, argument)}${also && html`<div class="dim">also says: ${also}</div>`}`;
}

function argumentItem(f: Fields, argument: Json, i: number): Html {
  const path = `args[${i}]`;
  return html`<li class="argument">${argumentFields(f, argument, path, i)}
<button class="second" data-action="remove" data-path="${path}" aria-label="Remove argument ${i + 1}">Remove</button></li>`;
}

function args(f: Fields): Html {
  const list = f.at("args");
  const items = Array.isArray(list) ? list.map((argument, i) => argumentItem(f, argument, i)) : [];
  return section("Arguments", html`<p class="dim">In the kernel's order. Shapes and values are numbers or expressions over the sizes.</p>
<ol class="arguments">${items}</ol>
<p class="actions"><button class="second" data-action="add" data-path="args" data-value="buffer">Add Buffer</button>
<button class="second" data-action="add" data-path="args" data-value="scalar">Add Scalar</button></p>`);
}

function launches(f: Fields): Html {
  return section("Launches", html`<p class="dim">${describe(f.view.schema, ["launches"])}</p>${f.area("launches", "launches", 6)}`);
}

/* --- what is expected --- */

const expectations: Record<string, string> = {
  null: "nothing: not judged", expression: "an expression for each output", op: "an operator by PyTorch's name",
  kernel: "a reference kernel", values: "values", files: "numpy files",
};

function expressions(f: Fields): Html {
  const value = f.at("expect.expression");
  const names = isObject(value) ? Object.keys(value) : [];
  return html`<table class="form">${names.map((name) => html`<tr><th scope="row">${name}</th><td>${f.input(`expect.expression.${name}`, "text", `expression for ${name}`, 50)}</td></tr>`)}</table>`;
}

// Attributes differ by operator: they are written as JSON, and the server says what is wrong with them.
function operator(f: Fields): Html {
  return html`<p>${f.input("expect.op", "text", "operator", 30, "operators")}</p>
<datalist id="operators">${f.view.operators.map((name) => html`<option value="${name}"></option>`)}</datalist>
<p class="dim">with its attributes and inputs:</p>${f.area("expect", "the operator with its attributes", 3)}`;
}

function expect(f: Fields): Html {
  const value = f.at("expect");
  const kind = isObject(value) ? Object.keys(expectations).find((name) => name in value) ?? "" : "null";
  const body = kind === "expression" ? expressions(f) : kind === "op" ? operator(f)
    : kind === "null" ? html`` : f.area("expect", "what is expected", 6);
  return section("Expected", html`<p><select data-change="expect" data-path="expect" aria-label="what is expected">${Object.entries(expectations).map(([name, words]) =>
    html`<option value="${name}" ${name === kind ? html`selected` : html``}>${words}</option>`)}</select></p>${body}`);
}

/* --- the rest --- */

function judging(f: Fields): Html {
  const numbers: [string, string][] = [["tolerance.rtol", "relative tolerance"], ["tolerance.atol", "absolute tolerance"], ["trials", "trials"], ["timeout_s", "seconds"]];
  return section("Judging", html`<table class="form">${numbers.map(([path, label]) => f.row(label, f.input(path, "number", label), path))}
${f.row("compare", f.select("compare", "compare", ["", ...choices(f.view.schema, ["compare"])], fieldText("text", f.at("compare"))), "compare")}
${f.row("numerics", f.select("numerics", "numerics", ["", ...choices(f.view.schema, ["numerics"])], fieldText("text", f.at("numerics"))), "numerics")}
${f.row("checks", f.input("checks", "values", "checks", 30), "checks")}${f.row("", f.check("strict", "strict"), "strict")}</table>`);
}

export function formBody(view: FormView): Html {
  const spec = readSpec(view.text);
  const head = html`<header><p class="file">check spec</p><h1>${view.file}</h1>
<p class="actions"><button data-action="validate">Validate Kernel</button> <button class="second" data-action="text">Edit as Text</button></p></header>`;
  if (!spec) return html`${head}<p class="bad">The text is no JSON object: edit it as text.</p>`;
  const f = new Fields(view, spec);
  return html`${head}${problems(view)}${notes(view)}<main>${sizes(f)}
${"launches" in spec ? launches(f) : html`${launch(f)}${args(f)}`}${expect(f)}${judging(f)}</main>`;
}
