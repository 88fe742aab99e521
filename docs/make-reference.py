#!/usr/bin/env python3
"""Write docs/reference.md from the table that a daemon serves, and the table of agents in docs/guide/agents.md from
clients/ctl/agent_configs.txt.

usage: make-reference.py UPSKILLD [--check]

--check compares instead of writing: exit status 1 when a file is out of date.
"""
import json, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))


def discover(program):
    request = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\n'
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write(request)
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    process.stdin.close()
    process.wait(10)
    return answer["result"]


def type_of(schema):
    if "enum" in schema:
        return " \\| ".join("`%s`" % json.dumps(v) for v in schema["enum"])
    if "const" in schema:
        return "`%s`" % json.dumps(schema["const"])
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and "items" in schema:
        return "array of " + type_of(schema["items"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(type_of(s) for s in schema[word])
    return kind


def rows(schema, required, prefix=""):
    for name, part in schema.get("properties", {}).items():
        yield prefix + name, part, name in required
        inner = part.get("items", part) if part.get("type") in ("object", "array") else {}
        if inner.get("properties"):
            mark = "[]." if part.get("type") == "array" else "."
            yield from rows(inner, inner.get("required", []), prefix + name + mark)


def table(schema, head):
    lines = ["| %s | type | |" % head, "|---|---|---|"]
    for name, part, needed in rows(schema, schema.get("required", [])):
        words = part.get("description", "")
        if "default" in part:
            words += (" " if words else "") + "(default `%s`)" % json.dumps(part["default"])
        lines.append("| `%s`%s | %s | %s |" % (name, " *" if needed and head == "parameter" else "",
                                            type_of(part), words.replace("|", "\\|")))
    return lines if len(lines) > 2 else ["none" if head == "parameter" else "an object"]


def page(document):
    out = ["# Protocol reference", "",
           "Generated from `rpc.discover` by `docs/make-reference.py`; do not edit.", "",
           "Plain JSON-RPC 2.0, one JSON text per line, no handshake. The same operations are MCP tools "
           "(where a tool name is given) and LSP commands (`upskilld.` and the name with `.` for `/`). "
           "A star marks a required parameter.", "",
           "Errors carry `data: {reason, hint?, path?}`. `$/cancelRequest {id}` cancels. A long "
           "operation returns `{job, state}` at once unless `\"wait\": true` is given; "
           "`job/changed {job?, request, state, progress, partial?}` notifications report its progress.", ""]
    for method in document["methods"]:
        out += ["## " + method["name"], "", method.get("description", method["summary"]), ""]
        facts = ["MCP tool `%s`" % method["x-tool"] if "x-tool" in method else "not an MCP tool"]
        facts += [flag.replace("_", "-") for flag in method.get("x-flags", [])]
        out += ["*" + ", ".join(facts) + "*", ""]
        out += table(method["x-params"], "parameter") + [""]
        example = {p["name"]: p["value"] for e in method.get("examples", []) for p in e["params"]}
        request = {"jsonrpc": "2.0", "id": 1, "method": method["name"], "params": example}
        out += ["```json", json.dumps(request, ensure_ascii=False), "```", "", "Result:", ""]
        out += table(method["result"]["schema"], "member") + [""]
    return "\n".join(out).rstrip() + "\n"


def agents_page(text):
    """The page with its table of agents as the rows of agent_configs.txt have them: name, title, program, files."""
    with open(os.path.join(HERE, "../clients/ctl/agent_configs.txt")) as f:
        rows = re.findall(r"(?m)^(\S+) \| (.+)", f.read())
    head, table = re.search(r"(?s)(\| agent \| name \|[^\n]*\n[^\n]*\n)(.*?)\n(?=\n)", text).group(1, 2)
    lines = []
    for name, more in rows:
        title, _, *files = (part.strip() for part in (more + " ").split(" | "))
        user, project = (re.sub(r"\$\{\w+:-(.*?)\}", r"\1", path.split("|")[0]) for path in files[:2])
        lines.append("| %s | `%s` | `%s` | %s |" % (title, name, user, "`%s`" % project if project else "none"))
    return text.replace(head + table, head + "\n".join(lines))


def main():
    agents = os.path.join(HERE, "guide/agents.md")
    with open(agents) as f:
        texts = {os.path.join(HERE, "reference.md"): page(discover(sys.argv[1])), agents: agents_page(f.read())}
    old = 0
    for target, text in texts.items():
        with open(target) as f:
            if f.read() == text:
                continue
        old = 1
        if "--check" in sys.argv:
            print("%s is out of date: run docs/make-reference.py" % target, file=sys.stderr)
        else:
            with open(target + ".new", "w") as f:
                f.write(text)
            os.replace(target + ".new", target)
    return old if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
