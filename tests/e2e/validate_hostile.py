#!/usr/bin/env python3
"""kernel/validate against kernels and specs that mean ill: a finding or a named error each, and the daemon is untouched.

usage: validate_hostile.py UPSKILLD [WORD …]   (TAP on standard output)
"""
import json, os, resource, sys, time

from validate_support import Daemon, Tap, short

ONE = {"grid": [1], "block": [32]}
INT_OUT = [{"name": "y", "type": "int32", "shape": [64], "output": True, "init": {"fill": 0}}]
BUDGET = 3_000_000


def kernel(body, more=""):
    return '%s\nextern "C" __global__ void k(int *y) {\n%s\n}\n' % (more, body)


def spec(body, more="", launch=ONE, args=INT_OUT, **rest):
    return dict({"source": kernel(body, more), "launch": launch, "args": args, "trials": 1, "timeout_s": 6,
                 "instructions": BUDGET}, **rest)


def shaped(shape, launch=ONE, **rest):
    args = [{"name": "y", "type": "int32", "shape": shape, "output": True}]
    return spec("y[threadIdx.x] = 1;", launch=launch, args=args, **rest)


def nested(depth):
    holder = {"type": "int8", "value": 1}
    for _ in range(depth):
        holder = {"struct": [holder]}
    return holder


def with_input(body, expected):
    """Of an input x of sevens and an output y."""
    args = INT_OUT + [{"name": "x", "type": "int32", "shape": [64], "init": {"fill": 7}}]
    return dict(spec("", args=args, expect={"expression": {"y": expected}}),
                source='extern "C" __global__ void k(int *y, int *x) { %s }' % body)


