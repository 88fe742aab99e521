#!/usr/bin/env python3
"""kernel/validate gives the same result for the same seed, on one CPU by the interpreter alone, and on all with
code for the host from the second entry of a block on.

usage: validate_same.py UPSKILLD [--all] [WORD …]   (TAP on standard output)
Without --all every tenth check of the corpus is run, from the one that TEST_DRAW names on, and with WORDs
those whose names hold one.
"""
import json, os, sys

from validate_support import DRAW, Daemon, Tap, ask_all, corpus, params_of

WORDS = [word for word in sys.argv[2:] if word != "--all"]
STRIDE = 1 if WORDS or "--all" in sys.argv else 10
FIRST = DRAW % STRIDE
PROGRAM = os.path.abspath(sys.argv[1])


def run(chosen, cpus, code):
    """Results by label, without the compiler's times and the machine's own words."""
    results, devices = {}, set()
    daemon = Daemon(PROGRAM, before=lambda: os.sched_setaffinity(0, cpus), env={"UPSKILLD_EMULATOR_CODE": code})

    def told(label, answer):
        result = answer["result"]
        result.pop("check", None)
        result.pop("phases", None)
        result.get("ideal_trial", {}).pop("ms", None)
        devices.add(result.pop("backend", {}).get("device"))
        results[label] = json.dumps(result)
    ask_all(daemon, ((label, params_of(source, check, seed="0x5eed")) for label, source, check in chosen), told)
    daemon.close()
    return results, devices


def same(a, b):
    assert a == b, "%s\n%s" % (a[:1000], b[:1000])


def main():
    tap = Tap()
    cpus = os.sched_getaffinity(0)
    if len(cpus) < 2:
        print("1..0 # SKIP one CPU")
        return 0
    chosen = [c for c in corpus() if not WORDS or any(w in c[0] for w in WORDS)][FIRST::STRIDE]
    one, alone = run(chosen, {min(cpus)}, "off")
    all_of_them, together = run(chosen, cpus, "always")
    print("# %s; %s" % (alone, together))
    tap.run("one thread, and more", lambda: check_devices(alone, together))
    for label, _, _ in chosen:
        tap.run(label, same, one[label], all_of_them[label])
    return tap.end()


def check_devices(alone, together):
    assert any("1 thread)" in (d or "") for d in alone) and not alone & together - {None}, (alone, together)


sys.exit(main())
