#!/usr/bin/env python3
"""The 100 tasks of KernelBench level 1: plain kernels in small odd shapes against built-in operators.

usage: kernelbench.py UPSKILLD [--all | --part N | WORD …] [--fresh]   (TAP on standard output)

Every file of tests/kernels/kernelbench must pass, every mutant of mutants.json must fail. Without
arguments one part of PARTS runs, that of TEST_DRAW; its number is told. Inputs are the
same in every run, with --fresh they are not.
"""
import glob, json, os, sys

from validate_support import DRAW, KERNELS, Daemon, Tap, ask_all, short

FOLDER = os.path.join(KERNELS, "kernelbench")
PARTS = 5
SEED = {} if "--fresh" in sys.argv else {"seed": "20261122"}


def checks():
    """(name, params) of every check file with the kernel beside it."""
    for path in sorted(glob.glob(FOLDER + "/*.check.json")):
        name = os.path.basename(path)[:-len(".check.json")]
        with open(path) as f, open(os.path.join(FOLDER, name + ".cu")) as g:
            yield name, dict(json.load(f), source=g.read(), **SEED)


def mutants():
    """(label, params) of kernels with one mistake each."""
    known = dict(checks())
    with open(FOLDER + "/mutants.json") as f:
        for m in json.load(f):
            params = known[m["check"]]
            assert params["source"].count(m["from"]) >= 1, m
            yield "mutant of %s: %s" % (m["check"], m["why"]), dict(params, source=params["source"].replace(m["from"], m["to"], 1))


def part_of(arguments, items):
    if "--all" in arguments:
        return items
    words = [a for a in arguments if not a.startswith("--") and not a.isdigit()]
    if words:
        return [i for i in items if any(w in i[0] for w in words)]
    part = int(arguments[arguments.index("--part") + 1]) if "--part" in arguments else DRAW % PARTS
    print("# part %d of %d; the same again: --part %d" % (part, PARTS, part))
    return items[part::PARTS]


def judge(label, result):
    mutant = label.startswith("mutant")
    if mutant:
        assert result.get("verdict") == "fail", "verdict %s: %s" % (result.get("verdict"), short(result))
    else:
        assert result.get("verdict") == "pass" and not result["findings"], short(result)
        compared = [o for c in result["cases"] for o in c["outputs"]]
        assert compared and len(result["cases"]) >= 1, "nothing was compared"


def main():
    tap = Tap()
    daemon = Daemon(os.path.abspath(sys.argv[1]))
    items = part_of(sys.argv[2:], list(checks()) + list(mutants()))
    assert items, "no such check"
    ask_all(daemon, items, lambda key, answer: tap.run(key, lambda: judge(key, answer.get("result", answer))))
    tap.run("the daemon ends", lambda: check_end(daemon.close()))
    return tap.end()


def check_end(code):
    assert code == 0, "it ended with %s" % code


sys.exit(main())
