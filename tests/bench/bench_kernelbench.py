#!/usr/bin/env python3
"""KernelBench level 1 at its original sizes (kernelbench_sizes.json): a plain kernel for each problem, one trial.

usage: bench_kernelbench.py BUILD_FOLDER [--list | WORD …] [--seconds N] [--out FILE]

Specs and kernels are those of tests/kernels/kernelbench, with other sizes and inputs as the problems have them, uniform
in [0, 1); kernelbench_kernels.cu has kernels for what needs others. A line for each problem: its verdict, wall and
processor seconds (the daemon and all that it starts), bytes of its buffers, the largest resident memory, and phases.
--list measures nothing. --seconds: a run's time (60)."""
import json
import math
import os
import pathlib
import sys
import tempfile

from bench_sizes import run_timed

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parent / "kernels" / "kernelbench"
OWN = (HERE / "kernelbench_kernels.cu").read_text()
PROBLEMS = json.loads((HERE / "kernelbench_sizes.json").read_text())["problems"]
UNIFORM = {"uniform": [0, 1]}
PARTS = 4096


# --- kernels of our own ---

def buffer(name, *shape, **more):
    return dict({"name": name, "type": "float32", "shape": list(shape)}, **(more or {"init": UNIFORM}))


def number(name, value, kind="int32"):
    return {"name": name, "type": kind, "value": value}


def summed(kernel, divisor, expect, *inputs, extra=()):
    """Parts of all rows' sum by one kernel, their sum over divisor by another."""
    part = buffer("part", PARTS, scratch=True)
    return {"expect": expect, "launches": [
        {"kernel": kernel, "launch": {"grid": [PARTS], "block": [256]},
         "args": [part, *inputs, number("rows", "rows"), number("n", "n"), *extra]},
        {"kernel": "finish", "launch": {"grid": [1], "block": [256]},
         "args": [buffer("y", 1, output=True), "part", number("parts", PARTS), number("divisor", divisor, "float32")]}]}


def pair(kernel, op, divisor="rows * n", target=None, **more):
    expect = dict({"op": op, "inputs": {"input": "p", "target": "t"}}, **more)
    return summed(kernel, divisor, expect, buffer("p", "rows", "n"), target or buffer("t", "rows", "n"))


def frobenius():
    """The root of the sum of the rows' squares, which the reference takes sample by sample."""
    x, part = buffer("x", "n", "c", "h", "w"), buffer("part", PARTS, scratch=True)
    sizes = [number("rows", "n * c"), number("n", "h * w")]
    return {"launches": [
        {"kernel": "squares", "launch": {"grid": [PARTS], "block": [256]}, "args": [part, x, *sizes]},
        {"kernel": "over_root", "launch": {"grid": ["n * c"], "block": [256]},
         "args": [buffer("y", "n", "c", "h", "w", output=True), "x", "part", number("parts", PARTS), *sizes]}],
        "expect": {"op": "norm", "inputs": {"input": "x"}, "dim": [1, 2, 3], "outputs": {"output": "lengths"}, "then": [
            {"op": "norm", "inputs": {"input": "lengths"}, "outputs": {"output": "length"}},
            {"op": "div", "inputs": {"input": "x", "other": "length"}, "outputs": {"output": "y"}}]}}


def batch_norm():
    """The reference goes by samples as well: means over planes, then over samples."""
    plane = {"dim": [2, 3], "keepdim": True}
    step = lambda op, output, keep=None, **inputs: dict({"op": op, "inputs": inputs, "outputs": {"output": output}}, **(keep or {}))
    steps = [step("mean", "planes", plane, input="x"), step("mean", "mean", {"dim": 0}, input="planes"),
             step("sub", "centred", input="x", other="mean"), step("square", "squared", input="centred"),
             step("mean", "variances", plane, input="squared"), step("mean", "variance", {"dim": 0}, input="variances"),
             step("add", "shifted", input="variance", other=1e-5), step("rsqrt", "scale", input="shifted"),
             step("sub", "again", input="x", other="mean"), step("mul", "scaled", input="again", other="scale"),
             step("mul", "weighted", input="scaled", other="weight"), step("add", "y", input="weighted", other="bias")]
    sums = [buffer(name, "n", "c", scratch=True) for name in ("sums", "squares")]
    return {"expect": dict(steps[0], then=steps[1:]), "launches": [
        {"kernel": "plane_sums", "launch": {"grid": ["n * c"], "block": [256]},
         "args": [*sums, buffer("x", "n", "c", "h", "w"), number("hw", "h * w")]},
        {"kernel": "batch_norm", "launch": {"grid": ["n * c"], "block": [256]},
         "args": [buffer("y", "n", "c", "h", "w", output=True), "x", "sums", "squares", buffer("weight", "c", 1, 1),
                  buffer("bias", "c", 1, 1), number("n", "n"), number("c", "c"), number("hw", "h * w"),
                  number("eps", 1e-5, "float32")]}]}


