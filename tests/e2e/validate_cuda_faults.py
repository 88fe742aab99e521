#!/usr/bin/env python3
"""A CUDA driver that fails, crashes, hangs or floods: each validation has a named end in bounded time, and the next is fine.

usage: validate_cuda_faults.py UPSKILLD --standin libcuda-standin.so [--all|--few]   (TAP on standard output)

The driver is the stand-in (tests/cuda), which does to each of its functions what the test says. By default each function
fails once and few crash or hang; with --all in every way, and 200 validations in a row instead of 30; with --few only every third function fails.
"""
import json, os, re, sys, time

from standin import StandIn
from validate_support import Daemon, Tap, short

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "gpu", "driver", "cuda_functions.def")
with open(TABLE) as table:
    FUNCTIONS = {s: needed == "true" for s, needed in re.findall(r"^CUDA_FUNCTION\(\w+, (\w+), (true|false),", table.read(), re.M)}
CODES = {2: "OUT_OF_MEMORY", 999: "UNKNOWN", 719: "LAUNCH_FAILED", 12345: "12345"}
# Called when the result is known already, or for what can be done without.
AFTERWARDS = {"cuModuleUnload", "cuMemFree_v2", "cuStreamDestroy_v2", "cuEventDestroy_v2", "cuDevicePrimaryCtxRelease_v2", "cuMemGetInfo_v2",
              "cuCtxSetLimit", "cuDevicePrimaryCtxSetFlags_v2", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuDeviceGetPCIBusId",
              "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async", "cuDriverGetVersion"}
TIMING = {"cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime", "cuStreamQuery", "cuMemsetD32Async"}
OFTEN_S = 180  # no answer may take so long on any machine; what it took is printed

SOURCE = 'extern "C" __global__ void k(float *y, const float *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i] + 1; }'
JOB = {"source": SOURCE, "launch": {"grid": ["ceil_div(n, 64)"], "block": [64]}, "sizes": [{"n": 100}], "trials": 1, "timeout_s": 60,
       "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True},
                {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}}, {"name": "n", "type": "int32", "value": "n"}],
       "expect": {"expression": {"y": "x[i] + 1"}}}
TIMED = dict(JOB, benchmark={"samples": 3})
WITH_GLOBAL = dict(JOB, source="__device__ float one;" + SOURCE.replace("+ 1", "+ one"),
                   globals={"one": {"type": "float32", "shape": [1], "init": {"fill": 1}}})
QUICK = "launch_us 20000\nl2 65536\n"  # so that few launches warm a device up


class Room:
    def __init__(self, program, library):
        self.standin = StandIn(library)
        self.daemon = Daemon(program, env=self.standin.env)
        self.worker = None

    def ask(self, conf, job=JOB):
        """The result, and how long it took in seconds."""
        self.standin.set(conf)
        began = time.monotonic()
        answer = self.daemon.ask("kernel/validate", job)
        took = time.monotonic() - began
        assert took < OFTEN_S, "%.1f s" % took
        assert "result" in answer, answer
        return answer["result"], took

    def fine(self):
        """A plain job passes, on the device, by the worker that was there before."""
        result, _ = self.ask("")
        assert result["verdict"] == "pass" and result["backend"]["kind"] == "cuda" and "fallback" not in result["backend"], short(result)
        workers = [p for p in children(self.daemon.process.pid) if b"worker" in name(p)]
        assert len(workers) == 1, workers
        self.worker = self.worker or workers[0]
        assert self.worker == workers[0], "another worker"

    def close(self):
        code = self.daemon.close()
        self.standin.close()
        assert code == 0, "it ended with %s" % code


