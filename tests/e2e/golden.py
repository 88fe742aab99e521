#!/usr/bin/env python3
"""Every kernel of tests/kernels through the daemon: clean, and with the figures that `ptxas -v`
printed for it (tests/kernels/golden.json, made by make_golden.py beside it).

usage: golden.py UPSKILLD   (TAP on standard output)
"""
import json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(os.path.dirname(HERE), "kernels")
FIGURES = ("registers", "barriers", "static_shared_bytes", "stack_bytes", "spill_store_bytes",
           "spill_load_bytes")


class Daemon:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=KERNELS)
        self.last = 0

    def check(self, path):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": "kernel/check", "params": {"path": path}}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last and "method" not in answer:
                return answer

    def close(self):
        self.process.stdin.close()
        return self.process.wait(10)


def differences(answer, expected):
    if "error" in answer:
        yield answer["error"]["message"]
        return
    result = answer["result"]
    if not result["ok"]:
        yield "not ok: %s" % json.dumps(result["diagnostics"])[:1000]
    found = {k["symbol"]: k for k in result["kernels"]}
    if set(found) != set(expected):
        yield "kernels %s, not %s" % (sorted(found), sorted(expected))
    for symbol in set(found) & set(expected):
        for figure in FIGURES:
            if found[symbol][figure] != expected[symbol][figure]:
                yield "%s: %s %s, ptxas -v says %s" % (symbol, figure, found[symbol][figure],
                                                       expected[symbol][figure])
        if not found[symbol].get("line"):
            yield "%s: no line" % symbol


def main():
    with open(os.path.join(KERNELS, "golden.json")) as f:
        golden = json.load(f)
    daemon = Daemon(os.path.abspath(sys.argv[1]))
    files = sorted(golden["files"])
    print("1..%d" % (len(files) + 1))
    for number, name in enumerate(files, 1):
        answer = daemon.check(name)
        version = (answer.get("result", {}).get("compiler") or {}).get("version")
        if version and version != golden["ptxas"]:
            print("ok %d - %s # SKIP figures are of %s, this is %s" % (number, name, golden["ptxas"], version))
            continue
        bad = list(differences(answer, golden["files"][name]))
        print("%s %d - %s" % ("not ok" if bad else "ok", number, name), flush=True)
        for line in bad:
            print("# %s: %s" % (name, line), file=sys.stderr)
    status = daemon.close()
    print("%s %d - the daemon ends with status 0" % ("not ok" if status else "ok", len(files) + 1))


if __name__ == "__main__":
    main()
