#!/usr/bin/env python3
"""What the verdict says of students whose worth is known, over many generated suites.

usage: bench_students.py BUILD_FOLDER [SUITES [SEED]]      (100 and 1 by default)
Each suite comes from a session in which 8 to 12 of the mistakes below were made and mended, with names drawn by lot, or
from 7 of the traces of tests/unit/skills/data/traces/lessons. skill/generate makes skill and tests of it without a model;
then skill/evaluate asks two students, two runs each:
  knows    answers with the true fix, with and without the skill, in its own words and form; one answer in ten is noise
  heeds    without the skill repeats the mistake; with it, writes down what the skill says of the error that it was asked
What they know is written here (or stands in the trace), not taken from the tests. Prints how often each got which
verdict: "knows" is not to get "helps" in more than 5 of 100, "heeds" is to get it in at least 80 of 100. Nothing is asserted.
"""
import collections, http.server, json, os, random, re, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from evaluate_support import Daemon
from sessions import Session

BUILD = os.path.abspath(sys.argv[1])
SUITES = int(sys.argv[2]) if len(sys.argv) > 2 else 100
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
TRACES = os.path.join(HERE, "../unit/skills/data/traces/lessons")
NAMES = "tile scan relu norm queue batch codec index router ledger parser cache mixer shard lexer probe".split()

# (the command, what it says, how it is to be written)
COMMANDS = [
    ("nvcc -arch=sm_90 -c {a}.cu", "ptxas error : Instruction 'wgmma.fence' not supported on .target 'sm_90'", "nvcc -arch=sm_90a -c {a}.cu"),
    ("gcc -O2 {a}.o -o {a}", "{a}.o: undefined reference to `deflateInit_' (libz)", "gcc -O2 {a}.o -o {a} -lz"),
    ("cargo build --features tls", "error: the package '{a}' does not contain this feature: tls; available: rustls", "cargo build --features rustls"),
    ("python train_{a}.py --device=gpu", "ValueError: unknown device gpu: expected cpu or cuda", "python train_{a}.py --device=cuda"),
    ("docker build -t {a} .", "ERROR: no match for platform linux/arm64 in the manifest", "docker build --platform=linux/amd64 -t {a} ."),
    ("npm install {a}-ui", "npm error ERESOLVE could not resolve peer react@17: retry with --legacy-peer-deps", "npm install {a}-ui --legacy-peer-deps"),
    ("mypy src/{a}", "error: Source file found twice under different module names; use --explicit-package-bases", "mypy --explicit-package-bases src/{a}"),
    ("helm upgrade {a} ./chart", "Error: UPGRADE FAILED: \"{a}\" has no deployed releases, --install was not given", "helm upgrade --install {a} ./chart"),
    ("javac {a}.java", "error: records are not supported in -source 11; enable preview", "javac --release 21 {a}.java --enable-preview"),
    ("python tools/{a}.py", "bash: python: command not found", "python3 tools/{a}.py"),
    ("pytest tests/{a}", "bash: pytest: command not found", "python -m pytest tests/{a}"),
    ("go test ./{a}/...", "cannot find module providing package: -mod=vendor is set by go.mod", "go test -mod=mod ./{a}/..."),
]
# (the command, what it says, what is to be run first, the same in other words)
FIRST = [
    ("pytest tests/{a}.py", "ModuleNotFoundError: No module named 'httpx'", "pip install httpx", "pip install -U httpx"),
    ("cmake -B build-{a}", "CMake Error: Could NOT find ZLIB (missing: ZLIB_LIBRARY)", "apt-get install -y zlib1g-dev", "sudo apt-get install zlib1g-dev"),
    ("make {a}", "fatal error: openssl/ssl.h: No such file or directory", "apt-get install -y libssl-dev openssl", "apt-get install libssl-dev openssl"),
    ("npm run build-{a}", "error TS7016: could not find a declaration file for module 'lodash'", "npm install --save-dev @types/lodash", "npm i -D @types/lodash && npm install"),
    ("python manage.py {a}", "django.db.utils.OperationalError: no such table: {a}_rows", "alembic upgrade {a}_rows", "alembic upgrade {a}_rows"),
    ("cargo test -p {a}", "error: the wasm32-unknown-unknown target is not installed", "rustup target add wasm32-unknown-unknown", "rustup target add wasm32-unknown-unknown"),
]
# (the command, what it says, file, the line at fault, the line as it must be)
EDITS = [
    ("nvcc -c {a}.cu", "{a}.cu(12): error: identifier \"blockidx\" is undefined", "{a}.cu", "int {b} = blockidx.x * 128;", "int {b} = blockIdx.x * 128;"),
    ("python {a}.py", "AttributeError: module 'numpy' has no attribute 'float' in {a}.py", "{a}.py", "{b} = np.zeros(n, np.float)", "{b} = np.zeros(n, np.float64)"),
    ("pytest test_{a}.py", "{a}.py:9: ImportError: cannot import name 'Mapping' from 'collections'", "{a}.py", "from collections import Mapping", "from collections.abc import Mapping"),
    ("g++ -c {a}.cpp", "{a}.cpp:3: error: 'vector' is not a member of 'std'", "{a}.cpp", "#include <{b}.h>", "#include <{b}.h>\n#include <vector>"),
    ("python -m {a}", "{a}.py: TypeError: load() missing 1 required positional argument: 'Loader'", "{a}.py", "{b} = yaml.load(f)", "{b} = yaml.safe_load(f)"),
    ("kubectl diff -f {a}.yaml", "error: no matches for kind \"Ingress\" in version \"extensions/v1beta1\" ({a}.yaml)", "{a}.yaml", "apiVersion: extensions/v1beta1", "apiVersion: networking.k8s.io/v1"),
    ("cargo check -p {a}", "error[E0382]: borrow of moved value: `{b}` --> {a}.rs:20", "{a}.rs", "    push({b});", "    push({b}.clone());"),
    ("go vet ./{a}", "vet: {a}.go:31: error: result of fmt.Sprintf call is not used", "{a}.go", "\tfmt.Sprintf(\"%d\", {b})", "\tfmt.Println({b})"),
    ("tsc -p {a}", "{a}.ts(4,2): error TS2339: Property 'flat' does not exist on type: change your lib", "{a}.ts", "{b}.flat()", "([] as any[]).concat(...{b})"),
    ("terraform validate {a}", "Error: Unsupported argument \"acl\" on {a}.tf line 4", "{a}.tf", "  acl = \"private\" # {b}", "  object_ownership = \"BucketOwnerEnforced\" # {b}"),
    ("python -m build {a}", "error: invalid pyproject: `project.licence` must not exist ({a}.toml)", "{a}.toml", "licence = \"{b}\"", "license = \"{b}\""),
    ("ninja {a}", "{a}.c:7: error: implicit declaration of function 'strndup'", "{a}.c", "char *{b} = strndup(s, n);", "char *{b} = xstrndup(s, n);"),
    ("node {a}.mjs", "file:///{a}.mjs:2\nReferenceError: require is not defined in ES module scope, you can use import instead", "{a}.mjs", "const {b} = require('./{b}');", "import {b} from './{b}.js';"),
    ("psql -f {a}.sql", "{a}.sql: ERROR: column \"{b}\" contains null values", "{a}.sql", "alter table t alter {b} set not null;", "update t set {b} = 0 where {b} is null;\nalter table t alter {b} set not null;"),
]


