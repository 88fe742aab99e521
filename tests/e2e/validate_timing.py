#!/usr/bin/env python3
"""kernel/validate with `benchmark` and `roofline`: through the daemon and the worker, on the stand-in of libcuda, whose time is
virtual: figures are exact, whatever the machine is doing. And on the emulator, which has none.

usage: validate_timing.py UPSKILLD --standin libcuda-standin.so   (TAP on standard output)
"""
import fcntl, glob, math, os, struct, sys

from standin import StandIn
from validate_support import Daemon, Tap, short

KERNEL = ('%s\nextern "C" __global__ void k(float *y, const float *x, int n) {\n'
          "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = %s;\n%s}\n")
PLAIN = KERNEL % ("", "x[i] * 3 + 1", "")
REFERENCE = ('extern "C" __global__ void slowly(float *y, const float *x, int n) {\n'
             "for (int i = 0; i < n; i++) y[i] = x[i] * 3 + 1; }\n")
# Right in five launches of a loaded module, wrong from the sixth on.
WORN = KERNEL % ("__device__ unsigned calls;", "x[i] * 3 + (calls < 5 ? 1 : 2)",
                 "__syncthreads(); if (threadIdx.x == 0) atomicAdd(&calls, 1);")


def params(source=PLAIN, **more):
    base = {"source": source, "launch": {"grid": [1], "block": [1024]}, "sizes": [{"n": 1000}, {"n": 9}], "trials": 1,
            "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True},
                     {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}},
                     {"name": "n", "type": "int32", "value": "n"}],
            "expect": {"expression": {"y": "x[i] * 3 + 1"}}, "benchmark": {"samples": 5}, "timeout_s": 120}
    return dict(base, **more)


class Room:
    def __init__(self, program, library):
        self.standin = StandIn(library, in_path=True)
        self.daemon = Daemon(os.path.abspath(program), env=self.standin.env)

    def ask(self, conf="", nvml="", **more):
        self.standin.set(conf, nvml)
        answer = self.daemon.receive(self.daemon.send("kernel/validate", params(**more)))
        assert "result" in answer, answer
        return answer["result"]


def near(value, expected):
    assert isinstance(value, (int, float)) and math.isclose(value, expected, rel_tol=1e-4), (value, expected)


def codes(result):
    return {f["code"]: f["severity"] for f in result.get("findings", [])}


def passed(result):
    assert result["verdict"] == "pass", short(result)
    assert result["backend"]["kind"] == "cuda", result["backend"]
    return result["timing"], result["roofline"]


def cold(room):
    result = room.ask("launch_us 30\ncold_us 12\nkernel_us slowly 90\n",
                      expect={"kernel": {"source": REFERENCE, "kernel": "slowly", "launch": {"grid": [1], "block": [1]}}})
    timing, roofline = passed(result)
    near(timing["median_us"], 42), near(timing["min_us"], 42), near(timing["p90_us"], 42)
    near(timing["reference_median_us"], 102), near(timing["speedup"], 102 / 42)
    assert (timing["samples"], timing["cache"], timing["method"]) == (5, "cold", "events"), timing
    assert (timing["sm_clock_mhz"], timing["mem_clock_mhz"], timing["throttled"]) == (1980, 2619, False), timing
    assert timing["sizes"] == {"n": 1000} and timing["lock_waited_ms"] >= 0, timing
    assert (roofline["device"], roofline["bound"], roofline["method"]) == ("H100 SXM", "memory", "measured"), roofline
    near(roofline["limit_us"], 8000 / 3.35e6), near(roofline["percent"], 100 * 8000 / 3.35e6 / 42)


def warm(room):
    timing, _ = passed(room.ask("launch_us 5\ngap_us 7\n", benchmark={"samples": 5, "cache": "warm"}))
    near(timing["median_us"], 5)
    assert (timing["cache"], timing["method"]) == ("warm", "graph of 17 launches"), timing


def throttled(room):
    timing, _ = passed(room.ask("launch_us 30\n", "sm_clock 1200\nreasons 0x4\n"))
    assert (timing["sm_clock_mhz"], timing["throttled"], timing["throttle_reasons"]) == (1200, True, ["sw_power_cap"]), timing


def too_fast(room):
    result = room.ask("launch_us 0.2\n")
    assert result["verdict"] == "fail" and codes(result) == {"too_fast": "error"}, short(result)


def worn(room):
    alone = room.ask("launch_us 30\n", source=WORN, benchmark=False)
    assert alone["verdict"] == "pass" and "timing" not in alone, short(alone)
    assert alone["repeat_check"]["verdict"] == "pass", alone["repeat_check"]
    result = room.ask("launch_us 30\n", source=WORN)
    assert result["verdict"] == "fail" and codes(result) == {"changes_after_repeats": "error"}, short(result)


def faults(room):
    result = room.ask("launch_us 30\nfault 7 700\n")  # two trials, one repeat, then those that are timed
    assert result["verdict"] == "fail" and codes(result).get("changes_after_repeats") == "error", short(result)


def stuck(room):
    """What hangs after some launches is found while there is time, and the process ends although the device does not answer."""
    result = room.ask("launch_us 30\nstuck 12\n", timeout_s=8, benchmark={"samples": 500, "cache": "warm"})
    assert result["verdict"] == "fail" and codes(result) == {"changes_after_repeats": "error"}, short(result)
    assert "did not end" in result["findings"][0]["message"], result["findings"]


def locked(room):
    """Somebody else measures on the device: it is waited for as long as there is time, and that is said."""
    conf, mine = "devices 2\nlaunch_us 30\n", {"device": "1"}
    timing, _ = passed(room.ask(conf, **mine))
    path = glob.glob("/tmp/upskilld-%d/gpu-*5d01.lock" % os.geteuid())
    assert len(path) == 1, path
    with open(path[0], "r+") as f:
        f_ofd_setlk = 37
        fcntl.fcntl(f, f_ofd_setlk, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        result = room.ask(conf, timeout_s=5, **mine)
    assert result["verdict"] == "pass" and codes(result) == {"not_timed": "warning"}, short(result)
    assert "another process" in result["findings"][0]["message"], result["findings"]
    passed(room.ask(conf, **mine))


def emulator(room):
    result = room.ask("", backend="emulator")
    assert result["verdict"] == "pass" and codes(result) == {"no_timing": "info"}, short(result)
    assert "timing" not in result and result["roofline"]["method"] == "bound", result
    near(result["roofline"]["limit_us"], 8000 / 3.35e6)


def no_graphs(room):
    """Last: the library is changed."""
    room.standin.without("cuGraphInstantiateWithFlags")
    timing, _ = passed(room.ask("launch_us 5\ngap_us 7\n", benchmark={"samples": 5, "cache": "warm"}))
    near(timing["median_us"], 12)
    assert timing["method"] == "loop of 17 launches", timing


def ended(code):
    assert code == 0, "it ended with %s" % code


def main():
    tap = Tap()
    room = Room(sys.argv[1], sys.argv[sys.argv.index("--standin") + 1])
    for test in (cold, warm, throttled, too_fast, worn, faults, stuck, locked, emulator, no_graphs):
        tap.run(test.__name__.replace("_", " "), test, room)
    tap.run("the daemon ends", lambda: ended(room.daemon.close()))
    room.standin.close()
    return tap.end()


sys.exit(main())
