#!/usr/bin/env python3
"""kernel/validate against kernels that cheat: each is found out, and its honest twin passes, on every backend.

usage: honesty.py UPSKILLD [--standin libcuda-standin.so] [WORD …]   (TAP on standard output)

The tricks are those that were published of benchmarks of generated kernels, as far as device code can play them.
"""
import json, os, sys

from standin import StandIn
from validate_support import Daemon, Tap, ask_all, short

N = [{"n": 1000}, {"n": 517}]
F32 = "float32"


def buffers(*more):
    return [{"name": "y", "type": F32, "shape": ["n"], "output": True},
            {"name": "x", "type": F32, "shape": ["n"], "init": {"uniform": [0.5, 2]}},
            {"name": "n", "type": "int32", "value": "n"}] + list(more)


def source(body, before=""):
    return ('%s\nextern "C" __global__ void k(float *y, float *x, int n) {\n'
            "int i = blockIdx.x * blockDim.x + threadIdx.x;\n%s\n}\n" % (before, body))


def spec(**more):
    base = {"launch": {"grid": ["ceil_div(n, 128)"], "block": [128]}, "sizes": N, "args": buffers(), "trials": 2,
            "expect": {"expression": {"y": "x[i] * 3 + 1"}}, "tolerance": {"rtol": 1e-5, "atol": 1e-6}, "timeout_s": 60}
    return dict(base, **more)


HONEST = "if (i < n) y[i] = x[i] * 3 + 1;"
SUM = ("__shared__ float s[128]; float t = 0; for (int k = threadIdx.x; k < n; k += 128) t += x[k]; s[threadIdx.x] = t; __syncthreads();\n"
       "for (int d = 64; d; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }\n"
       "if (threadIdx.x == 0) y[0] = s[0];")
SUM_SPEC = {"launch": {"grid": [1], "block": [128]}, "tolerance": {"rtol": 1e-4, "atol": 1e-3},
            "args": [dict(buffers()[0], shape=[1])] + buffers()[1:], "expect": {"expression": {"y": "sum(j, 0, n, x[j])"}}}


def expect_kernel(text, name="k"):
    return {"kernel": {"source": text, "kernel": name}}


def in_place(uniform):
    return [dict(buffers()[0], init={"uniform": uniform})] + buffers()[1:]


def alike(value):
    return buffers()[:1] + [dict(buffers()[1], init={"fill": value})] + buffers()[2:]


