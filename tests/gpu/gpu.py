#!/usr/bin/env python3
"""What only a GPU can show: kernels on a real device through upskilld, and what that costs.

usage: gpu.py BUILD_FOLDER [--standin] [--few] [--results FOLDER]   (TAP on standard output)

Exit status 77, with the reason, where there is no device of compute capability 9.0. At the end one table: the sections
with what passed, failed and was not tried, each with its reason, and the figures. The same, every check and what the
machine is, is kept as results/DATE-TIME-DEVICE.json, also when a section breaks. --standin: a dry run on the stand-in of
libcuda, whose figures mean nothing and are kept nowhere but in --results; --few: a few checks of each section.
"""
import contextlib, datetime, json, os, platform, re, statistics, subprocess, sys, time

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


# Line 5 of this source is the fault's.
SANITIZED_SOURCE = """extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float one = i < n ? a[i] : 0, two = i < n ? b[i] : 0;
    %s
    if (i < n) c[i] = one + two;
}
"""
SANITIZED = [
    ("a read beyond a buffer", "memory", "out_of_bounds", 5, "if (i == n - 1) two += a[n + 3] * 0;"),
    ("a write beyond a buffer", "memory", "out_of_bounds", 5, "if (i == n - 1) c[n + 2] = 1;"),
    ("a read of what nobody wrote", "initialized", "uninitialized", 5, "if (i == 7) two += c[i] > 1e30f ? 1 : 0;"),
    ("a race in shared memory", "race", "race", 5, "s[t] = one; two += s[t ^ 33] > 1e30f ? 1 : 0;"),
    ("a barrier that half a block reaches", "barrier", "barrier_divergence", 5, "if (t < 16) __syncthreads();"),
]


class Told(Tap):
    """TAP that also keeps what it says, by section: nothing that was not tried is left out of the table."""

    def __init__(self):
        super().__init__()
        self.section, self.checks = "", []

    def keep(self, name, outcome, words):
        self.checks.append({"section": self.section, "check": name, "outcome": outcome, "words": words})

    def run(self, name, function, *args):
        kept = []

        def noted():
            kept.append(function(*args))
            return kept[0]
        failed = self.failed
        super().run(name, noted)
        words = str(kept[0] or "") if kept else "see the output"
        self.keep(name, "failed" if self.failed > failed else "not tried" if words.startswith("not tried") else "passed", words)

    def count(self, outcome, section):
        return sum(c["outcome"] == outcome and c["section"] == section for c in self.checks)


