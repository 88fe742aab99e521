#!/usr/bin/env python3
"""How many calls back take the answer of a small kernel/check from the worker's pipe to the client.

usage: calls_back.py BUILD_FOLDER     (as for executed_files.py; x86-64)

A call back is a call through a pointer by C code of the product, in the daemon, after the read from the worker's pipe
that brings the answer and before the daemon's write to its standard output. Calls by libraries (libuv, qsort) are
none, and neither are rows of a table: the rules of gpu/lint, the states of protocol/rpc/frame.c. The calls by which
the worker's supervisor takes the answer to the pipe are listed first, but not counted.
"""
import os, struct, sys, tempfile, time

from executed_files import PROGRAMS, check, places, start

CALL = struct.Struct("<5Q")  # struct call of executed.c: time, worker?, process, function, caller


def calls(folder):
    with open(os.path.join(folder, "seen", "calls"), "rb") as f:
        count, = struct.unpack("<Q", f.read(8))
        return list(CALL.iter_unpack(f.read(CALL.size * count)))


def described(build, found):
    """(worker?, process, (file, function), the caller's) of each, in order of time."""
    found.sort()
    answer = []
    for worker, program in enumerate(PROGRAMS.values()):
        mine = [c for c in found if c[1] == worker]
        path = os.path.join(build, program)
        callees = places(path, [c[3] for c in mine])
        callers = places(path, [c[4] - 1 if c[4] < 1 << 30 else 0 for c in mine])
        answer += [(c[0], worker, c[2], callee, caller) for c, callee, caller in zip(mine, callees, callers)]
    return [c[1:] for c in sorted(answer)]


def is_call_back(call):
    (callee, _), (caller, function) = call[2:]
    ours = callee.endswith(".c") and caller.endswith(".c") and not caller.startswith("..")
    is_row = callee.startswith("gpu/lint/") or (caller, function) == ("protocol/rpc/frame.c", "step")
    return ours and not is_row


def measure(build):
    with tempfile.TemporaryDirectory() as folder:
        daemon = start(build, folder)
        for n in range(2):
            check(daemon, n)
            time.sleep(0.2)
        before = len(calls(folder))
        check(daemon, 2)
        found = described(build, calls(folder)[before:])
        daemon.stdin.close()
        daemon.wait()
    return found


def main():
    found = measure(os.path.abspath(sys.argv[1]))
    functions = [(worker, callee) for worker, _, callee, _ in found]
    ended = len(functions) - functions[::-1].index((1, ("gpu/worker/compile_run.c", "on_ended"))) - 1
    read = functions.index((0, ("base/child.c", "on_read")), ended)
    sent = functions.index((0, ("daemon/session.c", "on_send")), read)
    count = 0
    for at, call in enumerate(found[ended:sent + 1], ended):
        worker, _, callee, caller = call
        if is_call_back(call):
            counts = not worker and at > read
            count += counts
            print("%2s  %-28s %-16s <- %s %s" % (count if counts else "", *callee, *caller))
    print("%d calls back" % count)


main()
