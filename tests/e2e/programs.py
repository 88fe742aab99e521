#!/usr/bin/env python3
"""kernel/run: programs compiled, run in their room and told; and those that mean ill.

usage: programs.py UPSKILLD   (TAP on standard output)
"""
import glob, json, os, re, struct, sys, time

from programs_support import Daemon, Tap, kernel

C = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <errno.h>\n#include <unistd.h>\n"


def program(body, includes=""):
    return C + includes + "int main(int argc, char **argv) {\n" + body + "\nreturn 0;\n}\n"


def is_of_others(path):
    """Is it a program of a worker that another process than this test started?"""
    worker = re.search(r"upskilld-worker-(\d+)-", path)
    try:
        pid = int(worker.group(1)) if worker else 0
        while pid > 1 and pid != os.getpid():
            with open("/proc/%d/stat" % pid) as f:
                pid = int(f.read().rsplit(")", 1)[1].split()[1])
        return pid == 1
    except OSError:
        return False


def left_running():
    """Programs of these tests that still live."""
    alive = []
    for link in glob.glob("/proc/[0-9]*/exe"):
        try:
            path = os.readlink(link)
            if path.endswith("/out/program") and not is_of_others(path):
                alive.append(link)
        except OSError:
            pass
    return alive


# --- what is told ---

def passes(d):
    r = d.run(d.put("count.cu", kernel()), 4)
    assert r["verdict"] == "pass" and r["exit_status"] == 0 and r["findings"] == [], r
    assert r["stdout"] == "0 wrong\n" and r["stderr"] == "" and "signal" not in r, r
    launch, = r["launches"]
    assert launch["kernel"] == "count" and launch["grid"] == [1, 1, 1] and launch["block"] == [4, 1, 1], launch
    assert launch["times"] == 1 and (launch["file"], launch["line"]) == ("count.cu", 5), launch
    assert r["leaks"] == [] and r["api_errors"] == [] and set(r["confinement"]) == {"landlock", "seccomp", "rlimits"}, r


def a_path_may_have_spaces(d):
    """The launch's line, and folders of headers."""
    name = d.put("a b/count c.cu", '#include "n.h"\n' + kernel("r0/a b/count c.cu"))
    d.put("c d/n.h", "")
    for options in ["-I" + d.work + "c d"], ["-I", d.work + "c d", "-O3"]:
        launch, = d.run(name, 4, options=options)["launches"]
        assert (launch.get("file"), launch.get("line")) == ("a b/count c.cu", 5), launch


def finds(d):
    r = d.run(d.put("count.cu", kernel()), 6)
    assert r["verdict"] == "fail", r
    f = r["findings"][0]
    assert f["code"] == "out_of_bounds" and (f["file"], f["line"]) == ("count.cu", 7), f
    assert [(x["message"], x["file"], x["line"]) for x in f["related"]] == [("the host's call", "count.cu", 5), ("the allocation", "count.cu", 4)], f


def tells_where_freed_memory_was_freed(d):
    """To a kernel that uses it, and to a second cudaFree."""
    r = d.run_text(kernel("r0/program.cu").replace("stub(d, threads); /*", "cudaFree(d);\n stub(d, threads); /*"), 4)
    related = [(x["message"], x["line"]) for x in r["findings"][0]["related"]]
    assert r["findings"][0]["code"] == "out_of_bounds" and related[1][0] == "the allocation" and related[2][0] == "where it was freed", r
    assert related == [("the host's call", 5), ("the allocation", 4), ("where it was freed", 5)], related  # as #line says
    r = d.run_text(program("void *d; cudaMalloc(&d, 4);\ncudaFree(d);\ncudaFree(d);", "int cudaMalloc(void **, long), cudaFree(void *);\n"))
    f, = r["findings"]
    line = f["line"]
    assert f["code"] == "invalid_free" and [(x["message"], x["line"]) for x in f["related"]] == [
        ("the allocation", line - 2), ("where it was freed", line - 1)], f


def tells_whose_memory_it_was(d):
    r = d.run_text(kernel("r0/program.cu").replace("stub(d, threads); /*", "stub(h, threads); /*"))
    f, = r["findings"]
    assert f["code"] == "out_of_bounds" and f["line"] == 7 and "not an address of device memory, but of the host's own" in f["message"], f
    r = d.run_text(program("static char b[4096]; cudaHostRegister(b, 4096, 0); cudaFree(b);", "int cudaHostRegister(void *, long, int), cudaFree(void *);\n"))
    f, = r["findings"]
    assert f["code"] == "invalid_free" and f["message"].endswith("this is registered host memory: cudaHostUnregister releases it"), f
    assert [(x["kind"], x["bytes"]) for x in r["leaks"]] == [("registered", 4096)], r["leaks"]


def finds_what_nobody_wrote(d):
    """Three threads for four elements: the copy's line, and no fail."""
    r = d.run(d.put("count.cu", kernel()), 3)
    f, = r["findings"]
    assert (f["code"], f["severity"], f["file"], f["line"]) == ("unwritten_copy", "warning", "count.cu", 8), f
    assert "16 bytes" in f["message"] and "written 4 of them, the first at byte 12" in f["message"], f
    assert "does the grid of count, 1 x 1 x 1 blocks of 3 x 1 x 1 threads, reach all elements?" in f["message"], f
    assert [(x["message"], x["line"]) for x in f["related"]] == [("the allocation", 4), ("the last launch that wrote to it", 5)], f
    assert r["verdict"] == "pass" and ", 1 warning; " in r["summary"], r
    assert d.run("count.cu", 3, strict=True)["verdict"] == "fail"
    assert d.run("count.cu", 3, checks=["memory"])["findings"] == []


def with_constant(declaration, before):
    """The kernel adds it to what it writes; `before` stands in front of the launch."""
    text = kernel("r0/constant.cu").replace(".address_size 64\\n", ".address_size 64\\n.const .align 4 .b8 added[8];\\n")
    text = text.replace('"st.global', '"ld.const.u32 %r3, [added];\\nadd.u32 %r2, %r2, %r3;\\nst.global')
    text = text.replace("static const char ptx", "void __cudaRegisterVar(void **, char *, const char *, const char *, int, size_t, int, int);\n"
                        "int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);\n#define __constant__ static\n"
                        '%s\nstatic const char ptx' % declaration, 1)
    text = text.replace("    __cudaRegisterFatBinaryEnd", '    __cudaRegisterVar(handle, (char *)added, "added", "added", 0, 8, 1, 0);\n'
                        "    __cudaRegisterFatBinaryEnd", 1)
    return text.replace("    if (!__cudaPush", "    %s if (!__cudaPush" % before, 1)


def finds_a_constant_that_nobody_set(d):
    """At the launch, with the declaration; not where the source says zero, or where it is set first."""
    for declaration, before, found in (("__constant__ unsigned added[2];", "", True),
                                       ("__constant__ unsigned added[2];", "cudaMemcpyToSymbol(added, h, 4, 0, 1);", False),
                                       ("__constant__ unsigned added[2] = {};", "", False)):
        text = with_constant(declaration, before)
        r = d.run(d.put("constant.cu", text), 4)
        assert r["verdict"] == "pass" and r["stdout"] == "0 wrong\n", r
        assert [(f["code"], f["severity"], f["file"], f["line"]) for f in r["findings"]] \
            == [("unset_constant", "warning", "constant.cu", 5)] * found, (declaration, before, r["findings"])
        assert not found or [(x["message"], x["line"]) for x in r["findings"][0]["related"]] \
            == [("the declaration", 1 + text[:text.index(declaration)].count("\n"))], r["findings"]


CHECKED = r"""int cudaMalloc(void **, size_t), cudaMemcpy(void *, const void *, size_t, int), cudaFree(void *);
#include <stdlib.h>
#define CK(x) do { int error = (x); if (error) exit(3); } while (0)
#define RUN(x) x
#define COPY(d, h) cudaMemcpy(d, h, 8, 3)
"""