class Truth:
    """One mistake: the error, what who makes it writes, and what is right, as several would say it."""

    def __init__(self, error, wrong, rights):
        self.error, self.wrong, self.rights = error, wrong, rights


def play(session, kind, mistake, named):
    """Into the session; returns its truth."""
    text = [part.format(**named) for part in mistake]
    command, error = text[:2]
    session.run(command, 1, error + "\n")
    if kind == "command":
        session.run(text[2], 0, "done\n")
        return Truth(error, command, text[2:])
    if kind == "first":
        session.run(text[2], 0, "installed\n")
        session.run(command, 0, "done\n")
        return Truth(error, command, text[2:])
    session.edit(text[2], text[3], text[4])
    session.run(command, 0, "done\n")
    return Truth(error, text[3], text[4:])


def invent(path, rng):
    pool = [("command", m) for m in COMMANDS] + [("first", m) for m in FIRST] + [("edit", m) for m in EDITS]
    session = Session(path)
    session.add("user", {"content": "Bring the %s service up to date." % rng.choice(NAMES)})
    truths = []
    for kind, mistake in rng.sample(pool, rng.randint(8, 12)):
        a, b = rng.sample(NAMES, 2)
        truths.append(play(session, kind, mistake, {"a": a, "b": b}))
    session.file.close()
    return truths


# --- what stands in a trace ---


def strings(value):
    if isinstance(value, str):
        yield value
        if value[:1] == "{":
            try:
                yield from strings(json.loads(value))
            except ValueError:
                pass
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(part)


def texts_of(path):
    text = open(path).read()
    try:
        return [text] if path.endswith(".txt") else list(strings([json.loads(l) for l in text.splitlines()] if path.endswith("l") else json.loads(text)))
    except ValueError:
        return [text]


def borrow(folder, rng):
    """Seven traces copied there, and the truths of expected.json in the words of the traces."""
    traces = [t for t in json.load(open(TRACES + "/expected.json"))["traces"] if t["fixes"]]
    truths, names = [], []
    for trace in rng.sample(traces, 7):
        texts = texts_of(os.path.join(TRACES, trace["file"]))
        names.append(trace["file"])
        with open(os.path.join(TRACES, trace["file"]), "rb") as f, open(os.path.join(folder, trace["file"]), "wb") as to:
            to.write(f.read())
        for fix in trace["fixes"]:
            lines = [line.strip() for text in texts for line in text.splitlines() if fix["change"] in line and len(line) < 300]
            if lines:
                truths.append(Truth(fix["error"], "I would run it again.", sorted(set(lines), key=lambda l: (-lines.count(l), len(l)))[:1]))
    return names, truths