class Bench:
    def __init__(self, build, dry, few):
        self.build, self.dry, self.few, self.tap, self.figures = build, dry, few, Told(), {}
        self.standin = StandIn(build + "/tests/cuda/libcuda-standin.so") if dry else None
        self.daemon = self.start(UPSKILLD_SANITIZER="off")

    def start(self, **env):
        return Daemon(self.build + "/daemon/upskilld", env=dict(self.standin.env if self.dry else {}, **env))

    def one(self, name, function, *args):
        """A section of one check."""
        self.tap.section = name
        self.tap.run(name, function, *args)

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
        self.tap.section = "golden results"
        counts = {"pass": 0, "fail": 0, "not told": 0}

        def judge(check, result):
            assert result.get("backend", {}).get("kind") == "cuda", short(result)
            if self.dry and (result.get("error") or {}).get("code") == "CUDA_ERROR_NOT_SUPPORTED":
                return "not tried: the stand-in cannot"
            codes, wanted = validate_cuda.codes(result), set(check.get("codes", ()))
            if wanted and wanted <= validate_cuda.EMULATOR_ONLY and not codes & wanted:
                counts["not told"] += 1
                return "not tried: a device alone tells nothing of " + " ".join(sorted(wanted))
            good = {"unsupported": "pass"}.get(check.get("verdict"), check.get("verdict", "pass"))
            assert result["verdict"] == good, short(result)
            assert not wanted or codes & wanted, short(result)
            counts[good] += 1

        with open(HERE + "/checks.json") as f:
            own = [("gpu: " + c["name"], HERE + "/kernels/" + c["source"], c) for c in json.load(f)["checks"]]
        there = [c for c in corpus() if not c[2].get("emulator_only")]
        chosen = own + ([c for c in there if c[0].startswith(("01_", "13_", "36_"))] if self.few else there)

        def told(check, answer):
            self.tap.run(check[0], lambda: judge(check[2], answer.get("result", answer)))
        ask_all(self.daemon, ((c, params_of(c[1], c[2])) for c in chosen), told)
        self.figures["corpus"] = counts

    def honesty(self):
        self.tap.section = "kernels that cheat"

        def told(key, answer):
            cheat = key[1] == "cheat"
            self.tap.run("%s: %s" % key, honesty.judge_cheat if cheat else honesty.judge_honest, *([key[0]] if cheat else []), answer)
        tricks = list(honesty.TRICKS)[::8 if self.few else 1]
        ask_all(self.daemon, (((n, w), honesty.params_of(n, w)) for n in tricks for w in ("cheat", "honest")), told)

    # --- time ---

    def speed(self):
        """A kernel that was never seen, from the request to the result."""
        began = time.monotonic()
        self.ask(add_job(1 << 16, "first"))
        self.figures["first_ms"] = round((time.monotonic() - began) * 1000, 1)
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

    # --- under compute-sanitizer ---

    def sanitizer(self):
        """Faults that only a tool sees, each by its tool with its line; and what that costs."""
        self.tap.section = "under compute-sanitizer"
        own = {"UPSKILLD_SANITIZER": self.build + "/tests/cuda/sanitizer-standin"} if self.dry else {}
        daemon = self.start(**own)
        try:
            result = daemon.ask("kernel/validate", add_job(1000, "tool"))["result"]
            report = result.get("sanitizer") or {}
            self.figures["sanitizer"] = dict({k: report.get(k) for k in ("version", "path", "absent", "hint", "confinement") if k in report},
                                             tools={t["tool"]: dict(outcome=t["outcome"], ms=t.get("ms"), reason=t.get("reason", ""))
                                                    for t in report.get("tools", ())})
            if report.get("absent"):
                self.tap.run("the tool is there", lambda: "not tried: %s: %s" % (report["absent"], report.get("hint", "")))
                return
            self.tap.run("a right kernel is clean by every tool", self.is_clean, result)
            self.tap.run("its report is remembered", self.is_remembered, daemon)
            for name, check, code, line, body in SANITIZED:
                self.tap.run(name, self.is_found, daemon, check, code, line, body)
        finally:
            self.tap.run("its daemon ends", lambda: self.ended(daemon))

    def is_clean(self, result):
        tools = result["sanitizer"]["tools"]
        assert result["verdict"] == "pass" and len(tools) == 4 and all(t["outcome"] == "clean" for t in tools), result["sanitizer"]
        assert result["sanitizer"]["confinement"] == result["confinement"], result["sanitizer"]
        return " ".join("%s %d ms" % (t["tool"], t["ms"]) for t in tools)

    def is_remembered(self, daemon):
        began = time.monotonic()
        result = daemon.ask("kernel/validate", add_job(1000, "tool"))["result"]
        took = self.figures["sanitizer"]["remembered_ms"] = round((time.monotonic() - began) * 1000, 1)
        assert result["verdict"] == "pass" and result["sanitizer"].get("remembered"), result["sanitizer"]
        return "%.0f ms" % took

    def is_found(self, daemon, check, code, line, body):
        job = dict(add_job(1000, checks=[check]), source=SANITIZED_SOURCE % body)
        result = daemon.ask("kernel/validate", job)["result"]
        tool = result["sanitizer"]["tools"][0]
        if self.dry:
            assert tool["outcome"] == "clean", tool
            return "not tried: the stand-in of the tool looks at nothing"
        found = [f for f in result["findings"] if f["code"] == code]
        assert result["verdict"] == "fail" and found and found[0].get("line") == line and found[0].get("thread"), short(result)
        return "%s, line %d, %d ms" % (tool["tool"], line, tool["ms"])

    # --- what the machine is ---

    def machine(self):
        """Whatever may matter to who reads the figures later; what is not known is said."""
        def words(*command):
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=60)
                return done.stdout.strip() or done.stderr.strip()[:200]
            except (OSError, subprocess.TimeoutExpired) as problem:
                return "not known: %s" % problem
        query = "name,driver_version,uuid,pstate,persistence_mode,compute_mode,ecc.mode.current,mig.mode.current,power.limit," \
                "clocks.max.sm,clocks.max.mem,memory.total"
        smi = words("nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader")
        self.figures["machine"] = {"host": platform.node(), "kernel": platform.release(), "machine": platform.machine(),
                                   "nvidia-smi": dict(zip(query.split(","), smi.split(", "))) if smi.count(",") else smi,
                                   "visible": os.environ.get("CUDA_VISIBLE_DEVICES", "not set"),
                                   "commit": words("git", "-C", HERE, "describe", "--always", "--dirty"),
                                   "dry": self.dry, "few": self.few}

    def device(self):
        result = self.ask(add_job(256))
        assert result["verdict"] == "pass", short(result)
        self.figures["confinement"] = " ".join(result["confinement"])
        self.figures["compiler"] = "%(name)s %(version)s" % result["check"]["compiler"]
        self.figures["device"] = result["backend"]
        return "%s, driver %s, compiled by %s, confined by %s" % (result["backend"]["device"], result["backend"]["driver"],
                                                                  self.figures["compiler"], self.figures["confinement"])

    # --- what is left behind ---

    def hung(self):
        job = dict(add_job(256, timeout_s=2), source=(VECTOR_ADD % "").replace("if (i", "while (*(volatile const float *)a > -1e30f); if (i"))
        self.ask(add_job(256))
        began = time.monotonic()
        result = self.ask(job)
        took = time.monotonic() - began
        self.figures["hung_s"] = {"limit": 2, "answered": round(took, 2)}
        assert result["verdict"] == "timeout" and took < (60 if self.dry else 2 + 2), (took, short(result))
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

    def ended(self, daemon):
        code = daemon.close()
        assert code == 0, code


