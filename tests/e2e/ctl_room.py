"""What tests of upskillctl share: a folder with two kernels, both programs, TAP."""
import json, os, re, shutil, subprocess, sys
import scratch

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(os.path.dirname(HERE), "kernels", "demo")
KERNEL = "__global__ void k(int *x) { *x = 1; }\n"
BROKEN = "__global__ void k(int *x) {\n  *x = y;\n}\n"


class Room:
    """A folder with two kernels, and both programs."""

    def __init__(self, ctl, daemon, need_compiler):
        self.ctl, self.number, self.bad, self.need_compiler = ctl, 0, 0, need_compiler
        self.dir = scratch.folder("ctl-")
        self.env = dict(os.environ, UPSKILLD=daemon, XDG_STATE_HOME=self.dir + "/state",
                        XDG_CONFIG_HOME=self.dir + "/config",
                        XDG_CACHE_HOME=self.dir + "/cache", TERM="xterm-256color")
        for name in ("rms_norm.cu", "rms_norm_broken.cu"):
            shutil.copy(os.path.join(DEMO, name), self.dir)
        self.write("good.cu", KERNEL)
        self.write("bad.cu", BROKEN)
        self.compiler = True

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def run(self, *words, stdin="", env=None, cwd=None):
        done = subprocess.run([self.ctl, *words], input=stdin.encode("utf-8", "surrogateescape"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=90,
                              cwd=cwd or self.dir, env=dict(self.env, **(env or {})))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test(self, name, function):
        self.number += 1
        if function in self.need_compiler and not self.compiler:
            print("ok %d - %s # SKIP no CUDA compiler" % (self.number, name))
            return
        try:
            function(self)
            print("ok %d - %s" % (self.number, name), flush=True)
        except (AssertionError, subprocess.TimeoutExpired, ValueError, KeyError) as why:
            self.bad += 1
            print("not ok %d - %s" % (self.number, name), flush=True)
            print("# %s: %s: %s" % (name, type(why).__name__, why), file=sys.stderr, flush=True)


def same(got, expected):
    assert got == expected, "got %r, not %r" % (got, expected)


def holds(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.S), "no %r in %r" % (pattern, text[:2000])


def plain(text):
    assert "\x1b" not in text, "an escape code in %r" % text[:500]
    assert "\r" not in text, "a carriage return in %r" % text[:500]


def play(tests, need_compiler=()):
    """Each test gets the room; those in need_compiler are skipped where there is none. The exit status."""
    room = Room(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), need_compiler)
    status = json.loads(room.run("--json", "status")[1])
    room.compiler = bool(status["kernels"]["toolkits"])
    print("1..%d" % len(tests))
    try:
        for function in tests:
            room.test(function.__name__.replace("_", " "), function)
    finally:
        shutil.rmtree(room.dir, ignore_errors=True)
    return 1 if room.bad else 0
