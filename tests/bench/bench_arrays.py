#!/usr/bin/env python3
"""4096 x 4096 floats to the emulator and back, from Python's call to its return.

usage: bench_arrays.py BUILD [CALLS]    needs numpy

Prints for each call, after one that compiles: milliseconds in all; those besides the kernel's launches; and
where these went: writing the input's file, the daemon's phases, reading the output. BUILD is best a release's.
"""
import os, sys, time

BUILD = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
os.environ["UPSKILLD"] = os.path.join(BUILD, "daemon/upskilld")
import numpy, upskilld
from upskilld import arrays

N = 4096
COPY = "__global__ void copy(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }\n"
spent = {}


def timed(module, name):
    function = getattr(module, name)

    def call(*args):
        begin = time.perf_counter()
        result = function(*args)
        spent[name] = spent.get(name, 0) + (time.perf_counter() - begin) * 1e3
        return result
    setattr(module, name, call)


def round_trip(client, x, **judged):
    spent.clear()
    begin = time.perf_counter()
    result = client.validate(COPY, launch={"grid": [N * N // 256], "block": [256]}, trials=1, save=True,
                             args={"x": x, "y": upskilld.output(x.shape), "n": x.size}, **judged)
    ms = (time.perf_counter() - begin) * 1e3
    assert (result.outputs[0].array == x).all()
    phases = {p["phase"]: p["ms"] for p in result.raw["phases"]}
    besides = ms - phases.pop("run") - phases.pop("compile")
    parts = {**spent, **phases}
    parts["other"] = besides - sum(parts.values())
    print("%5.0f %5.0f   %s" % (ms, besides, ", ".join("%s %.0f" % (name, value) for name, value in parts.items())), flush=True)


timed(arrays, "save")
timed(arrays, "load")
x = numpy.random.default_rng(1).random((N, N), dtype="float32")
with upskilld.Client() as client:
    for words, judged in (("in and out", {}), ("in, out, and compared with an array", {"expect": lambda x: x})):
        print("%s: ms, besides the run, of these" % words)
        for _ in range(1 + int(sys.argv[2] if len(sys.argv) > 2 else 3)):
            round_trip(client, x, **judged)
