#!/usr/bin/env python3
"""skill/evaluate's own cost: 200 cells of a model that takes 200 ms, 64 at once.

usage: bench_evaluate.py BUILD_FOLDER
Prints wall time against the ideal (waves of 64), the peak of the daemon's memory, how long a ping
takes meanwhile, and the same evaluation from the cache. Figures only; nothing is asserted.
"""
import json, os, statistics, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from evaluate_support import Daemon, Model, make_skill, make_tests

BUILD = os.path.abspath(sys.argv[1])
CELLS, DELAY_S, AT_ONCE = 200, 0.2, 64


def memory_kib(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(next(line for line in f if line.startswith("VmHWM")).split()[1])


def pings(daemon, job):
    """Round trips of a cheap method until the job has ended."""
    times = []
    while True:
        begun = time.perf_counter()
        answer = daemon.ask("job/status", {"job": job})
        times.append(time.perf_counter() - begun)
        if answer["result"]["state"] != "running":
            return times, answer["result"]
        time.sleep(0.002)


def evaluate(daemon, **params):
    begun = time.perf_counter()
    job = daemon.start(**params)
    times, status = pings(daemon, job)
    return time.perf_counter() - begun, sorted(times), status["result"]


def row(what, figure):
    print("  %-44s %s" % (what, figure), flush=True)


model = Model()
daemon = Daemon(BUILD + "/daemon/upskilld")
skill = make_skill(daemon, lines=400)
student = model.student("delay=%d+secret=marigold:correct:wrong" % (1000 * DELAY_S))
params = dict(path=skill, students=[student], tests=make_tests(CELLS // 2), runs=1, concurrency=AT_ONCE)
daemon.evaluate(path=skill, students=[model.student("answer=x", "warm")], tests=make_tests(6), runs=1)
before = memory_kib(daemon.process.pid)
ideal = -(-CELLS // AT_ONCE) * DELAY_S
print("skill/evaluate: %d cells of %d ms, %d at once" % (CELLS, 1000 * DELAY_S, AT_ONCE))
for name, more in (("cold client", {}), ("warm client", {"fresh": True}), ("from the cache", {})):
    wall, times, result = evaluate(daemon, **dict(params, **more))
    row(name + ": wall", "%.2f s, %.2f of ideal (%.2f s); %d requests, %d cached" % (
        wall, wall / ideal, ideal, result["provenance"]["requests"], result["provenance"]["cache_hits"]))
    row(name + ": status meanwhile", "median %.2f ms, p99 %.2f ms, worst %.2f ms of %d" % (
        1000 * statistics.median(times), 1000 * times[int(len(times) * 0.99)], 1000 * times[-1], len(times)))
row("memory, peak (before the first: %.1f MiB)" % (before / 1024), "%.1f MiB" % (memory_kib(daemon.process.pid) / 1024))
row("requests in flight, peak", "%d" % model.stats()["peak"])
daemon.close()
model.close()
