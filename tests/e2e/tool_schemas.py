#!/usr/bin/env python3
"""The tools' input schemas, as strict hosts want them, and calls as weak models write them.

usage: tool_schemas.py UPSKILLD   (TAP on standard output)

Some hosts pass a schema on to Gemini's API as it is, which refuses the whole request when an enum has no
type beside it, or an array no type of its items (https://ai.google.dev/api/caching#Schema). Weak models,
and hosts with strict function calling, write objects and lists as JSON texts, one text for a list of
texts, and null or "" for what they leave out.
"""
import json, os, subprocess, sys
import scratch

KERNEL = "__global__ void k(int *x) { *x = 1; }"
# Tool, arguments, and words in the text of its answer (None: refused, with the second of them).
CALLS = [
    ("kernel_check", {"source": KERNEL, "launch": "{\"block\": 256}", "options": "-use_fast_math", "path": None,
                      "arch": "", "name": ""}, "ok"),
    ("kernel_check", {"source": KERNEL, "launch": "{\"block\": 1x}"}, (None, "launch")),
    ("kernel_check", {"source": "", "path": "none.cu"}, (None, "none.cu")),
    ("skill_get", {"name": "h100-cuda-kernels", "uri": "", "path": None}, "h100"),
    ("skill_get", {"name": None, "uri": "", "path": None}, (None, "missing parameter")),
    ("skill_find", {"task": "CUDA kernel for the H100", "limit": "2", "scopes": "bundled"}, "h100"),
    ("skill_find", {"task": "", "limit": 2}, (None, "task")),
]


class Daemon:
    def __init__(self, program):
        self.dir = scratch.folder("tool-schemas-")
        env = dict(os.environ, **{"XDG_%s_HOME" % k: self.dir + "/home" for k in ("STATE", "CONFIG", "CACHE")})
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.dir,
                                        env=env)
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "t", "version": "1"}})

    def ask(self, method, params):
        self.last += 1
        text = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.last:
                return message

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def faults(schema, at):
    """What Gemini's subset lacks, beneath one schema."""
    if not isinstance(schema, dict):
        return ["%s is no object" % at]
    found = []
    if not {"type", "anyOf"} & set(schema):
        found.append("%s has no type" % at)
    if "enum" in schema and not isinstance(schema.get("type"), str):
        found.append("%s: an enum without a type" % at)
    if schema.get("type") == "array" and not schema.get("items"):
        found.append("%s: an array of nothing" % at)
    for name, inner in schema.get("properties", {}).items():
        found += faults(inner, "%s.%s" % (at, name))
    if schema.get("items"):
        found += faults(schema["items"], at + "[]")
    for inner in schema.get("anyOf", []):
        if set(inner) != {"required"}:
            found += faults(inner, at + "|")
    return found


def main():
    daemon, number, bad = Daemon(os.path.abspath(sys.argv[1])), 0, 0

    def tell(name, problems):
        nonlocal number, bad
        number += 1
        bad += bool(problems)
        print("%s %d - %s" % ("not ok" if problems else "ok", number, name), flush=True)
        for line in problems:
            print("# %s: %s" % (name, line), file=sys.stderr, flush=True)

    for tool in daemon.ask("tools/list", {})["result"]["tools"]:
        tell("schema of %s" % tool["name"], faults(tool["inputSchema"], tool["name"]))
    compiles = daemon.ask("daemon/status", {})["result"]["kernels"]["toolkits"]
    for tool, arguments, expected in CALLS:
        if tool == "kernel_check" and not compiles:
            continue
        answer = daemon.ask("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result", {"isError": True, "content": [{"text": json.dumps(answer)}]})
        refused, words = (True, expected[1]) if isinstance(expected, tuple) else (False, expected)
        text = result["content"][0]["text"]
        good = result.get("isError", False) == refused and words in text
        tell("%s %s" % (tool, json.dumps(arguments)), [] if good else [text[:400]])
    daemon.close()
    print("1..%d" % number)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