def matmul(rows, n, k, a, b, c, **more):
    """A launch of a product by tiles; with `batch` of as many, with by_rows by rows of b."""
    kernel, batch = more.get("kernel", "matmul"), more.get("batch", 1)
    return {"kernel": kernel, "launch": {"grid": [f"ceil_div({n}, 32)", f"ceil_div({rows}, 64)", batch], "block": [32, 8]},
            "args": [c, a, b, number("m", rows), number("columns", n), number("inner", k)]}


def irregular():
    shapes = [buffer("a", "m", "k"), buffer("b", "k", "n"), buffer("c", "m", "n", output=True)]
    return dict(matmul("m", "n", "k", *shapes), expect={"op": "matmul", "inputs": {"input": "a", "other": "b"}})


def tensor4():
    shapes = [buffer("a", "p", "q", "m", "k"), buffer("b", "k", "n"), buffer("c", "p", "q", "m", "n", output=True)]
    return dict(matmul("p * q * m", "n", "k", *shapes), expect={"op": "matmul", "inputs": {"input": "a", "other": "b"}})


def attention():
    """Scores, their softmax, and the weighted values, each by a kernel."""
    q, k, v = (buffer(x, "b", "h", "l", "e") for x in "qkv")
    scores, y = buffer("scores", "b * h", "l", "l", scratch=True), buffer("y", "b", "h", "l", "e", output=True)
    return {"expect": {"op": "scaled_dot_product_attention", "inputs": {"query": "q", "key": "k", "value": "v"}}, "launches": [
        matmul("l", "l", "e", q, k, scores, kernel="matmul_by_rows", batch="b * h"),
        {"kernel": "softmax_rows", "launch": {"grid": ["b * h * l"], "block": [256]},
         "args": ["scores", number("width", "l"), number("scale", "1 / sqrt(e)", "float32")]},
        matmul("l", "e", "l", "scores", v, y, batch="b * h")]}


OWN_SPECS = {
    "08_irregular_matmul": irregular,
    "11_tensor4_matmul": tensor4,
    "97_scaled_dot_product_attention": attention,
    "33_batch_norm": batch_norm,
    "37_frobenius_norm": frobenius,
    "94_mse_loss": lambda: pair("mse", "mse_loss"),
    "96_huber_loss": lambda: pair("smooth", "smooth_l1_loss"),
    "98_kl_div_loss": lambda: dict(pair("divergence", "kl_div", "rows"), expect={
        "op": "log", "inputs": {"input": "p"}, "outputs": {"output": "logs"},
        "then": [{"op": "kl_div", "inputs": {"input": "logs", "target": "t"}, "reduction": "batchmean"}]}),
    "99_triplet_margin_loss": lambda: summed(
        "triplet", "rows", {"op": "triplet_margin_loss", "inputs": {"anchor": "a", "positive": "p", "negative": "q"}},
        *(buffer(x, "rows", "n") for x in "apq"), extra=[number("margin", 1.0, "float32")]),
    "100_hinge_loss": lambda: pair("hinge", "hinge_loss", target=buffer("t", "n", init={"values": [1, -1, -1, 1, 1]})),
}


# --- convolutions ---

