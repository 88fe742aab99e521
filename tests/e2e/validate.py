#!/usr/bin/env python3
"""kernel/validate on the CPU: every check spec of tests/kernels/validate gives what it should.

usage: validate.py UPSKILLD [--races] [--sample | WORD …]   (TAP on standard output)
With WORDs only checks whose label has one; with --sample one check of each kernel, that of TEST_DRAW.
--races looks for races in all of them: what is right has none.
"""
import json, os, sys

from validate_support import DRAW, Daemon, Tap, ask_all, corpus, params_of, short

SAMPLE, RACES = "--sample" in sys.argv, "--races" in sys.argv
WORDS = [word for word in sys.argv[2:] if not word.startswith("--")]


def judge(check, source, result):
    """What is not as it should be; None when all is."""
    wanted = check.get("verdict", "pass")
    codes = {f["code"] for f in result.get("findings", [])}
    if result.get("verdict") != wanted:
        return "verdict %s, not %s: %s" % (result.get("verdict"), wanted, short(result))
    if wanted == "pass" and (codes - set(check.get("codes", ())) or result.get("omitted")):
        return "findings: " + short(result)
    missing = set(check.get("codes", ())) - codes
    if missing and not (check.get("some") and codes & set(check["codes"])):
        return "no %s: %s" % (", ".join(sorted(missing)), short(result))
    if wanted == "unsupported":
        named = result.get("unsupported") or []
        if not named or any(not u.get("opcode") or not u.get("line") or not u.get("file") for u in named):
            return "an opcode without its place: " + short(result)
    if wanted == "fail" and any("line" not in f for f in result["findings"] if f["code"] not in ("unwritten_output", "deadlock")):
        return "a finding without a line: " + short(result)
    if "race" in check and not any(both_sides(f, check) for f in result["findings"]):
        return "not both sides of the race: " + short(result)
    if "calls" in check and not told_calls(result["findings"], check["calls"]):
        return "not the calls %s: %s" % (check["calls"], short(result))
    if "printf" in check and result.get("printf") != check["printf"]:
        return "printed %r, not %r" % (result.get("printf"), check["printf"])
    return None


def sample(checks):
    """One of each kernel's."""
    kernels = {}
    for check in checks:
        kernels.setdefault(check[1], []).append(check)
    return [of_one[DRAW % len(of_one)] for of_one in kernels.values()]


def told_calls(findings, wanted):
    """Are these the errors, [line, [lines of its calls, the innermost first]]?"""
    return sorted([f["line"], calls(f.get("related", []))] for f in findings if f["severity"] == "error") == wanted


def calls(related):
    """Lines of the calls that stand first."""
    lines = [r["line"] if r["message"] == "called from here" else None for r in related] + [None]
    return lines[:lines.index(None)]


def both_sides(finding, check):
    """Does it tell the two lines, and whose threads they were?"""
    related = finding.get("related", [])
    other = (related[len(calls(related)):] or [{}])[0]
    return (finding["code"] in check["codes"] and finding["severity"] == "error" and finding["line"] in check["race"]["lines"]
            and other.get("line") in check["race"]["other"] and len(other.get("thread", ())) == len(other.get("block", ())) == 3
            and (other["block"], other["thread"]) != (finding["block"], finding["thread"]))


def with_races(label, source, check):
    spec = dict(check["spec"], checks=["memory", "initialized", "race", "barrier"])
    return label, source, dict(check, spec=spec)


def main():
    tap = Tap()
    daemon = Daemon(os.path.abspath(sys.argv[1]))
    every = (with_races(*c) if RACES else c for c in corpus())
    chosen = [c for c in every if not WORDS or any(w in c[0] for w in WORDS)]
    chosen = sample(chosen) if SAMPLE else chosen

    def told(key, answer):
        label, source, check = key

        def look():
            problem = judge(check, source, answer.get("result", answer))
            assert problem is None, problem
        tap.run(label, look)

    ask_all(daemon, ((c, params_of(c[1], c[2])) for c in chosen), told)
    tap.run("the daemon ends", lambda: check_end(daemon.close()))
    return tap.end()


def check_end(code):
    assert code == 0, "it ended with %s" % code


sys.exit(main())