# name: (params, verdicts that are right, codes of findings or of the error of which one must be there or None)
CASES = {
    "an endless loop": (spec("while (true) atomicAdd(y, 1);"), {"timeout"}, {"budget"}),
    "a flag that nobody sets": (spec("while (atomicAdd(y, 0) == 0);"), {"timeout", "fail"}, {"budget", "deadlock"}),
    "a volatile flag": (spec("while (*(volatile int *)y == 0);"), {"timeout", "fail"}, {"budget", "deadlock"}),
    "a barrier that half the threads reach": (spec("if (threadIdx.x < 16) __syncthreads(); else while (atomicAdd(y, 0) == 0);"),
                                              {"fail", "timeout"}, {"barrier_divergence", "deadlock", "budget"}),
    "sleep for ever": (spec("while (atomicAdd(y, 0) == 0) __nanosleep(1000000);"), {"timeout", "fail"}, {"budget", "deadlock"}),
    "recursion without end": (spec("y[threadIdx.x] = f(y, 1);", "__device__ __noinline__ int f(int *y, int d) { return atomicAdd(y, d) + f(y, d + 1) * 3; }",
                                   instructions=50 * BUDGET), {"fail"}, {"stack_overflow"}),
    "malloc in a loop": (spec("for (int i = 0; i < 100000; i++) { char *p = (char *)malloc(1 << 20); if (!p) { y[0] = i; return; } p[0] = 1; }"),
                         {"unjudged", "timeout", "fail"}, None),
    "free of what was never allocated": (spec("free(y + 3);"), {"fail", "unjudged"}, None),
    "a bad function pointer": (spec("void (*f)(int *) = (void (*)(int *))(unsigned long long)(0x1234567 + y[0]); f(y);"), {"fail"}, {"launch_error"}),
    "a null function pointer": (spec("void (*f)(int *) = (void (*)(int *))(unsigned long long)y[0]; f(y);"), {"fail"}, {"launch_error"}),
    "a null pointer": (spec("int *p = (int *)(unsigned long long)y[0]; *p = 1;"), {"fail"}, {"out_of_bounds"}),
    "a pointer from the air": (spec("int *p = (int *)(0x7f0000000000ull + y[0]); y[1] = *p;"), {"fail"}, {"out_of_bounds"}),
    "half a terabyte further": (spec("y[(1ll << 37) + threadIdx.x] = 1;"), {"fail"}, {"out_of_bounds"}),
    "2^31 - 1 blocks": (shaped([64], {"grid": [2147483647], "block": [1024]}), {"error"}, {"wall_time"}),
    "2^31 blocks": (shaped([64], {"grid": [2147483648], "block": [32]}), {"error", "fail", "refused"}, None),
    "a grid of 70,000 in y": (shaped([64], {"grid": [1, 70000], "block": [32]}), {"error", "fail", "refused"}, None),
    "2,000 threads": (shaped([64], {"grid": [1], "block": [2000]}), {"error", "fail", "refused"}, None),
    "no threads": (shaped([64], {"grid": [1], "block": [0]}), {"error", "fail", "refused"}, None),
    "1 MB of shared memory": (shaped([64], {"grid": [1], "block": [32], "shared_bytes": 1 << 20}), {"error", "fail", "refused"}, None),
    "cooperative, too many blocks": (shaped([64], {"grid": [100000], "block": [1024], "cooperative": True}), {"error", "fail", "refused", "timeout"}, None),
    "4 TB of an output": (shaped([1 << 40]), {"error", "refused"}, None),
    "a shape that overflows": (shaped([1 << 32, 1 << 32, 1 << 32]), {"error", "refused"}, None),
    "a shape below zero": (shaped(["n - 5"], sizes=[{"n": 1}]), {"error", "refused"}, None),
    "a size that is not there": (shaped(["m"]), {"error", "refused"}, None),
    "a division by zero in a shape": (shaped(["4 / (n - n)"], sizes=[{"n": 4}]), {"error", "refused"}, None),
    "an extent without end": (shaped(["(" * 500 + "1"]), {"error", "refused"}, None),
    "a sum without end": (spec("y[threadIdx.x] = 1;", expect={"expression": {"y": "sum(a, 0, 1000000000000, a)"}}), {"error", "refused", "timeout"}, None),
    "sums within sums": (spec("y[threadIdx.x] = 1;", expect={"expression": {"y": "sum(a, 0, 100000, sum(b, 0, 100000, sum(c, 0, 100000, a + b + c)))"}}), {"error", "refused", "timeout"}, None),
    "a deep expression": (spec("y[threadIdx.x] = 1;", expect={"expression": {"y": "(" * 20000 + "i" + ")" * 20000}}), {"error", "refused"}, None),
    "an index beyond the input": (spec("y[threadIdx.x] = 1;", expect={"expression": {"y": "y[i + 1000000]"}}), {"error", "refused", "fail"}, None),
    "more than fits in the kernel's parameters": (spec("y[threadIdx.x] = 1;", args=INT_OUT + [{"type": "int32", "value": 1}] * 20), {"error", "refused", "fail"}, None),
    "too few arguments": (spec("y[threadIdx.x] = 1;", args=[]), {"error", "refused", "fail"}, None),
    "a flood of printf": (spec('for (int i = 0; i < 300; i++) printf("%d %s\\n", i, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");',
                               launch={"grid": [4], "block": [64]}), {"unjudged", "timeout"}, None),
    "printf with wrong arguments": (spec('printf("%s %d %f %n %*d\\n", threadIdx.x, 1.5);'), {"unjudged", "fail"}, None),
    "findings without end": (spec("for (int i = 0; i < 1000; i++) y[1000 + i * 64 + threadIdx.x] = y[5000 + i];", launch={"grid": [16], "block": [64]}), {"fail"}, {"out_of_bounds"}),
    "a large local array": (spec("volatile char a[400000]; for (int i = 0; i < 400000; i += 997) a[i] = i; y[threadIdx.x] = a[threadIdx.x * 997];",
                                 launch={"grid": [1], "block": [1024]}, args=[dict(INT_OUT[0], shape=[1024])]), {"unjudged", "fail", "error", "refused", "timeout"}, None),
    "NaN everywhere": ({"source": 'extern "C" __global__ void k(float *y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = 0.f / (i * 0.f); }',
                        "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]}, "sizes": [{"n": 20000}], "trials": 1,
                        "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True}, {"name": "n", "type": "int32", "value": "n"}],
                        "expect": {"expression": {"y": "i * 0.5"}}}, {"fail"}, None),
    "a grid of blocks that are not all resident": (shaped([64], {"grid": [5000], "block": [1024], "cooperative": True}), {"error"},
                                                   {"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"}),
    "more dynamic shared memory than the kernel leaves": (spec("__shared__ int s[12000]; s[threadIdx.x] = 1; y[threadIdx.x] = s[31 - threadIdx.x];",
                                                               launch={"grid": [1], "block": [32], "shared_bytes": 230000}),
                                                          {"error"}, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "not_compiled"}),
    "no launch": ({k: v for k, v in spec("y[threadIdx.x] = 1;").items() if k != "launch"}, {"refused"}, {"bad_spec", "no_spec"}),
    "a cluster of 64 blocks": (shaped([64], {"grid": [64], "block": [32], "cluster": [64]}), {"refused"}, {"bad_spec"}),
    "a structure of another size": (spec("y[threadIdx.x] = 1;", args=[{"struct": [{"type": "int8", "value": 1, "count": 32764}]}]),
                                    {"error"}, {"arguments"}),
    "structures without end": (spec("y[threadIdx.x] = 1;", args=[nested(150)]), {"refused"}, {"bad_spec"}),
    "a tensor map of an odd row": (spec("y[threadIdx.x] = 1;", buffers=[dict(INT_OUT[0], name="x", shape=[8, 7])],
                                        args=INT_OUT + [{"tensor_map": {"of": "x", "box": [1, 4]}}]), {"refused"}, {"bad_spec"}),
    "a tensor map for a pointer": (spec("y[threadIdx.x] = 1;", args=[dict(INT_OUT[0]), {"tensor_map": {"of": "y", "box": [4]}}]),
                                   {"error"}, {"arguments", "unsupported"}),
    "a member that is misspelt": (spec("y[threadIdx.x] = 1;", args=[dict(INT_OUT[0], tolerence={"rtol": 1})]), {"refused"}, {"bad_spec"}),
    "an expected name that nothing has": (spec("y[threadIdx.x] = 1;", expect={"expression": {"y": "z[i]"}}), {"refused"}, {"bad_spec"}),
    "too few expected numbers": (spec("y[threadIdx.x] = 1;", expect={"values": {"y": [1, 2]}}), {"refused"}, {"bad_spec"}),
    "a kernel that is not there": (spec("y[threadIdx.x] = 1;", kernel="nobody"), {"error"}, {"unknown_kernel"}),
    "an atomic that changes nothing of an input": (with_input("y[threadIdx.x] = atomicAdd(x + threadIdx.x, 0) + atomicMax(x, 3);",
                                                              "i < 32 ? 14 : 0"), {"pass"}, None),
    "an atomic that changes an input": (with_input("y[threadIdx.x] = atomicAdd(x + threadIdx.x, threadIdx.x == 5) + 7;", "i < 32 ? 14 : 0"),
                                        {"fail"}, {"input_modified"}),
    "more first values than elements": (spec("y[threadIdx.x] = 1;", args=[dict(INT_OUT[0], init={"values": [1] * 65})]), {"refused"}, {"bad_spec"}),
    "an operator that takes hours": ({"source": 'extern "C" __global__ void k(float *y, const float *x) { while (true) y[0] = x[0]; }', "launch": ONE, "timeout_s": 6,
                                      "args": [{"name": "y", "type": "float32", "shape": ["n", "n"], "output": True},
                                               {"name": "x", "type": "float32", "shape": ["n", "n"], "init": {"normal": [0, 1]}}],
                                      "sizes": {"n": 10000}, "expect": {"op": "matmul", "inputs": {"input": "x", "other": "x"}}}, {"error"}, {"expectation"}),
    "no source": ({"launch": ONE, "args": []}, {"refused"}, None),
    "a spec that is a list": ([1, 2, 3], {"refused"}, None),
}


