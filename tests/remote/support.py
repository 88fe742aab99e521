"""What the tests of workers elsewhere share: a daemon with a configuration, and results that are counted."""
import json, os, select, shutil, signal, subprocess, sys, tempfile, time

BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.getcwd()
DAEMON, CTL, WORKER = (os.path.join(BUILD, p) for p in
                       ("daemon/upskilld", "clients/ctl/upskillctl", "gpu/upskilld-worker"))
SILENCE_S = 300
KERNEL = "__global__ void scale(float *x, unsigned n) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; " \
         "if (i < n) x[i] = x[i] * 2.0f + %d.0f; }\n"
SPEC = {"sizes": [{"n": 1000}], "launch": {"grid": ["(n + 255) / 256"], "block": [256]},
        "args": [{"name": "x", "type": "float32", "shape": ["n"], "init": {"uniform": [0, 1]}, "output": True},
                 {"name": "n", "type": "uint32", "value": "n"}],
        "expect": {"expression": {"x": "x[i] * 2 + 3"}}, "wait": True}
counter = [0]


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def source():
    """A kernel that no cache has seen."""
    counter[0] += 1
    return KERNEL % (counter[0] * 1000 + os.getpid() % 1000)


def compiler_env():
    env = {k: os.environ[k] for k in ("CUDA_HOME", "UPSKILLD_CUDA") if k in os.environ}
    env["XDG_DATA_HOME"] = os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
    return env


class Daemon:
    """upskilld with a configuration of its own; asked one thing or several at a time."""

    def __init__(self, config, env=None, daemon=DAEMON):
        self.home = tempfile.mkdtemp(prefix="upskilld-remote-")
        with open(self.home + "/config.yaml", "w") as f:
            json.dump(config, f)
        path = os.environ.get("PATH", "/usr/bin:/bin")
        full = dict({"PATH": path, "HOME": self.home, "XDG_STATE_HOME": self.home, "UPSKILLD_WORKER": WORKER},
                    **compiler_env(), **(env or {}))
        self.log = open(self.home + "/stderr", "w")
        self.process = subprocess.Popen([daemon, "--config", self.home + "/config.yaml", "--log-level", "debug"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        cwd=self.home, env=full, bufsize=0)
        self.rest, self.answers, self.next = b"", {}, 0

    def send(self, method, params=None):
        self.next += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.next, "method": method,
                                             "params": params or {}}).encode() + b"\n")
        return self.next

    def receive(self, number):
        while number not in self.answers:
            while b"\n" not in self.rest:
                assert select.select([self.process.stdout], [], [], SILENCE_S)[0], "no answer"
                piece = os.read(self.process.stdout.fileno(), 1 << 16)
                assert piece, "the daemon ended: " + self.stderr()[-2000:]
                self.rest += piece
            line, self.rest = self.rest.split(b"\n", 1)
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
        return self.answers.pop(number)

    def ask(self, method, params=None):
        return self.receive(self.send(method, params))

    def check(self):
        answer = self.ask("kernel/check", {"source": source()})
        assert answer.get("result", {}).get("ok"), answer
        return answer["result"]

    def failure(self):
        answer = self.ask("kernel/check", {"source": source()})
        assert "error" in answer, answer
        return answer["error"]["message"]

    def validate(self, **more):
        return self.ask("kernel/validate", dict(SPEC, source=KERNEL % 3, **more))

    def workers(self):
        return {w["name"]: w for w in self.ask("daemon/status")["result"]["kernels"]["workers"]}

    def until(self, done, what):
        return until(lambda: done(self.workers()), what)

    def stderr(self):
        with open(self.home + "/stderr") as f:
            return f.read()

    def end(self, number=None):
        """By the end of its input, or by a signal; the seconds it took."""
        start = time.time()
        if number is None:
            self.process.stdin.close()
        else:
            self.process.send_signal(number)
        self.process.wait(60)
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)
        return time.time() - start


def until(done, what, seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        value = done()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("never: " + what)


def processes(word):
    """Pids whose command line holds the word, this process and its parents apart."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if word.encode() in f.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def median_ms(times):
    return 1000 * sorted(times)[len(times) // 2]


def timed(do):
    start = time.time()
    do()
    return time.time() - start


def run_tests(tests):
    """Each a function; its doc string is what it shows. A failure does not stop the others."""
    failed = 0
    for test in tests:
        start = time.time()
        try:
            test()
            print("ok      %s (%.1f s)" % (test.__doc__.strip().rstrip("."), time.time() - start), flush=True)
        except Exception as e:  # noqa: BLE001: the rest shall run
            failed += 1
            import traceback
            print("FAILED  %s: %s" % (test.__doc__.strip(), e), flush=True)
            traceback.print_exc(limit=-3)
    return failed