def a_call_whose_value_is_used_is_checked(d):
    """No one asks for the last error: what the source does with the value that the failed call returned says it."""
    for call, looked_at, verdict in (
            ("if (cudaMemcpy(p, h, 8, 3)) cudaMemcpy(p, h, 8, 1);", None, "pass"),  # the line has two, which differ
            ("if (cudaMemcpy(p, h, 8, 3))\ncudaMemcpy(p, h, 8, 1);", True, "pass"),
            ("CK(cudaMemcpy(p, h, 8, 3));", True, "fail"),  # it exits with 3
            ("RUN(cudaMemcpy(p, h, 8, 3));", False, "fail"),
            ("cudaMemcpy(p, h, 8, 3);", False, "fail"),
            ("COPY(p, h);", None, "pass")):
        r = d.run_text(program('char h[8] = ""; void *p; CK(cudaMalloc(&p, 8));\n%s\nCK(cudaFree(p));' % call, CHECKED))
        failed, = r["api_errors"]
        assert failed["function"] == "cudaMemcpy" and failed.get("looked_at") is looked_at, (call, failed)
        assert r["verdict"] == verdict, (call, r)

    for copy, looked_at in ("cudaMemcpy(h, d, sizeof h, 2);", False), ("if (cudaMemcpy(h, d, sizeof h, 2)) return 5;", True):
        text = kernel("r0/later.cu").replace('#line 1 "r0/later.cu"\n', "")  # its lines are those of the file
        d.put("later.cu", text.replace("cudaMemcpy(h, d, sizeof h, 2);", copy))
        failed, = d.run("later.cu", 6)["api_errors"]  # the kernel's fault lasts
        assert failed["function"] == "cudaDeviceSynchronize" and failed.get("looked_at") is looked_at, (copy, failed)
        assert failed["later"] and "later_calls" not in failed, failed


def tells_wrong_frees_of_the_host(d):
    """As glibc does, the program ends; one finding at the line says why. Writes past the end do not end it."""
    free = "void *volatile p;\nvoid hand_back(void) { free(p); }\n"
    for body, code, words in (("p = malloc(24); hand_back();\nhand_back();", "invalid_free", "freed before"),
                              ("p = (char *)malloc(600) + 8;\nhand_back();", "invalid_free", "8 bytes behind it"),
                              ("p = malloc(24); memset(p, 1, 25);\nhand_back();", "out_of_bounds", "past the end"),
                              ("cudaMalloc((void **)&p, 24);\nhand_back();", "invalid_free", "this is device memory, which malloc did not give")):
        r = d.run_text(program("cudaFree(0); " + body, free + "int cudaFree(void *), cudaMalloc(void **, size_t);\n"))
        f, = r["findings"]
        assert f["code"] == code and f["line"] == 7 and words in f["message"] and r["verdict"] == "fail", (body, f)
        assert r.get("signal") == (None if code == "out_of_bounds" else "SIGABRT"), (body, r)


def what_the_library_touches_has_the_line_of_its_call(d):
    """cudaMalloc writes its answer where the program says, here into the device's memory."""
    r = d.run_text(program("void **p; cudaMalloc((void **)&p, 8);\nreturn cudaMalloc(&p[0], 8);", CHECKED))
    f, = r["findings"]
    assert f["code"] == "host_access" and f.get("line") == 13, f


# --- a check spec from a launch that took place ---

SPOKEN = "#define __global__\n__global__ void count(unsigned *x, unsigned n) { if (n) x[0] = n; }\n"
UNSPOKEN = "#define __global__\n__global__ void other(unsigned *x) { x[0] = 0; }\n"


def init(d, name, *args, **more):
    answer = d.ask("kernel/init", dict(more, path=name, args=[str(a) for a in args], force=True))
    assert "result" in answer, answer
    with open(d.work + name.replace(".cu", ".check.json")) as f:
        written = json.load(f)
    assert written == answer["result"]["spec"], (written, answer)
    return answer["result"]


def records(d):
    r = init(d, d.put("spoken.cu", SPOKEN + kernel("r0/spoken.cu")), 3)
    comment = "recorded from the first launch of count when the program ran with the arguments 3"
    buffer = {"name": "x", "type": "uint32", "shape": [4], "output": True}
    assert r["from"] == "run" and [u["member"] for u in r["unknown"]] == ["args[0]", "expect"], r
    # One of four elements is left alone, so it has a value before that nobody expects.
    assert "wrote only a part of it, and what it leaves alone holds 1515870810" in r["unknown"][0]["why"], r
    assert r["spec"] == {"comment": comment, "launch": {"grid": [1], "block": [3]},
                         "args": [dict(buffer, init={"fill": 0x5a5a5a5a}), {"name": "n", "type": "uint32", "value": 3}],
                         "expect": None}, r
    r = init(d, "spoken.cu", 4)
    assert r["spec"]["sizes"] == {"n": 4} and r["spec"]["odd_sizes"] is False, r
    assert r["spec"]["args"] == [dict(buffer, shape=["n"]), {"name": "n", "type": "uint32", "value": "n"}], r
    again = d.ask("kernel/init", {"path": "spoken.cu", "args": ["4"]})
    assert again["error"]["data"]["reason"] == "exists", again


def rows_of_blocks_are_named(d):
    """An array that has n elements for each block is so many rows of n."""
    text = kernel("r0/rows.cu").replace("int h[4]", "int h[6]").replace("(dim3){1, 1, 1}", "(dim3){2, 1, 1}")
    r = init(d, d.put("rows.cu", SPOKEN + text), 3)
    assert r["spec"]["args"][0]["shape"] == [2, "n"] and r["spec"]["sizes"] == {"n": 3}, r


def what_is_multiplied_by_is_a_row(d):
    """x[y * n + m]: rows have n elements, wherever n stands among the parameters."""
    text = kernel("r0/row.cu").replace("int h[4]", "int h[6]").replace("param .u32 p1)", "param .u32 p1, .param .u32 p2)")
    text = text.replace("void *p, unsigned n)", "void *p, unsigned n, unsigned m)").replace("{&p, &n}", "{&p, &n, &m}")
    text = text.replace("stub(d, threads)", "stub(d, threads, 2)")
    spoken = SPOKEN.replace("unsigned n) { if (n) x[0]", "unsigned n, unsigned m) { if (n) x[1 * n + m]")
    r = init(d, d.put("row.cu", spoken + text), 3)
    assert r["spec"]["args"][0]["shape"] == ["m", "n"] and r["spec"]["sizes"] == {"m": 2, "n": 3}, r
    # another buffer's index does not count, and what nothing shows is no guess
    r = init(d, d.put("row.cu", spoken.replace("if (n) x[1 * n + m]", "unsigned y[9]; y[n * 2] = m * n; x[1 * m + n]") + text), 3)
    assert r["spec"]["args"][0]["shape"] == ["n", "m"], r
    r = init(d, d.put("row.cu", spoken.replace("x[1 * n + m]", "x[n + m]") + text), 3)
    assert r["spec"]["args"][0]["shape"] in (["n * m"], ["m * n"]) and r["spec"]["sizes"] == {"m": 2, "n": 3}, r


def the_argument_that_chooses_a_kernel_is_given(d):
    """... which the text shows: gcc does not see the launches, kernel/init does."""
    choose = ("#ifndef __GNUC__\nvoid choose(int which, unsigned *x) {\n    switch (which) {\n    case 1: { other<<<1, 1>>>(x); break; }\n"
              "    case 2:\n    case 3: if (x) { count<<<1, which>>>(x, 2); }\n        break;\n    default: count<<<1, which>>>(x, 9);\n    }\n}\n#endif\n")
    text = kernel("r0/chosen.cu").replace("int main", choose + "int main").replace(
        "    cudaDeviceSync", "#ifndef __GNUC__\n    choose(threads, d);\n#endif\n    cudaDeviceSync")
    r = init(d, d.put("chosen.cu", SPOKEN + text))
    assert r["from"] == "run" and r["spec"]["launch"] == {"grid": [1], "block": [3]}, r
    assert r["spec"]["comment"].endswith("with the arguments 3"), r
    r = init(d, "chosen.cu", 4)  # what is asked for counts
    assert r["spec"]["launch"]["block"] == [4], r
    r = init(d, d.put("chosen.cu", SPOKEN + text.replace("choose(threads", "choose(bad")))
    assert r["spec"]["launch"]["block"] == [4] and "arguments" not in r["spec"]["comment"], r