def words_of(result):
    codes = {f["code"] for f in result.get("findings", [])}
    if result.get("error"):
        codes.add(result["error"].get("code"))
    if (result.get("budget") or {}).get("ended_run"):
        codes.add("budget")
    return codes


def judge(answer, verdicts, wanted):
    result = answer.get("result")
    if result is None:
        error = answer["error"]
        assert error.get("message") and error.get("data", {}).get("reason"), "an error without a reason: %s" % error
        assert error["code"] in (-32600, -32602, -32000) or error["code"] > 1000, error
        verdict, codes = "refused", {error["data"]["reason"]}
    else:
        verdict, codes = result["verdict"], words_of(result)
        assert len(json.dumps(result)) < 1 << 20, "an answer of %d bytes" % len(json.dumps(result))
        assert len(result.get("printf", "")) <= 70000
        if verdict not in ("pass", "unsupported"):
            told = codes - {None} or any(o.get("mismatches") for c in result["cases"] for o in c.get("outputs", []))
            assert told, "nothing says why: " + short(result)
    assert verdict in verdicts, "verdict %s: %s" % (verdict, short(result or answer))
    assert not wanted or codes & wanted, "codes %s: %s" % (sorted(map(str, codes)), short(result or answer))
    message = ((result or {}).get("error") or answer.get("error") or {}).get("message", "")
    return "%s %s %s" % (verdict, " ".join(sorted(map(str, codes))), message[:90].replace("#", ""))


