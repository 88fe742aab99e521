"""What the tests of kernel/validate share: the corpus, and requests several at a time."""
import glob, json, os, select

import evaluate_support
from evaluate_support import Tap  # noqa: F401: for those who import this

KERNELS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels"))
CORPUS = os.path.join(KERNELS, "validate")
IN_FLIGHT = 4
DRAW = int(os.environ.get("TEST_DRAW", "1"))  # which share is taken of what is too much for one run


SILENCE_S = 240  # longer than any check here runs, also under sanitizers


class Daemon(evaluate_support.Daemon):
    """With the compiler that this user has, and an end to waiting."""

    def __init__(self, program, **more):
        env = {k: os.environ[k] for k in ("CUDA_HOME", "UPSKILLD_CUDA") if k in os.environ}
        env["XDG_DATA_HOME"] = os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
        super().__init__(program, env=dict(env, **more.pop("env", {})), **more)
        self.rest = b""

    def receive(self, number, seconds=SILENCE_S):
        while number not in self.answers:
            while b"\n" not in self.rest:
                assert select.select([self.process.stdout], [], [], seconds)[0], "no answer in %d s" % seconds
                piece = os.read(self.process.stdout.fileno(), 1 << 16)
                assert piece, "the daemon closed its output: " + open(self.home + "/stderr").read()[-2000:]
                self.rest += piece
            line, self.rest = self.rest.split(b"\n", 1)
            message = json.loads(line)
            assert message.get("id", 0) is not None, message
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
            else:
                self.notes.append(message)
        return self.answers.pop(number)


def corpus():
    """(label, source's path, check) of every check spec."""
    for path in sorted(glob.glob(CORPUS + "/*.json")):
        with open(path) as f:
            content = json.load(f)
        if "checks" in content:
            source = os.path.normpath(os.path.join(CORPUS, content["source"]))
            for check in content["checks"]:
                yield "%s: %s" % (os.path.basename(source), check["name"]), source, check


def params_of(source, check, **more):
    with open(source) as f:
        return dict(check["spec"], source=f.read(), **more)


def ask_all(daemon, requests, done):
    """Sends every params of `requests` (an iterable of (key, params)), some at a time; done(key, answer)."""
    waiting = []
    for key, params in requests:
        waiting.append((key, daemon.send("kernel/validate", params)))
        if len(waiting) == IN_FLIGHT:
            key, number = waiting.pop(0)
            done(key, daemon.receive(number))
    for key, number in waiting:
        done(key, daemon.receive(number))


def short(result):
    """A failed validation in a few lines."""
    if "verdict" not in result:
        return json.dumps(result)[:600]
    wrong = [o for c in result.get("cases", []) for o in c.get("outputs", []) if o.get("mismatches")][:2]
    return json.dumps({"verdict": result["verdict"], "error": result.get("error"), "unsupported": result.get("unsupported"),
                       "findings": result.get("findings", [])[:3],
                       "outputs": [{k: o.get(k) for k in ("name", "elements", "mismatches", "first_mismatch")} for o in wrong],
                       "diagnostics": [d.get("message") for d in result.get("check", {}).get("diagnostics", [])
                                       if d.get("severity") == "error"][:3]})[:1800]