def numbers_that_a_program_needs_are_examples(d):
    """... so that it comes as far as its launch, which is told; nothing stands in for a name."""
    text = kernel("r0/wants.cu").replace("argc > 1 ? atoi(argv[1]) : 4", "0, more = 0").replace(
        "    cudaMalloc(", "    if (argc != 3) {\n        fprintf(stderr, \"usage: wants N M\\n\");\n        return 1;\n    }\n"
        "    threads = atoi(argv[1]) / 64; more = atoi(argv[2]);\n    cudaMalloc(", 1)
    r = init(d, d.put("wants.cu", SPOKEN + text))
    assert r["from"] == "run" and r["spec"]["launch"]["block"] == [4], r
    assert r["spec"]["comment"].endswith("with the arguments 257 129"), r
    assert any("ran with 257 129 as examples" in u["why"] for u in r["unknown"]), r
    other = text.replace("if (argc != 3) {", "if (argc == 3) {\n        threads = 4;\n    } else {").replace("return 1;", "usage();")
    other = other.replace("int main", "static void usage(void) { exit(1); }\nint main")
    r = init(d, d.put("wants.cu", SPOKEN + other))
    assert r["spec"]["launch"]["block"] == [4] and r["spec"]["comment"].endswith("with the arguments 257 129"), r
    renamed = text.replace("argc", "n_words").replace("argv", "words").replace("wants.cu", "renamed.cu")
    r = init(d, d.put("renamed.cu", SPOKEN + renamed))
    assert r["from"] == "run" and r["spec"]["comment"].endswith("with the arguments 257 129"), r
    refuses = text.replace("more = atoi(argv[2]);", "more = atoi(argv[2]);\n    if (more % 32) { puts(\"not a multiple of 32\"); return 3; }")
    r = init(d, d.put("refuses.cu", SPOKEN + refuses))
    assert r["from"] == "run" and r["spec"]["comment"].endswith("with the arguments 256 256"), r
    why, = (u["why"] for u in r["unknown"] if u["member"] == "launch")
    assert "256 as an example of each number, for with odd ones it ended without launching count: not a multiple of 32" in why, why
    r = init(d, "wants.cu", 192, 1)
    assert r["spec"]["launch"]["block"] == [3] and not any("example" in u["why"] for u in r["unknown"]), r
    r = init(d, d.put("wants.cu", SPOKEN + text.replace("atoi(argv[2])", "strlen(argv[2])")))
    assert r["from"] == "source" and any("usage: wants N M" in u["why"] for u in r["unknown"]), r


def a_starved_program_gets_smaller_numbers(d):
    """... once, where it has some, and the answer says so; what ended it by itself is no reason."""
    text = kernel("r0/starved.cu").replace("    cudaMalloc(", "    while (argc > 2 && atoi(argv[2]) > 999) {}\n    cudaMalloc(", 1)
    name = d.put("starved.cu", SPOKEN + text)
    r = init(d, name, 3, 1000, timeout_s=2)
    assert r["spec"]["launch"]["block"] == [3] and r["spec"]["comment"].endswith("with the arguments 3 256"), r
    assert any("each number over 256 or left out among its arguments became 256" in u["why"] for u in r["unknown"]), r
    left_out = text.replace("while (argc > 2 && atoi(argv[2]) > 999)", "threads = argc > 2 ? 3 : 4;\n    while (argc <= 2 || atoi(argv[2]) > 999)")
    r = init(d, d.put("starved.cu", SPOKEN + left_out), timeout_s=2)
    assert r["spec"]["launch"]["block"] == [3] and r["spec"]["comment"].endswith("with the arguments 256 256"), r
    d.put("starved.cu", SPOKEN + text)
    r = init(d, name, 3, 999, timeout_s=20)
    assert r["spec"]["comment"].endswith("with the arguments 3 999") and not any(u["member"] == "launch" for u in r["unknown"]), r
    r = init(d, d.put("starved.cu", SPOKEN + text.replace("> 999", "> 9")), 3, 256, timeout_s=2)
    assert r["from"] == "source" and any("ended after 2 s" in u["why"] for u in r["unknown"]), r


def arguments_are_for_a_run(d):
    """Where arguments are given, the program runs although its text tells everything."""
    text = SPOKEN + "int main() { unsigned *d; cudaMalloc(&d, 4); count<<<1, 1>>>(d, 1); }\n"
    known = d.ask("kernel/init", {"source": text, "kernel": "count", "print": True})["result"]
    given = d.ask("kernel/init", {"source": text, "kernel": "count", "print": True, "args": ["7"]})["result"]
    assert known["from"] == "source" and not any(u["member"] == "launch" for u in known["unknown"]), known
    assert any("running the program did not show it" in u["why"] for u in given["unknown"]), given


def records_contents(d):
    """Integers that the host copies there are kept as they are, in a file beside the spec."""
    text = kernel("r0/held.cu").replace("    if (!__cudaPush", "    int held[4] = {3, 1, 4, 1}; cudaMemcpy(d, held, sizeof held, 1);\n    if (!__cudaPush")
    r = init(d, d.put("held.cu", SPOKEN + text), 4)
    assert r["spec"]["args"][0]["init"] == {"file": "held.x.npy"} and r["files"] == ["held.x.npy"], r
    with open(d.work + "held.x.npy", "rb") as f:
        data = f.read()
    assert data[:6] == b"\x93NUMPY" and b"'<u4'" in data and data[-16:] == struct.pack("<4I", 3, 1, 4, 1), data


def floats(d, value, count, const="const ", body="if (x) n = n;"):
    """The first argument's draft where the host copied `count` times `value` there; the kernel of the text does not write it."""
    spoken = "#define __global__\n__global__ void count(%sfloat *x, unsigned n) { %s }\n" % (const, body)
    text = kernel("r0/floats.cu").replace("    if (!__cudaPush", "    static float held[%d];\n    for (int i = 0; i < %d; i++) held[i] = %s;\n"
                                          "    void *all = 0; cudaMalloc(&all, sizeof held); cudaMemcpy(all, held, sizeof held, 1); d = all; n0 = 0;\n"
                                          "    if (!__cudaPush" % (count, count, value))
    text = text.replace("int main", "unsigned n0 = 9;\nint main").replace("stub(d, threads)", "stub(d, n0)")
    r = init(d, d.put("floats.cu", spoken + text), 4)
    assert r["from"] == "run", r
    return r["spec"]["args"][0]["init"], [u["why"] for u in r["unknown"] if u["member"] == "args[0]"]


def constant_floats_that_are_read_vary(d):
    """x[0] must not pass for x[i]; half of it and more has its sign and is no larger."""
    for value, low, high in (("1", 0.5, 1.0), ("-3", -3.0, -1.5), ("0", 0.0, 0.5)):
        got, why = floats(d, value, 9)
        assert got == {"uniform": [low, high]}, (value, got)
        assert len(why) == 1 and 'its `init` is {"fill": %s}' % value in why[0], why
    for case in (("1", 8), ("5e7f", 9), ("1", 9, "", "x[n] += 1;")):  # a vector, a kind of infinity, and what is added to
        got, why = floats(d, *case)
        assert got == {"fill": float(case[0].rstrip("f"))} and why == [], (case, got, why)


def tells_why_nothing_was_recorded(d):
    r = init(d, d.put("unspoken.cu", UNSPOKEN + kernel("r0/unspoken.cu")))
    why = next(u["why"] for u in r["unknown"] if "did not show it" in u["why"])
    assert r["from"] == "source" and why.endswith("it ended without launching other: 0 wrong"), r
    r = init(d, d.put("broken.cu", UNSPOKEN + "int main() { return wrong; }\n"))
    assert any("does not compile" in u["why"] and "wrong" in u["why"] for u in r["unknown"]), r
    r = init(d, "unspoken.cu", run=False)
    assert not any("did not show it" in u["why"] for u in r["unknown"]), r


def records_what_comes_before_missing_functions(d):
    """What the linker does not find keeps no launch from being recorded that comes before it is called."""
    text = SPOKEN + kernel("r0/lacks.cu").replace("int main", "int nowhere(void), cudaNoSuchThing(void);\nint main")
    after = text.replace("    cudaDeviceSync", "    nowhere() + cudaNoSuchThing();\n    cudaDeviceSync")
    r = init(d, d.put("lacks.cu", after), 4)
    assert r["from"] == "run" and r["spec"]["launch"] == {"grid": [1], "block": [4]}, r
    r = init(d, d.put("lacks.cu", text.replace("    if (!__cudaPush", "    nowhere();\n    if (!__cudaPush")), 4)
    assert r["from"] == "source", r
    assert any("it may have called a missing function: undefined reference to `nowhere'" in u["why"] for u in r["unknown"]), r
    r = d.run("lacks.cu", 4)
    assert r["verdict"] == "error" and r["error"]["code"] == "not_compiled", r