def a_slow_case_keeps_the_first(daemon):
    """The first case is wrong; the second is not through when the time is up: filling, and a sum."""
    x = {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}}
    y = {"name": "y", "type": "float32", "shape": ["n"], "output": True}
    base = {"source": 'extern "C" __global__ void k(float *y, const float *x, int n) { int i = blockIdx.x * 256 + threadIdx.x; '
                      'if (i < n) y[i] = x[i] * 3; }',
            "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]}, "trials": 1, "timeout_s": 1,
            "args": [y, x, {"name": "n", "type": "int32", "value": "n"}]}
    for sizes, expected in (([{"n": 33}, {"n": 250000000}], "x[i] * 2"),
                            ([{"n": 33, "m": 1}, {"n": 33, "m": 1000000000000}], "x[i] * 2 + 0 * sum(k, 0, m, k)")):
        begin = time.monotonic()
        result = daemon.ask("kernel/validate", dict(base, sizes=sizes, expect={"expression": {"y": expected}}))["result"]
        cases = [(c["sizes"], c["verdict"]) for c in result["cases"]]
        assert cases == [(sizes[0], "fail"), (sizes[1], "timeout")], (cases, result.get("error"))
        assert result["verdict"] == "fail" and result["error"]["code"] == "wall_time", short(result)
        assert result["seed"] and result["confinement"], short(result)
        assert time.monotonic() - begin < 20


def told_what_fits(daemon):
    """What can't be is refused before anything runs, with what would fit: by time, and by memory."""
    for params, code in ((CASES["2^31 - 1 blocks"][0], "wall_time"), (shaped([1 << 35]), "memory")):
        result = daemon.ask("kernel/validate", params)["result"]
        error = result["error"]
        assert error["code"] == code and "would fit" in error["message"], error
        assert not result["cases"] and "run" not in {p["phase"] for p in result.get("phases", [])}, short(result)


def status_while(daemon, numbers):
    """The slowest of the answers to daemon/status until every request of `numbers` is answered, in seconds."""
    slowest = 0
    while not all(n in daemon.answers for n in numbers):
        began = time.monotonic()
        answer = daemon.ask("daemon/status")
        slowest = max(slowest, time.monotonic() - began)
        assert "result" in answer, answer
        time.sleep(0.02)
    return slowest


def a_limit_on_files(program, after):
    """What is too large for it is refused with its cause; the worker lives on."""
    limit = 1 << 20
    daemon = Daemon(program, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    large = daemon.ask("kernel/validate", dict(after, source=after["source"] + "//" + "x" * 3 * limit + "\n"))
    assert "File too large" in json.dumps(large), json.dumps(large)[:400]
    judge(daemon.ask("kernel/validate", after), {"pass"}, None)
    ended(daemon.close())


def main():
    words = sys.argv[2:]
    tap, daemon = Tap(), Daemon(os.path.abspath(sys.argv[1]))
    chosen = [(n, c) for n, c in CASES.items() if not words or any(w in n for w in words)]
    slowest = 0
    for at in range(0, len(chosen), 4):
        some = chosen[at:at + 4]
        numbers = [daemon.send("kernel/validate", c[0]) for _, c in some]
        slowest = max(slowest, status_while(daemon, numbers))
        for number, (name, (_, verdicts, codes)) in zip(numbers, some):
            tap.run(name, judge, daemon.receive(number), verdicts, codes)
    tap.run("daemon/status answers meanwhile", lambda: bounded(slowest))
    after = spec("y[threadIdx.x] = threadIdx.x;", expect={"expression": {"y": "i"}},
                 args=[{"name": "y", "type": "int32", "shape": [32], "output": True}])
    tap.run("told what fits", told_what_fits, daemon)
    tap.run("a slow case keeps the first", a_slow_case_keeps_the_first, daemon)
    tap.run("a kernel afterwards", judge, daemon.ask("kernel/validate", after), {"pass"}, None)
    tap.run("a limit on files", a_limit_on_files, os.path.abspath(sys.argv[1]), after)
    tap.run("the daemon ends", lambda: ended(daemon.close()))
    return tap.end()


def bounded(slowest):
    assert slowest < 5, "%.1f s" % slowest  # a loop that waits for a kernel would need its 6 s
    return "slowest %d ms" % (slowest * 1000)


def ended(code):
    assert code == 0, "it ended with %s" % code


sys.exit(main())
