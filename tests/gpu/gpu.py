#!/usr/bin/env python3
"""What only a GPU can show: kernels on a real device through upskilld, and what that costs.

usage: gpu.py BUILD_FOLDER [--standin] [--few] [--results FOLDER]   (TAP on standard output)

Exit status 77 where there is no device of compute capability 9.0. The figures of a run are kept as
results/DATE-DEVICE.json and printed as a table. --standin: a dry run on the stand-in of libcuda, whose figures mean
nothing and are kept nowhere but in --results; --few: a few checks of each section.
"""
import datetime, json, os, re, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), HERE]

import honesty, validate_cuda, validate_cuda_faults as faults  # noqa: E402: found by the line above
from standin import StandIn  # noqa: E402
from validate_support import Daemon, Tap, ask_all, corpus, params_of, short  # noqa: E402

VECTOR_ADD = ('extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {\n'
              "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; } // %s\n")


def add_job(n, words="", **more):
    def buffer(name, **rest):
        return dict({"name": name, "type": "float32", "shape": ["n"]}, **rest)
    return dict({"source": VECTOR_ADD % words, "sizes": {"n": n}, "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]},
                 "args": [buffer("c", output=True), buffer("a", init={"normal": [0, 1]}), buffer("b", init={"normal": [0, 1]}),
                          {"name": "n", "type": "int32", "value": "n"}],
                 "expect": {"expression": {"c": "a[i] + b[i]"}}, "trials": 1}, **more)


class Bench:
    def __init__(self, build, dry, few):
        self.build, self.dry, self.few, self.tap, self.figures = build, dry, few, Tap(), {}
        self.standin = StandIn(build + "/tests/cuda/libcuda-standin.so") if dry else None
        self.start()

    def start(self):
        self.daemon = Daemon(self.build + "/daemon/upskilld", env=self.standin.env if self.dry else {})

    def ask(self, params):
        answer = self.daemon.ask("kernel/validate", params)
        assert "result" in answer, answer
        assert answer["result"]["backend"]["kind"] == "cuda", answer["result"]["backend"]
        return answer["result"]

    def set(self, conf):
        if self.dry:
            self.standin.set(conf)

    # --- golden results ---

    def corpus(self):
        counts = {"pass": 0, "fail": 0, "not told": 0}

        def judge(check, result):
            assert result.get("backend", {}).get("kind") == "cuda", short(result)
            if self.dry and (result.get("error") or {}).get("code") == "CUDA_ERROR_NOT_SUPPORTED":
                return "the stand-in cannot"
            codes, wanted = validate_cuda.codes(result), set(check.get("codes", ()))
            if wanted and wanted <= validate_cuda.EMULATOR_ONLY and not codes & wanted:
                counts["not told"] += 1
                return "a device tells nothing of " + " ".join(sorted(wanted))
            good = {"unsupported": "pass"}.get(check.get("verdict"), check.get("verdict", "pass"))
            assert result["verdict"] == good, short(result)
            assert not wanted or codes & wanted, short(result)
            counts[good] += 1

        with open(HERE + "/checks.json") as f:
            own = [("gpu: " + c["name"], HERE + "/kernels/" + c["source"], c) for c in json.load(f)["checks"]]
        chosen = own + ([c for c in corpus() if c[0].startswith(("01_", "13_", "36_"))] if self.few else list(corpus()))

        def told(check, answer):
            self.tap.run(check[0], lambda: judge(check[2], answer.get("result", answer)))
        ask_all(self.daemon, ((c, params_of(c[1], c[2])) for c in chosen), told)
        self.figures["corpus"] = counts

    def honesty(self):
        def told(key, answer):
            cheat = key[1] == "cheat"
            self.tap.run("%s: %s" % key, honesty.judge_cheat if cheat else honesty.judge_honest, *([key[0]] if cheat else []), answer)
        tricks = list(honesty.TRICKS)[::8 if self.few else 1]
        ask_all(self.daemon, (((n, w), honesty.params_of(n, w)) for n in tricks for w in ("cheat", "honest")), told)

    # --- time ---

    def speed(self):
        """A kernel that was never seen, from the request to the result."""
        self.ask(add_job(1 << 16, "first"))
        took = []
        for k in range(3 if self.few else 15):
            began = time.monotonic()
            result = self.ask(add_job(1 << 16, "new %d" % k))
            took.append((time.monotonic() - began) * 1000)
            assert result["verdict"] == "pass", short(result)
        self.figures["vector_add_ms"] = {"median": round(statistics.median(took), 1), "min": round(min(took), 1), "max": round(max(took), 1)}
        assert self.dry or statistics.median(took) < 300, took
        return "median %.0f ms of %d" % (statistics.median(took), len(took))

    def timing(self):
        """The same kernel timed by kernel/validate and by a graph of 100 launches."""
        n = 1 << 12 if self.dry else 1 << 24
        self.set("launch_us 50\nl2 65536\n")
        result = self.ask(add_job(n, "timed", benchmark={"samples": 20 if self.few else 100, "cache": "warm"}))
        graph = json.loads(subprocess.run([sys.executable, HERE + "/graph_time.py", VECTOR_ADD % "timed", str(n)] +
                                          ([self.standin.path] if self.dry else []), check=True, stdout=subprocess.PIPE, timeout=120).stdout)
        self.set("")
        ours, theirs = result["timing"]["median_us"], graph["median_us"]
        self.figures["timing_us"] = {"validate": ours, "graph_of_100": theirs, "ratio": round(ours / theirs, 4), "timing": result["timing"]}
        assert abs(ours / theirs - 1) < 0.03, self.figures["timing_us"]
        return "%.2f us, in a graph %.2f us" % (ours, theirs)

    # --- what is left behind ---

    def hung(self):
        job = dict(add_job(256, timeout_s=2), source=(VECTOR_ADD % "").replace("if (i", "while (*(volatile const float *)a > -1e30f); if (i"))
        self.ask(add_job(256))
        began = time.monotonic()
        result = self.ask(job)
        took = time.monotonic() - began
        self.figures["hung_s"] = {"limit": 2, "answered": round(took, 2)}
        assert result["verdict"] == "timeout" and took < 60, (took, short(result))
        began = time.monotonic()
        after = self.ask(add_job(256))
        self.figures["hung_s"]["next"] = round(time.monotonic() - began, 2)
        assert after["verdict"] == "pass", short(after)
        return "limit 2 s, answered after %.2f s, the next in %.2f s" % (took, self.figures["hung_s"]["next"])

    def many(self):
        """Kernels that pass, fault, trap and end badly, one after the other."""
        bodies = ["c[i] = a[i] + b[i]", "c[i + (1ll << 36)] = 1", "__trap()", "c[i] = 0", "*(float *)((char *)c + 1) = a[i]"]
        jobs = [dict(add_job(1000), source=(VECTOR_ADD % k).replace("c[i] = a[i] + b[i]", body)) for k, body in enumerate(bodies)]
        count = 10 if self.few else 200
        room = faults.Room.__new__(faults.Room)
        room.daemon = self.daemon
        for job in jobs * 2:
            self.ask(job)
        room.worker = [p for p in faults.children(self.daemon.process.pid) if b"worker" in faults.name(p)][0]
        before = faults.settled(room)
        verdicts = [self.ask(jobs[k % len(jobs)])["verdict"] for k in range(count)]
        left = faults.left_behind(room, before)
        after = faults.state(room)
        assert set(verdicts) == {"pass", "fail"} and verdicts[::len(jobs)] == ["pass"] * len(verdicts[::len(jobs)]), verdicts
        grown = [b - a for a, b in zip(before[2], after[2])]
        self.figures["many"] = {"validations": count, "descriptors": after[1], "grown_kb": grown}
        assert left is None, left
        assert max(grown) < 8192 or faults.sanitized(room.worker), grown
        return "%d validations: descriptors %s, grown by %s KiB" % (count, after[1], grown)

    def end(self):
        code = self.daemon.close()
        assert code == 0, code

    def device(self):
        return self.ask(add_job(256))["backend"]