# --- the students ---


def plain(text):
    return re.sub(r"(^|\s)E\s+|\s+", " ", text).strip()


def heed(skill, question):
    """What the skill says below the heading that quotes the error of the question."""
    for section in re.split(r"\n### ", skill)[1:]:
        heading = section.split("\n", 1)[0].strip("` ")
        if plain(heading)[:60] not in plain(question):
            continue
        section = re.split(r"\n## ", section)[0]
        diffs = re.findall(r"```diff\n(.*?)```", section, re.S)
        if "lines" in question and diffs:
            return "\n".join(l[1:] for d in diffs for l in d.splitlines() if l.startswith("+"))
        for pattern in (r"(?:run|write|use)[^\n`]*:?\s*```\w*\n(.*?)\n```", r"(?:first run|write|run|use) `([^`]+)`", r"``+ ?(.*?) ?``+"):
            found = re.findall(pattern, section.split("\n", 1)[1], re.S | re.I)
            if found:
                return found[-1 if pattern[0] != "(" else 0]
    return None


class Students(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    truths, rng, asked, lock = [], random.Random(0), collections.Counter(), threading.Lock()

    def log_message(self, *args):
        pass

    def answer(self, body):
        question = body["messages"][-1]["content"]
        system = "\n".join(m["content"] for m in body["messages"][:-1])
        truth = next((t for t in Students.truths if plain(t.error.split("\n")[-1]) in plain(question)), None)
        with Students.lock:
            chance, form, words = Students.rng.random(), Students.rng.random(), Students.rng.choice(truth.rights) if truth else "I do not know."
        if "knows" in body["model"]:
            words = "I am not sure, perhaps it is the network." if chance < 0.1 else words
            return "```\n%s\n```" % words if form < 0.4 else words
        return heed(system, question) or (truth.wrong if truth else "I do not know.")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.answer(body)
        data = json.dumps({"id": "x", "object": "chat.completion", "model": body["model"], "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(json.dumps(body["messages"])) // 4, "completion_tokens": len(text) // 4 + 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def suite(daemon, server, number, rng):
    """{student: verdict}, tests, and lessons of one suite."""
    work, name = daemon.home + "/work", "suite-%d" % number
    if number % 5 == 4:
        traces, Students.truths = borrow(work, rng)
    else:
        traces, Students.truths = [name + ".jsonl"], invent("%s/%s.jsonl" % (work, name), rng)
    made = daemon.ask("skill/generate", {"traces": traces, "output": "skills/" + name, "name": name, "wait": True})
    if "result" not in made or made["result"].get("outcome") == "nothing":
        return {}, 0, 0, made.get("error", {}).get("message", "nothing")
    tests = json.load(open("%s/skills/%s/skill_meta.json" % (work, name)))["tests"]
    verdicts, problem = {}, None
    for who in ("knows", "heeds"):
        result = daemon.evaluate(path="skills/" + name, runs=2, students=[
            {"name": who, "api": "openai", "base_url": "http://127.0.0.1:%d/v1" % server.server_address[1], "model": "%s-%d" % (who, number)}])
        if "students" not in result:
            problem = result.get("message", str(result)[:200])
            continue
        verdicts[who] = result["students"][0]
    return verdicts, len(tests), len({t.get("lesson", t["id"]) for t in tests}), problem


def verdict_of(student):
    verdict = student.get("verdict")
    return verdict.get("verdict", str(verdict)) if isinstance(verdict, dict) else str(verdict)


def main():
    rng = random.Random(SEED)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Students)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    daemon = Daemon(BUILD + "/daemon/upskilld")
    counts, sizes, problems = collections.defaultdict(collections.Counter), [], collections.Counter()
    for number in range(SUITES):
        verdicts, tests, lessons, problem = suite(daemon, server, number, rng)
        sizes.append((tests, lessons))
        problems[problem] += problem is not None
        for who in ("knows", "heeds"):
            counts[who][verdict_of(verdicts[who]) if who in verdicts else "not evaluated"] += 1
    daemon.close()
    server.shutdown()
    print("%d suites, seed %d: %.1f tests of %.1f lessons each; fewest lessons %d" % (
        SUITES, SEED, sum(t for t, _ in sizes) / SUITES, sum(l for _, l in sizes) / SUITES, min(l for _, l in sizes)))
    for who in ("knows", "heeds"):
        print("%-8s %s" % (who, ", ".join("%s %d" % item for item in counts[who].most_common())))
    for problem, count in problems.items():
        if problem:
            print("not evaluated %d times: %s" % (count, problem))


if __name__ == "__main__":
    main()