def records_pointers_into_the_middle(d):
    text = SPOKEN + kernel("r0/middle.cu").replace("stub(d, threads)", "stub(d + 1, threads)")
    r = init(d, d.put("middle.cu", text), 3)
    assert r["spec"]["args"][0] == {"name": "x", "struct": [{"of": "x_0", "at": 4}]}, r
    assert r["spec"]["buffers"][0]["name"] == "x_0" and r["spec"]["buffers"][0]["shape"] == [4], r


def large_contents_keep_their_range(d):
    """Ten million of -5 to 4, as bytes: rising or not, with a sign, and no index goes beyond what it was."""
    def first(fill, **more):
        text = SPOKEN.replace("unsigned *x,", "signed char *x,") + kernel("r0/large.cu").replace(
            "    if (!__cudaPush", "    static signed char many[10000000];\n    void *all = 0;\n"
            "    for (int i = 0; i < 10000000; i++) many[i] = %s;\n"
            "    cudaMalloc(&all, sizeof many); cudaMemcpy(all, many, sizeof many, 1); d = all;\n    if (!__cudaPush" % fill)
        r = init(d, d.put("large.cu", text), 3)
        assert any("too large to record" in u["why"] for u in r["unknown"]), r
        return r["spec"]["args"][0]
    mixed, rising = first("i % 10 - 5"), first("i / 1000000 - 5")
    assert mixed["type"] == "int8" and mixed["init"] == {"integers": [-5, 5]}, mixed
    assert rising["init"] == {"arange": [-5, 0]}, rising


def records_pointers_in_memory(d):
    """Addresses of this run would lead nowhere in another: they are named, here that of the array itself."""
    text = SPOKEN.replace("unsigned *x,", "unsigned long *x,") + kernel("r0/nodes.cu").replace(
        "    if (!__cudaPush", "    void *held[2] = {d, 0}; cudaMemcpy(d, held, sizeof held, 1);\n    if (!__cudaPush")
    r = init(d, d.put("nodes.cu", text), 3)
    held = {"struct": [{"of": "x"}, {"type": "int64", "values": [0]}]}
    assert r["spec"]["args"][0] == {"name": "x", "type": "uint8", "shape": [16], "output": True, "init": held, "judge": False}, r
    assert any("it holds addresses" in u["why"] for u in r["unknown"]) and "files" not in r, r


TEXTURE = r"""
    struct { int type; struct { void *at; int channel[5]; size_t width, height, pitch; } of; char rest[72]; unsigned flags;
    } from = {3, {0, {32, 0, 0, 0, 1}, 4, 2, 64}};
    int how[18] = {0, 3}; /* cudaAddressModeWrap along x, cudaAddressModeBorder along y */
    static unsigned texels[2][16] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    how[10] = NORMALIZED;
    cudaMalloc(&from.of.at, sizeof texels);
    cudaMemcpy(from.of.at, texels, sizeof texels, 1);
    if (cudaCreateTextureObject((unsigned long long *)&d, &from, how, 0)) abort();
    if (!__cudaPush"""


def records_textures(d):
    """As CUDA treats them: coordinates in texels cannot wrap, which then means clamp."""
    for normalized, along_x in (0, "clamp"), (1, "wrap"):
        text = SPOKEN.replace("unsigned *x,", "cudaTextureObject_t x,").replace("if (n) x[0] = n;", "").replace(
            "__global__ void", "typedef unsigned long long cudaTextureObject_t;\n__global__ void") + kernel("r0/textured.cu").replace(
            "    if (!__cudaPush", TEXTURE.replace("NORMALIZED", str(normalized))).replace(
            "int main", "int cudaCreateTextureObject(unsigned long long *, void *, void *, void *);\nint main")
        r = init(d, d.put("textured.cu", text), 3)
        buffer, = r["spec"]["buffers"]
        assert (buffer["type"], buffer["shape"]) == ("uint32", [2, 4]), r
        assert r["spec"].pop("comment")
        texture = r["spec"]["args"][0]["texture"]
        assert texture["address"] == ["border", along_x] and texture["normalized"] == bool(normalized), texture
        # The spec is read before a compiler is looked for, which is not here.
        assert d.ask("kernel/validate", dict(r["spec"], source=SPOKEN))["error"]["data"]["reason"] == "no_compiler"
        texture["address"][1] = "lap"
        assert "texture.address" in d.ask("kernel/validate", dict(r["spec"], source=SPOKEN))["error"]["message"]


def tells_what_is_wrong_already(d):
    r = init(d, d.put("spoken.cu", SPOKEN + kernel("r0/spoken.cu")), 5)  # of four elements
    why = [u["why"] for u in r["unknown"] if u["member"] == "launch"]
    assert r["from"] == "run" and len(why) == 1 and re.match(
        r"when the program ran, its kernel count had an error, spoken.cu:\d+: .* past the end", why[0]), r


def keeps_what_the_kernel_was_compiled_with(d):
    text = SPOKEN + kernel("r0/flags.cu").replace("if (argc < 3)", "if (MORE)")
    r = init(d, d.put("flags.cu", text), 4, defines={"MORE": "1"},
             options=["-O2", "--use_fast_math", "-Xcompiler", "-fopenmp"])
    assert r["from"] == "run" and r["spec"]["defines"] == {"MORE": "1"} and r["spec"]["options"] == ["--use_fast_math"], r
    assert list(r["spec"])[-1] == "expect", r


def tells_leaks(d):
    r = d.run(d.put("count.cu", kernel()), 4, "keep")
    assert r["verdict"] == "pass" and r["leaks"][0]["bytes"] == 16 and r["leaks"][0]["line"] == 4, r
    r = d.run("count.cu", 4, "keep", strict=True)
    assert r["verdict"] == "fail", r


def nothing_launched(d):
    r = d.run_text(program('puts("hello");'))
    assert r["verdict"] == "error" and r["error"]["code"] == "nothing_launched" and r["exit_status"] == 0, r
    assert r["stdout"] == "hello\n", r
    query = program("void *p; return cudaMalloc(&p, 64) || cudaFree(p);")
    r = d.run_text(query)
    assert r["verdict"] == "pass" and "no kernel was launched" in r["note"] and "error" not in r, r
    r = d.run_text(query, strict=True)
    assert r["verdict"] == "error" and "no kernel" in r["error"]["message"] and "note" not in r, r
    r = d.run_text(program("void *p; cudaMalloc(&p, 1ull << 60); return 0;"))
    assert r["verdict"] == "pass" and r["note"] and r["api_errors"], r


def host_memory_is_in_huge_pages(d):
    """64 MiB, touched: 16,384 faults by single pages."""
    with open("/sys/kernel/mm/transparent_hugepage/enabled") as f:
        if "[never]" in f.read():
            return
    r = d.run_text(program("""struct rusage before, after; volatile char *p = malloc(64 << 20); getrusage(RUSAGE_SELF, &before);
for (size_t k = 0; k < 64 << 20; k += 4096) p[k] = 1;
getrusage(RUSAGE_SELF, &after); printf("%ld", after.ru_minflt - before.ru_minflt);""", "#include <sys/resource.h>\n"))
    assert int(r["stdout"]) < 4096, r


def says_its_end(d):
    r = d.run_text(program('char b[9] = ""; fgets(b, 9, stdin); fprintf(stderr, "%s-%s-%s", argv[1], argv[2], b); return 3;'),
                   "a b", "--x", stdin="in")
    assert r["verdict"] == "fail" and r["exit_status"] == 3 and r["stderr"] == "a b---x-in" and "note" not in r, r


