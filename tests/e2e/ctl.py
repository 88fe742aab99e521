#!/usr/bin/env python3
"""upskillctl as a person and a script use it, with the real daemon.

usage: ctl.py UPSKILLCTL UPSKILLD   (TAP on standard output)
"""
import csv, fcntl, json, os, pty, re, shlex, shutil, signal, struct, subprocess, sys, tempfile, termios, time, unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(os.path.dirname(HERE), "kernels", "demo")
KERNEL = "__global__ void k(int *x) { *x = 1; }\n"
BROKEN = "__global__ void k(int *x) {\n  *x = y;\n}\n"


class Room:
    """A folder with two kernels, and both programs."""

    def __init__(self, ctl, daemon):
        self.ctl, self.number, self.bad = ctl, 0, 0
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ctl-"))
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
        if function in NEED_COMPILER and not self.compiler:
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


# --- checking -------------------------------------------------------------------------------

def a_good_kernel_is_status_0(room):
    code, out, err = room.run("kernel", "check", "rms_norm.cu")
    same((code, err), (0, ""))
    holds(out, r"rms_norm\s+23\s+18", r"\nok: 1 kernel \(sm_90a, nvrtc")
    plain(out)


def a_broken_kernel_is_status_1(room):
    code, out, err = room.run("kernel", "check", "rms_norm_broken.cu")
    same((code, err), (1, ""))
    holds(out, r"rms_norm_broken\.cu:14:5: error: .*__syncthread", r"\n *14 \|.*\n *\| +\^~+",
          r"fix: .*__syncthreads", r"not ok: \d+ errors")
    plain(out)


def strict_makes_warnings_fail(room):
    room.write("warned.cu", "__global__ void k(float *x) { int unused; x[threadIdx.x] = 1.f; }\n")
    code, out, _ = room.run("kernel", "check", "warned.cu")
    same(code, 0)
    holds(out, r"ok.*1 warning")
    code, out, _ = room.run("kernel", "check", "--strict", "warned.cu")
    same(code, 1)
    holds(out, r"not ok: 1 warning \(strict makes warnings fail\)")
    code, out, _ = room.run("kernel", "check", "--strict", "good.cu")
    same(code, 0)


def the_source_line_and_caret_agree(room):
    _, out, _ = room.run("kernel", "check", "bad.cu")
    lines = out.split("\n")
    at = [i for i, line in enumerate(lines) if "bad.cu:2:8: error" in line]
    assert at, lines
    at = at[0]
    same(lines[at + 1].index("y;"), lines[at + 2].index("^"))


def what_cannot_be_asked_is_status_2(room):
    for words, message in ((["kernel", "check", "nothing.cu"], r"nothing\.cu.*No such file"),
                           (["kernel", "check", "goood.cu"], r"No such file.*\nhint: did you mean good\.cu\?\n$"),
                           (["kernel", "validate", "./goof.cu"], r"No such file.*\nhint: did you mean \./good\.cu\?\n$"),
                           (["kernel", "check", "x.check.json"], r"is JSON and no CUDA source\nhint: a check spec"),
                           (["kernel", "check"], r"hint: upskillctl kernel check FILE \[options\]"),
                           (["skill", "find"], r"TASK is missing\nhint: upskillctl skill find TASK"),
                           (["skill", "install"], r"NAME\|FOLDER is missing\nhint: upskillctl skill install"),
                           (["skill", "install", "x"], r'missing parameter "agents"\nhint: upskillctl skill install NAME\|FOLDER --agents'),
                           (["eval", "h100-cuda-kernels", "-m", "codex"], r"codex is an agent, no model.*installed"),
                           (["kernel", "validate", "good.cu", "bad.cu"], r"unexpected argument"),
                           (["kernel", "check", "--bogus", "good.cu"], r"--bogus.*no such option"),
                           (["kernel", "check", "good.cu", "--arch"], r"--arch.*value"),
                           (["kernel", "check", "good.cu", "--arch", "sm_20"], r"sm_20.*known are"),
                           (["kernel", "check", "good.cu", "--options=-include=/etc/passwd"], r"not allowed"),
                           (["skill", "check", ".", "--suppress", "code=why"],
                            r"--suppress code=why: JSON is needed: --suppress '{\"code\": \"…\", \"reason\": \"…\"}'"),
                           (["frobnicate"], r"no command \"frobnicate\""),
                           (["kernel", "frobnicate"], r"no command \"kernel frobnicate\""),
                           (["job", "status", "x"], r"job"),
                           (["job", "status", "0" * 32], r"no job"),
                           (["skill", "find", "--limt", "1", "x"], r"--limt: no such option; did you mean --limit\?"),
                           (["kernel", "check", "good.cu", "--launch", '{"block": [128}'], r"--launch: this is not JSON.*column"),
                           (["skil", "find", "x"], r"hint: did you mean upskillctl skill find\?"),
                           (["skill", "find", "-q", "x"], r"-q: no such option; put -- before a word that begins with -"),
                           (["generate", "x", "--no-eval"], r"--no-eval.*nothing is measured unless --students"),
                           (["eval", "x", "-m"], r"-m: a value is needed"),
                           (["generate", "x", "-m", "nobody"], r"\"nobody\" is not a model"),
                           (["stauts"], r"did you mean upskillctl status\?"),
                           (["validate", "good.cu"], r"did you mean upskillctl kernel validate\?"),
                           (["skill", "find"], r"hint: upskillctl skill find TASK…"),
                           (["skill", "get", "nope"], r"hint: upskillctl skill find .*; upskillctl skill list "),
                           (["run", "show", "latest"], r"no evaluation is on record.*upskillctl skill evaluate makes"),
                           (["--log"], r"--log"),
                           (["call"], r"call METHOD"),
                           (["call", "kernel/check", "{\"source\":"], r"not JSON")):
        code, out, err = room.run(*words)
        same((words, code, out), (words, 2, ""))
        holds(err, message)
        plain(err)


