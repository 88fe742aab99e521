#!/usr/bin/env python3
"""upskillctl kernel check on several files, with nvcc's options, with --fix, and for other programs.

usage: ctl_files.py UPSKILLCTL UPSKILLD
"""
import json, os, re, subprocess, sys, tempfile
import xml.etree.ElementTree

from evaluate_support import Tap

CTL, UPSKILLD = (os.path.abspath(p) for p in sys.argv[1:3])
GOOD = "__global__ void good(float *x) { x[threadIdx.x] *= 2.f; }\n"
BAD = "__global__ void bad(float *x) { x[0] = y; }\n"
# Each mistake has one fix; the second shows only when the first is mended.
MENDABLE = "__global__ void k(float *x) {\n    __syncthread();\n    x[0] = 1.f\n}\n"
NEEDY = '#include "n.h"\n__global__ void k(int *x) { *x = N + %s; }\n'


class Room:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ctl-files-")
        self.dir = os.path.realpath(self.folder.name)
        self.env = {**os.environ, "UPSKILLD": UPSKILLD, **{"XDG_%s_HOME" % k: self.dir + "/home" for k in ("CONFIG", "STATE", "CACHE")}}
        self.write("src/deep/a.cu", GOOD)
        self.write("src/b.cu", BAD)
        self.write("src/.git/c.cu", BAD)
        self.write("src/d.cuh", BAD)
        self.write("inc/n.h", "#define N 1\n")

    def write(self, name, text):
        path = os.path.join(self.dir, "room", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def read(self, name):
        with open(os.path.join(self.dir, "room", name)) as f:
            return f.read()

    def check(self, *words, status=0, cwd="room"):
        done = subprocess.run([CTL, "kernel", "check", *words], cwd=os.path.join(self.dir, cwd), env=self.env,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout, done.stderr


def each_file_is_checked():
    r = Room()
    out, _ = r.check("src/deep/a.cu", "src/b.cu", status=1)
    assert out.index("src/deep/a.cu\n") < out.index("ok: 1 kernel") < out.index("src/b.cu\n") < out.index("not ok: 1 error")
    assert out.endswith("\n2 files: 1 ok, 1 not ok\n"), out
    out, err = r.check("src/deep/a.cu", "none.cu", "src/b.cu", status=2)
    assert "1 ok, 1 not ok, 1 without an answer" in out and "none.cu" in err, (out, err)
    out, _ = r.check("src/deep/a.cu", "src/deep/a.cu", "--json")
    assert [json.loads(line)["ok"] for line in out.splitlines()] == [True, True]


def a_folder_is_its_cu_files():
    r = Room()
    out, _ = r.check("src", status=1)
    assert re.findall(r"^\S+\.cuh?$", out, re.M) == ["src/b.cu", "src/deep/a.cu"], out
    out, _ = r.check("src/deep")
    assert out.count("ok: 1 kernel") == 1 and "files" not in out, out
    os.symlink("../b.cu", r.dir + "/room/src/deep/link.cu")
    out, _ = r.check("src/deep", status=1)
    assert re.findall(r"^\S+\.cuh?$", out, re.M) == ["src/deep/a.cu", "src/deep/link.cu"], out
    _, err = r.check("inc", status=2)
    assert "inc has no .cu file" in err, err
    out, err = r.check("inc", "src/deep/a.cu", "src/b.cu", status=2)
    assert "inc has no .cu file" in err and "3 files: 1 ok, 1 not ok, 1 without an answer" in out, (out, err)
    out, _ = r.check("src/deep/a.cu", "inc", "--output-format", "github", status=2)
    assert out == "::error file=inc::inc has no .cu file\n", out


def a_link_that_is_named_is_followed():
    """Out of the working folder, to a file or through a folder; one that is found in a folder is not."""
    r = Room()
    os.makedirs(r.dir + "/room/links")
    os.symlink("../src/b.cu", r.dir + "/room/links/bad.cu")
    os.symlink("../src/deep/a.cu", r.dir + "/room/links/good.cu")
    os.symlink("../src/deep", r.dir + "/room/links/deep")
    out, _ = r.check("bad.cu", status=1, cwd="room/links")
    assert "src/b.cu:" in out and "not ok: 1 error" in out, out
    for word in "good.cu", "deep/a.cu", "deep", os.path.join(r.dir, "room/links/deep/a.cu"):
        out, _ = r.check(word, cwd="room/links")
        assert "ok: 1 kernel" in out, out
    r.write("../outside.cu", GOOD)
    os.symlink("../../outside.cu", r.dir + "/room/links/found.cu")
    _, err = r.check(".", cwd="room/links", status=2)
    assert "found.cu: leads out of its folder" in err, err
    r.check("found.cu", cwd="room/links")


def a_name_with_a_line_end_is_shown_on_one_line():
    r = Room()
    r.write("two\nlines.cu", GOOD)
    _, err = r.check("two\nlines.cu", status=2)
    assert err.startswith('error: "two\\nlines.cu": ') and "control characters" in err, err
    _, err = r.check("no\nsuch.cu", status=2)
    assert err.startswith("error: ") and "no\\nsuch.cu: No such file" in err, err


def a_misspelt_key_is_told():
    r = Room()
    r.write("k.cu", GOOD)
    r.write("upskilld.yaml", "cache_mb: 16\noptoins: [-DA]\n")
    out, _ = r.check("k.cu")
    assert "upskilld.yaml: optoins is not used: did you mean options?" in out and "cache_mb" not in out, out


def nvccs_options_are_taken():
    r = Room()
    r.write("k.cu", NEEDY % "WORD")
    for words in (["-I", "inc", "-DWORD=2", "k.cu"], ["-Iinc", "-D", "WORD=2", "-O3", "k.cu"], ["-lineinfo", "k.cu", "-Iinc", "-DWORD=2"],
                  ["-std=c++20", "-arch=sm_90a", "-Iinc", "-DWORD=1", "-Xptxas", "-v", "k.cu"]):
        r.check(*words)
    for words in (["-arch=sm_80"], ["-gencode", "arch=compute_80,code=sm_80"], ["-arch=sm_89", "--arch", "sm_80"]):
        out, _ = r.check("k.cu", "-Iinc", "-DWORD=1", *words)
        assert "(sm_80, " in out, out
    r.check("k.cu", "-Iinc", status=1)
    os.makedirs(r.dir + "/other", exist_ok=True)
    r.check("../room/k.cu", "-I../room/inc", "-DWORD=2", cwd="other")
    _, err = r.check("-Zfoo", "k.cu", status=2)
    assert "-Zfoo" in err and "allowed are" in err, err


def the_projects_flags_are_taken():
    r = Room()
    r.write("k.cu", "#include \"n.h\"\n__global__ void k(int *x) { static_assert(WORD == 3); *x = N; }\n")
    r.write("build/compile_commands.json", json.dumps([{
        "directory": os.path.join(r.dir, "room", "build"), "file": "../k.cu", "command": "nvcc -I../inc -DWORD=3 -DF(x)=x -c ../k.cu"}]))
    for words, cwd in ((["k.cu"], "room"), (["../k.cu"], "room/inc"), ([r.dir + "/room/k.cu"], ".")):
        out, _ = r.check(*words, cwd=cwd)
        assert "flags from %s/room/build/compile_commands.json" % r.dir in out, out
        assert 'the macro "F(x)=x" is not used' in out, out
    for words in (["-DWORD=4"], ["-D", "WORD=4"], ["--define", "WORD=4"]):
        out, _ = r.check("k.cu", *words, status=1)
        assert "static assertion failed" in out, out
    r.write("k.cu", "__global__ void k(int *x) { static_assert(__cplusplus == 202002); }\n")
    r.write("upskilld.yaml", "std: c++17\n")
    r.check("k.cu", "-std=c++20")
    r.check("k.cu", status=1)


def a_skills_folder_is_mended():
    r = Room()
    text = "---\nname: tidy\ndescription: Use when a folder is to be tidied, with one line a file.\n---\n# Tidy\n\nDo it.  \n"
    r.write("tidy/SKILL.md", text.replace("name: tidy", "name: Tidy"))
    done = subprocess.run([CTL, "skill", "check", "tidy", "--fix"], cwd=r.dir + "/room", env=r.env, capture_output=True, text=True)
    assert "name: tidy\n" in r.read("tidy/SKILL.md"), (done.stdout, done.stderr)
    assert "fix applied to" in done.stderr or "fixes applied to" in done.stderr, done.stderr


def fixes_are_made():
    r = Room()
    r.write("m.cu", MENDABLE)
    r.write("n.cu", BAD)
    out, err = r.check("m.cu", "--fix")
    assert r.read("m.cu") == MENDABLE.replace("__syncthread(", "__syncthreads(").replace("1.f\n", "1.f;\n"), r.read("m.cu")
    assert "2 fixes applied to m.cu" in err and "ok: 1 kernel" in out, (out, err)
    _, err = r.check("m.cu", "--fix")
    assert err == ""
    out, err = r.check("n.cu", "--fix", status=1)
    assert r.read("n.cu") == BAD and err == "" and "not ok" in out
    header = "#pragma once\n__device__ inline float swap(float x) { return __shfl_xor(x, 1); }\n"
    r.write("h.cuh", header)
    r.write("uses.cu", '#include "h.cuh"\n__global__ void k(float *x) { x[0] = swap(x[0]); }\n')
    _, err = r.check("uses.cu", "--fix", status=1)
    assert "1 fix in headers not applied" in err and "name a header itself" in err and r.read("h.cuh") == header, err
    _, err = r.check("h.cuh", "--fix", status=1)  # no kernel uses it
    assert "1 fix applied to h.cuh" in err and "__shfl_xor_sync(0xffffffff, x, 1)" in r.read("h.cuh"), err
    r.check("uses.cu")
    r.write("o.cu", MENDABLE)
    os.chmod(r.dir + "/room", 0o555)
    try:
        if os.getuid():
            _, err = r.check("o.cu", "--fix", status=1)
            assert "error:" in err and r.read("o.cu") == MENDABLE, err
    finally:
        os.chmod(r.dir + "/room", 0o755)


def sarif_is_one_document():
    r = Room()
    out, _ = r.check("src", "none.cu", "--output-format", "sarif", status=2)
    run = json.loads(out)["runs"][0]
    assert json.loads(out)["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "upskilld"
    result, = run["results"]
    assert result["level"] == "error" and "y" in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/b.cu"}
    assert (place["region"]["startLine"], place["region"]["startColumn"]) == (1, BAD.index("= y") + 3)
    call, = run["invocations"]
    assert not call["executionSuccessful"] and "none.cu" in call["toolExecutionNotifications"][0]["message"]["text"]
    out, _ = r.check("src/deep", "--output-format", "sarif")
    assert json.loads(out)["runs"][0]["results"] == []


def github_gets_commands():
    r = Room()
    r.write("a,b:c.cu", BAD.replace("y", "oops"))
    out, _ = r.check("a,b:c.cu", "src/deep/a.cu", "--output-format", "github", status=1)
    line, = out.splitlines()
    assert re.fullmatch(r'::error file=a%2Cb%3Ac\.cu,line=1,col=40,title=\w+::identifier "oops" is undefined', line), line


def junit_counts():
    r = Room()
    out, _ = r.check("src", "none.cu", "--output-format", "junit", status=2)
    suite = xml.etree.ElementTree.fromstring(out)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in suite}
    assert "src/b.cu:1:" in cases["src/b.cu"].find("failure").text and cases["none.cu"].find("error") is not None
    assert cases["src/deep/a.cu"].find("failure") is None
    said = cases["src/b.cu"].find("failure").get("message")
    assert re.fullmatch(r'src/b\.cu:1:40: identifier "y" is undefined', said), said
    assert "none.cu" in cases["none.cu"].find("error").get("message"), out
    r.write("src/b.cu", "__global__ void b(int *p) { *p = oops; *p = ouch; int unused; }\n")
    said = xml.etree.ElementTree.fromstring(r.check("src/b.cu", "--output-format", "junit", status=1)[0])[0][0].get("message")
    assert re.fullmatch(r'src/b\.cu:1:\d+: identifier "oops" is undefined \(2 errors, 1 warning\)', said), said


def a_no_without_findings_is_reported():
    """Device code of which nothing was compiled: no line is wrong, and the answer is no."""
    r = Room()
    r.write("t.cu", "template <int N> __global__ void k(float *x) { x[N] = 1; }\n")
    plain = json.loads(r.check("t.cu", "--json", status=1)[0])
    assert not [d for d in plain["diagnostics"] if d["severity"] == "error"], plain
    out, _ = r.check("t.cu", "--output-format", "github", status=1)
    assert any(line.startswith("::error file=t.cu") for line in out.splitlines()), out


def a_hook_tells_an_edits_errors():
    """The event and the answer as Copilot CLI documents them; started in the plugin's folder, not in the project's."""
    r = Room()

    def hook(event, status=0):
        done = subprocess.run([CTL, "hook"], input=event if isinstance(event, str) else json.dumps(event), cwd="/", env=r.env,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == status and bool(done.stderr) == (status == 2), done
        return done.stdout

    def edited(path, **more):
        return {"sessionId": "1", "cwd": r.dir + "/room", "toolName": "edit", "toolArgs": {"path": path}, **more}
    for path in (r.dir + "/room/src/b.cu", "src/b.cu", "src/d.cuh"):  # as the agent named it
        told = json.loads(hook(edited(path)))
        assert list(told) == ["additionalContext"], told
        assert told["additionalContext"].startswith(path + ':1:40: error: identifier "y" is undefined'), told
    r.write("many.cu", "".join("__global__ void k%d(int *x) { *x = none_%d; }\n" % (i, i) for i in range(400)))
    assert 14000 < len(json.loads(hook(edited("many.cu")))["additionalContext"]) <= 16384
    r.write("part.cuh", "template <int N> __device__ int part(int x) { return x * N; }\n")  # "nothing was compiled" is no error
    for event in (edited("src/deep/a.cu"), edited("part.cuh"), edited("inc/n.h"), edited(1), {"toolArgs": "src/b.cu"}, {}, []):
        assert hook(event) == "", event
    for event in ("", "[", edited("none.cu"), edited("src/b.cu", cwd=r.dir + "/none")):
        assert hook(event, status=2) == "", event


def wrong_words_say_what_is_right():
    r = Room()
    for words, more in ((["--output-format"], "\n"), (["k.cu", "--output-format", "xml"], ', not "xml"; did you mean junit?\n'),
                        (["k.cu", "--output-format", "sarf"], ', not "sarf"; did you mean sarif?\n')):
        _, err = r.check(*words, status=2)
        assert "--output-format: text, json, sarif, github or junit" + more in err, err
    _, err = r.check("src/deep/a.cu", "--log", "loud", status=2)
    assert "error: --log: error, warning, info or debug" in err, err
    for words in (["-I", "nodir"], ["-Inodir"], ["-isystem", "nodir"]):
        _, err = r.check("src/deep/a.cu", *words)
        assert re.match(r"warning: -(I|isystem): there is no folder nodir\n", err), err
    assert r.check("src/deep/a.cu", "-I", "inc")[1] == ""
    done = subprocess.run([CTL, "call", "kernel/chek"], env=r.env, capture_output=True, text=True)
    assert json.loads(done.stdout)["message"] == "method not found: kernel/chek; did you mean kernel/check?", done.stdout
    for word, meant in (("--verison", "--version"), ("kernl", "kernel")):
        done = subprocess.run([CTL, word], env=r.env, capture_output=True, text=True)
        assert done.returncode == 2 and "did you mean upskillctl %s?" % meant in done.stderr, done.stderr


tap = Tap()
for test in (each_file_is_checked, a_folder_is_its_cu_files, a_link_that_is_named_is_followed, a_name_with_a_line_end_is_shown_on_one_line, a_misspelt_key_is_told, nvccs_options_are_taken, the_projects_flags_are_taken, a_skills_folder_is_mended, fixes_are_made, sarif_is_one_document,
             github_gets_commands, junit_counts, a_no_without_findings_is_reported, a_hook_tells_an_edits_errors, wrong_words_say_what_is_right):
    tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
