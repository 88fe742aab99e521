#!/usr/bin/env python3
"""Every option of every command of upskillctl: what it sends, and that the daemon accepts it.

usage: ctl_options.py UPSKILLCTL UPSKILLD   (TAP on standard output)

In UPSKILLD's place stands a recorder, which answers rpc.discover as the real daemon did and keeps the
parameters of the one request behind it. They must be those of the table below, and fit the operation's
schema: they are sent to the real daemon with one more, unknown name behind them, and it may complain of
that one alone. An option that rpc.discover lists and no line here uses is a failure: a new option gets a
line. What options do is tested where their operations are.
"""
import json, os, shlex, subprocess, sys
import scratch

UNKNOWN = "no_such_parameter"

# A command line behind "upskillctl", and the parameters it must send. {dir} is the folder of the files FILES.
LINES = [
    ("kernel check {dir}/a.cu --arch sm_90 --std c++20 --fast-math --line-info --quick --strict --ptx",
     {"path": "{dir}/a.cu", "arch": "sm_90", "std": "c++20", "fast_math": True, "line_info": True, "quick": True,
      "strict": True, "ptx": True}),
    ("kernel check {dir}/a.cu --no-fast-math --define N=4 --define E --defines M=a,b=c",
     {"path": "{dir}/a.cu", "fast_math": False, "defines": {"N": "4", "E": "1", "M": "a,b=c"}}),
    ("kernel check {dir}/a.cu --include-root {dir} --include-roots {dir}/inc --option -O1 --options=-lineinfo",
     {"path": "{dir}/a.cu", "include_roots": ["{dir}", "{dir}/inc"], "options": ["-O1", "-lineinfo"]}),
    ("kernel check --source 'int x;' --name n.cu --header 'h.h=#define A 1'"
     " --launch block=[16,16],dynamic_shared_bytes=64",
     {"source": "int x;", "name": "n.cu", "headers": {"h.h": "#define A 1"},
      "launch": {"block": [16, 16], "dynamic_shared_bytes": 64}}),
    ("kernel check {dir}/a.cu --launch '{\"block\": 256}'", {"path": "{dir}/a.cu", "launch": {"block": 256}}),

    ("kernel validate {dir}/a.check.yaml --size n=1000 --size rows=33 --seed 7 --trials 2 --timeout-s 9"
     " --instructions 5000 --no-odd-sizes",
     {"path": "{dir}/a.check.yaml", "sizes": {"n": 1000, "rows": 33}, "seed": "7", "trials": 2, "timeout_s": 9,
      "instructions": 5000, "odd_sizes": False}),
    ("kernel validate {dir}/a.check.yaml --sizes '[{\"n\": 1}, {\"n\": 2}]' --expect 'y=2 * x[i]'"
     " --expect 'z={\"fill\": 0}'",
     {"path": "{dir}/a.check.yaml", "sizes": [{"n": 1}, {"n": 2}],
      "expect": {"y": "2 * x[i]", "z": {"fill": 0}}}),
    ("kernel validate --source 'int x;' --name n.cu --kernel k --arch sm_90 --std c++20 --fast-math --option -O1"
     " --define N=4 --header h.h=a --include-root {dir} --launch grid=n/4,block=[4,2],shared_bytes=16",
     {"source": "int x;", "name": "n.cu", "kernel": "k", "arch": "sm_90", "std": "c++20", "fast_math": True,
      "options": ["-O1"], "defines": {"N": "4"}, "headers": {"h.h": "a"}, "include_roots": ["{dir}"],
      "launch": {"grid": "n/4", "block": [4, 2], "shared_bytes": 16}}),
    ("kernel validate {dir}/a.check.yaml --arg '{\"name\": \"x\"}' --arg n --launches '[{\"kernel\": \"k\"}]'"
     " --buffer '{\"name\": \"b\"}' --global 'c={\"type\": \"float32\", \"shape\": [4]}' --globals d=1.5",
     {"path": "{dir}/a.check.yaml", "args": [{"name": "x"}, "n"], "launches": [{"kernel": "k"}],
      "buffers": [{"name": "b"}], "globals": {"c": {"type": "float32", "shape": [4]}, "d": 1.5}}),
    ("kernel validate {dir}/a.check.yaml --tolerance rtol=0.5,atol=1e-3 --compare exact --backend emulator"
     " --device 0 --check race --checks memory --save {dir}/out --roofline flops=2*n,bytes=8",
     {"path": "{dir}/a.check.yaml", "tolerance": {"rtol": 0.5, "atol": 1e-3}, "compare": "exact",
      "backend": "emulator", "device": "0", "checks": ["race", "memory"], "save": "{dir}/out",
      "roofline": {"flops": "2*n", "bytes": 8}}),
    ("kernel validate {dir}/a.check.yaml --benchmark --strict --numerics ideal",
     {"path": "{dir}/a.check.yaml", "benchmark": True, "strict": True, "numerics": "ideal"}),
    ("kernel validate {dir}/a.check.yaml --benchmark samples=9,cache=warm",
     {"path": "{dir}/a.check.yaml", "benchmark": {"samples": 9, "cache": "warm"}}),

    ("kernel init {dir}/a.cu --kernel k --print --force --include-root {dir}",
     {"path": "{dir}/a.cu", "kernel": "k", "print": True, "force": True, "include_roots": ["{dir}"]}),
    ("kernel init --source 'int x;'", {"source": "int x;"}),
    ("kernel init {dir}/a.cu {dir}/inc/b.cu -O3 --define N=4 --file {dir}/a.cu --stdin 'a b' --timeout-s 5 --no-run -- 7 -x",
     {"path": "{dir}/a.cu", "paths": ["{dir}/inc/b.cu"], "options": ["-O3"], "defines": {"N": "4"}, "files": ["{dir}/a.cu"],
      "stdin": "a b", "timeout_s": 5, "run": False, "args": ["7", "-x"]}),

    ("kernel run {dir}/a.cu {dir}/inc/b.cu -O3 --define N=4 --include-root {dir} --file {dir}/a.cu --stdin 'a b'"
     " --check race,memory --strict --run-all-launches --launches 9 --timeout-s 5 --save {dir}/out -- 7 --verbose -x",
     {"path": "{dir}/a.cu", "paths": ["{dir}/inc/b.cu"], "options": ["-O3"], "defines": {"N": "4"},
      "include_roots": ["{dir}"], "files": ["{dir}/a.cu"], "stdin": "a b", "checks": ["race", "memory"], "strict": True,
      "run_all_launches": True, "launches": 9, "timeout_s": 5, "save": "{dir}/out", "args": ["7", "--verbose", "-x"]}),
    ("kernel run --source 'int x;' --arg 3 --args 0.5", {"source": "int x;", "args": ["3", "0.5"]}),
    ("kernel run --source 'int x;' --name n.cu --arg 3 --args '[\"-4\"]'",
     {"source": "int x;", "name": "n.cu", "args": ["-4"]}),

    ("skill find pack a wheel --limit 3 --scopes project,user --scope bundled --model m",
     {"task": "pack a wheel", "limit": 3, "scopes": ["project", "user", "bundled"], "model": "m"}),
    ("skill get --name n --tests", {"name": "n", "tests": True}),
    ("skill get --uri skill://user/n/SKILL.md", {"uri": "skill://user/n/SKILL.md"}),
    ("skill get {dir}/skill", {"path": "{dir}/skill"}),
    ("skill list --scope agent", {"scopes": ["agent"]}),
    ("skill check --text '# x' --strict --suppress '{\"code\": \"a\", \"reason\": \"b\"}'",
     {"text": "# x", "strict": True, "suppress": [{"code": "a", "reason": "b"}]}),
    ("skill check {dir}/skill", {"path": "{dir}/skill"}),
    ("skill install {dir}/skill --agents codex,cursor --agent all --scope user --root {dir} --force --remove"
     " --suppress '{\"code\": \"a\", \"reason\": \"b\"}'",
     {"path": "{dir}/skill", "agents": ["codex", "cursor", "all"], "scope": "user", "root": "{dir}", "force": True,
      "remove": True, "suppress": [{"code": "a", "reason": "b"}]}),
    ("skill install --uri skill://user/n/SKILL.md --agent codex",
     {"uri": "skill://user/n/SKILL.md", "agents": ["codex"]}),
    ("skill install --name n --agent codex", {"name": "n", "agents": ["codex"]}),
    ("skill uninstall --name n --agent codex --scope project --root {dir} --force",
     {"name": "n", "agents": ["codex"], "scope": "project", "root": "{dir}", "force": True}),
    ("skill uninstall {dir}/skill --agent codex", {"path": "{dir}/skill", "agents": ["codex"]}),

    ("run list --dir {dir} --skill s --model m --limit 4", {"dir": "{dir}", "skill": "s", "model": "m", "limit": 4}),
    ("run show latest --dir {dir} --format csv --out {dir}/x.csv",
     {"run": "latest", "dir": "{dir}", "format": "csv", "out": "{dir}/x.csv"}),
    ("run show latest --mark blind --out {dir}/x.html", {"run": "latest", "mark": "blind", "out": "{dir}/x.html"}),
    ("run marks latest {dir}/m.json --dir {dir}", {"run": "latest", "marks": "{dir}/m.json", "dir": "{dir}"}),

    ("skill evaluate {dir}/skill --students a.b,c.d --student e.f --base-url http://127.0.0.1:1/v1 --runs 2"
     " --arms placebo,previous --previous {dir}/old --trace {dir}/t.jsonl --aa --split gate --mode installed",
     {"path": "{dir}/skill", "students": ["a.b", "c.d", "e.f"], "base_url": "http://127.0.0.1:1/v1", "runs": 2,
      "arms": ["placebo", "previous"], "previous": "{dir}/old", "trace": "{dir}/t.jsonl", "aa": True,
      "split": "gate", "mode": "installed"}),
    ("skill evaluate --skill n --tests {dir}/tests.yaml --baseline-from r1 --judge openai.x"
     " --budget tokens=9,cost=0.5,minutes=5 --concurrency 2 --seed 3 --runs-dir {dir} --no-record --fresh",
     {"skill": "n", "tests": "{dir}/tests.yaml", "baseline_from": "r1", "judge": "openai.x",
      "budget": {"tokens": 9, "cost": 0.5, "minutes": 5}, "concurrency": 2, "seed": 3, "runs_dir": "{dir}",
      "record": False, "fresh": True}),

    ("skill trigger {dir}/skill --tests {dir}/tests.yaml --students a.b --base-url http://127.0.0.1:1/v1 --runs 2 --neighbours 4"
     " --rounds 3 --teacher openai.x --save --budget tokens=9 --concurrency 2 --seed 3 --runs-dir {dir} --no-record --fresh",
     {"path": "{dir}/skill", "tests": "{dir}/tests.yaml", "students": ["a.b"], "base_url": "http://127.0.0.1:1/v1", "runs": 2,
      "neighbours": 4, "rounds": 3, "teacher": "openai.x", "save": True, "budget": {"tokens": 9}, "concurrency": 2, "seed": 3,
      "runs_dir": "{dir}", "record": False, "fresh": True}),
    ("skill trigger --skill n --tests {dir}/tests.yaml", {"skill": "n", "tests": "{dir}/tests.yaml"}),

    ("skill generate write tests --example one --examples two --document {dir}/d.md --trace {dir}/t.jsonl"
     " --name n --teacher none --output {dir}/made --install codex --tests 5 --refine",
     {"task": "write tests", "examples": ["one", "two"], "documents": ["{dir}/d.md"], "traces": ["{dir}/t.jsonl"],
      "name": "n", "teacher": "none", "output": "{dir}/made", "install": ["codex"], "tests": 5, "refine": True}),
    ("skill generate --trace {dir}/t.jsonl {dir}/m.json {dir}/d.md --name n --document {dir}/d.md write it down",
     {"traces": ["{dir}/t.jsonl", "{dir}/m.json", "{dir}/d.md"], "name": "n", "documents": ["{dir}/d.md"], "task": "write it down"}),
    ("skill generate {dir}/t.jsonl {dir}/m.json", {"traces": ["{dir}/t.jsonl", "{dir}/m.json"]}),
    ("skill generate tell of {dir}/t.jsonl", {"task": "tell of {dir}/t.jsonl"}),
    ("skill generate --skill {dir}/skill --students a.b --refine rounds=2 --budget minutes=3"
     " --base-url http://127.0.0.1:1 --eval-base-url http://127.0.0.1:2",
     {"skill": "{dir}/skill", "students": ["a.b"], "refine": {"rounds": 2}, "budget": {"minutes": 3},
      "base_url": "http://127.0.0.1:1", "students_url": "http://127.0.0.1:2"}),
    ("skill pack {dir}/skill --out {dir}/a.skill", {"path": "{dir}/skill", "out": "{dir}/a.skill"}),
    ("skill generate --job 0123456789abcdef0123456789abcdef --draft '# x'",
     {"job": "0123456789abcdef0123456789abcdef", "draft": "# x"}),

    ("job status j1 --wait-s 4", {"job": "j1", "wait_s": 4}),
    ("job cancel j1", {"job": "j1"}),
    ("job list --state failed --limit 2", {"state": "failed", "limit": 2}),
    ("daemon status", {}),
]
FILES = ["a.cu", "a.check.yaml", "d.md", "t.jsonl", "tests.yaml", "m.json", "inc/x", "inc/b.cu", "old/SKILL.md", "skill/SKILL.md"]