PROBE = """import ctypes, sys
try:
    l = ctypes.CDLL("libcuda.so.1")
except OSError as problem:
    sys.exit("no driver: %s" % problem)
i, n = ctypes.c_int, ctypes.create_string_buffer(99)
major, minor, d = i(), i(), i()
for what, code in (("cuInit", l.cuInit(0)), ("cuDeviceGet", l.cuDeviceGet(ctypes.byref(d), 0)), ("cuDeviceGetName", l.cuDeviceGetName(n, 99, d)),
                   ("cuDeviceGetAttribute", l.cuDeviceGetAttribute(ctypes.byref(major), 75, d)),
                   ("cuDeviceGetAttribute", l.cuDeviceGetAttribute(ctypes.byref(minor), 76, d))):
    if code:
        sys.exit("the driver says %d to %s" % (code, what))
if major.value != 9:
    sys.exit("%s has compute capability %d.%d" % (n.value.decode(), major.value, minor.value))
"""


def why_not():
    """None where the first device is of compute capability 9.0, else why it is not: asked in a process that ends."""
    try:
        found = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "the driver does not answer within 120 s"
    return None if found.returncode == 0 else (found.stderr.strip().splitlines() or ["status %d" % found.returncode])[-1]


def rows_of(figures, indent=""):
    for key, value in figures.items():
        if isinstance(value, dict):
            yield "%s%s" % (indent, key), ""
            yield from rows_of(value, indent + "  ")
        else:
            yield "%s%s" % (indent, key), value


def table(bench):
    print("#\n# %-28s %8s %8s %10s" % ("section", "passed", "failed", "not tried"))
    sections = list(dict.fromkeys(c["section"] for c in bench.tap.checks))
    for section in sections:
        print("# %-28s %8d %8d %10d" % ((section[:28],) + tuple(bench.tap.count(o, section) for o in ("passed", "failed", "not tried"))))
    reasons = {}
    for c in bench.tap.checks:
        if c["outcome"] == "not tried":
            reasons[(c["section"], c["words"])] = reasons.get((c["section"], c["words"]), 0) + 1
    for (section, words), count in reasons.items():
        print("# not tried, %s (%d): %s" % (section, count, words.replace("not tried: ", "")))
    for c in bench.tap.checks:
        if c["outcome"] == "failed":
            print("# FAILED, %s: %s" % (c["section"], c["check"]))
    print("#")
    for key, value in rows_of({k: v for k, v in bench.figures.items() if k != "checks"}):
        print("# %-28s %s" % (key, value))


def save(bench, folder):
    device = (bench.figures.get("device") or {}).get("device", "no device")
    when = bench.figures["date"].replace(":", "").replace("Z", "")
    os.makedirs(folder, exist_ok=True)
    path = "%s/%s-%s.json" % (folder, when, re.sub(r"[^A-Za-z0-9]+", "-", str(device))[:60])
    bench.figures["checks"] = bench.tap.checks
    with open(path, "w") as f:
        json.dump(bench.figures, f, indent=1)
        f.write("\n")
    print("# kept as %s" % path)


def sections(bench):
    tap = bench.tap
    bench.machine()
    bench.one("there is a device", bench.device)
    bench.corpus()
    bench.honesty()
    bench.one("a new kernel's way", bench.speed)
    bench.one("timing against a graph", bench.timing)
    bench.one("a kernel that never ends", bench.hung)
    bench.one("many, good and bad", bench.many)
    bench.sanitizer()
    tap.section = "the end"
    tap.run("the daemon ends", lambda: bench.ended(bench.daemon))


def main():
    build, dry, few = os.path.abspath(sys.argv[1]), "--standin" in sys.argv, "--few" in sys.argv
    results = sys.argv[sys.argv.index("--results") + 1] if "--results" in sys.argv else None if dry else HERE + "/results"
    lacks = None if dry else why_not()
    if lacks:
        print("1..0 # SKIP no GPU of compute capability 9.0: %s" % lacks)
        return 77
    bench = Bench(build, dry, few)
    bench.figures["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
    try:
        bench.tap.section = "all of it"
        with contextlib.ExitStack() as at_end:
            if bench.standin:
                at_end.callback(bench.standin.close)
            sections(bench)
    except Exception as problem:  # noqa: BLE001: what was measured until then is kept
        def broken(problem=problem):
            raise problem
        bench.tap.run("every section is run", broken)
    finally:
        table(bench)
        if results:
            save(bench, results)
    return bench.tap.end()


if __name__ == "__main__":
    sys.exit(main())
