"""What the tests of skill/evaluate share: a daemon, a scripted model, a skill, TAP."""
import ctypes, json, os, shutil, signal, subprocess, sys, tempfile, time, urllib.request
import scratch

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "models", "fake_model.py")
KEY = "sk-test-0123456789abcdef0123456789abcdef"


def with_us():
    """A child that ends with this process, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Model:
    """fake_model.py on a port of its own."""

    def __init__(self, rules=None, models=None, vectors=None):
        argv = [sys.executable, MODEL]
        self.script = None
        if rules or models is not None or vectors:
            handle, self.script = tempfile.mkstemp(suffix=".json")
            with os.fdopen(handle, "w") as f:
                json.dump({"rules": rules or [], "models": models, "vectors": vectors or []}, f)
            argv += ["--script", self.script]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, preexec_fn=with_us)
        self.port = int(self.process.stdout.readline())
        self.base = "http://127.0.0.1:%d" % self.port
        self.url = self.base + "/v1"

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=10) as answer:
            return json.load(answer)

    def stats(self):
        return self.get("/stats")

    def post(self, path, body=None):
        data = json.dumps(body).encode()
        urllib.request.urlopen(urllib.request.Request(self.base + path, data, method="POST"), timeout=10).read()

    def reset(self):
        self.post("/reset")

    def student(self, behaviour, name="s"):
        return {"name": name, "api": "openai", "base_url": self.url, "model": "%s:%s" % (name, behaviour)}

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if self.script:
            os.unlink(self.script)


class Daemon:
    """A daemon in a home of its own; give `home` to start another one in the same."""

    def __init__(self, program, home=None, config="", env=None, before=None):
        self.own = home is None
        self.home = home or scratch.folder("evaluate-")
        os.makedirs(self.home + "/config/upskilld", exist_ok=True)
        os.makedirs(self.home + "/work", exist_ok=True)
        with open(self.home + "/config/upskilld/config.yaml", "w") as f:
            f.write(config)
        keep = ("PATH", "LANG", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
        clean = {k: v for k, v in os.environ.items() if k in keep}
        clean.update(HOME=self.home, XDG_STATE_HOME=self.home + "/state", XDG_CONFIG_HOME=self.home + "/config",
                     XDG_CACHE_HOME=self.home + "/cache")
        clean.update(env or {})
        self.errors = open(self.home + "/stderr", "ab")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, cwd=self.home + "/work", env=clean, preexec_fn=before)
        self.last, self.notes, self.answers = 0, [], {}

    def send(self, method, params):
        self.last += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.last

    def receive(self, number):
        while number not in self.answers:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the daemon closed its output: " + open(self.home + "/stderr").read()[-2000:])
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
            else:
                self.notes.append(message)
        return self.answers.pop(number)

    def ask(self, method, params=None):
        return self.receive(self.send(method, params or {}))

    def start(self, **params):
        """A job's id."""
        answer = self.ask("skill/evaluate", params)
        assert "result" in answer, answer
        return answer["result"]["job"]

    def evaluate(self, **params):
        """The result itself, or the error object."""
        answer = self.ask("skill/evaluate", dict(params, wait=True))
        return answer.get("result", answer.get("error"))

    def close(self):
        code = None
        if self.process.poll() is None:
            self.process.stdin.close()
            code = self.process.wait(20)
        self.process.stdout.close()
        self.errors.close()
        with open(self.home + "/stderr", errors="replace") as f:
            self.said = f.read()[-4000:]
        if self.own:
            shutil.rmtree(self.home, ignore_errors=True)
        return code


def make_skill(daemon, name="words", word="marigold", lines=40, meta=None):
    """A skill whose text holds the word, some 400 tokens long; returns its path."""
    folder = "%s/work/skills/%s" % (daemon.home, name)
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/SKILL.md", "w") as f:
        f.write("---\nname: %s\ndescription: Says the word that answers need.\n---\n# The word\n\n" % name)
        f.write("The word is %s.\n\n" % word)
        f.write("".join("%d. Say it plainly and say it once, whoever asks.\n" % i for i in range(lines)))
    if meta is not None:
        with open(folder + "/skill_meta.json", "w") as f:
            json.dump(meta, f)
    return folder


def make_tests(count, expected="correct", **more):
    return [dict({"id": "q%02d" % i, "input": "Question number %d: what is it?" % i,
                  "expected": {"contains": [expected]}}, **more) for i in range(count)]


class Tap:
    def __init__(self):
        self.number, self.failed = 0, 0

    def run(self, name, function, *args):
        self.number += 1
        try:
            note = function(*args)
            print("ok %d - %s%s" % (self.number, name, " # " + note if note else ""), flush=True)
        except Exception as problem:  # noqa: BLE001: a test that breaks is a failed one
            self.failed += 1
            print("not ok %d - %s" % (self.number, name), flush=True)
            import traceback
            for line in traceback.format_exc().splitlines():
                print("# " + line, flush=True)

    def end(self):
        print("1..%d" % self.number)
        return 1 if self.failed else 0


def arm(student, name):
    return next(a for a in student["arms"] if a["name"] == name)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen in %d s" % seconds)


def check_shape(result):
    """The members of skill/evaluate's result."""
    assert set(result) >= {"verdict", "sentence", "students", "provenance", "run", "marks"}, result
    assert set(result["provenance"]) >= {"skill_digest", "tests_digest", "models", "started", "ended", "cache_hits",
                                         "requests"}
    for student in result["students"]:
        assert set(student) >= {"model", "verdict", "lift", "arms", "tests", "injection", "activation"}
        assert set(student["lift"]) >= {"estimate", "low", "high", "method", "p", "n_tests", "smallest_detectable",
                                        "more_tests_needed"}
        for one in student["arms"]:
            assert set(one) >= {"name", "tests", "runs", "passed", "errored", "refused", "pass_rate", "low", "high",
                                "assertions_passed", "assertions_total", "tokens", "cost"}
            assert set(one["tokens"]) == {"input", "output", "total"}
        for test in student["tests"]:
            assert all(set(p) >= {"run", "baseline", "skill"} for p in test["pairs"])
