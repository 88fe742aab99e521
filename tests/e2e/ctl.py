#!/usr/bin/env python3
"""upskillctl checks kernels as a person and a script use it, with the real daemon.

usage: ctl.py UPSKILLCTL UPSKILLD   (TAP on standard output)
"""
import json, os, re, resource, signal, subprocess, sys, time

from ctl_room import BROKEN, KERNEL, holds, plain, play, same


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
                           (["kernel", "check", "x.check.json"], r"is JSON, not CUDA source\nhint: a check spec"),
                           (["kernel", "check"], r"hint: upskillctl kernel check FILE \[options\]"),
                           (["skill", "find"], r"TASK is missing\nhint: upskillctl skill find TASK"),
                           (["skill", "install"], r"NAME\|FOLDER is missing\nhint: upskillctl skill install"),
                           (["skill", "install", "x"], r'missing parameter "agents"\nhint: upskillctl skill install NAME\|FOLDER --agents'),
                           (["eval", "h100-cuda-kernels", "-m", "codex"], r"codex is an agent, not a model.*installed"),
                           (["kernel", "validate", "good.cu", "bad.cu"], r"unexpected argument"),
                           (["kernel", "check", "--bogus", "good.cu"], r"--bogus. is not allowed"),
                           (["kernel", "check", "good.cu", "--arch"], r"--arch.*value"),
                           (["kernel", "check", "good.cu", "--arch", "sm_20"], r"sm_20.*known are"),
                           (["kernel", "check", "good.cu", "--options=-include=/etc/passwd"], r"not allowed"),
                           (["skill", "check", ".", "--suppress", "code=why"],
                            r"--suppress code=why: JSON is needed: --suppress '{\"code\": \"…\", \"reason\": \"…\"}'"),
                           (["frobnicate"], r"no command \"frobnicate\""),
                           (["kernel", "frobnicate"], r"no command \"kernel frobnicate\""),
                           (["job", "status", "x"], r"job"),
                           (["skill", "generate", "x", "--install", "codex,no-agent"], r"no agent is named \"no-agent\""),
                           (["job", "status", "0" * 32], r"no job"),
                           (["skill", "find", "--limt", "1", "x"], r"--limt: no such option; did you mean --limit\?"),
                           (["kernel", "check", "good.cu", "--launch", '{"block": [128}'], r"--launch: this is not JSON.*column"),
                           (["skil", "find", "x"], r"hint: did you mean upskillctl skill find\?"),
                           (["skill", "find", "-q", "x"], r"-q: no such option; put -- before a word that begins with -"),
                           (["generate", "x", "--no-eval"], r"--no-eval.*nothing is measured unless --students"),
                           (["eval", "x", "-m"], r"-m: a value is needed"),
                           (["generate", "x", "-m", "nobody"], r"\"nobody\" is not a model here: set ANTHROPIC_API_KEY.*`export ANTHROPIC_API_KEY=…`"),
                           (["generate", "x", "--trace", "./"], r"^error: [^:]+ is not a file: give a trace file of that folder\n"),
                           (["stauts"], r"did you mean upskillctl status\?"),
                           (["skill", "remove", "x"], r"did you mean upskillctl skill uninstall\?"),
                           (["skill", "update", "x"], r"did you mean upskillctl skill install\?"),
                           (["validate", "good.cu"], r"did you mean upskillctl kernel validate\?"),
                           (["skill", "find"], r"hint: upskillctl skill find TASK…"),
                           (["skill", "get", "nope"], r"hint: upskillctl skill find .*; upskillctl skill list "),
                           (["run", "show", "latest"], r"no evaluation is on record.*upskillctl skill evaluate makes"),
                           (["--log"], r"--log"),
                           (["skill", "install", "https://127.0.0.1:1/x.git@main", "--agents", "codex"], r"cannot be read: [^\n]*\nhint: nothing was installed\n\Z"),
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
            (KERNEL + "int q = ;\n", 0, r"^device code ok: 1 kernel; host code not checked \("),
            ("template <class T> __global__ void t(T *x) { *x = 1; }\n", 1, r"^nothing was compiled: the kernel template t is not instantiated \("),
            ("__device__ int f() { return 1; }\n", 1, r"^nothing was compiled: no kernel here uses the device code \("),
            ("int main() { return 0; }\n", 0, r"^there is no device code, so nothing was compiled; host code not checked \(")):
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


def ptx_is_alone_on_standard_output(room):
    for words in (["--ptx"], ["-ptx"]):
        code, out, err = room.run("kernel", "check", "good.cu", *words)
        same(code, 0)
        holds(out, r"\.version \d", r"\.visible \.entry \w*k\w*\(", r"\.target sm_90a", r"\}\s*$")
        assert "ok:" in err and "ok:" not in out, (out, err)
    room.write("made.ptx", out)
    code, out, _ = room.run("kernel", "check", "made.ptx")
    same(code, 0)
    holds(out, "ok: 1 kernel")
    code, out, err = room.run("kernel", "check", "bad.cu", "--ptx")
    same((code, out), (1, ""))
    holds(err, r"bad\.cu:2:8: error")
    room.write("made/compile_commands.json", json.dumps([{"directory": room.dir + "/made", "file": "k.cu", "command": "nvcc -ptx k.cu"}]))
    room.write("made/k.cu", KERNEL)
    code, out, _ = room.run("kernel", "check", "made/k.cu")
    assert ".version" not in out and "ok: 1 kernel" in out, out


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
        holds(done.stderr.decode(), r"^error: standard output: .*could be written" + (".*No space left" if words == ["--version"] else ""))
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
            done = subprocess.run([room.ctl, *words], cwd=room.dir, capture_output=True, text=True, timeout=20,
                                  env={**room.env, "UPSKILLD": program})
            same((program, words, done.returncode, done.stdout), (program, words, 2, ""))
            holds(done.stderr, "^error: " + os.path.realpath(program) + " does not speak upskilld's protocol")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 20  # KiB, of the largest so far


NEED_COMPILER = {a_good_kernel_is_status_0, a_broken_kernel_is_status_1, the_source_line_and_caret_agree,
                 strict_makes_warnings_fail, json_is_the_raw_result, json_keeps_the_exit_status,
                 a_check_says_what_it_looked_at, a_dash_reads_standard_input, options_reach_the_daemon,
                 a_named_file_may_lie_anywhere, a_reader_that_leaves_is_no_crash, ptx_is_alone_on_standard_output}
TESTS = [a_good_kernel_is_status_0, a_broken_kernel_is_status_1, the_source_line_and_caret_agree,
         strict_makes_warnings_fail, what_cannot_be_asked_is_status_2, no_command_shows_the_usage,
         json_is_the_raw_result, json_keeps_the_exit_status, a_check_says_what_it_looked_at,
         a_dash_reads_standard_input, options_reach_the_daemon, a_named_file_may_lie_anywhere,
         a_reader_that_leaves_is_no_crash, ptx_is_alone_on_standard_output, lost_output_is_status_2, closed_descriptors_are_no_crash,
         ctrl_c_ends_it_whenever_it_comes, what_is_no_daemon_is_named]


if __name__ == "__main__":
    sys.exit(play(TESTS, NEED_COMPILER))