def a_fail_without_a_finding_has_a_next_step(d):
    """What it printed last, and what it has not been given; the first failed call; nothing where a finding says why."""
    r = d.run_text(program('fputs("usage: n a\\n\\n", stderr); return argc < 2;', "int cudaFree(void *);\n"))
    assert r["hint"] == ('no check says why: the program itself ended with status 1, after printing "usage: n a", and launched no kernel; '
                         "if it wants arguments, give them as `args`"), r
    r = d.run_text(program("cudaFree(0); raise(SIGTERM);", "#include <signal.h>\nint cudaFree(void *);\n"), 1)
    assert r["hint"] == "no check says why: the program itself ended by SIGTERM, and launched no kernel", r
    r = d.run_text(program("void *p; cudaMalloc(&p, 1ull << 60);\nint bad = cudaMalloc(&p, 2ull << 60);\nreturn bad;",
                           "int cudaMalloc(void **, size_t);\n"))
    assert r["hint"] == "begin with the failed call cudaMalloc (program.cu:8): what follows may come of it", r
    r = d.run_text(program("void *p; if (cudaMalloc(&p, 1ull << 60)) return 7;", "int cudaMalloc(void **, size_t);\n"))
    assert r["hint"] == ("no check says why: the program itself ended with status 7, and launched no kernel; if it wants arguments, give them as "
                         "`args`; it had checked a call that failed, which may be why: cudaMalloc (program.cu:8)"), r
    d.put("wrong.cu", kernel("r0/wrong.cu").replace("!= i;", "!= 2 * i;").replace("return 0", "return bad"))
    r = d.run("wrong.cu", 4)
    assert r["verdict"] == "fail" and r["hint"].endswith('after printing "3 wrong"; races were not looked for (`checks` all)'), r
    assert "hint" not in d.run("count.cu", 4) and "hint" not in d.run("count.cu", 6)


def says_what_it_did_not_check(d):
    """Races are checked on request, and who names a check gets no others: the verdict says so."""
    d.put("some.cu", kernel())
    r = d.run("some.cu", 4)
    assert r["verdict"] == "pass" and r["note"] == "not checked: races (`checks` all)", r
    assert r["summary"] == "pass: exit status 0, 1 launch; " + r["note"], r
    r = d.run("some.cu", 4, checks=["race"])
    assert r["verdict"] == "pass" and r["note"] == "not checked: memory, uninitialized reads, barriers (`checks` all)", r
    assert "note" not in d.run("some.cu", 4, checks=["memory", "initialized", "race", "barrier"])


def cleans_output(d):
    r = d.run_text(program('printf("\\033[31mred\\033[0m \\a\\xff|");'))
    assert r["stdout"] == "red \ufffd|", r["stdout"]


def its_own_path_is_not_shown(d):
    r = d.run_text(program('printf("usage: %s FILE, %s\\n", argv[0], argv[0]); fputs(argv[0], stderr);').replace("main()", "main(int argc, char **argv)"))
    assert (r["stdout"], r["stderr"]) == ("usage: ./program FILE, ./program\n", "./program"), r
    assert "output_omitted_bytes" not in r, r


def files_have_their_own_names(d):
    """__FILE__, in what the program prints and where an assertion fails; in text of the compiler."""
    d.put("src/named.cu", program('#ifdef WRONG\n#include "named.cu"\n#endif\nputs(__FILE__); fflush(stdout); assert(argc < 2);',
                                  "#include <assert.h>\n"))
    r = d.run("src/named.cu", 1)
    assert r["stdout"] == "src/named.cu\n" and "src/named.cu:" in r["stderr"] and "r0" not in r["stderr"], r
    assert "r0/" not in json.dumps(d.run("src/named.cu", defines={"WRONG": "1"})["diagnostics"])


def reads_and_writes(d):
    d.put("data/in.txt", "seven")
    body = '''char b[9] = ""; FILE *f = fopen("data/in.txt", "r"); fgets(b, 9, f); fclose(f);
f = fopen("data/in.txt", "w"); printf("%s %d", b, f != NULL);
f = fopen("out.txt", "w"); fputs("eight", f); fclose(f);'''
    r = d.run_text(program(body), files=["data/in.txt"])
    assert r["stdout"] == "seven %d" % (os.geteuid() == 0), r  # its copy; root may write what is read-only
    assert [f["name"] for f in r["files"]] == ["out.txt"] and not os.path.exists(d.work + "out.txt"), r
    d.put("src/main.cu", program('FILE *f = fopen("in.txt", "r"); printf("%d", !!f);'))
    r = d.run("src/main.cu", files=["data/in.txt"])  # not beneath the source's folder: its last name
    assert r["stdout"] == "1", r
    r = d.run_text(program(body), files=["data/in.txt"], save="saved")
    with open(d.work + "saved/out.txt") as f:
        assert f.read() == "eight"
    assert r["saved"]["files"] == 1 and r["files"][0]["path"].endswith("/saved/out.txt"), r
    with open(d.work + "data/in.txt") as f:
        assert f.read() == "seven"
    r = d.run_text(program(body), files=["data/in.txt"], save="/tmp")
    assert "outside" in r["saved"]["error"] and r["saved"]["files"] == 0, r


def gets_what_it_names(d):
    """Of the files beside it and in their folder data, those that a text or an argument names; nothing above, and no directive's."""
    d.put("named/data/signal.dat", "one")
    d.put("named/beside.txt", "two")
    d.put("named/other.txt", "three")
    d.put("named/argument.txt", "four")
    d.put("above.txt", "five")
    d.put("named/main.cu", program("""char other[20]; sprintf(other, "%s.txt", "other");
printf("%d%d%d%d%d", has("data/" "signal.dat"), has(NAME), has(other), has("../above.txt"), has(argv[1]));
has("signal.dat");""", """#define NAME "beside.txt"
static int has(const char *name) { FILE *f = fopen(name, "r"); if (f) fclose(f); return f != NULL; }
"""))
    r = d.run("named/main.cu", "argument.txt")
    assert r["stdout"] == "11001", r
    r = d.run("named/main.cu", "../above.txt")
    assert r["stdout"] == "11000", r


def several_files(d):
    d.put("part/twice.h", "int twice(int);\n")
    d.put("part/twice.cu", '#include "twice.h"\nint twice(int x) { return 2 * x + MORE; }\n')
    r = d.run_text(program('printf("%d", twice(4));', '#include "part/twice.h"\n'), paths=["part/twice.cu"],
                   defines={"MORE": "1"})
    assert r["stdout"] == "9", r


def kept(d):
    text = program('puts(TEXT);')
    first = d.run_text(text, defines={"TEXT": '"one"'})
    again = d.run_text(text, 1, defines={"TEXT": '"one"'})
    other = d.run_text(text, defines={"TEXT": '"two"'})
    assert [r["cached"] for r in (first, again, other)] == [False, True, False]
    assert [r["stdout"] for r in (first, again, other)] == ["one\n", "one\n", "two\n"]


# --- what does not run ---

def missing_functions(d):
    text = program("cudaNoSuchThing(1);\ncublasSgemm_v2(0);\ncudaFree(0);\ncudaNoSuchThing(2);",
                   "int cudaNoSuchThing(int), cublasSgemm_v2(void *), cudaFree(void *);\n")
    r = d.run_text(text)
    assert r["verdict"] == "unsupported" and "exit_status" not in r, r
    assert [(u["function"], u["line"]) for u in r["unsupported"]] == [("cudaNoSuchThing", 8), ("cublasSgemm_v2", 9)], r
    assert r["error"]["message"].endswith(": cudaNoSuchThing, cublasSgemm_v2"), r
    r = d.run_text(text.replace("cudaFree(0)", "helper()").replace("int cuda", "int helper(void), cuda"))
    assert r["verdict"] == "error" and r["error"]["code"] == "not_compiled", r
    assert "helper" in r["diagnostics"][0]["message"] and r["diagnostics"][0]["line"] == 10, r
    assert len(r["unsupported"]) == 2, r


def not_compiled(d):
    r = d.run_text(program("int x = nothing;"))
    f = r["diagnostics"][0]
    assert r["verdict"] == "error" and r["error"]["stage"] == "compile", r
    assert f["severity"] == "error" and "nothing" in f["message"] and (f["file"], f["line"]) == ("program.cu", 7), f


def finished_program(d):
    with open("/bin/true", "rb") as f, open(d.work + "done.cu", "wb") as to:
        to.write(f.read())
    answer = d.ask("kernel/run", {"path": "done.cu"})
    assert "finished program" in answer["error"]["message"], answer
    assert "cudart" in answer["error"]["data"]["hint"], answer
    d.put("notes.txt", "int main(void) {}")
    answer = d.ask("kernel/run", {"path": "notes.txt"})
    assert '"notes.txt" is not a source' in answer["error"]["message"], answer


def refused(d):
    for params, word in (({"path": "/etc/passwd"}, "outside"), ({"path": "none.cu"}, "none.cu"), ({}, "parameter"),
                         ({"path": "program.cu", "files": ["/etc/passwd"]}, "files"),
                         ({"path": "program.cu", "options": ["-Xcompiler", "-fplugin=x.so"]}, "not allowed"),
                         ({"path": "program.cu", "options": ["-Xcompiler", "-Wl,-rpath,/"]}, "not allowed"),
                         ({"path": "program.cu", "options": ["-lcrypt"]}, "-lcrypt"),
                         ({"path": "program.cu", "options": ["--run"]}, "not allowed"),
                         ({"path": "program.cu", "include_roots": ["/usr/include"]}, "outside")):
        answer = d.ask("kernel/run", params)
        assert word in answer.get("error", {}).get("message", ""), (params, answer)


