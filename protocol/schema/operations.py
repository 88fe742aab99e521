#!/usr/bin/env python3
"""Operations and schemas that are kept as JSON, as C: operations.py ROOT IN.json OUT.h OUT.d, for each build.

IN.json is one operation (protocol/operation.h): name, tool, title, summary, tool_help, flags, params,
result, example. A text may be a list of texts: a blank or a newline is between two. OUT.h defines the
macro `<FILE>_OPERATION`, the members of its struct operation but for the functions; OUT.d names what was
read.

IN.json may also be a schema alone, which has no params: OUT.h then defines `<FILE>_SCHEMA`, its text, and
for every object schema in its "$defs", and for itself, `<FILE>_<DEF>_MEMBERS` and `<FILE>_MEMBERS`: rows of a
struct spec_member for its properties, for whoever reads such an object (`member`). `<FILE>_VALUES(FLAG, COUNT, FRACTION, TEXT)`
and `<FILE>_<DEF>_VALUES` have a row NAME, DEFAULT for each truth value, number and text that has a default, and is this
file's own.

In a schema
  "$ref": "path/of/file.json#/pointer" is replaced by what stands there (ROOT is the source tree; without
      a path: this file); members beside it are added, or stand instead of those of the same name, in
      each of its properties too; null takes a property away;
  "x-flat": a list of properties that are cut to one level here: without what is inside of them. Their
      reader gives better errors than an anyOf can;
  "x-tool" says how the tool's schema, which models read, differs from params. Of a member of an object:
      false = not shown, a text = its description there ("": none), an object = shown instead of it. Of the
      whole of params: an object, whose members are added or stand instead. Limits, which members are needed
      in place of others, and false as a default are not shown: models need no tokens for them. Nor is
      "additionalProperties": false: some clients refuse a call with a member that is not listed, also where
      an answer's hint asked for it. The daemon refuses what params do not have.
"""
import json
import pathlib
import re
import sys

FLAGS = {"read-only": "READ_ONLY", "long": "LONG", "open-world": "OPEN_WORLD",
         "destructive": "DESTRUCTIVE", "idempotent": "IDEMPOTENT"}
INNER = {"properties", "additionalProperties", "required", "items", "anyOf"}
LIMITS = {"minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties", "maxProperties",
          "uniqueItems", "minimum", "maximum"}
HEAD = {"x-tool", "anyOf", "title", "description"}  # of params; the tool has its own title and text
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
MEMBERS = {"name", "tool", "title", "summary", "tool_help", "flags", "params", "result", "example"}