def name(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().split(b"\0")[0]
    except OSError:
        return b""


def children(pid):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit():
                with open("/proc/%s/stat" % entry) as f:
                    if int(f.read().rsplit(")", 1)[1].split()[1]) == pid:
                        found.append(int(entry))
        except OSError:
            pass
    return found


def tree(pid):
    return sum((tree(p) for p in children(pid)), []) + [pid]


def words_of(result):
    return json.dumps([result.get("error"), result.get("findings"), result.get("backend"), result.get("timing"), result.get("repeat_check")])


def check_failure(room, function, nth, code):
    result, _ = room.ask(QUICK + "fail %s %s %d\n" % (function, nth, code), job_for(function))
    named = "CUDA_ERROR_" + CODES[code] in words_of(result)
    if function in TIMING and code != 719 and result["backend"]["kind"] == "cuda" and nth == "1" and function != "cuStreamQuery":
        assert result["verdict"] == "pass", "the kernel is told off for the driver: " + words_of(result)
    if result["verdict"] == "pass":
        on_device = result["backend"]["kind"] == "cuda"
        if function == "cuModuleLoadDataEx" and nth == "1":
            return "PTX instead of the cubin"
        assert named or not on_device or nth == "2" or function in AFTERWARDS | TIMING or not FUNCTIONS[function], "nobody says so: " + short(result)
        assert on_device or named, "no reason for the emulator: " + words_of(result)
        return "pass" if on_device else "emulator: " + result["backend"]["fallback"][:80]
    assert result["verdict"] in ("error", "fail", "timeout"), short(result)
    assert named, words_of(result)
    error = result.get("error") or {}
    return "%s: %s %s" % (result["verdict"], error.get("stage", ""), error.get("code", "") or [f["code"] for f in result["findings"]])


def job_for(function):
    if function in TIMING or not FUNCTIONS[function]:
        return TIMED
    return WITH_GLOBAL if function == "cuModuleGetGlobal_v2" else JOB


def check_crash(room, function, how):
    result, took = room.ask(QUICK + "crash %s 1 %s\n" % (function, how), job_for(function))
    if result["verdict"] == "pass" and (not FUNCTIONS[function] or function in AFTERWARDS | TIMING):
        room.fine()
        return "not called"
    assert result["verdict"] == "error", short(result)
    assert result["error"]["code"] == ("runner_failed" if how == "exit" else "runner_died"), result["error"]
    room.fine()
    return "%.2f s: %s" % (took, result["error"]["message"])


def check_hang(room, conf, limit=2):
    result, took = room.ask(conf, dict(JOB, timeout_s=limit))
    assert result["verdict"] == "timeout", short(result)
    assert result["error"]["code"], result
    room.fine()
    return "limit %d s, answered after %.2f s" % (limit, took)


def check_endless(room):
    job = dict(JOB, timeout_s=2, source=SOURCE.replace("if (i < n)", "while (*(volatile const float *)x > -1e30f); if (i < n)"))
    result, took = room.ask("exit_hangs\n", job)
    assert result["verdict"] == "timeout" and result["error"]["code"], short(result)
    room.fine()
    return "limit 2 s, answered after %.2f s: %s" % (took, " ".join(f["code"] for f in result["findings"]))


def check_flood(room, count):
    result, took = room.ask("print 1 %d\n" % count)
    assert result["verdict"] == "pass" and 1000 < len(result["printf"]) < 200000, (short(result), len(result["printf"]))
    room.fine()
    return "%d MB, %d bytes kept, %.1f s" % (count // 1000000, len(result["printf"]), took)


def check_fault(room, code, finding):
    result, _ = room.ask("fault 1 %d\n" % code)
    assert result["verdict"] == "fail" and finding in {f["code"] for f in result["findings"]}, short(result)
    return result["findings"][0]["message"][:90]


def check_foreign(room):
    result, _ = room.ask("fault 1 214\n")
    assert result["verdict"] == "error" and result["error"]["code"] == "CUDA_ERROR_ECC_UNCORRECTABLE", short(result)
    room.fine()


def check_missing(program, library, symbol):
    room = Room(program, library)
    room.standin.without(symbol)
    result, _ = room.ask(QUICK, TIMED)
    if FUNCTIONS[symbol]:
        assert result["backend"]["kind"] == "emulator" and symbol in result["backend"].get("fallback", ""), result["backend"]
    else:
        assert result["verdict"] == "pass" and result["backend"]["kind"] == "cuda", short(result)
    room.close()


def check_machine(program, library, conf, word):
    """A device that cannot be used: the emulator does it, and the result says why."""
    room = Room(program, library)
    result, _ = room.ask(conf)
    assert result["verdict"] == "pass" and result["backend"]["kind"] == "emulator", short(result)
    assert word in result["backend"].get("fallback", ""), result["backend"]
    room.close()
    return result["backend"]["fallback"][:100].replace("#", "")


def memory_kb(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


def sanitized(pid):
    """AddressSanitizer reserves terabytes, and keeps what is freed for a while."""
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmSize:\s+(\d+)", f.read()).group(1)) > 1 << 30


def state(room):
    pids = (room.daemon.process.pid, room.worker)
    return sorted(name(p) for p in tree(pids[0])), [len(os.listdir("/proc/%d/fd" % p)) for p in pids], [memory_kb(p) for p in pids]


def settled(room):
    """The state once it stays: what was killed may take a moment to be gone."""
    seen = []
    for _ in range(300):
        seen = seen[-5:] + [state(room)]
        if len(seen) == 6 and all(s[:2] == seen[0][:2] for s in seen):
            break
        time.sleep(0.05)
    return seen[-1]


def left_behind(room, before):
    """What is there beside the state before, once that stays: None, or words."""
    for _ in range(600):
        now = state(room)
        more = [p for p in set(now[0]) if now[0].count(p) > before[0].count(p)]
        if not more and all(a <= b for a, b in zip(now[1], before[1])):
            return None
        time.sleep(0.05)
    return "processes %s, descriptors %s, were %s" % (more, now[1], before[1])


def check_many(room, count):
    ways = ["", "crash cuLaunchKernelEx 1 segv\n", "fault 1 700\n", "", "crash cuModuleLoadDataEx 1 exit\n", "fail cuMemAlloc_v2 2 2\n", "",
            "crash cuCtxSynchronize 1 kill\n"]
    for k in range(2 * len(ways)):  # what grows at first only
        room.ask(ways[k % len(ways)])
    room.fine()
    before = settled(room)
    verdicts = set()
    for k in range(count):
        verdicts.add(room.ask(ways[k % len(ways)])[0]["verdict"])
    room.fine()
    assert verdicts == {"pass", "error", "fail"}, verdicts
    left = left_behind(room, before)
    assert left is None, left
    after = state(room)
    grown = [b - a for a, b in zip(before[2], after[2])]
    assert max(grown) < 8192 or sanitized(room.worker), "grown by %s KiB" % grown
    return "%d validations: descriptors %s, daemon and worker grown by %s KiB" % (count, after[1], grown)


def main():
    whole = "--all" in sys.argv
    program, library = os.path.abspath(sys.argv[1]), sys.argv[sys.argv.index("--standin") + 1]
    tap, room = Tap(), Room(program, library)
    codes = list(CODES)
    tap.run("before anything", room.fine)
    for k, function in enumerate(FUNCTIONS):
        if "--few" in sys.argv and k % 3:
            continue
        for code in codes if whole else [codes[k % len(codes)]]:
            for nth in ("1", "2", "*") if whole else ["*" if function == "cuModuleLoadDataEx" else "1"]:  # PTX after the cubin
                tap.run("%s, call %s: %d" % (function, nth, code), check_failure, room, function, nth, code)
    tap.run("after all that", room.fine)
    some = ["cuInit", "cuModuleLoadDataEx", "cuLaunchKernelEx", "cuMemcpyDtoHAsync_v2"]
    for k, function in enumerate(FUNCTIONS if whole else some):
        for how in ("segv", "abort", "exit", "kill") if whole else [("segv", "abort", "exit", "kill")[k % 4]]:
            tap.run("%s: %s" % (function, how), check_crash, room, function, how)
    for function in ["cuInit", "cuMemAlloc_v2", "cuModuleLoadDataEx", "cuStreamQuery", "cuCtxSynchronize"] if whole else ["cuMemAlloc_v2"]:
        tap.run("%s hangs" % function, check_hang, room, "hang %s 1\n" % function)
    tap.run("a launch that never ends", check_hang, room, "stuck 1\nexit_hangs\n")
    tap.run("a kernel that never ends", check_endless, room)
    tap.run("a flood of printf", check_flood, room, 10 ** 9 if whole else 10 ** 7)
    for code, finding in ((700, "out_of_bounds"), (716, "misaligned"), (714, "launch_error"), (719, "trap"), (717, "launch_error")):
        tap.run("a kernel ends in %d" % code, check_fault, room, code, finding)
    tap.run("the device's memory fails", check_foreign, room)
    tap.run("many in a row", check_many, room, 200 if whole else 30)
    tap.run("the daemon ends", room.close)
    for symbol in [s for s, needed in FUNCTIONS.items() if not needed or whole] if whole else ["cuFuncGetParamInfo", "cuGraphLaunch", "cuMemAlloc_v2"]:
        tap.run("a driver without %s" % symbol, check_missing, program, library, symbol)
    for conf, word in (("devices 0\n", "NO_DEVICE"), ("capability 8.0\n", "8.0"), ("compute_mode 2\n", "prohibited")):
        tap.run("a machine with: " + conf.strip(), check_machine, program, library, conf, word)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