def bad_compiler(program_path):
    for nvcc, code in (("#!/bin/sh\nsleep 1 & exit 3\n", "compiler_failed"), ("#!/bin/sh\nkill -9 $$\n", "compiler_failed"),
                       ("#!/bin/sh\necho 'x.cu:1: error: a'\n", "not_compiled"), ("no program", "no_nvcc"),
                       ("#!/bin/sh\ncat /root/.profile $HOME/../../../home/* >&2; touch /tmp/programs-touched; exit 1\n",
                        "compiler_failed")):
        d = Daemon(program_path, nvcc=nvcc)
        r = d.run_text(program(""))
        assert r["verdict"] == "error" and r["error"]["code"] == code, (nvcc, r)
        d.close()
    assert not os.path.exists("/tmp/programs-touched")


def nvcc_errors_have_the_fixes_of_kernel_check(program_path):
    d = Daemon(program_path, nvcc="""#!/bin/sh
echo 'r0/program.cu(2): error: identifier "uint32_t" is undefined
  uint32_t x;
  ^
'; exit 2
""")
    r = d.run_text("int main() {\nuint32_t x;\n}\n")
    finding, = r["diagnostics"]
    fix, = finding["fixes"]
    assert finding["source"] == "nvcc" and fix["title"] == "add #include <cstdint>", r
    assert [(e["file"], e["text"]) for e in fix["edits"]] == [("program.cu", "#include <cstdint>\n")], fix
    d.close()


def no_compiler(program_path):
    d = Daemon(program_path, nvcc=None)
    r = d.run_text(program(""))
    d.close()
    assert r["error"]["code"] == "no_nvcc" and "upskillctl" in r["error"]["hint"], r


# --- who means ill ---

ILL = {
    "forks": 'pid_t p = fork(); if (p == 0) { sleep(100); } printf("%d", (int)p);',
    "forks without end": "for (;;) fork();",
    "starts a shell": 'printf("%d", system("echo hi > /tmp/programs-touched")); execl("/bin/sh", "sh", NULL); printf(" %d", errno);',
    "opens a socket": 'printf("%d %d", socket(AF_INET, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_STREAM, 0));',
    "reads the home": 'printf("%d %d", open(argv[1], 0), open("/etc/passwd", 0));',
    "writes elsewhere": 'printf("%d %d %d", creat(argv[1], 0600), mkdir("/tmp/programs-touched", 0700), unlink(argv[2]));',
    "never ends": "for (;;);",
    "sleeps": "signal(SIGTERM, SIG_IGN); for (;;) pause();",
    "prints without end": 'for (;;) puts("words and words and words and words and words and words and words and words");',
    "makes files without end": 'char n[20]; for (int i = 0;; i++) { sprintf(n, "f%d", i); close(creat(n, 0600)); }',
    "writes without end": '''static char b[1 << 22]; char n[20];
for (int i = 0;; i++) { sprintf(n, "f%d", i); FILE *f = fopen(n, "w"); fwrite(b, 1, sizeof b, f); fclose(f); }''',
    "allocates without end": "for (;;) { char *p = malloc(1 << 30); if (!p) return 9; }",
    "starts threads without end": """pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setstacksize(&a, 65536);
for (pthread_t t; !pthread_create(&t, &a, (void *(*)(void *))pause, 0);); for (;;) pause();""",
    "crashes": "*(volatile int *)8 = 1;",
    "aborts": "abort();",
    "is killed": "raise(SIGKILL);",
    "closes everything": "for (int i = 0; i < 999; i++) close(i); sleep(1);",
    "spoils its report": '''const char *p = getenv("UPSKILLD_RUN_REPORT"); FILE *f = fopen(p, "w");
fputs("{\\"event\\":\\"launch\\",\\"kernel\\":7}\\n[[[[\\n{\\"event\\":\\"finding\\",\\"finding\\":3}\\n", f);
for (int i = 0; i < 100000; i++) fprintf(f, "{\\"event\\":\\"leak\\",\\"id\\":%d}\\n", i); fclose(f); _exit(0);''',
    "leaves a pipe for a report": '''const char *p = getenv("UPSKILLD_RUN_REPORT"); unlink(p); dprintf(1, "%d", mkfifo(p, 0600)); _exit(0);''',
    "signals": 'printf("%d %d", kill(getppid(), 9), kill(-1, 9));',
    "prints its environment": 'extern char **environ; for (char **e = environ; *e; e++) puts(*e);',
}
INCLUDES = "#include <sys/socket.h>\n#include <sys/stat.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <pthread.h>\n"
# Verdict, code of the error, and what it printed, where it is one of these.
ENDS = {
    "forks": ("error", "nothing_launched", "-1"),
    "forks without end": ("timeout", "wall_time", None),
    "starts a shell": ("error", "nothing_launched", None),
    "opens a socket": ("error", "nothing_launched", "-1 -1"),
    "reads the home": ("error", "nothing_launched", "-1 -1"),
    "writes elsewhere": ("error", "nothing_launched", "-1 -1 -1"),
    "never ends": ("timeout", "wall_time", None),
    "sleeps": ("timeout", "wall_time", None),
    "prints without end": ("timeout", "wall_time", None),
    "makes files without end": ("error", "space", None),
    "writes without end": ("error", "space", None),
    "allocates without end": ("fail", None, None),
    "starts threads without end": ("error", "threads", None),
    "crashes": ("fail", None, ""),
    "aborts": ("fail", None, ""),
    "is killed": ("error", "killed", ""),
    "closes everything": ("error", "nothing_launched", ""),
    "spoils its report": ("fail", None, ""),
    "leaves a pipe for a report": ("error", "nothing_launched", "-1"),
    "signals": ("error", "nothing_launched", "-1 -1"),
    "prints its environment": ("error", "nothing_launched", None),
}


def with_main(body):
    """The program whose kernel writes past its memory, when given 6, with this after its wait."""
    return kernel("r0/program.cu").replace("#line 1 ", "#include <fcntl.h>\n#include <unistd.h>\n#include <sys/stat.h>\n#line 1 ").replace(
        "    cudaDeviceSynchronize();", "    cudaDeviceSynchronize(); " + body, 1)


def cannot_take_back_what_was_found(d):
    """By its file, by lines of the same number that say less, by an end that the library did not write."""
    lies = [{"event": "finding", "id": n, "finding": {"source": "run", "code": "out_of_bounds", "severity": "info", "message": "m"}}
            for n in range(3)] + [{"event": "end", "how": "exit", "called": True}]
    text = "".join(json.dumps(x) + "\n" for x in lies)
    r = d.run_text(with_main("""{ const char *p = getenv("UPSKILLD_RUN_REPORT");
int kept = unlink(p), made = open("../report/more", O_WRONLY | O_CREAT, 0600), read = open(p, O_RDONLY), f = open(p, O_WRONLY | O_TRUNC);
dprintf(1, "%%d %%d %%d", kept, made, read); dprintf(f, "%%s", %s); _exit(0); }""" % json.dumps(text)), 6)
    assert r["stdout"] == "-1 -1 -1" and r["exit_status"] == 0, r
    assert r["verdict"] == "fail" and "out_of_bounds" in [f["code"] for f in r["findings"] if f["severity"] == "error"], r


def may_close_what_it_did_not_open(d):
    """The report's descriptor is then one of a file of its own, which gets no line of the report."""
    text = with_main("").replace("unsigned threads", """for (int i = 3; i < 256; i++) close(i);
    for (int i = 3; i < 20; i++) open("own.txt", O_WRONLY | O_CREAT, 0600);
    unsigned threads""", 1)
    r = d.run_text(text, 6)
    assert r["verdict"] == "fail" and r["findings"][0]["code"] == "out_of_bounds", r
    assert [(f["name"], f["bytes"]) for f in r["files"]] == [("own.txt", 0)], r["files"]


