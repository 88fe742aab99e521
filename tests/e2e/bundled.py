#!/usr/bin/env python3
"""The bundled skills keep their word: each CUDA block compiles alone for the H100 without a
warning or a spill and computes on the emulator what it should, each build.toml is a valid one,
links lead somewhere, and the texts are short enough to be read.

usage: bundled.py UPSKILLD FOLDER [ANSWERS] [--compile-only | --all]   (TAP on standard output)
FOLDER holds the bundled skills, ANSWERS a good answer to each of their tests: the CUDA code of
those that must compile does. With --compile-only no kernel is run; with --all each is with more
inputs, and with the faults that tests/kernels/bundled puts into it, which must be told.
"""
import json, os, re, subprocess, sys, tempfile

import bundled_runs

RUNS = "--compile-only" not in sys.argv
SKILL_TOKENS, REFERENCE_TOKENS, CATALOGUE_TOKENS = 700, 2500, 120
FENCE = re.compile(r"^```([\w-]*)\n(.*?)^```$", re.M | re.S)
FRONTMATTER = re.compile(r"\A---\n(.*?)^---\n", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BACKENDS = {"cann", "cpu", "cuda", "metal", "neuron", "rocm", "tpu", "xpu"}
# kernel-builder's edition 5, as far as these files use it.
KEYS = {"general": ({"name", "version", "edition", "license", "backends"},
                    {"upstream", "source", "kernel-depends", "python-depends", "hub", "cuda"}),
        "hub": (set(), {"repo-id", "branch"}),
        "cuda": (set(), {"minver", "maxver", "kernel-depends", "python-depends"}),
        "torch": (set(), {"src", "include", "minver", "maxver", "pyext", "stable-abi", "cxx-flags"}),
        "kernel": ({"backend", "depends", "src"},
                   {"include", "cxx-flags", "cuda-capabilities", "cuda-flags", "cuda-minver"})}


class Daemon:
    def __init__(self, program, root):
        self.state = tempfile.TemporaryDirectory(prefix="bundled-")
        env = dict(os.environ, XDG_STATE_HOME=self.state.name, XDG_CONFIG_HOME=self.state.name)
        self.process = subprocess.Popen([program, "--root", root], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, cwd=self.state.name, env=env)
        self.last = 0

    def call(self, method, **params):
        self.last += 1
        request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the daemon ended during %s" % method)
            answer = json.loads(line)
            if answer.get("id") == self.last and "method" not in answer:
                return answer

    def close(self):
        self.process.stdin.close()
        return self.process.wait(10)


class Tap:
    def __init__(self):
        self.number = 0

    def result(self, name, problems):
        self.number += 1
        print("%s %d - %s" % ("not ok" if problems else "ok", self.number, name), flush=True)
        for problem in problems:
            print("# %s: %s" % (name, problem), file=sys.stderr, flush=True)

    def skip(self, name, why):
        self.number += 1
        print("ok %d - %s # SKIP %s" % (self.number, name, why), flush=True)


def tokens(text):
    """The class sum: what the words, numbers, signs and line ends of a text cost."""
    words = re.findall(r"[A-Za-z]+", text)
    groups = sum(-(-len(digits) // 3) for digits in re.findall(r"[0-9]+", text))
    signs = len(re.findall(r"[!-/:-@\[-`{-~]", text))
    ends = len(re.findall(r"\s*\n\s*", text))
    return (1.055 * len(words) + 0.540 * sum(-(-len(w) // 7) - 1 for w in words) + 2.07 * groups
            + 0.359 * signs + 1.365 * ends + 2.12 * sum(c > "\x7f" for c in text))


def all_blocks(text):
    """(line of the first line inside, language, text) of each fenced block."""
    for found in FENCE.finditer(text):
        yield text.count("\n", 0, found.start(2)) + 1, found.group(1), found.group(2)


def build_toml_problems(text):
    import tomllib
    try:
        project = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        return [str(why)]
    sections = [("general", project.get("general", {})), ("torch", project.get("torch", {}))]
    sections += [(name, project["general"][name]) for name in ("hub", "cuda")
                 if name in project.get("general", {})]
    sections += [("kernel", kernel) for kernel in project.get("kernel", {}).values()]
    problems = ["section [%s]" % name for name in set(project) - {"general", "torch", "kernel"}]
    for name, section in sections:
        needed, known = KEYS[name]
        problems += ["[%s] lacks %s" % (name, key) for key in sorted(needed - set(section))]
        problems += ["[%s] has %s" % (name, key) for key in sorted(set(section) - needed - known)]
    general = project.get("general", {})
    if not re.fullmatch(r"[a-z][-a-z0-9]*[a-z0-9]", str(general.get("name", ""))):
        problems.append("name %r" % general.get("name"))
    if general.get("edition") != 5 or type(general.get("version")) is not int:
        problems.append("edition or version")
    problems += ["backend %s" % b for b in set(general.get("backends", [])) - BACKENDS]
    return problems if project.get("kernel") else problems + ["no kernel"]


def scalar(text):
    return json.loads(text) if text.startswith('"') else text


def frontmatter_problems(text, folder):
    found = FRONTMATTER.match(text)
    if not found:
        return ["no frontmatter"]
    fields = {}
    for line in found.group(1).splitlines():
        if not line.startswith(" "):
            key, _, value = line.partition(": ") if ": " in line else (line.rstrip(":"), "", "")
            fields[key] = scalar(value)
            if ": " in value and not value.startswith('"'):
                return ["%s is no plain YAML scalar" % key]
    problems = ["field %s" % key for key in set(fields) - {
        "name", "description", "license", "compatibility", "metadata", "allowed-tools"}]
    name, description = fields.get("name", ""), fields.get("description", "")
    if name != folder or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 64:
        problems.append("name %r in folder %r" % (name, folder))
    if not 1 <= len(description) <= 1024 or re.search(r"[<>]", description):
        problems.append("description of %d characters" % len(description))
    if len(fields.get("compatibility", "x")) not in range(1, 501):
        problems.append("compatibility")
    if tokens(name + description) > CATALOGUE_TOKENS:
        problems.append("catalogue entry of %d tokens" % tokens(name + description))
    return problems


def link_problems(text, path, skill):
    prose = FENCE.sub("", text)
    for target in LINK.findall(prose):
        if re.match(r"[a-z]+:", target):
            continue
        where = os.path.normpath(os.path.join(os.path.dirname(path), target.split("#")[0]))
        if not (where + os.sep).startswith(skill + os.sep):
            yield "link %s leaves the skill" % target
        elif not os.path.isfile(where):
            yield "link %s leads nowhere" % target


def evals_problems(path, name):
    with open(path, encoding="utf-8") as f:
        suite = json.load(f)
    if suite.get("skill_name") != name:
        yield "skill_name %r" % suite.get("skill_name")
    cases = suite.get("evals", [])
    if len(cases) < 8:
        yield "only %d evals" % len(cases)
    if len({case.get("id") for case in cases}) != len(cases):
        yield "ids repeat"
    for case in cases:
        if not (case.get("prompt") and case.get("expected_output") and case.get("expectations")
                and isinstance(case.get("files"), list)):
            yield "eval %s is not complete" % case.get("id")


def check_block(daemon, tap, name, text, arch="sm_90a"):
    answer = daemon.call("kernel/check", source=text, name="block.cu", arch=arch)
    if not refused(tap, name, answer.get("error")):
        tap.result(name, compile_problems(answer["result"]))


def refused(tap, name, error):
    """Was there no answer? Then that is the result."""
    if error and error.get("data", {}).get("reason") == "no_compiler":
        tap.skip(name, "no CUDA compiler")
    elif error:
        tap.result(name, [error["message"]])
    return bool(error)


def compile_problems(result):
    """What is wrong in an answer of kernel/check, or in that part of one of kernel/validate."""
    problems = ["%(line)s: %(severity)s: %(message)s" % dict({"line": 0}, **d)
                for d in result["diagnostics"] if d["severity"] != "info"]
    if not result["ok"]:
        problems.append("not ok")
    if not result["kernels"]:
        problems.append("no kernel")
    for kernel in result["kernels"]:
        problems += ["%s: %s %d" % (kernel["name"], key, kernel[key])
                     for key in ("spill_store_bytes", "spill_load_bytes", "stack_bytes") if kernel[key]]
    return problems


def run_block(daemon, tap, name, text, known, everything):
    """Compiles a block and runs its kernels, `known` being what is expected of each."""
    kernels = bundled_runs.kernels_of(text)
    compiled = False
    for kernel in kernels:
        for i, spec in enumerate(known.get(kernel, {}).get("checks", [])):
            result = bundled_runs.validate(daemon, kernel, text, spec, 3 if everything else 1)
            if not compiled and "check" not in result and refused(tap, name + " compiles", result.get("error")):
                return
            if not compiled:
                tap.result(name + " compiles", compile_problems(result["check"]))
                compiled = True
            tap.result("%s %s is right (%d)" % (name, kernel, i + 1), list(bundled_runs.problems(result)))
        for fault in known.get(kernel, {}).get("faults", []) if everything else []:
            tap.result("%s %s: %s" % (name, kernel, " ".join((fault["put"] or "no " + fault["find"]).split()).replace("#", "")),
                       bundled_runs.fault_problems(daemon, kernel, text, known[kernel], fault))
    if not compiled:
        check_block(daemon, tap, name + " compiles", text)


def run_spec(daemon, tap, name, skill, spec):
    """A check spec as a text shows it, of a kernel that some text of the skill has."""
    texts = [os.path.join(at, f) for at, _, files in os.walk(skill) for f in files if f.endswith(".md")]
    found = []
    for path in texts:
        with open(path, encoding="utf-8") as f:
            found += [block for _, _, block in all_blocks(f.read()) if spec["kernel"] in bundled_runs.kernels_of(block)]
    if len(found) != 1:
        return tap.result(name, ["%d blocks have %s" % (len(found), spec["kernel"])])
    result = bundled_runs.validate(daemon, spec["kernel"], found[0], spec, 1)
    if not refused(tap, name, result.get("error") if "check" not in result else None):
        tap.result(name, list(bundled_runs.problems(result)))


def check_text(daemon, tap, skill, short, text):
    """The blocks of one text."""
    known = bundled_runs.load(short)
    tap.result("%s: something is expected of each kernel" % short,
               list(bundled_runs.gaps([block for _, _, block in all_blocks(text)], known)))
    for line, language, block in all_blocks(text):
        name = "%s:%d" % (short, line)
        if language == "toml":
            tap.result(name + " build.toml", build_toml_problems(block))
        elif language in ("cuda", "cu") and RUNS:
            run_block(daemon, tap, name, block, known, "--all" in sys.argv)
        elif language in ("cuda", "cu"):
            check_block(daemon, tap, name + " compiles", block)
        elif bundled_runs.kernels_of(block):
            tap.result(name, ["a kernel in a block of %r" % language])
        elif language == "json" and RUNS and '"args"' in block:
            run_spec(daemon, tap, name + " is a check that its kernel passes", skill, json.loads(block))


def check_skill(daemon, tap, root, folder):
    skill = os.path.join(root, folder)
    paths = sorted(os.path.join(at, f) for at, _, files in os.walk(skill) for f in files
                   if f.endswith(".md"))
    with open(os.path.join(skill, "SKILL.md"), encoding="utf-8") as f:
        main = f.read()
    tap.result("%s: frontmatter" % folder, frontmatter_problems(main, folder))
    linked = {os.path.normpath(os.path.join(skill, target.split("#")[0])) for target in LINK.findall(main)}
    tap.result("%s: SKILL.md leads to every reference" % folder,
               [p for p in paths if p not in linked and os.path.basename(p) != "SKILL.md"])
    for path in paths:
        short = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        limit = SKILL_TOKENS if path.endswith("SKILL.md") else REFERENCE_TOKENS
        tap.result("%s: at most %d tokens" % (short, limit),
                   ["%d" % tokens(text)] if tokens(text) > limit else [])
        tap.result("%s: links" % short, list(link_problems(text, path, skill)))
        if len(re.findall(r"^```", text, re.M)) % 2:
            tap.result("%s: fences are closed" % short, ["one is open"])
        check_text(daemon, tap, skill, short, text)
    tap.result("%s: evals" % folder,
               list(evals_problems(os.path.join(skill, "evals", "evals.json"), folder)))
    check_by_daemon(daemon, tap, skill, folder)


def check_answers(daemon, tap, skill, answers):
    with open(os.path.join(skill, "skill_meta.json"), encoding="utf-8") as f:
        tests = json.load(f)["tests"]
    for test in tests:
        wanted = test["expected"].get("kernel_compiles")
        if wanted:
            with open(os.path.join(answers, test["id"] + ".md"), encoding="utf-8") as f:
                text = [block for _, language, block in all_blocks(f.read()) if language == "cuda"][-1]
            check_block(daemon, tap, "%s: the good answer compiles" % test["id"], text,
                        wanted.get("arch", "sm_90a"))


def check_by_daemon(daemon, tap, skill, folder):
    """What skill/check says, in its strictest mode."""
    methods = {m["name"] for m in daemon.call("rpc.discover")["result"]["methods"]}
    if "skill/check" not in methods:
        return tap.skip("%s: skill/check" % folder, "this daemon has no skill/check")
    answer = daemon.call("skill/check", path=skill, strict=True)
    if "error" in answer:
        return tap.result("%s: skill/check" % folder, [answer["error"]["message"]])
    tap.result("%s: skill/check" % folder,
               ["%s:%s: %s %s: %s" % (f.get("file"), f.get("line"), f["severity"], f["code"], f["message"])
                for f in answer["result"]["findings"] if f["severity"] != "info"])


def main():
    root = os.path.abspath(sys.argv[2])
    answers = [a for a in sys.argv[3:] if not a.startswith("--")]
    daemon, tap = Daemon(os.path.abspath(sys.argv[1]), root), Tap()
    for folder in sorted(os.listdir(root)):
        if os.path.isdir(os.path.join(root, folder)):
            check_skill(daemon, tap, root, folder)
            if answers and os.path.exists(os.path.join(root, folder, "skill_meta.json")):
                check_answers(daemon, tap, os.path.join(root, folder), answers[0])
    tap.result("each text that something is expected of is there",
               [path for path in bundled_runs.paths() if not os.path.exists(os.path.join(root, path))])
    tap.result("the daemon ends with status 0", ["it did not"] if daemon.close() else [])
    print("1..%d" % tap.number)


if __name__ == "__main__":
    main()