def extents(sizes):
    """What is given for each dimension, for three of them: extents, kernel, stride, padding, dilation, output's extents."""
    dims = [d for d in "dhwl" if "k" + d in sizes]
    each = lambda name: sizes[name] if isinstance(sizes[name], list) else [sizes[name]] * len(dims)
    out, moved = [], "op" in sizes
    for e, k, s, p, dil in zip([sizes[d] for d in dims], [sizes["k" + d] for d in dims], each("s"), each("p"), each("dil")):
        reach = dil * (k - 1) + 1
        out.append((e, k, s, p, dil, (e - 1) * s - 2 * p + reach + sizes["op"] if moved else (e + 2 * p - reach) // s + 1))
    return out


def convolution(spec, sizes):
    """As one writes it for speed (kernelbench_kernels.cu): a thread makes eight channels of a place."""
    of = extents(sizes)
    whole = [(1, 1, 1, 0, 1, 1)] * (3 - len(of)) + of
    places, channels = [x[5] for x in of], sizes["co"]
    arrays = {a["name"]: a for a in spec["args"] if "shape" in a}
    arrays["y"]["shape"] = ["n", "co", *places]
    names = ("extent", "kernel", "stride", "padding", "dilation", "out")
    numbers = [number(f"{name}_{d}", x[k]) for k, name in enumerate(names) for d, x in zip("dhw", whole)]
    expect = dict(spec["expect"], stride=[x[2] for x in of], padding=[x[3] for x in of], dilation=[x[4] for x in of])
    return {"kernel": "conv_transposed" if "op" in sizes else "conv", "expect": expect,
            "launch": {"grid": [-(-math.prod(places) // 128), channels // 8, "n"], "block": [128]},
            "args": [arrays["y"], arrays["x"], arrays["weight"], arrays.get("bias", "weight"), number("has_bias", int("bias" in arrays)),
                     number("ci", "ci"), number("co", "co"), number("groups", "groups"), *numbers]}


# --- those of the folder ---

def made_uniform(args):
    for a in args:
        if isinstance(a, dict) and "normal" in a.get("init", {}):
            a["init"] = UNIFORM


def problem(name):
    """(spec, source) at the original sizes."""
    sizes = dict(PROBLEMS[name])
    if name in OWN_SPECS:
        spec, source = OWN_SPECS[name](), OWN
    else:
        spec = json.loads((FOLDER / (name + ".check.json")).read_text())
        source = (FOLDER / (name + ".cu")).read_text()
        for part in spec.get("launches", [spec]):
            made_uniform(part["args"])
        if "groups" in sizes and "co" in sizes and sizes["co"] // sizes["groups"] % 8 == 0:
            spec, source = convolution(spec, sizes), OWN
            sizes = {k: v for k, v in sizes.items() if isinstance(v, int)}
    spec.update(sizes=[sizes], trials=1, odd_sizes=False)
    return spec, source


def main():
    words = sys.argv[2:]
    value = lambda flag, fallback: words.pop(words.index(flag) + 1) if flag in words else fallback
    seconds, out = int(value("--seconds", 60)), value("--out", None)
    wanted = [w for w in words if not w.startswith("--")]
    names = [n for n in PROBLEMS if not wanted or any(w == n or w == n.split("_")[0] or (w in n and not w.isdigit()) for w in wanted)]
    build = os.path.abspath(sys.argv[1])
    good = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            spec, source = problem(name)
            if "--list" in words:
                print(json.dumps({name: spec}))
                continue
            result, wall, processor, resident = run_timed(build, folder, dict(spec, timeout_s=seconds), source)
            verdict = result.get("verdict", "error")
            good += verdict == "pass" and wall < 60
            phases = ", ".join(f"{x['phase']} {x['ms'] / 1000:.1f}" for x in result.get("phases", []))
            why = (result.get("error") or {}).get("message", "") if verdict != "pass" else ""
            why = why or "; ".join(f["message"] for f in result.get("findings", []) if verdict == "fail")[:200]
            print(f"  {name:42} {verdict:8} {wall:6.1f} s, processor {processor:6.1f} s, {resident / 1e9:4.1f} GB: {phases} {why}", flush=True)
            if out:
                with open(out, "a") as f:
                    f.write(json.dumps({"name": name, "verdict": verdict, "wall": wall, "processor": processor,
                                        "resident": resident, "phases": phases, "why": why}) + "\n")
    print(f"{good} of {len(names)} pass in under 60 s")


main()