def an_include_that_was_not_followed_says_why(d):
    """The compiler only knows that it is not there."""
    for name, words in (("../../outside.h", "is outside the folders that may be read"), ("pipe.h", "not a regular file")):
        if name == "pipe.h":
            os.mkfifo(d.work + name)
        f, = d.run_text('#include "%s"\nint main() {}\n' % name)["diagnostics"]
        assert f["line"] == 1 and words in f["message"], f


def a_cached_program_is_said_to_run(d):
    """Its two phases follow each other at once. And what failed unchecked is where to begin, also when time runs out."""
    for cached in (False, True):
        d.notes.clear()
        r = d.run_text(program("cudaMemcpy(0, (void *)8, 4, 9); for (;;); // %d" % os.getpid(), "int cudaMemcpy(void *, const void *, long, int);\n"), timeout_s=2)
        told = [n["params"]["progress"]["message"] for n in d.notes if n.get("method") == "job/changed"]
        assert r["cached"] == cached and told[-1] == "running", (r["cached"], told)
        assert r["verdict"] == "timeout" and r["hint"] == "begin with the failed call cudaMemcpy (program.cu:8): what follows may come of it", r


HOST_FUNCTION = r"""#include <stdio.h>
#include <setjmp.h>
int cudaLaunchHostFunc(void *, void (*)(void *), void *), cudaDeviceSynchronize(void), cudaMalloc(void **, long), cudaFree(void *);
static jmp_buf back;
static void waits(void *p) { printf("%d ", cudaDeviceSynchronize()); printf("%d\n", cudaMalloc(p, 4)); }
static void leaves(void *p) { longjmp(back, 1); }
int main(int argc, char **argv) {
    void *p;
    if (!setjmp(back)) { cudaLaunchHostFunc(0, argc > 1 ? leaves : waits, &p); cudaDeviceSynchronize(); cudaFree(p); }
    return cudaDeviceSynchronize() == 800 ? 0 : argc > 1;
}
"""


def a_host_function_that_waits_or_does_not_return_is_told(d):
    """CUDA forbids both (cudaLaunchHostFunc: "must not make any CUDA API calls", cudaErrorNotPermitted is 800); nothing hangs."""
    r = d.run_text(HOST_FUNCTION, timeout_s=10)
    assert (r["verdict"], r["stdout"]) == ("pass", "800 0\n"), r
    assert [(x["function"], x["error"], x["line"]) for x in r["api_errors"]] == [("cudaDeviceSynchronize", "cudaErrorNotPermitted", 5)], r
    r = d.run_text(HOST_FUNCTION, 1, timeout_s=10)
    assert (r["verdict"], r["exit_status"]) == ("error", 0) and "did not return" in r["error"]["message"], r


def says_why_the_host_crashed(d):
    for body, words in (("raise(SIGSEGV);", "ended by signal 11"), ("return deep(argc);", "stack is full"), ("return *(int *)8;", "null pointer")):
        r = d.run_text("#include <signal.h>\nint cudaFree(void *);\nint deep(int n) { volatile char a[9999]; a[n] = 1; return deep(n + 1) + a[n]; }\n"
                       "int main(int argc, char **argv) { cudaFree(0); %s }\n" % body)
        f, = r["findings"]
        assert f["code"] == "host_crash" and words in f["message"], f


SIGNALS = "#include <signal.h>\n#include <setjmp.h>\n#include <pthread.h>\n#include <unistd.h>\n#include <sys/mman.h>\n"


def with_handler(d, body, functions):
    """The program that counts, with this after its kernel."""
    return d.run_text(kernel("r0/program.cu").replace("#line 1 ", SIGNALS + functions + "\n#line 1 ").replace(
        "    cudaDeviceSynchronize();", "    cudaDeviceSynchronize(); " + body, 1), 4, timeout_s=10)


def ends_when_its_threads_end(d):
    """pthread_exit(3): the process ends with its last thread, as by exit(0). The library's thread has carried out launches."""
    late = 'static void *late(void *p) { usleep(200000); puts("late"); return 0; }'
    for body, printed in (("pthread_t t; pthread_create(&t, 0, late, 0); pthread_exit(0);", "late\n"), ("pthread_exit(0);", "")):
        r = with_handler(d, "{ %s }" % body, late)
        assert (r["verdict"], r["exit_status"], r["stdout"]) == ("pass", 0, printed), r


def a_full_stack_of_another_thread_is_told(d):
    r = with_handler(d, "{ pthread_t t; pthread_create(&t, 0, deep, 0); pthread_join(t, 0); }",
                     "static void *deep(void *p) { volatile char a[9999]; a[77] = 1; return (char *)deep(p) + a[77]; }")
    f, = r["findings"]
    assert r["signal"] == "SIGSEGV" and f["code"] == "host_crash" and "stack is full" in f["message"], r


def a_handler_hides_no_host_access(d):
    """It ends the program, or goes on behind each of 100 accesses, which are one finding."""
    for body, functions, printed in (
            ("signal(SIGSEGV, caught); h[0] = *d;", 'static void caught(int n) { puts("caught"); exit(0); }', "caught\n"),
            ("struct sigaction a = {.sa_handler = caught}; sigaction(SIGSEGV, &a, 0); for (int i = 0; i < 100; i++) if (!sigsetjmp(back, 1)) h[0] = *d;",
             "static sigjmp_buf back; static void caught(int n) { siglongjmp(back, 1); }", "0 wrong\n")):
        r = with_handler(d, "{ %s }" % body, functions)
        f, = r["findings"]
        assert (r["verdict"], r["exit_status"], r["stdout"]) == ("fail", 0, printed), r
        assert (f["code"], f["file"], f["line"]) == ("host_access", "program.cu", 6), f


def a_handler_of_its_own_faults_works(d):
    """sigaction(2): it is told the fault's address and mends it; it can be asked for; and gives way to the default."""
    r = with_handler(d, """{ own = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
struct sigaction a = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO}, b;
sigaction(SIGSEGV, &a, &b); printf("%d ", b.sa_handler == SIG_DFL); own[5] = 7; printf("%d ", own[5]); printf("%d ", count);
sigaction(SIGSEGV, 0, &b); printf("%d %d ", b.sa_sigaction == mend, signal(SIGSEGV, SIG_DFL) == (void *)mend); }""",
                     "static volatile char *own; static int count; static void mend(int n, siginfo_t *i, void *c) { count += i->si_addr == own + 5; mprotect((void *)own, 4096, 3); }")
    assert (r["verdict"], r["stdout"], r["findings"]) == ("pass", "1 7 1 1 1 0 wrong\n", []), r
    r = with_handler(d, "{ struct sigaction a = {.sa_handler = once, .sa_flags = SA_RESETHAND}; sigaction(SIGSEGV, &a, 0); *(volatile int *)8 = 1; }",
                     'static void once(int n) { write(1, "once", 4); }')
    f, = r["findings"]
    assert (r["signal"], r["stdout"], f["code"]) == ("SIGSEGV", "once", "host_crash"), r


def a_handler_sees_no_fault_of_memory_that_is_closed(d):
    """Managed memory is closed until the host waits (missing_sync), which is no fault of the program's."""
    r = with_handler(d, "{ signal(SIGSEGV, caught); unsigned *m; cudaMallocManaged((void **)&m, 16, 1); d = (int *)m; "
                     "if (!__cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){4, 1, 1}, 0, 0)) stub(m, 4); h[0] = m[1]; printf(\"%d \", h[0]); cudaDeviceSynchronize(); h[0] = 0; }",
                     "int cudaMallocManaged(void **, size_t, unsigned); static void caught(int n) { _exit(9); }")
    assert (r["exit_status"], r["stdout"], [f["code"] for f in r["findings"]]) == (0, "1 0 wrong\n", ["missing_sync"]), r


os.environ["PROGRAMS_TOKEN"] = "secret"  # the daemon's


def means_ill(d, name):
    secret = d.put("secret.txt", "secret")
    begun = time.monotonic()
    r = d.run_text(program(ILL[name], INCLUDES), d.work + "new.txt" if name.startswith("writes e") else d.work + secret,
                   d.work + secret, timeout_s=20 if ENDS[name][1] == "space" else 3)
    verdict, code, printed = ENDS[name]
    assert (r["verdict"], r.get("error", {}).get("code")) == (verdict, code), r
    assert len(r["leaks"]) <= 500, len(r["leaks"])
    assert printed is None or r["stdout"] == printed, r
    assert "secret" not in r["stdout"] and len(r["stdout"]) <= 256 << 10, len(r["stdout"])
    assert time.monotonic() - begun < 40
    assert not os.path.exists("/tmp/programs-touched") and not os.path.exists(d.work + "new.txt")
    assert os.path.exists(d.work + secret) and not left_running()
    assert d.ask("daemon/status", {})["result"], "the daemon"
    signal = {"crashes": "SIGSEGV", "aborts": "SIGABRT", "is killed": "SIGKILL"}.get(name)
    assert r.get("signal") == signal and (not signal or r["exit_status"] is None), r
    return "%.1f s" % (time.monotonic() - begun)