def no_command_shows_the_usage(room):
    code, out, _ = room.run()
    same(code, 2)
    holds(out, r"^usage: upskillctl")


def json_is_the_raw_result(room):
    """--json prints exactly what the daemon answers to the same request."""
    code, out, err = room.run("--json", "kernel", "check", "good.cu")
    same((code, err, out.count("\n")), (0, "", 1))
    request = json.dumps({"id": 1, "method": "kernel/check", "params": {"path": "good.cu"}})
    daemon = subprocess.Popen([room.env["UPSKILLD"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              cwd=room.dir, env=room.env)
    daemon.stdin.write(request.encode() + b"\n")
    daemon.stdin.flush()
    raw = json.loads(daemon.stdout.readline())["result"]
    daemon.communicate(timeout=10)
    asked = json.loads(out)
    same(list(asked), list(raw))
    for result in (asked, raw):
        del result["compile_ms"]
    same(asked, raw)


def json_keeps_the_exit_status(room):
    code, out, _ = room.run("kernel", "check", "--json", "bad.cu")
    same((code, json.loads(out)["ok"]), (1, False))
    code, out, _ = room.run("kernel", "check", "--json", "nothing.cu")
    same((code, json.loads(out)["data"]["reason"]), (2, "no_file"))


def a_check_says_what_it_looked_at(room):
    """The verdict names what was not compiled or not looked at, and the exit status agrees."""
    for source, status, words in (
            (KERNEL, 0, r"^ok: 1 kernel \("),
            (KERNEL + "int q = ;\n", 0, r"^device code ok: 1 kernel; host code not looked at \("),
            ("template <class T> __global__ void t(T *x) { *x = 1; }\n", 1, r"^nothing was compiled: the kernel template t is not instantiated \("),
            ("__device__ int f() { return 1; }\n", 1, r"^nothing was compiled: no kernel here uses the device code \("),
            ("int main() { return 0; }\n", 0, r"^there is no device code, so nothing was compiled; host code not looked at \(")):
        code, out, _ = room.run("kernel", "check", "-", stdin=source)
        same((source, code), (source, status))
        holds(out, "(?m)" + words)
        code, out, _ = room.run("--json", "kernel", "check", "-", stdin=source)
        same((source, code, json.loads(out)["ok"]), (source, status, not status))


def a_dash_reads_standard_input(room):
    code, out, _ = room.run("kernel", "check", "-", stdin=KERNEL)
    same(code, 0)
    holds(out, r"\nk +1 ")
    code, out, _ = room.run("kernel", "check", "-", stdin="// \udcff\udcfe\n" + BROKEN)
    same(code, 1)
    holds(out, r"stdin\.cu:3:8: error: identifier \"y\" is undefined", r"\*x = y;")
    code, out, _ = room.run("kernel", "check", "-", stdin="")
    same(code, 0)


def options_reach_the_daemon(room):
    code, out, _ = room.run("--json", "kernel", "check", "good.cu", "--launch", "block=96",
                            "--arch=sm_80", "--defines", "A=1", "--defines", "B", "--line-info",
                            "--options=-maxrregcount=32")
    result = json.loads(out)
    same((code, result["arch"]), (0, "sm_80"))
    same([o["block_threads"] for o in result["kernels"][0]["occupancy"]], [96])
    room.write("needs.cu", "#include \"far.h\"\n__global__ void k(int *x) { *x = FAR + WORD; }\n")
    room.write("inc/far.h", "#define FAR 1\n")
    code, out, _ = room.run("kernel", "check", "needs.cu", "--include-roots", "inc", "--defines", "WORD=2")
    same(code, 0)


def a_named_file_may_lie_anywhere(room):
    """What a person names is granted; its neighbours are found."""
    other = os.path.join(room.dir, "elsewhere")
    os.makedirs(other, exist_ok=True)
    room.write("far/k.cu", "#include \"h.h\"\n__global__ void k(int *x) { *x = H; }\n")
    room.write("far/h.h", "#define H 1\n")
    for path in (os.path.join(room.dir, "far/k.cu"), "../far/k.cu"):
        code, out, err = room.run("kernel", "check", path, cwd=other)
        same((code, err), (0, ""))


def a_reader_that_leaves_is_no_crash(room):
    reader = subprocess.Popen(["head", "-c1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    done = subprocess.run([room.ctl, "kernel", "check", "rms_norm.cu"], stdout=reader.stdin,
                          stderr=subprocess.PIPE, cwd=room.dir, env=room.env, timeout=90)
    reader.stdin.close()
    reader.wait()
    assert done.returncode in (0, 2, -13), done.returncode


def lost_output_is_status_2(room):
    """Nobody may take an answer that was cut short for the whole one."""
    for words in (["skill", "list", "--json"], ["--help"], ["--version"], ["completion", "bash"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([room.ctl, *words], stdout=full, stderr=subprocess.PIPE, cwd=room.dir,
                                  env=room.env, timeout=90)
        same((words, done.returncode), (words, 2))
        holds(done.stderr.decode(), r"^error: standard output: .*could be written.*No space left")
    with open(os.path.join(room.dir, "short"), "wb") as short:  # 1 KiB of a longer page
        done = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$0" completion bash', room.ctl], stdout=short,
                              stderr=subprocess.PIPE, cwd=room.dir, env=room.env, timeout=90)
    same(done.returncode, 2)
    holds(done.stderr.decode(), r"^error: standard output: .*could be written")


def closed_descriptors_are_no_crash(room):
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(["bash", "-c", '"$0" skill list --json ' + closed, room.ctl], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=room.dir, env=room.env, timeout=90)
        lost = bool(re.search(r"(?<!2)>", closed))
        same((closed, done.returncode), (closed, 2 if lost else 0))
        if not lost:
            same(done.stderr, b"")
            assert json.loads(done.stdout)["skills"], done.stdout
        elif "2>" not in closed:
            holds(done.stderr.decode(), "^error: standard output: not everything could be written")


def ctrl_c_ends_it_whenever_it_comes(room):
    """Also before the daemon has said a word: what it answers all the same is no success."""
    slow = os.path.join(room.dir, "slow")
    with open(slow, "w") as f:
        f.write('#!/bin/sh\nsleep 0.5; exec "%s" "$@"\n' % room.env["UPSKILLD"])
    os.chmod(slow, 0o755)
    for wait in (0.02, 0.2, 0.4):
        for words in (["skill", "list"], ["status"], ["setup", "codex"]):
            with subprocess.Popen([room.ctl, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=room.dir,
                                  env={**room.env, "UPSKILLD": slow, "HOME": room.dir + "/home"}) as done:
                time.sleep(wait)
                done.send_signal(signal.SIGINT)
                done.stderr.read()
            assert done.returncode in (130, -signal.SIGINT), (words, wait, done.returncode)


def what_is_no_daemon_is_named(room):
    """However much it says, and where it only repeats what it hears."""
    for program in ("/usr/bin/yes", "/bin/cat"):
        for words in (["status"], ["call", "daemon/status"], ["worker", "check", "none"]):
            done = subprocess.run(["bash", "-c", 'ulimit -v 1000000; exec "$0" "$@"', room.ctl, *words], cwd=room.dir,
                                  capture_output=True, text=True, timeout=20, env={**room.env, "UPSKILLD": program})
            same((program, words, done.returncode, done.stdout), (program, words, 2, ""))
            holds(done.stderr, "^error: " + os.path.realpath(program) + " does not speak upskilld's protocol")


# --- around it ------------------------------------------------------------------------------

def help_of_every_command(room):
    code, out, err = room.run("--help")
    same((code, err), (0, ""))
    plain(out)
    commands = re.findall(r"^  ([a-z]+ [a-z]+)  ", out, re.M)
    assert "kernel check" in commands and "daemon status" in commands, commands
    for command in commands:
        pages = []
        for words in ([*command.split(), "--help"], ["--help", *command.split()], ["help", *command.split()]):
            code, out, err = room.run(*words)
            same((command, code, err), (command, 0, ""))
            holds(out, "^usage: upskillctl " + command, r"--json")
            assert max(map(len, out.split("\n"))) <= 100 or "\nexample: " in out, out
            pages.append(out)
        same(pages[0], pages[1])
        same(pages[0], pages[2])


def help_says_what_schemas_know(room):
    """The usage's words, choices, ranges and defaults are those of the daemon's table."""
    out = room.run("help", "skill", "install")[1]
    holds(out, r"--suppress VALUE")
    holds(out, r"^usage: upskillctl skill install NAME\|FOLDER --agents VALUE \[options\]",
          r"--scope project\|user .*\(default\s+project\)", r"--agents VALUE .*\(required;",
          r"\nexample: upskillctl skill install h100-cuda-kernels --agents claude-code --scope project\n")
    holds(room.run("help", "kernel", "validate")[1], r"--odd-sizes .*\(on unless --no-odd-sizes\)",
          r"--trials N .*\(1 to 16; default 3\)",
          r"--check VALUE .*\(of\s+memory, initialized, race, barrier;")
    for command in "check", "validate":  # and each says what it is
        page = room.run("help", "kernel", command)[1]
        same(re.findall(r"^  (--\S+)(?: \S+)? *(?:\n  --|\s*\()", page, re.M), [])
    holds(room.run("help", "skill", "find")[1], r"^usage: upskillctl skill find TASK… \[options\]")


def a_group_lists_its_commands(room):
    listed = re.findall(r"^  (skill [a-z]+)  ", room.run("--help")[1], re.M)
    for words, status in ((["skill"], 2), (["help", "skill"], 0), (["skill", "--help"], 0)):
        code, out, err = room.run(*words)
        same((words, code, err), (words, status, ""))
        same(re.findall(r"^  (\S+ \S+)  ", out, re.M), listed)


def help_needs_no_compiler(room):
    nothing = {"HOME": room.dir, "XDG_DATA_HOME": room.dir, "CUDA_HOME": "", "UPSKILLD_CUDA": ""}
    for words in (["--help"], ["kernel", "check", "--help"], ["completion", "bash"], ["--version"],
                  ["status"], ["jobs"]):
        code, out, err = room.run(*words, env=nothing)
        same((words, code, err), (words, 0, ""))
    if not any(map(os.path.exists, ("/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                                    "/usr/lib/x86_64-linux-gnu/libnvrtc.so"))):
        code, out, err = room.run("kernel", "check", "good.cu", env=nothing)
        same(code, 2)
        holds(err, r"NVRTC", r"hint: ")


def the_completion_is_bash(room):
    code, out, err = room.run("completion", "bash")
    same((code, err), (0, ""))
    same(subprocess.run(["bash", "-n"], input=out.encode(), timeout=10).returncode, 0)
    script = out + "\nCOMP_WORDS=(upskillctl kernel check --a); COMP_CWORD=3; _upskillctl\n" \
                   "echo \"${COMPREPLY[@]}\"\nCOMP_WORDS=(upskillctl ''); COMP_CWORD=1; _upskillctl\n" \
                   "echo \"${COMPREPLY[@]}\"\n"
    done = subprocess.run(["bash", "--norc"], input=script.encode(), stdout=subprocess.PIPE, timeout=10)
    first, second = done.stdout.decode().splitlines()
    same(first.split(), ["--arch"])
    assert "kernel" in second.split() and "shell" in second.split(), second


def the_completions_of_other_shells(room):
    """Each shell reads its own, where it is installed; all of them know every command and option."""
    bash = room.run("completion", "bash")[1]
    options = set(re.findall(r"--[a-z][a-z-]+", bash))
    for shell in "zsh", "fish":
        code, out, err = room.run("completion", shell)
        same((code, err), (0, ""))
        same(set(re.findall(r"--[a-z][a-z-]+", out)), options)
        assert "COMP_WORDS" not in out and "kernel check" in out, out
        if shutil.which(shell):
            same((shell, subprocess.run([shell, "-n"], input=out.encode(), timeout=10).returncode), (shell, 0))
    if shutil.which("fish"):
        done = subprocess.run(["fish", "--no-config", "-c", room.run("completion", "fish")[1] +
                               "\ncomplete -C 'upskillctl kernel check --ar'\necho .\ncomplete -C 'upskillctl compl'"],
                              stdout=subprocess.PIPE, timeout=10, env=room.env)
        same(done.stdout.decode().split(), ["--arch", ".", "completion"])
    code, out, err = room.run("completion", "tcsh")
    same((code, out), (2, ""))
    holds(err, "bash, zsh or fish")


def every_help_has_an_example_that_is_understood(room):
    """Each page shows one, and no word of it is refused: what is missing here are files, skills and models."""
    own = ["status", "jobs", "runs", "generate", "explain", "call", "completion"]
    commands = re.findall(r"^  ([a-z]+ [a-z]+)  ", room.run("--help")[1], re.M)
    assert len(commands) > 14, commands
    room.write("session.jsonl", "{}\n")
    for method in json.loads(room.run("call", "rpc.discover")[1])["methods"]:  # a source and its spec stand in files
        params = {p["name"]: p["value"] for e in method["examples"] for p in e["params"]}
        if method["name"] == "kernel/validate":
            room.write("kernel.cu", params.pop("source"))
            room.write("kernel.check.json", json.dumps(params))
    for command in commands + own + ["shell"]:
        page = room.run("help", *command.split())[1]
        examples = re.findall(r"^example: upskillctl (.+)$", page, re.M)
        same((command, len(examples)), (command, 1))
        code, out, err = room.run(*shlex.split(examples[0]))
        assert code in (0, 1, 2), (command, code)
        assert not re.search("upskillctl help|--help", err) or "GENERIC_BASE_URL" in err, (command, err)
    page = room.run("help", "skill", "evaluate")[1]
    holds(page, r"\nexample: upskillctl skill evaluate --skill h100-cuda-kernels .*--budget tokens=2000000,minutes=30\n")
    holds(room.run("help", "kernel", "check")[1], r"\nexample: upskillctl kernel check kernel.cu --launch block=256\n")


def call_asks_anything(room):
    code, out, _ = room.run("call", "daemon/status")
    same((code, json.loads(out)["roots"]), (0, [room.dir]))
    code, out, _ = room.run("call", "job/list", "-", stdin="{\"limit\":1}")
    same((code, json.loads(out)), (0, {"jobs": []}))
    code, out, _ = room.run("call", "no/such")
    same((code, json.loads(out)["code"]), (2, -32601))


def a_daemon_that_is_none_is_said(room):
    for program in (room.dir + "/no-such-program", "/bin/false", "/bin/true"):
        code, out, err = room.run("status", env={"UPSKILLD": program})
        same((program, code, out), (program, 2, ""))
        holds(err, r"^error: ")


def a_named_worker_is_the_one(room):
    """UPSKILLD_WORKER goes before the worker beside the daemon, and its failure is told."""
    for program in (room.dir + "/no-such-worker", "/bin/false"):
        code, out, err = room.run("kernel", "check", "good.cu", env={"UPSKILLD_WORKER": program})
        same((program, code, out), (program, 2, ""))
        holds(err, "^error: .*" + program)


def a_check_file_that_is_missing_is_named(room):
    code, out, err = room.run("kernel", "validate", "nosuch.check.json")
    same((code, out), (2, ""))
    holds(err, r"^error: .*nosuch\.check\.json.*No such file")


def a_last_line_needs_no_newline(room):
    """A message that the end of input ends is answered, alone and behind another."""
    ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    for text, ids in ((ping % 1, [1]), (ping % 1 + b"\n" + ping % 2, [1, 2]), (ping % 1 + b"\n", [1])):
        done = subprocess.run([room.env["UPSKILLD"]], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=room.dir, env=room.env, timeout=30)
        same((done.returncode, [json.loads(line)["id"] for line in done.stdout.splitlines()]), (0, ids))


def a_broken_configuration_is_told(room):
    room.write("config/upskilld/config.yaml", "no_such_key: 1\n")
    try:
        code, _, err = room.run("status")
        same(code, 2)
        holds(err, r"config\.yaml", r"no_such_key")
    finally:
        os.unlink(room.dir + "/config/upskilld/config.yaml")


SKILL = "---\nname: pack-wheels\ndescription: %s\n---\n# Pack\nPack it.\n"
PACKS = SKILL % "Builds and packs Python wheels. Use when a Python project is to be packaged."


def a_task_needs_no_quotes_and_no_skill_is_status_1(room):
    room.write("skills/pack-wheels/SKILL.md", PACKS)
    code, out, _ = room.run("skill", "find", "pack", "a", "python", "wheel")
    same(code, 0)
    plain(out)
    holds(out, r"pack-wheels +█+.* [01]\.\d\d +this project")
    code, out, _ = room.run("skill", "find", "--json", "--", "--pack", "a", "python", "wheel", "--json")
    same((code, json.loads(out)["matches"][0]["name"]), (0, "pack-wheels"))
    code, out, _ = room.run("skill", "find", "translate", "a", "sonnet", "into", "Welsh")
    same(code, 1)
    holds(out, "no skill fits")
    code, out, _ = room.run("--json", "skill", "find", "translate", "a", "sonnet", "into", "Welsh")
    same((code, json.loads(out)["matches"]), (1, []))


def skills_are_listed_and_read_by_name(room):
    room.write("skills/pack-wheels/SKILL.md", PACKS)
    code, out, _ = room.run("skill", "list", "--scopes", "project")
    same(code, 0)
    holds(out, r"pack-wheels +this project +\S+/skills/pack-wheels")
    listed = json.loads(room.run("skill", "list", "--json")[1])["skills"]
    shown = re.search(r"^skills +(\d+) known", room.run("status")[1], re.M)
    same(shown and int(shown[1]), len(listed))
    code, out, _ = room.run("skill", "get", "pack-wheels")
    same(code, 0)
    holds(out, "^pack-wheels \(from this project, not trusted\)\n", "Builds and packs", r"SKILL\.md\n", "# Pack\nPack it")
    code, _, err = room.run("skill", "get", "no-such-skill")
    same(code, 2)
    holds(err, "^error: no skill is named no-such-skill")


def a_checked_skill_has_findings_at_their_lines(room):
    room.write("skills/Bad_Name/SKILL.md", SKILL % "d")
    code, out, _ = room.run("skill", "check", "skills/Bad_Name", "--strict")
    same(code, 1)
    plain(out)
    holds(out, r"skills/Bad_Name/SKILL\.md:2:\d+: error", r"2 \| name: pack-wheels", r"not ok, [1-9]\d* errors?[,\n ]")
    code, out, _ = room.run("skill", "check", "-", stdin=PACKS)
    same(code, 0)


def no_line_is_quoted_from_outside_a_skill(room):
    room.write("private.txt", "only for its owner\n")
    room.write("skills/linked/SKILL.md", PACKS)
    os.symlink("../../private.txt", room.dir + "/skills/linked/notes.md")
    os.symlink("..", room.dir + "/skills/linked/up")
    for words, cwd in ((["skills/linked"], "."), (["."], "skills/linked"), ([room.dir + "/skills/linked"], "/")):
        code, out, _ = room.run("skill", "check", *words, cwd=os.path.join(room.dir, cwd))
        same(code, 1)
        holds(out, r"notes\.md:1: error: Links are not followed", r"up:1: error: Links are not followed")
        assert "owner" not in out, out
    shutil.rmtree(room.dir + "/skills/linked")


def installing_says_the_outcome_for_each_agent(room):
    room.write("skills/pack-wheels/SKILL.md", PACKS)
    words = ("pack-wheels", "--agents", "claude-code", "--agents", "codex")
    code, out, _ = room.run("skill", "install", *words, "--scope", "project")
    same(code, 0)
    holds(out, r"claude-code +installed +this project +\S+/\.claude/skills/pack-wheels", r"codex +installed")
    assert os.path.exists(room.dir + "/.claude/skills/pack-wheels/SKILL.md")
    room.write(".claude/skills/pack-wheels/SKILL.md", PACKS + "Edited.\n")
    code, out, _ = room.run("skill", "uninstall", *words)
    same(code, 1)
    holds(out, r"claude-code +refused", r"codex +removed")
    assert os.path.exists(room.dir + "/.claude/skills/pack-wheels/SKILL.md")
    shutil.rmtree(room.dir + "/.claude")


def past_evaluations_are_a_table_and_a_report(room):
    for number, kind, passed in ((1, "baseline", 2), (2, "with_skill", 4)):
        room.write("runs/2026_01_22_13_10/run_%d/run_result.json" % number, json.dumps({
            "metadata": {"model": "haiku", "task": "a PR", "batch_id": "2026_01_22_13_10", "run_number": number,
                         "timestamp": "2026-01-22T13:10:00"},
            "assertions_passed": passed, "assertions_total": 5, "run_type": kind, "skill_name": "good-pr"}))
    code, out, _ = room.run("runs", "--dir", "runs")
    same(code, 0)
    plain(out)
    holds(out, r"2026_01_22_13_10 +good-pr +haiku +not judged +40 → 80 % +\+40")
    code, out, _ = room.run("run", "show", "latest", "--dir", "runs")
    same(code, 0)
    holds(out, r"haiku: not judged, \+40 points\n  without .* 40 %\n  with .* 80 %")
    code, out, _ = room.run("run", "show", "latest", "--dir", "runs", "--out", "report.html")
    same((code, out), (0, "wrote %s/report.html\n" % room.dir))
    shutil.copytree(room.dir + "/runs/2026_01_22_13_10", room.dir + "/runs/2026_01_22_13_11")
    same(room.run("run", "show", "all", "--dir", "runs", "--out", "all.csv")[0], 0)
    with open(room.dir + "/all.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    same(sorted((row["run_type"], row["assertions_passed"]) for row in rows), [("baseline", "2")] * 2 + [("with_skill", "4")] * 2)
    same(room.run("run", "show", "all", "--dir", "runs")[0], 2)
    with open(room.dir + "/report.html") as f:
        holds(f.read(), r"^<!DOCTYPE html>.*good-pr.*</html>\n$")
    same(room.run("run", "show", "none", "--dir", "runs")[0], 2)
    same(room.run("runs")[1], "no evaluations on record\n")


def on_terminal(room, width, *words):
    """The lines on a terminal of so many columns, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 40, width, 0, 0))
    child = subprocess.Popen([room.ctl, *words], stdin=subprocess.DEVNULL, stdout=theirs,
                             stderr=subprocess.DEVNULL, cwd=room.dir, env=room.env)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # EIO: the other end is closed
        pass
    os.close(ours)
    child.wait(60)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n").split("\n")


def a_refused_installs_path_is_whole(room):
    text = "---\nname: mine\ndescription: Use this when an installation is to be refused.\n---\n# Mine\nText.\n"
    room.write("new/mine/SKILL.md", text)
    room.write(".claude/skills/mine/SKILL.md", text + "By hand.\n")
    lines = on_terminal(room, 80, "skill", "install", "./new/mine", "--agents", "claude-code", "--scope", "project")
    same(sum(room.dir + "/.claude/skills/mine" in line for line in lines), 2)  # with the reason and above the diff
    holds(" ".join(" ".join(lines).split()), "claude-code: conflict: .*; --force replaces it: /")
    for folder in ("new", ".claude/skills/mine"):
        shutil.rmtree(os.path.join(room.dir, folder))


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


LONG = "a-skill-whose-name-is-as-long-as-the-rules-allow-it-to-be-ever"


def tables_fit_the_terminal(room):
    """Nothing runs over the edge and nothing is lost: the words are those of the wide table."""
    for name in (LONG, "表を作る技能とても長い名前"):
        room.write("skills/%s/SKILL.md" % name, "---\nname: %s\ndescription: Fits wide tables, also 広い表. Use "
                   "when a wide table is to fit a narrow terminal.\n---\n# Fit\nFit it.\n" % name)
    commands = [("skill", "list"), ("skill", "find", "fit", "a", "wide", "table"), ("status",)]
    commands += [("kernel", "check", "rms_norm.cu")] if room.compiler else []
    for words in commands:
        wide, narrow = on_terminal(room, 250, *words), on_terminal(room, 80, *words)
        assert max(map(columns_of, narrow)) <= 80, narrow
        assert not any(line != line.rstrip() for line in narrow), narrow
        if "skill" in words:
            assert any(LONG in line for line in wide), wide
            same(sorted(re.findall(r"[\w\"]", "".join(wide))), sorted(re.findall(r"[\w\"]", "".join(narrow))))
    for name in (LONG, "表を作る技能とても長い名前"):
        shutil.rmtree(os.path.join(room.dir, "skills", name))


def a_daemon_started_by_hand_says_what_it_is(room):
    """On standard error, and only where a person sits: what a client reads stays the protocol's."""
    ours, theirs = pty.openpty()
    daemon = room.env["UPSKILLD"]
    child = subprocess.Popen([daemon], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, cwd=room.dir,
                             env=room.env)
    os.write(ours, b'{"id":1,"method":"job/list"}\n')
    same(json.loads(child.stdout.readline())["result"], {"jobs": []})
    os.write(ours, b"\x04")  # Ctrl-D
    same((child.wait(60), child.stdout.read()), (0, b""))
    holds(os.read(ours, 65536).decode(), "a person uses upskillctl")
    os.close(ours)
    os.close(theirs)
    done = subprocess.run([daemon], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, cwd=room.dir, env=room.env)
    same((done.returncode, done.stdout, done.stderr), (0, b"", b""))


def all_tools_together_are_short(room):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}
    code, out, _ = room.run("call", "tools/list", json.dumps({"_meta": meta}))
    same(code, 0)
    tools = json.loads(out)["tools"]
    assert {"kernel_check", "skill_find", "skill_get", "skill_check", "skill_install"} <= {
        tool["name"] for tool in tools}
    size = len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode())
    assert size < 12000, "%d bytes" % size
    # A list of types is warned of by Gemini CLI and refused by some models' own servers.
    assert '"type": [' not in json.dumps(tools), "anyOf instead"


NEED_COMPILER = {a_good_kernel_is_status_0, a_broken_kernel_is_status_1, the_source_line_and_caret_agree,
                 strict_makes_warnings_fail, json_is_the_raw_result, json_keeps_the_exit_status, a_check_says_what_it_looked_at,
                 a_dash_reads_standard_input, options_reach_the_daemon, a_named_file_may_lie_anywhere, a_reader_that_leaves_is_no_crash,
                 a_named_worker_is_the_one}
TESTS = [a_good_kernel_is_status_0, a_broken_kernel_is_status_1, the_source_line_and_caret_agree,
         strict_makes_warnings_fail, what_cannot_be_asked_is_status_2, no_command_shows_the_usage, json_is_the_raw_result,
         json_keeps_the_exit_status, a_check_says_what_it_looked_at, a_dash_reads_standard_input, options_reach_the_daemon,
         a_named_file_may_lie_anywhere, a_reader_that_leaves_is_no_crash, lost_output_is_status_2,
         closed_descriptors_are_no_crash, ctrl_c_ends_it_whenever_it_comes, what_is_no_daemon_is_named,
         help_of_every_command,
         help_says_what_schemas_know, a_group_lists_its_commands,
         help_needs_no_compiler, the_completion_is_bash, the_completions_of_other_shells,
         every_help_has_an_example_that_is_understood, call_asks_anything,
         a_daemon_that_is_none_is_said, a_named_worker_is_the_one, a_check_file_that_is_missing_is_named,
         a_last_line_needs_no_newline, a_broken_configuration_is_told,
         a_task_needs_no_quotes_and_no_skill_is_status_1, skills_are_listed_and_read_by_name,
         a_checked_skill_has_findings_at_their_lines, no_line_is_quoted_from_outside_a_skill, installing_says_the_outcome_for_each_agent,
         past_evaluations_are_a_table_and_a_report, a_refused_installs_path_is_whole, tables_fit_the_terminal,
         a_daemon_started_by_hand_says_what_it_is, all_tools_together_are_short]


def main():
    room = Room(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    status = json.loads(room.run("--json", "status")[1])
    room.compiler = bool(status["kernels"]["toolkits"])
    print("1..%d" % len(TESTS))
    try:
        for function in TESTS:
            room.test(function.__name__.replace("_", " "), function)
    finally:
        shutil.rmtree(room.dir, ignore_errors=True)
    return 1 if room.bad else 0


if __name__ == "__main__":
    sys.exit(main())