class Files:
    def __init__(self, root):
        self.root, self.read = pathlib.Path(root), {}

    def load(self, path):
        path = pathlib.Path(path)
        if path not in self.read:
            self.read[path] = json.loads(path.read_text(encoding="utf-8"))
        return self.read[path]

    def at(self, ref, here):
        path, _, pointer = ref.partition("#")
        path = self.root / path if path else here
        value = self.load(path)
        for step in pointer.split("/")[1:]:
            value = value[step.replace("~1", "/").replace("~0", "~")]
        return value, path

    def expand(self, value, here, depth=0):
        if depth > 64:
            sys.exit(f"{here}: a $ref leads back to itself")
        if isinstance(value, list):
            return [self.expand(item, here, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$ref"), str):
            found, path = self.at(value["$ref"], here)
            whole = dict(self.expand(found, path, depth + 1))
            beside = {k: self.expand(v, here, depth + 1) for k, v in value.items() if k not in ("$ref", "x-flat")}
            if "properties" in whole and "properties" in beside:
                beside["properties"] = merged(whole["properties"], beside["properties"])
            whole.update(beside)
            return flat(whole, value.get("x-flat", []))
        return {k: self.expand(v, here, depth + 1) for k, v in value.items()}


def merged(properties, beside):
    both = {**properties, **beside}
    return {k: {**properties.get(k, {}), **beside.get(k, {})} for k in both if both[k] is not None}


def flat(schema, names):
    schema.pop("$defs", None)
    for name in names:
        member = schema["properties"][name]
        schema["properties"][name] = {k: v for k, v in member.items() if k not in INNER}
        if "items" in member:
            schema["properties"][name]["items"] = {"type": kinds(member["items"])}
    return schema


def kinds(schema):
    """Of what types a value may be."""
    found = {t for one in schema.get("anyOf", [schema]) for t in
             (one["type"] if isinstance(one["type"], list) else [one["type"]])}
    return found.pop() if len(found) == 1 else sorted(found)


def typed(value):
    """With a type beside each enum: some models' hosts refuse a schema without."""
    if isinstance(value, list):
        return [typed(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {k: typed(v) for k, v in value.items()}
    if isinstance(out.get("enum"), list) and "type" not in out:
        kinds = {TYPES[type(v)] for v in out["enum"]}
        out = {"type": kinds.pop() if len(kinds) == 1 else sorted(kinds), **out}
    if out.get("items") == {}:
        sys.exit("\"items\": {} says nothing, and some models' hosts refuse it")
    return out


def plain(schema):
    """As the daemon checks it: without x-tool."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if isinstance(schema, dict):
        return {k: plain(v) for k, v in schema.items() if k != "x-tool"}
    return schema


def shown(schema):
    """A schema as the tool shows it; None: not at all."""
    if isinstance(schema, list):
        return [shown(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    x = schema.get("x-tool")
    if x is False:
        return None
    if isinstance(x, dict):
        return x
    out = {k: v if k == "properties" else shown(v) for k, v in schema.items() if k not in LIMITS | {"x-tool"}}
    if isinstance(x, str):
        out.pop("description", None)
        out.update({"description": x} if x else {})
    for key in ("default", "additionalProperties"):
        if out.get(key) is False:
            del out[key]
    if "properties" in out:
        out["properties"] = {k: s for k, v in out["properties"].items() if (s := shown(v)) is not None}
    return out


def tool_schema(params):
    return shown({k: v for k, v in params.items() if k not in HEAD}) | params.get("x-tool", {})


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def text(value):
    return literal(" ".join(value).replace("\n ", "\n") if isinstance(value, list) else value)


def compact(value):
    return literal(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def operation_header(source, operation, name):
    unknown = set(operation) - MEMBERS - {"$defs"}
    if unknown or not {"name", "title", "summary", "params", "result", "example"} <= set(operation):
        sys.exit(f"{source}: an operation has {sorted(MEMBERS)}, and not {sorted(unknown)}")
    for schema in ("params", "result"):
        operation[schema] = typed(operation[schema])
    members = [f".{k} = {text(operation[k])}" for k in ("name", "tool", "title", "summary", "tool_help") if k in operation]
    members.append(f".params_schema = {compact(plain(operation['params']))}")
    if "tool" in operation:
        members.append(f".tool_schema = {compact(tool_schema(operation['params']))}")
    members.append(f".result_schema = {compact(operation['result'])}")
    members.append(f".example = {compact(operation['example'])}")
    if operation.get("flags"):
        members.append(".flags = " + " | ".join("OPERATION_" + FLAGS[f] for f in operation["flags"]))
    body = ", \\\n    ".join(members)
    return f"#define {name}_OPERATION \\\n    {body}\n"


MANY_WORDS = 8  # more have a reader of their own


def listed(words):
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def member(name, schema):
    """What the members' reader checks of one: the fields of a struct spec_member."""
    items = schema.get("items", {}) if schema.get("type") == "array" else {}
    words = [str(word) for word in schema.get("enum") or items.get("enum") or []]
    low, high = schema.get("minimum"), schema.get("maximum")
    if 0 < len(words) <= MANY_WORDS:
        kind = "WORDS" if items else "WORD" if isinstance(schema["enum"][0], str) else "NUMBER"
        more = [text(listed(words)), "(const char *const[]){" + ", ".join(map(text, words)) + ", NULL}"]
    elif schema.get("type") in ("integer", "number"):
        kind = "INTEGER" if schema["type"] == "integer" else "FRACTION"
        told = f"{low} to {high}" if high is not None else "not negative" if low == 0 else f"{low} or more"
        more = [text(told), "NULL", "INT64_MIN" if low is None else str(low), "INT64_MAX" if high is None else str(high)]
    else:
        kind, more = {"string": "TEXT", "boolean": "FLAG"}.get(str(schema.get("type")), "ANY") if not words else "ANY", []
    return "{" + ", ".join([text(name), f"SPEC_{kind}", *more]) + "}"


def value_row(name, schema):
    """A row of <FILE>_VALUES; "": its default is not a truth value, number or text."""
    default = schema.get("default")
    if isinstance(default, bool):
        return f"FLAG({name}, {int(default)})"
    if schema.get("type") == "number":
        return f"FRACTION({name}, {float(default)})" if "default" in schema else ""
    if isinstance(default, int):
        if not 0 <= schema["minimum"] <= schema["maximum"] < 2 ** 32:
            sys.exit(f"{name}: a number with a default has limits that an unsigned holds")
        return f"COUNT({name}, {default})"
    return f"TEXT({name}, {text(default)})" if isinstance(default, str) else ""


def schema_header(schema, name, own):
    parts = {"": schema, **{"_" + k.upper(): v for k, v in schema.pop("$defs", {}).items()}}
    out = f"#define {name}_SCHEMA {compact(plain(typed(schema)))}\n"
    for part, value in parts.items():
        if "properties" in value:
            values = " ".join(filter(None, (value_row(k, v) for k, v in value["properties"].items() if part or k in own)))
            out += f"#define {name}{part}_VALUES(FLAG, COUNT, FRACTION, TEXT) {values}\n"
            members = ", ".join(member(k, v) for k, v in value["properties"].items())
            out += f"#define {name}{part}_MEMBERS (const struct spec_member[]){{{members}, {{NULL}}}}\n"
    return out


def main():
    root, source, out, dependencies = sys.argv[1:]
    files = Files(root)
    value = files.expand(files.load(source), pathlib.Path(source))
    name = re.sub(r"\W", "_", pathlib.Path(source).stem).upper()
    own = {k for k, v in files.load(source).get("properties", {}).items() if "$ref" not in v}
    header = operation_header(source, value, name) if "params" in value else schema_header(value, name, own)
    pathlib.Path(out).write_text(header, encoding="utf-8")
    read = " ".join(str(path).replace(" ", "\\ ") for path in files.read)
    pathlib.Path(dependencies).write_text(f"{out}: {read}\n", encoding="utf-8")


main()