RECORDER = """#!%s
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "rpc.discover":
        answer = open(%r).read()
    else:
        open(%r, "a").write(json.dumps(asked) + "\\n")
        answer = "{}"
    print('{"jsonrpc":"2.0","id":%%s,"result":%%s}' %% (json.dumps(asked["id"]), answer), flush=True)
"""


class Daemon:
    def __init__(self, program, env):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)

    def ask(self, method, params):
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def filled(value, folder):
    if isinstance(value, str):
        return value.replace("{dir}", folder)
    if isinstance(value, list):
        return [filled(one, folder) for one in value]
    if isinstance(value, dict):
        return {key: filled(one, folder) for key, one in value.items()}
    return value


class Options:
    def __init__(self, ctl, program):
        self.ctl, self.folder = ctl, scratch.folder("ctl-options-")
        for name in FILES:
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()
        self.env = dict(os.environ, **{"XDG_%s_HOME" % kind: self.folder + "/home"
                                       for kind in ("STATE", "CONFIG", "CACHE")})
        self.daemon = Daemon(program, self.env)
        self.discover = self.daemon.ask("rpc.discover", {})["result"]
        self.heard = self.folder + "/heard"
        self.recorder = self.folder + "/recorder"
        with open(self.folder + "/discover", "w") as f:
            json.dump(self.discover, f)
        with open(self.recorder, "w") as f:
            f.write(RECORDER % (sys.executable, self.folder + "/discover", self.heard))
        os.chmod(self.recorder, 0o755)
        self.used = set()

    def sent(self, line):
        """The last request that the command line makes."""
        open(self.heard, "w").close()
        words = shlex.split(line.replace("{dir}", self.folder))
        done = subprocess.run([self.ctl, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(self.env, UPSKILLD=self.recorder), timeout=60)
        with open(self.heard) as f:
            requests = [json.loads(one) for one in f]
        return requests[-1] if requests else {"error": done.stderr.decode()}

    def refusal(self, method, params):
        """What the real daemon says of the parameters; None: nothing."""
        answer = self.daemon.ask(method, {**params, UNKNOWN: 1})
        said = answer.get("error", {}).get("message", json.dumps(answer))
        return None if UNKNOWN in said else said

    def try_line(self, line, expected):
        request = self.sent(line)
        if "error" in request:
            return request["error"]
        method, params = request["method"], request.get("params") or {}
        params.pop("wait", None)  # a person waits for what takes long
        if params != filled(expected, self.folder):
            return "%s was sent %s" % (method, json.dumps(params))
        self.used |= {(method, name) for name in params}
        return self.refusal(method, params)

    def unused(self):
        listed = {(m["name"], p["name"]) for m in self.discover["methods"] for p in m["params"]}
        return sorted("%s %s" % pair for pair in listed - self.used)


def main():
    options, bad = Options(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])), 0
    for number, (line, expected) in enumerate(LINES, 1):
        why = options.try_line(line, expected)
        bad += why is not None
        print("%s %d - %s" % ("not ok" if why else "ok", number, line), flush=True)
        if why:
            print("# %s" % why, file=sys.stderr, flush=True)
    left = options.unused()
    print("%s %d - every option is used by a line" % ("not ok" if left else "ok", len(LINES) + 1))
    if left:
        print("# no line uses: %s" % ", ".join(left), file=sys.stderr)
    options.daemon.close()
    print("1..%d" % (len(LINES) + 1))
    return 1 if bad or left else 0


if __name__ == "__main__":
    sys.exit(main())