def real_device():
    """The first device's name where it is of compute capability 9.0: asked in another process, which ends."""
    program = ("import ctypes; l = ctypes.CDLL('libcuda.so.1'); i = ctypes.c_int; m, d, n = i(), i(), ctypes.create_string_buffer(99)\n"
               "assert l.cuInit(0) == 0 and l.cuDeviceGet(ctypes.byref(d), 0) == 0 and l.cuDeviceGetName(n, 99, d) == 0\n"
               "assert l.cuDeviceGetAttribute(ctypes.byref(m), 75, d) == 0 and m.value == 9; print(n.value.decode())")
    found = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def table(figures, indent=""):
    for key, value in figures.items():
        if isinstance(value, dict):
            print("# %s%s" % (indent, key))
            table(value, indent + "  ")
        else:
            print("# %s%-*s %s" % (indent, 24 - len(indent), key, value))


def main():
    build, dry, few = os.path.abspath(sys.argv[1]), "--standin" in sys.argv, "--few" in sys.argv
    results = sys.argv[sys.argv.index("--results") + 1] if "--results" in sys.argv else None if dry else HERE + "/results"
    if not dry and not real_device():
        print("1..0 # SKIP no GPU of compute capability 9.0")
        return 77
    bench = Bench(build, dry, few)
    bench.figures["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
    bench.tap.run("there is a device", lambda: bench.figures.update(device=bench.device()))
    bench.corpus()
    bench.honesty()
    for section in (bench.speed, bench.timing, bench.hung, bench.many):
        bench.tap.run(section.__doc__.split("\n")[0] if section.__doc__ else "a kernel that never ends", section)
    bench.tap.run("the daemon ends", bench.end)
    if bench.standin:
        bench.standin.close()
    table(bench.figures)
    if results:
        name = re.sub(r"[^A-Za-z0-9]+", "-", str((bench.figures.get("device") or {}).get("device")))[:60]
        os.makedirs(results, exist_ok=True)
        with open("%s/%s-%s.json" % (results, bench.figures["date"][:10], name), "w") as f:
            json.dump(bench.figures, f, indent=1)
            f.write("\n")
    return bench.tap.end()


if __name__ == "__main__":
    sys.exit(main())