def tells_what_was_found_in_a_launch_that_never_ends(d):
    """The fifth thread of an array of four writes past its end, and then all go round for ever."""
    text = kernel().replace('"st.global.u32 [%rd4], %r2;\\nDONE: ret;', '"st.global.u32 [%rd4], %r2;\\nROUND: bra ROUND;\\nDONE: ret;')
    assert "ROUND" in text
    begun = time.monotonic()
    r = d.run_text(text, 5, timeout_s=3)
    assert r["verdict"] == "timeout" and r["error"]["code"] == "wall_time" and time.monotonic() - begun < 20, r
    assert [(f["code"], f["line"]) for f in r["findings"]] == [("out_of_bounds", 7)], r
    assert not left_running()


def tells_what_nobody_used_of_a_launch_that_never_ends(d):
    """Its thread stores one more than the word that it reads, of memory that nothing has written. Nobody has used that: a warning."""
    text = kernel().replace('"st.global.u32 [%rd4], %r2;\\nDONE: ret;',
                            '"ld.global.u32 %r3, [%rd4+8];\\nadd.u32 %r3, %r3, 1;\\nst.global.u32 [%rd4], %r3;\\nROUND: bra ROUND;\\nDONE: ret;')
    assert "ROUND" in text
    r = d.run_text(text, 1, timeout_s=3)
    assert r["verdict"] == "timeout", r
    f, = [f for f in r["findings"] if f["code"] == "uninitialized"]
    assert (f["severity"], f["line"]) == ("warning", 7), f
    assert "offset 8 of device memory had not been written" in f["message"] and "stored at offset 0 of device memory" in f["message"], f


def tells_what_it_did_until_it_was_ended(d):
    """... in launches that are over: each of one warp with 4 lanes, which executes the same instructions."""
    text = kernel().replace("    cudaDeviceSynchronize();", "    for (;;) stub_again(d), cudaDeviceSynchronize();", 1).replace(
        "#line 1", "static void stub_again(void *d) { if (!__cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){4, 1, 1}, 0, 0)) stub(d, 4); }\n#line 1")
    r = d.run_text(text, timeout_s=6, run_all_launches=True)
    assert r["verdict"] == "timeout" and r["counters"], r
    did, = r["counters"][0]["by_kernel"]
    assert did["kernel"] == "count" and did["launches"] > 1000, did
    assert sum(x["times"] for x in r["launches"]) >= did["launches"], r["launches"]
    assert did["lane_instructions"] == 4 * did["instructions"] and did["instructions"] % did["launches"] == 0, did


def knows_where_the_missing_lie(d):
    """... the header nearest to the program, and a source beside it; another program, which has a main(), is none of it."""
    for name, text in (("lacks/far/include/part/sizes.h", ""), ("lacks/near/include/part/sizes.h", "#define SIZE 8\n"),
                       ("lacks/near/helper.cu", "int helper(const char *text);\nint helper(const char *text) { return text[0]; }\n"),
                       ("lacks/near/caller.cu", "int helper(const char *);\nint caller(void) { return helper(\"x\"); }\n"),
                       ("lacks/near/other.cu", "int helper(const char *t) { return !t; }\nint main(void) { return helper(0); }\n")):
        d.put(name, text)
    text = "#include <part/sizes.h>\nint cudaFree(void *), helper(const char *);\nint main(void) { return cudaFree(0) + helper(\"\"); }\n"
    d.put("lacks/near/program.cu", text)
    e, = d.run("lacks/near/program.cu")["diagnostics"]
    assert e["line"] == 1 and e["message"] == \
        "part/sizes.h: No such file or directory; the workspace has it in lacks/near/include: give that folder with -I", e
    e, = d.run("lacks/near/program.cu", options=["-Ilacks/near/include"])["diagnostics"]
    assert e["line"] == 3 and e["message"].endswith("; lacks/near/helper.cu defines it: give that file, too"), e
    r = d.run("lacks/near/program.cu", options=["-Ilacks/near/include"], paths=["lacks/near/helper.cu"])
    assert r["verdict"] == "pass", r
    e, = d.run_text("#include \"nowhere.h\"\n")["diagnostics"]
    assert e["message"] == "nowhere.h: No such file or directory", e


def cancelled(d):
    d.put("program.cu", program("for (;;);"))
    number = d.send("kernel/run", {"path": "program.cu", "timeout_s": 100})
    end = time.monotonic() + 20
    while not left_running() and time.monotonic() < end:
        time.sleep(0.05)
    assert left_running()
    d.process.stdin.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % number)
    d.process.stdin.flush()
    assert "error" in d.receive(number)
    while left_running() and time.monotonic() < end:
        time.sleep(0.05)
    assert not left_running()


def ends_with_the_daemon(program_path):
    d = Daemon(program_path)
    d.put("program.cu", program("for (;;);"))
    d.send("kernel/run", {"path": "program.cu", "timeout_s": 100})
    end = time.monotonic() + 20
    while not left_running() and time.monotonic() < end:
        time.sleep(0.05)
    d.process.kill()
    d.process.wait()
    while left_running() and time.monotonic() < end:
        time.sleep(0.05)
    assert not left_running()
    d.close()


def main():
    upskilld = os.path.abspath(sys.argv[1])
    tap, d = Tap(), Daemon(upskilld)
    for function in (passes, a_path_may_have_spaces, finds, tells_where_freed_memory_was_freed, tells_whose_memory_it_was, tells_wrong_frees_of_the_host, finds_what_nobody_wrote, finds_a_constant_that_nobody_set, a_call_whose_value_is_used_is_checked,
                     what_the_library_touches_has_the_line_of_its_call, records, rows_of_blocks_are_named, what_is_multiplied_by_is_a_row,
                     the_argument_that_chooses_a_kernel_is_given,
                     numbers_that_a_program_needs_are_examples, a_starved_program_gets_smaller_numbers,
                     arguments_are_for_a_run, records_contents, records_textures,
                     records_what_comes_before_missing_functions,
                     records_pointers_into_the_middle, large_contents_keep_their_range,
                     records_pointers_in_memory, keeps_what_the_kernel_was_compiled_with,
                     tells_what_is_wrong_already, constant_floats_that_are_read_vary, tells_why_nothing_was_recorded, tells_leaks, nothing_launched, host_memory_is_in_huge_pages, says_its_end,
                     a_fail_without_a_finding_has_a_next_step, says_what_it_did_not_check, cleans_output, its_own_path_is_not_shown, files_have_their_own_names, reads_and_writes, gets_what_it_names, several_files,
                     kept, missing_functions, not_compiled, finished_program, refused):
        tap.run(function.__name__.replace("_", " "), function, d)
    for name in ILL:
        tap.run("a program that " + name, means_ill, d, name)
    tap.run("tells what it did until it was ended", tells_what_it_did_until_it_was_ended, d)
    tap.run("tells what was found in a launch that never ends", tells_what_was_found_in_a_launch_that_never_ends, d)
    tap.run("tells what nobody used of a launch that never ends", tells_what_nobody_used_of_a_launch_that_never_ends, d)
    for function in (cannot_take_back_what_was_found, may_close_what_it_did_not_open, a_host_function_that_waits_or_does_not_return_is_told, a_cached_program_is_said_to_run, an_include_that_was_not_followed_says_why, says_why_the_host_crashed, ends_when_its_threads_end,
                     a_full_stack_of_another_thread_is_told, knows_where_the_missing_lie, a_handler_hides_no_host_access, a_handler_of_its_own_faults_works,
                     a_handler_sees_no_fault_of_memory_that_is_closed):
        tap.run(function.__name__.replace("_", " "), function, d)
    tap.run("cancelled", cancelled, d)
    assert d.close() == 0
    for function in (ends_with_the_daemon, nvcc_errors_have_the_fixes_of_kernel_check, no_compiler, bad_compiler):
        tap.run(function.__name__.replace("_", " "), function, upskilld)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