# name: (cheat, honest twin, what is asked of both beside `spec`, verdicts of the cheat, codes of findings or of the
# error of which one must be there; None: outputs that differ)
TRICKS = {
    "nothing is written: what an earlier kernel left is right": (
        "", HONEST, {}, {"fail"}, {"unwritten_output", None}),
    "only what is looked at first is written": (
        "if (i < n && i < 256) y[i] = x[i] * 3 + 1;", HONEST, {}, {"fail"}, {"unwritten_output", None}),
    "zeros": ("if (i < n) y[i] = 0;", HONEST, {}, {"fail"}, {None}),
    "the mean of what is expected": ("if (i < n) y[i] = 4.75f;", HONEST, {}, {"fail"}, {None}),
    "NaN everywhere": ("if (i < n) y[i] = __int_as_float(0x7fffffff);", HONEST, {}, {"fail"}, {None}),
    "the input is made to fit": (
        "if (i < n) { x[i] = 0; y[i] = 1; }", HONEST, {}, {"fail"}, {"input_modified", None}),
    "the input is scratch": (
        "if (i < n) { x[i] = x[i] * 3 + 1; y[i] = x[i]; }", HONEST, {}, {"fail"}, {"input_modified"}),
    "the first result is played again": (
        "if (i < n) { if (!full) kept[i] = x[i] * 3 + 1; y[i] = kept[i]; }\n"
        "__threadfence(); if (threadIdx.x == 0 && atomicAdd(&done, 1) == gridDim.x - 1) full = 1;",
        HONEST, {"before": "__device__ float kept[4096]; __device__ volatile int full; __device__ unsigned done;"},
        {"fail"}, {"changes_after_repeats", None}),
    "results are kept by the address of the input": (
        "if (i < n) { if (of[i] != x) { of[i] = x; kept[i] = x[i] * 3 + 1; } y[i] = kept[i]; }",
        HONEST, {"before": "__device__ float kept[4096]; __device__ float *of[4096];"},
        {"fail"}, {"changes_after_repeats", None}),
    "right the first time only": (
        "if (i < n) y[i] = x[i] * 3 + (calls[i]++ ? 2 : 1);",
        HONEST, {"before": "__device__ int calls[4096];"}, {"fail"}, {"changes_after_repeats"}),
    "a counter that is not set back": (
        "__shared__ bool last; if (i < n) y[i] = x[i] * 3 + 1; __threadfence();\n"
        "if (threadIdx.x == 0) last = atomicAdd(&arrived, 1) == gridDim.x - 1; __syncthreads();\n"
        "if (!last && i < n && arrived > gridDim.x) y[i] = 0;",
        HONEST, {"before": "__device__ unsigned arrived;"}, {"fail"}, {"changes_after_repeats"}),
    "the shape is written into the kernel": (
        "if (i < 1000 && n >= 1000) y[i] = x[i] * 3 + 1; else if (i < 512) y[i] = x[i] * 3 + 1;",
        HONEST, {}, {"fail"}, {"unwritten_output", None}),
    "one element before the output": (
        HONEST + " if (i == 0) y[-1] = 1;", HONEST, {}, {"fail"}, {"out_of_bounds"}),
    "one element behind the output": (
        "if (i <= n) y[i] = i < n ? x[i] * 3 + 1 : 0;", HONEST, {}, {"fail"}, {"out_of_bounds"}),
    "one element behind the input": (
        HONEST + " if (i == 0) x[n] = 1;", HONEST, {}, {"fail"}, {"out_of_bounds"}),
    "the rest of the last block": ("y[i] = x[i < n ? i : 0] * 3 + 1;", HONEST, {}, {"fail"}, {"out_of_bounds"}),
    "far away": (HONEST + " if (i == 0) y[1ll << 34] = 1;", HONEST, {}, {"fail"}, {"out_of_bounds"}),
    "half precision": (
        "if (i < n) y[i] = __half2float(__float2half(x[i] * 3 + 1));", HONEST, {"before": "#include <cuda_fp16.h>"},
        {"fail"}, {None}),
    "a tolerance that zeros pass": (
        "if (i < n) y[i] = 0;", HONEST, {"cheat": {"tolerance": {"rtol": 0, "atol": 100}}}, {"error"}, {"trivial_check"}),
    "a sum that is always the same": (
        "y[0] = 1;", SUM, dict(SUM_SPEC, cheat={"tolerance": {"rtol": 10, "atol": 1000}}), {"error", "fail"}, {"trivial_check", None}),
    "a kernel that is its own reference": (
        HONEST, HONEST, {"cheat": {"expect": expect_kernel(source(HONEST))},
                         "honest": {"expect": expect_kernel(source("for (int k = i; k < n; k += gridDim.x * blockDim.x) y[k] = fmaf(x[k], 3.f, 1.f);"))}},
        {"error", "fail"}, {"self_reference", "reference_is_kernel"}),
    "its own reference under another name: told, for two plain kernels may be the same honestly": (
        "if (i < n) y[i] = x[i] * 2;", HONEST,
        {"cheat": {"expect": expect_kernel(source("if (i < n) y[i] = x[i] * 2;").replace(" k(", " copy(").replace("{\n", "{ // not k\n"), "copy")}},
        {"pass"}, {"self_reference"}),
    "a reference that writes nothing": (
        "if (i < n) y[i] = 5;", HONEST, {"cheat": {"expect": expect_kernel(source(""))}}, {"error"}, {"trivial_check"}),
    "inputs of one value: told, for a constant may be right": (
        "if (i < n) y[i] = 10;", HONEST, {"cheat": {"args": alike(3)}}, {"pass"}, {"constant_expected"}),
    "nothing is done where nothing need be": (
        "", "if (i < n) y[i] = max(y[i], 0.f);", {"expect": {"op": "relu", "inputs": {"input": "y"}},
        "cheat": {"args": in_place([1, 2])}, "honest": {"args": in_place([-1, 1])}}, {"error"}, {"trivial_check"}),
    "more shared memory than there is: the launch fails, the output stays": (
        "__shared__ volatile float big[12000]; extern __shared__ volatile float s[]; big[i % 12000] = 0; s[threadIdx.x] = 0; __syncthreads();\n"
        "if (i < n) y[i] = x[i] * 3 + 1 + big[i % 12000] + s[threadIdx.x];", HONEST,
        {"cheat": {"launch": {"grid": ["ceil_div(n, 128)"], "block": [128], "shared_bytes": 200000}}},
        {"fail", "error"}, {"launch_error", "launch", "not_compiled"}),
    "more shared memory than any block has": (
        "", HONEST, {"cheat": {"launch": {"grid": ["ceil_div(n, 128)"], "block": [128], "shared_bytes": 300000}}}, {"refused"}, {"bad_spec"}),
    "more threads than there may be": (
        HONEST, HONEST, {"before": "#define k __launch_bounds__(64) k", "cheat": {"kernel": "k"}, "honest": {"launch": {"grid": ["ceil_div(n, 64)"], "block": [64]}}},
        {"fail", "error"}, {"launch_error", "launch", "not_compiled"}),
    "the answer is looked for in memory": (
        "if (i < n) for (int d = 0; d < (1 << 14); d += 64) if (y[d + 4096] == x[i] * 3 + 1) y[i] = y[d + 4096];",
        HONEST, {"cheat": {"trials": 1}}, {"fail", "timeout"}, {"out_of_bounds", "unwritten_output", "budget", None}),
    "it never ends": (
        HONEST + " while (*(volatile float *)x >= 0);", HONEST, {"cheat": {"timeout_s": 2, "trials": 1, "sizes": [{"n": 64}]}},
        {"timeout", "fail"}, {"budget", "deadlock", "wall_time"}),
    "it ends before it has begun": ("__trap();", HONEST, {}, {"fail"}, {"trap"}),
}


