#!/usr/bin/env python3
"""kernel/run finds faults: ten programs without any, and with one each of program_mutants.cu, compiled by the real nvcc.

usage: programs_mutants.py UPSKILLD   (TAP on standard output; ends with 77 where there is no nvcc)
A fault counts as found when it is told as what it is, at its line: the one with its number in a comment. Failed calls count
only where the verdict is "fail", since a program may check them.
"""
import os, re, sys

from programs_nvcc import nvcc_of
from validate_support import Daemon, Tap

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program_mutants.cu")
NEEDED = 27  # of 30
# fault: program, code; an api error's is its function
MUTANTS = {1: (1, "out_of_bounds"), 2: (1, "missing_sync"), 3: (1, "out_of_bounds"), 4: (2, "race"), 5: (2, "uninitialized"),
           6: (2, "out_of_bounds"), 7: (3, "out_of_bounds"), 8: (3, "race"), 9: (3, "uninitialized"), 10: (4, "cudaMemcpy"),
           11: (4, "race"), 12: (4, "out_of_bounds"), 13: (5, "global_race"), 14: (5, "uninitialized"),
           15: (5, "out_of_bounds"), 16: (6, "out_of_bounds"), 17: (6, "global_race"), 18: (6, "out_of_bounds"),
           19: (7, "missing_sync"), 20: (7, "missing_sync"), 21: (7, "missing_sync"), 22: (8, "out_of_bounds"),
           23: (8, "invalid_free"), 24: (8, "host_access"), 25: (8, "leak"), 26: (9, "invalid_mask"),
           27: (9, "barrier_divergence"), 28: (10, "cudaLaunchKernel"), 29: (10, "cudaMemcpyToSymbol"),
           30: (10, "misaligned")}
CHECKS = ["memory", "initialized", "race", "barrier"]


def run(d, program, fault):
    answer = d.ask("kernel/run", {"path": "m.cu", "args": [str(program), str(fault)], "checks": CHECKS, "timeout_s": 120})
    assert "result" in answer, answer
    return answer["result"]


def told(r):
    """(code, line) of all that counts and of what belongs to it, of errors of calls by their function."""
    found = [(f["code"], at.get("line")) for f in r["findings"] for at in [f] + f.get("related", [])
             if f["severity"] == "error" or at is f]
    failed = r["api_errors"] if r["verdict"] == "fail" else []
    return found + [(x.get("function", "leak"), x.get("line")) for x in failed + r["leaks"]]


def line_of(fault):
    lines = enumerate(open(SOURCE), 1)
    return next((number for number, line in lines if re.search(r"//( \d+)* %d( \d+)*$" % fault, line)), None)


def passes(d, program):
    r = run(d, program, 0)
    assert r["verdict"] == "pass" and not told(r) and not r["api_errors"], (r["verdict"], r.get("error"), r.get("findings"), r.get("leaks"))


def main():
    upskilld = os.path.abspath(sys.argv[1])
    if not nvcc_of(upskilld):
        print("there is no nvcc here: upskillctl setup programs downloads it", file=sys.stderr)
        return 77
    tap, d, found = Tap(), Daemon(upskilld), 0
    with open(d.home + "/work/m.cu", "w") as f:
        f.write(open(SOURCE).read())
    for program in range(1, 11):
        tap.run("program %d has no fault" % program, passes, d, program)
    for fault, (program, code) in MUTANTS.items():
        here = told(run(d, program, fault))
        is_found = (code, line_of(fault)) in here
        found += is_found
        print("# %d %s at line %s: %s" % (fault, code, line_of(fault), "found" if is_found else "missed, told: %s" % here), flush=True)

    def enough():
        assert found >= NEEDED, found
        return "%d of %d" % (found, len(MUTANTS))
    tap.run("faults found", enough)
    d.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
