#!/usr/bin/env python3
"""upskillctl kernel validate as a person sees it: each verdict, its exit status, and what only a GPU
measures, put into a real answer on its way.

usage: ctl_validate.py UPSKILLCTL UPSKILLD   (TAP on standard output)
"""
import json, os, re, shlex, shutil, subprocess, sys

import scratch

GOOD = """__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 0.5f;
}
"""
SPEC = {"sizes": [{"n": 1024}, {"n": 64}], "trials": 1, "backend": "emulator",
        "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]},
        "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True},
                 {"name": "x", "type": "float32", "shape": ["n"], "init": {"arange": [1, 1]}},
                 {"name": "n", "type": "int32", "value": "n"}],
        "expect": {"expression": {"y": "x[i] * 0.5"}}}
# Passes everything on; what MORE holds is added to the answer of a validation.
BETWEEN = """#!%s
import json, os, subprocess, sys
daemon = subprocess.Popen([os.environ["REAL"]] + sys.argv[1:], stdout=subprocess.PIPE)
for line in daemon.stdout:
    message = json.loads(line)
    if "verdict" in (message.get("result") or {}):
        message["result"].update(json.loads(os.environ["MORE"]))
        line = json.dumps(message).encode() + b"\\n"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(daemon.wait())
"""


class Room:
    def __init__(self, ctl, daemon):
        self.ctl, self.daemon, self.number, self.bad = ctl, daemon, 0, 0
        self.dir = scratch.folder("ctl-validate-")
        self.env = dict(os.environ, UPSKILLD=daemon, REAL=daemon, XDG_STATE_HOME=self.dir + "/state",
                        XDG_CONFIG_HOME=self.dir + "/config", XDG_CACHE_HOME=self.dir + "/cache")
        self.between = self.write("between", BETWEEN % sys.executable)
        os.chmod(self.between, 0o755)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def kernel(self, name, source, **changes):
        self.write(name + ".cu", source)
        self.write(name + ".check.json", json.dumps(dict(SPEC, **changes)))

    def validate(self, *words, env=None, cwd=None):
        done = subprocess.run([self.ctl, "kernel", "validate", *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd or self.dir,
                              env=dict(self.env, **(env or {})))
        out = done.stdout.decode()
        assert "\033" not in out, "colours off a terminal"
        return done.returncode, out, done.stderr.decode()

    def test(self, function):
        self.number += 1
        name = function.__name__.replace("_", " ")
        try:
            function(self)
            print("ok %d - %s" % (self.number, name), flush=True)
        except (AssertionError, ValueError, KeyError) as why:
            self.bad += 1
            print("not ok %d - %s" % (self.number, name), flush=True)
            print("# %s: %s" % (name, why), file=sys.stderr, flush=True)


def same(got, expected):
    assert got == expected, "got %r, not %r" % (got, expected)


def holds(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.M), "no %r in\n%s" % (pattern, text)


def a_right_kernel_is_status_0(room):
    room.kernel("good", GOOD)
    code, out, err = room.validate("good.cu")
    same((code, err), (0, ""))
    holds(out, r"^n=1024 +0 +y +1024 +0 +0 +0 +ok$", r"^n=64 +0 +y +64 +0 +0 +0 +ok$",
          r"^odd sizes +n=63 pass$", r"^coalescing .*100 %  4 sectors a request$",
          r"^lanes active .*100 %  0 of \d+ branches diverge$", r"^checked in +compile \d",
          r"^pass \(2 cases, max error 0\), 2 trials")
    assert "again:" not in out
    code, out, _ = room.validate("good.cu", "--json")
    phases = [p["phase"] for p in json.loads(out)["phases"]]
    same(phases, ["compile", "load", "fill", "run", "reference", "compare"])


def a_kernel_of_another_folder_is_found(room):
    room.kernel("good", GOOD)
    os.makedirs(room.dir + "/below/deep")
    code, out, err = room.validate("../../good.cu", cwd=room.dir + "/below/deep")
    same((code, err), (0, ""))
    holds(out, r"^pass \(2 cases, max error 0\), 2 trials")


def what_nobody_judges_is_status_1(room):
    room.kernel("unjudged", GOOD, expect=None)
    code, out, _ = room.validate("unjudged.cu")
    same(code, 1)
    holds(out, r"^n=1024 +0 +y +1024 +– +– +– +not judged$", r"^hint: say in \"expect\"",
          r"^unjudged: nothing says what the kernel should write to 'y'")
    assert out.count("nothing says") == 1, out
    assert "again:" not in out


def elements_that_are_not_judged_are_counted(room):
    room.kernel("masked", GOOD, args=[dict(a, judge="i == 0") if a.get("output") else a for a in SPEC["args"]])
    code, out, _ = room.validate("masked.cu")
    same(code, 0)
    holds(out, r"^n=1024 +0 +y +1024 .* ok, judged 1 of 1024$", r"^pass with 1 warning \(2 cases, ")


def warnings_are_told_and_strict_fails_on_them(room):
    room.kernel("warned", GOOD.replace("{", "{ int unused;", 1))
    code, out, _ = room.validate("warned.cu")
    same(code, 0)
    holds(out, r"^pass with 1 warning \(2 cases, max error 0\), ")
    code, out, _ = room.validate("warned.cu", "--strict")
    same(code, 1)
    holds(out, r"^fail: 1 warning, and strict allows none, ")


def arguments_in_another_order_are_told(room):
    room.kernel("swapped", GOOD.replace("int n)", "int n, int m)"), sizes=[{"n": 64, "m": 3}],
                args=SPEC["args"][:2] + [{"name": "m", "type": "int32", "value": "m"}, SPEC["args"][2]])
    code, out, _ = room.validate("swapped.cu")
    same(code, 1)
    holds(out, r"warning: the arguments are named \(y, x, m, n\), the kernel's parameters \(y, x, n, m\)")


def a_large_relative_error_that_passes_is_explained(room):
    room.kernel("tiny", GOOD, args=SPEC["args"][:1] + [dict(SPEC["args"][1], init={"values": [0, 0, 0, 50]})] + SPEC["args"][2:],
                expect={"expression": {"y": "x[i] * 0.5 + (i == 1 ? 1e-6 : 0)"}})
    code, out, _ = room.validate("tiny.cu")
    same(code, 0)
    holds(out, r"^y: the relative error of 1 is that of a small value; up to 0\.\d+ \+ 0\.0001 \* \|expected\| is ok$")


# Each block turns its part of x round, and nothing orders the writes and the reads of other warps.
REVERSE = """__global__ void reverse(float *y, const float *x, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = x[i];
    y[i] = part[255 - t];
}
"""
REVERSED = dict(sizes={"n": 1024}, odd_sizes=False, expect={"expression": {"y": "x[i - i % 256 + 255 - i % 256]"}})


def a_race_stands_before_the_reads_that_it_leads_to(room):
    room.kernel("reverse", REVERSE, **REVERSED)
    code, out, _ = room.validate("reverse.cu")
    same(code, 1)
    race, read = out.find("[run race]"), out.find("[run uninitialized]")
    assert 0 <= race < read, out
    holds(out, r"^fail: race, \d+ wrong elements")


def never_written(room):
    """what the kernel left alone is said of each element, whatever is in the memory"""
    for type, init, fill, said in (("float", {"arange": [1, 1]}, {}, "never written"), ("int", {"arange": [1, 1]}, {}, "never written"),
                                   ("float", {"arange": [1, 1]}, {"init": {"fill": "NaN"}}, "as before the launch")):
        name = type + ("f" if fill else "")
        room.kernel(name, GOOD.replace("float", type).replace("0.5f", "2").replace("i < n", "i < n - 3"), sizes={"n": 1000},
                    args=[dict(SPEC["args"][0], type=type + "32", **fill), dict(SPEC["args"][1], type=type + "32", init=init), SPEC["args"][2]],
                    expect={"expression": {"y": "x[i] * 2"}})
        code, out, _ = room.validate(name + ".cu")
        same(code, 1)
        holds(out, r"^n=1000 +0 +y +1000 +3 +– +– +wrong$", r"^  \[997\] is \S+ \(%s\), should be 1996$" % said)
        assert ("no error can be given" in out) == bool(fill), out


def elements_without_an_error_are_told(room):
    """where all wrong ones are NaN, the others' largest error says nothing of them"""
    room.kernel("nan", GOOD.replace("x[i] * 0.5f;", "i % 4 ? x[i] * 0.5f : nanf(\"\");"))
    code, out, _ = room.validate("nan.cu")
    same(code, 1)
    holds(out, r"^n=1024 +0 +y +1024 +256 +– +– +wrong$",
          r"^for 256 of 1024 elements of y no error can be given: they are infinite or NaN, or should be$")
    never_written(room)


def an_odd_size_stands_at_the_line_that_fails(room):
    """a guard that lets one too many in, and a kernel that takes four elements at once"""
    room.kernel("beyond", GOOD.replace("i < n", "i <= n"), sizes={"n": 1024})
    code, out, _ = room.validate("beyond.cu")
    same(code, 1)
    holds(out, r"^beyond\.cu:3:\d+: error: the kernel fails with n = 1023 \(tried because all sizes are round\) but not with 1024: "
          r"Invalid global read of 4 bytes: 0 bytes past the end of x \(4092 bytes\)\. It also fails with 896, ",
          r"^  beyond\.cu:3:\d+: note: also: Invalid global write of 4 bytes: 0 bytes past the end of y",
          r"^fail: odd_size, ")
    room.kernel("fours", """__global__ void fours(float4 *y, const float4 *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 < n) { float4 v = x[i]; y[i] = {v.x * 0.5f, v.y * 0.5f, v.z * 0.5f, v.w * 0.5f}; }
}
""", sizes={"n": 1024}, launch={"grid": ["ceil_div(n, 1024)"], "block": [256]})
    code, out, _ = room.validate("fours.cu")
    same(code, 0)
    holds(out, r"^fours\.cu:3:\d+: warning: the kernel fails with n = 1023 .*only a warning because.*say \"odd_sizes\": false",
          r"^odd sizes +n=1023 fail; n=512 pass$", r"^pass with 1 warning")


def a_device_that_is_not_there_is_told(room):
    """whoever names a device learns that the kernel ran on the CPU"""
    room.kernel("good", GOOD, backend="auto")
    code, out, _ = room.validate("good.cu", "--device", "99")
    same(code, 0)
    holds(out, r"^not on a GPU: \S")


def a_type_that_the_kernel_does_not_take_is_told_first(room):
    """a double for a float, where it stands in the way; what passes has none"""
    x = {"name": "x", "type": "float64", "shape": ["n"], "init": {"arange": [1, 1]}}
    room.kernel("double", GOOD, args=[SPEC["args"][0], x, SPEC["args"][2]])
    code, out, _ = room.validate("double.cu")
    same(code, 1)
    assert re.match(r"double\.cu:1: error: the argument 'x' has elements of type float64, the kernel's parameter points to "
                    r"float32: give float32, or its bytes are misread \[run argument_type\]\n", out), out
    holds(out, r"^fail: argument_type, \d+ wrong elements")
    # A kernel that takes the bytes of doubles as floats, on purpose.
    room.kernel("bytes", GOOD.replace("x[i] * 0.5f", "(float)((const double *)x)[i] * 0.5f"), args=[SPEC["args"][0], x, SPEC["args"][2]])
    code, out, _ = room.validate("bytes.cu")
    same(code, 0)
    assert "argument_type" not in out, out
    room.kernel("scalar", GOOD, args=[*SPEC["args"][:2], {"name": "n", "type": "float32", "value": "n"}])
    _, out, _ = room.validate("scalar.cu")
    holds(out, r"error: the argument 'n' is of type float32, the kernel's parameter is int32: give int32")


def wrong_elements_have_bars_and_a_seed_that_repeats_them(room):
    room.kernel("wrong", GOOD.replace("0.5f", "(i % 4 ? 0.5f : 0.25f)"),
                args=SPEC["args"][:1] + [dict(SPEC["args"][1], init={"uniform": [1, 2]})] + SPEC["args"][2:])
    expect = {"kernel": {"source": GOOD + "//" + "x" * 9000, "launch": SPEC["launch"]}}  # longer than a line of anything
    code, out, _ = room.validate("wrong.cu", "--trials", "1", "--checks", "memory", "--checks", "race", "--no-odd-sizes",
                                 "--tolerance", '{"rtol": 1e-3, "atol": 0}', "--expect", json.dumps(expect))
    same(code, 1)
    holds(out, r"^n=1024 +0 +y +1024 +256 .*wrong$", r"^n=64 +0 +y +64 +16 .*wrong$",
          r"^first wrong elements of y in n=1024, trial 0, seed 0x", r"^  \[0\] is .*, should be ",
          r"^ +none +768  █+$", r"^ +from 2\^-1 +256  █+[▏▎▍▌▋▊▉]?$", r"^fail: 256 wrong elements, 2 trials")
    again = re.search(r"^again: upskillctl (kernel validate wrong\.cu .*--seed 0x\w+)$", out, re.M)
    assert again and "…" not in again.group(1), out
    words = shlex.split(again.group(1))
    for option in ("--trials", "1"), ("--checks", '["memory","race"]'), ("--no-odd-sizes",):
        assert " ".join(option) in " ".join(words), again.group(1)
    same(json.loads(words[words.index("--expect") + 1]), expect)
    code, more, _ = room.validate(*words[2:])
    same((code, re.findall(r"^  \[.*", more, re.M)), (1, re.findall(r"^  \[.*", out, re.M)))


def one_size_of_the_files_is_replaced(room):
    """By name, in each of its cases; all sizes of a case are that case alone."""
    spec = dict(sizes=[{"n": 64, "m": 1}, {"n": 96, "m": 2}], args=SPEC["args"][:2] + [{"name": "n", "type": "int32",
                "value": "n + 0 * m"}])
    room.kernel("sized", GOOD, **spec)
    code, out, _ = room.validate("sized.cu", "--size", "m=5", "--no-odd-sizes")
    same((code, re.findall(r"^(n=\d+ m=\d+) ", out, re.M)), (0, ["n=64 m=5", "n=96 m=5"]))
    code, out, _ = room.validate("sized.cu", "--size", "m=5", "--size", "n=7", "--no-odd-sizes")
    same((code, re.findall(r"^(n=\d+ m=\d+) ", out, re.M)), (0, ["n=7 m=5"]))
    code, _, err = room.validate("sized.cu", "--size", "rows=5")
    same(code, 2)
    holds(err, r"^error: sizes\.rows: the check spec has no size of this name; it has n, m$")


def the_files_launch_is_replaced(room):
    """The file completes the request; without one, a kernel without parameters needs the launch alone."""
    room.kernel("launched", GOOD)
    code, out, _ = room.validate("launched.cu", "--launch", '{"block": 1, "grid": 1}', "--no-odd-sizes")
    assert code == 1 and "y " in out and "wrong" in out, out
    open(os.path.join(room.dir, "alone.cu"), "w").write("__global__ void alone() {}\n")
    code, out, err = room.validate("alone.cu", "--launch", '{"block": 32, "grid": 1}')
    assert code == 0 and "nothing was compared" in out, out + err


def good_trials_are_counted(room):
    room.kernel("good", GOOD)
    _, out, _ = room.validate("good.cu", "--trials", "3", "--no-odd-sizes")
    holds(out, r"^n=64 +0 +y .*\nand 4 more trials, none wrong$", r"^pass \(2 cases, max error 0; only round sizes were tried\), 6 trials")


def other_programs_get_wrong_outputs_and_both_sides_of_a_race(room):
    room.kernel("off", GOOD.replace("0.5f;", "0.5f + (i == 7);"))
    code, out, _ = room.validate("off.cu", "--seed", "5", "--output-format", "github")
    holds(out, r"^::error file=off.cu,title=mismatch::output y: 1 of 1024 elements are wrong in n=1024, trial 0, seed 0x0+5$")
    assert code == 1 and out.count("::error") == 1, out
    room.kernel("racy", """__global__ void racy(float *y, const float *x, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x] * 0.5f;
    y[threadIdx.x] = s[255 - threadIdx.x];
}
""", sizes={"n": 256}, expect={"expression": {"y": "x[255 - i] * 0.5"}})
    _, out, _ = room.validate("racy.cu", "--output-format", "github")
    holds(out, r"^::error file=racy.cu,line=4,.*Race, .*%0Aracy.cu:3:\d+: the earlier write of 4 bytes, block 0,0,0 thread \d+,0,0$")
    _, out, _ = room.validate("racy.cu", "--output-format", "junit")
    holds(out, r"^racy.cu:3:\d+: the earlier write of 4 bytes")
    _, out, _ = room.validate("racy.cu", "--output-format", "sarif")
    # One: that some threads write after others have read is the same mistake.
    race, = [r for r in json.loads(out)["runs"][0]["results"] if r["ruleId"] == "race"]
    assert "read after write" in race["message"]["text"], race
    other, = race["relatedLocations"]
    same(other["physicalLocation"]["region"]["startLine"], 3)
    holds(other["message"]["text"], r"^the earlier write of 4 bytes")


def a_finding_has_its_line_and_caret(room):
    room.kernel("far", GOOD.replace("i < n", "i <= n"))
    code, out, _ = room.validate("far.cu")
    same(code, 1)
    holds(out, r"^far\.cu:3:\d+: error: Invalid global (read|write) of 4 bytes",
          r"^    3 \|     if \(i <= n\)", r"^      \| +\^", r"^  in scale block 0,0,0 thread 64,0,0$",
          r"^n=64 +0 +– +– .*fail$", r"^fail: out_of_bounds, 2 trials, \d findings")


FILE_OF_PTX = """.version 8.0
.target sm_90a
.address_size 64
.file 1 "%s"
.visible .entry k(.param .u64 p) {
 .reg .b64 %%rd;
 .loc 1 1 1
 ld.param.u64 %%rd, [p];
 st.global.u32 [%%rd+4096], 7;
 ret;
}
"""


def lines_are_quoted_from_the_folders_in_use_alone(room):
    """PTX names any file as where it comes from; a line of it is no concern of who checks it."""
    elsewhere = scratch.folder("ctl-elsewhere-")
    for folder, quoted in ((elsewhere, False), (room.dir, True), (elsewhere, True)):
        origin, words = os.path.join(folder, "origin.py"), ["--", elsewhere + "/k.ptx"] if quoted and folder == elsewhere else ["k.ptx"]
        with open(origin, "w") as f:
            f.write("only for its owner\n")
        for where in (room.dir, elsewhere):
            with open(where + "/k.ptx", "w") as f:
                f.write(FILE_OF_PTX % origin)
            with open(where + "/k.check.json", "w") as f:
                json.dump({"args": [{"name": "y", "type": "int32", "shape": [4], "output": True}], "launch": {"grid": [1], "block": [1]},
                           "expect": {"values": {"y": [1, 2, 3, 4]}}}, f)
        code, out, _ = room.validate(*words)
        same(code, 1)
        holds(out, r"origin\.py:1:1: error: Invalid global write")
        same("only for its owner" in out, quoted)


def what_does_not_compile_is_status_1_and_what_cannot_run_2(room):
    room.kernel("typo", GOOD.replace("0.5f", "half_of"))
    code, out, _ = room.validate("typo.cu")
    same(code, 1)
    holds(out, r"^typo\.cu:3:\d+: error: identifier \"half_of\" is undefined", r"^ +\| +\^",
          r"^error: it does not compile: identifier \"half_of\" is undefined \(typo\.cu:3\)$")
    assert "again:" not in out, out  # no trial had the seed
    room.kernel("nested", GOOD + "__global__ void outer(float *x) { scale<<<1, 1>>>(x, x, 1); }\n")
    code, out, _ = room.validate("nested.cu")
    same(code, 1)
    holds(out, r"^compile: it does not compile: .*a kernel that launches another one.*\(nested\.cu:\d+\)$")
    room.kernel("left", "template <class T>\n" + GOOD)
    code, out, _ = room.validate("left.cu")
    same(code, 1)
    holds(out, r"^error: nothing was compiled: the kernel template scale is not instantiated$")
    room.kernel("cast", GOOD.replace("if (i", "asm volatile(\"multimem.red.relaxed.sys.global.add.u32 [%0], 1;\" :: \"l\"(y));\n    if (i"))
    code, out, _ = room.validate("cast.cu")
    same(code, 2)
    holds(out, r"^  multimem\.red\S* at cast\.cu:3$", r"^hint: ", r"^unsupported")


def what_other_kernels_of_the_file_lack_is_not_told(room):
    others = ("__global__ void __launch_bounds__(32) small(float *x) { x[threadIdx.x] = 1; }\n"
              "__global__ void big(float *x) { __shared__ float a[20000]; a[threadIdx.x] = *x; __syncthreads(); *x = a[255 - threadIdx.x]; }\n"
              "template <class T> __global__ void left(T *x) { *x = 1; }\n"
              "constexpr int BLOCKS = 3;\nint main() { return BLOCKS; }\n")
    room.kernel("others", GOOD + others, kernel="scale")
    code, out, err = room.validate("others.cu")
    same((code, err), (0, ""))
    assert "warning" not in out and "info" not in out, out
    room.kernel("unnamed", others + GOOD.replace("scale", "other"), kernel="small")
    code, out, _ = room.validate("unnamed.cu")
    same(code, 1)
    holds(out, r"a block of \d+ threads is more than the 32 that small's")


def a_kernel_that_does_not_end_is_a_timeout(room):
    room.kernel("loop", GOOD.replace("if (i < n)", "while (*(volatile const float *)x > 0)"), instructions=300000)
    code, out, _ = room.validate("loop.cu")
    same(code, 1)
    holds(out, r"^loop\.cu:3:\d+: warning: Threads were still running here", r"^n=1024 .*timeout$",
          r"^hint: ", r"^timeout: .*, 1 trial")


def a_reference_that_does_not_fit_is_told_last(room):
    """No row of the kernel's trial, which ended well; time that the reference took is the reference's.
    A float that grows by 1 stops at 2^24, which is a deadlock in less than these three seconds."""
    for source, words in (("__global__ void r(float *y) { y[0] = 1; }", "expect.kernel.args: the kernel takes 1 arguments"),
                          ("__global__ void r(float *y, const float *x, int n) { for (;;) atomicAdd((int *)y, 1); }",
                           "time ran out before the reference had ended")):
        room.kernel("fits", GOOD, expect={"kernel": {"source": source}}, timeout_s=3)
        code, out, _ = room.validate("fits.cu")
        assert code and out.count(words) == 1 and re.search(f"^(error|timeout): {words}.*, 1 trial", out, re.M), out
        assert "\ncase " not in out, out


def a_check_that_proves_nothing_is_status_2(room):
    room.kernel("trivial", GOOD, tolerance={"atol": 1000})
    for more in (), ("--json",):
        code, out, _ = room.validate("trivial.cu", *more)
        same((more, code), (more, 2))
        assert "trivial_check" in out or "would pass" in out, out


def what_cannot_be_asked_is_status_2(room):
    room.kernel("spec", GOOD, args=[{"name": "y", "type": "float31", "shape": ["n"], "output": True}])
    code, out, err = room.validate("spec.cu")
    same((code, out), (2, ""))
    holds(err, r"^error: spec\.check\.json: args\[0\]\.type: one of float32")
    code, out, err = room.validate("nowhere.cu")
    same((code, out), (2, ""))


def what_an_option_says_wrong_is_blamed_on_the_option(room):
    room.kernel("good", GOOD)
    for words, says in ((["--expect", '{"expression": {"y": "x[i] * q"}}'],
                         r"--expect: expect\.expression\.y: cannot read .*unknown name q; known are i, n, y\[…\], x\[…\]$"),
                        (["--launch", '{"block": [2048]}'], r"--launch: launch\.block\[0\] is 2048: at most 1024 in x$"),
                        (["--sizes", "n=-1"], r"case 0: y\.shape\[0\] is -1: ")):
        code, out, err = room.validate("good.cu", *words)
        same((code, out), (2, ""))
        holds(err, r"^error: " + says)
        assert "check.json" not in err, err
    room.kernel("wide", GOOD, launch={"grid": [1], "block": [2048]})
    code, out, err = room.validate("wide.cu", "--sizes", "n=64")
    same((code, out), (2, ""))
    holds(err, r"^error: wide\.check\.json: case 0: launch\.block\[0\] is 2048")


def what_the_spec_lacks_or_swaps_is_named(room):
    room.kernel("fewer", GOOD, args=SPEC["args"][:2])
    code, out, _ = room.validate("fewer.cu")
    same(code, 2)
    holds(out, r"^error: args: the kernel takes 3 arguments, the spec gives 2",
          r"^hint: the kernel's parameters are \(y, x, n\), the spec's arguments \(y, x\)$")
    assert out.index("error: ") < out.index("hint: "), out  # the hint is about the error
    wide = GOOD.replace("int n)", "int m, int n)").replace("i < n", "i < m * 0 + n").replace("[i] * 0.5f", "[i] * 0.5f + 0 * m")
    scalars = [{"name": "m", "type": "int32", "value": "n"}, {"name": "n", "type": "int32", "value": "m"}]
    for values, told in ((("n", "m"), True), (("m", "n"), False)):
        args = SPEC["args"][:2] + [dict(s, value=v) for s, v in zip(scalars, values)]
        room.kernel("swaps", wide, args=args, sizes={"m": 5000, "n": 64}, expect={"expression": {"y": "x[i] * 0.25"}})
        code, out, _ = room.validate("swaps.cu")
        same(code, 1)
        same("the argument m has the value n, and n the value m" in " ".join(out.split()), told)
    room.write("none.cu", "int main() { return 0; }\n")
    code, out, err = room.validate("none.cu")
    same((code, out), (2, ""))
    holds(err, r"^hint: none\.cu has no kernel: name the file that has the __global__ function$")
    room.write("some.cu", GOOD)
    holds(room.validate("some.cu")[2], r"^hint: upskillctl kernel init some\.cu begins")
    for words in (["--spec", "x.check.json"], ["x.check.json"]):
        holds(room.validate("good.cu", *words)[2], r"^error: .*in place of the kernel, which its \"path\" names$")
    room.kernel("good", GOOD.replace("0.5f", "2.0f"))
    room.kernel("two", GOOD, args=SPEC["args"][:1] + [dict(SPEC["args"][1], name=name) for name in "uv"] + SPEC["args"][2:])
    code, out, err = room.validate("two.cu", "--expect", "op=matmul")
    holds(err, r'^error: --expect: .*Say \{"op": "matmul", "inputs": \{"input": "u", "other": "v"\}\}$')
    code, out, err = room.validate("good.cu", "--sizes", "n=64", "--expect", '{"op": "avg_pool2d", "kernel_size": 1, "inputs": {"input": "x"}}')
    holds(" ".join((out + err).split()), r"'x' has shape \[64\], rank 4, like \[1, 1, 1, 64\], is expected")


def an_expression_knows_the_scalars_as_the_kernel_gets_them(room):
    source = GOOD.replace("int n)", "float s, int m, int n)").replace("0.5f", "s + m")
    args = SPEC["args"][:2] + [{"name": "s", "type": "float32", "value": 0.1}, {"name": "m", "type": "int32", "value": "n / 8"}] + SPEC["args"][2:]
    for text, passes in (("x[i] * s + m", True), ("x[i] * s + n / 8", True), ("x[i] * s + n / 4", False)):
        room.kernel("scalars", source, args=args, expect={"expression": {"y": text}})
        code, out, err = room.validate("scalars.cu")
        same((code, err), (0 if passes else 1, ""))
        holds(out, r"^pass " if passes else r"^fail: ")


def what_a_gpu_measures_has_lines_and_bars(room):
    room.kernel("good", GOOD)
    more = {"timing": {"summary": "median 12.25 us, p90 13.5", "samples": 50,
                       "cache": "cold", "method": "events", "sm_clock_mhz": 1980, "mem_clock_mhz": 2619,
                       "throttled": True, "reference_median_us": 24.5, "speedup": 2.0,
                       "notes": ["the\033[31m clocks moved"]},
            "roofline": {"device": "H100 SXM", "bound": "memory", "limit_us": 9.1, "percent": 74,
                         "method": "measured"},
            "backend": {"kind": "emulator", "device": "CPU", "fallback": "the driver is too old"},
            "counters": {"instructions": 640, "lane_instructions": 10240, "active_lanes_percent": 50.0,
                         "global_requests": 10, "global_sectors": 320, "global_sectors_ideal": 40,
                         "global_sectors_per_request": 32.0, "shared_requests": 8, "shared_wavefronts": 16,
                         "shared_bank_conflicts": 8, "branches": 4, "divergent_branches": 2,
                         "by_line": [{"line": 2, "global_sectors": 4, "global_sectors_ideal": 4},
                                     {"line": 3, "global_sectors": 316, "global_sectors_ideal": 36}]}}
    code, out, _ = room.validate("good.cu", env={"UPSKILLD": room.between, "MORE": json.dumps(more)})
    same(code, 0)
    words = " ".join(out.split())  # lines are wrapped
    holds(words, r"time median 12\.25 us, p90 13\.5 \(50 samples, cold cache, SM at 1980 MHz, "
                 r"memory at 2619 MHz\), the GPU was throttled", "the clocks moved",
          r"2 times as fast as the reference \(24\.5 us\)",
          r"roofline █+.* 74 % no faster than 9\.1 us on an H100 SXM, bound by memory")
    holds(out, r"^coalescing +█.* 12\.5 %  32 sectors a request, worst in line 3$",
          r"^bank conflicts +8 in 8 requests", r"^lanes active +█.* 50 %  2 of 4 branches diverge$",
          r"^not on a GPU: the driver is too old$")


TESTS = [a_right_kernel_is_status_0, a_kernel_of_another_folder_is_found, one_size_of_the_files_is_replaced, the_files_launch_is_replaced, good_trials_are_counted, other_programs_get_wrong_outputs_and_both_sides_of_a_race,
         wrong_elements_have_bars_and_a_seed_that_repeats_them,
         a_finding_has_its_line_and_caret, what_does_not_compile_is_status_1_and_what_cannot_run_2,
         what_other_kernels_of_the_file_lack_is_not_told,
         a_kernel_that_does_not_end_is_a_timeout, a_reference_that_does_not_fit_is_told_last, a_check_that_proves_nothing_is_status_2, what_cannot_be_asked_is_status_2,
         what_an_option_says_wrong_is_blamed_on_the_option, what_the_spec_lacks_or_swaps_is_named, an_expression_knows_the_scalars_as_the_kernel_gets_them,
         what_a_gpu_measures_has_lines_and_bars,
         what_nobody_judges_is_status_1, elements_that_are_not_judged_are_counted, warnings_are_told_and_strict_fails_on_them,
         arguments_in_another_order_are_told, a_large_relative_error_that_passes_is_explained,
         a_race_stands_before_the_reads_that_it_leads_to, elements_without_an_error_are_told,
         an_odd_size_stands_at_the_line_that_fails, a_device_that_is_not_there_is_told,
         a_type_that_the_kernel_does_not_take_is_told_first, lines_are_quoted_from_the_folders_in_use_alone]


def main():
    room = Room(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    try:
        status = subprocess.run([room.ctl, "--json", "status"], stdout=subprocess.PIPE, env=room.env,
                                stdin=subprocess.DEVNULL)
        if not json.loads(status.stdout)["kernels"]["toolkits"]:
            print("1..0 # SKIP no CUDA compiler")
            return 0
        print("1..%d" % len(TESTS))
        for function in TESTS:
            room.test(function)
    finally:
        shutil.rmtree(room.dir, ignore_errors=True)
    return 1 if room.bad else 0


if __name__ == "__main__":
    sys.exit(main())