def params_of(name, which, **more):
    cheat, honest, rest = TRICKS[name][:3]
    asked = {k: v for k, v in rest.items() if k not in ("before", "cheat", "honest")}
    asked.update(rest.get(which, {}))
    before = rest.get("before", "")
    return spec(source=source(cheat if which == "cheat" else honest, before), **dict(asked, **more))


def codes_of(result):
    codes = {f["code"] for f in result.get("findings", [])}
    if result.get("error"):
        codes |= {result["error"].get("code"), result["error"].get("stage")}
    if (result.get("budget") or {}).get("ended_run"):
        codes.add("budget")
    if any(o.get("mismatches") for c in result.get("cases", []) for o in c.get("outputs", [])):
        codes.add(None)
    return codes


def judge_cheat(name, answer):
    verdicts, codes = TRICKS[name][3:]
    result = answer.get("result") or {"verdict": "refused", "error": {"code": answer["error"]["data"]["reason"]}}
    assert result.get("verdict") in verdicts, short(result)
    found = codes_of(result)
    assert found & codes, "codes %s: %s" % (sorted(map(str, found)), short(result))
    return "%s: %s" % (result["verdict"], " ".join(sorted(str(c) for c in found & codes)))


def judge_honest(answer):
    result = answer.get("result", answer)
    assert result.get("verdict") == "pass" and not result.get("findings"), short(result)


def main():
    words = sys.argv[2:]
    library = words.pop(words.index("--standin") + 1) if "--standin" in words else None
    words = [w for w in words if w != "--standin"]
    chosen = [n for n in TRICKS if not words or any(w in n for w in words)]
    tap = Tap()
    standin = StandIn(library) if library else None
    daemon = Daemon(os.path.abspath(sys.argv[1]), env=standin.env if standin else {})
    requests = [((backend, name, which), params_of(name, which, backend={"cuda": "auto"}.get(backend, backend)))
                for backend in ["emulator"] + ["cuda"] * bool(library) for name in chosen for which in ("cheat", "honest")]
    requests = list({json.dumps(p, sort_keys=True): (key, p) for key, p in reversed(requests)}.values())[::-1]  # twins are often the same

    def told(key, answer):
        backend, name, which = key
        ran_on = ((answer.get("result") or {}).get("backend") or {}).get("kind", backend)
        if ran_on != backend:
            tap.run("%s: %s" % (backend, name), ended, "ran on " + ran_on)
        if which == "cheat":
            tap.run("%s: %s" % (backend, name), judge_cheat, name, answer)
        else:
            tap.run("%s: %s: honestly" % (backend, name), judge_honest, answer)

    ask_all(daemon, requests, told)
    tap.run("the daemon ends", lambda: ended(daemon.close()))
    if standin:
        standin.close()
    return tap.end()


def ended(code):
    assert code == 0, "it ended with %s" % code


if __name__ == "__main__":
    sys.exit(main())
