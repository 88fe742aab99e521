#!/usr/bin/env python3
"""Writes the check specs of the sample kernels (needs numpy; running them does not).

usage: make_corpus.py        writes *.json beside itself

Each file: {"source": the kernel's file, "checks": [{"name", "verdict"?, "codes"?, "spec"}]}.
Expected values are computed here, by numpy or whole numbers of Python, never by the
machine under test: bit for bit where IEEE 754 or whole numbers define the result
(`compare: exact`), in double precision with the function's documented bound elsewhere.
"""
import json, math, os, random, sys

import numpy as np

import texture_corpus

import matrix_corpus

HERE = os.path.dirname(os.path.abspath(__file__))
F = np.float32
files = {}


# --- how a spec is written ---

def check(source, name, launch, args, expect=None, sizes=None, verdict="pass", codes=(), **more):
    spec = {"trials": 1, **more}
    if launch:
        spec.update(args=args, launch=launch)
    if sizes:
        spec["sizes"] = sizes
    if expect:
        spec["expect"] = expect
    one = {"name": name, "spec": spec}
    if verdict != "pass":
        one["verdict"] = verdict
    if codes:
        one["codes"] = sorted(codes)
    files.setdefault(source, []).append(one)


def plain(a):
    """JSON numbers that give the same bits again; floats as short as their type allows."""
    a = np.asarray(a)
    out = []
    for v in a.reshape(-1):
        if a.dtype.kind == "f":
            v = F(v) if a.dtype.itemsize <= 4 else v
            if math.isnan(v) or math.isinf(v):
                v = "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
            else:
                v = float(str(v))
                v = int(v) if v == int(v) and abs(v) < 1e15 and not (v == 0 and math.copysign(1, v) < 0) else v
        else:
            v = int(v)
        out.append(v)
    return out


NAMES = {"float32": "float32", "float64": "float64", "float16": "float16", "int8": "int8", "int16": "int16",
         "int32": "int32", "int64": "int64", "uint8": "uint8", "uint32": "uint32", "uint64": "uint64"}


def buf(name, data, output=False, type=None):
    """An input of these values; one that holds them as a repeated head is written short."""
    data = np.asarray(data)
    values = plain(data)
    for period in (len(values) and p for p in (1, 61, 67, 71, 73)):
        if period and period < len(values) and all(values[k] == values[k % period] for k in range(len(values))):
            values = values[:period]
            break
    one = {"name": name, "type": type or NAMES[str(data.dtype)], "shape": list(data.shape), "init": {"values": values}}
    if output:
        one["output"] = True
    return one


def out(name, type, *shape, init=None):
    one = {"name": name, "type": type, "shape": list(shape), "output": True}
    if init is not None:
        one["init"] = init
    return one


def scratch(name, type, *shape, init=None):
    one = out(name, type, *shape, init=init)
    one.pop("output")
    return dict(one, scratch=True)


def i32(name, value):
    return {"name": name, "type": "int32", "value": value}


def f32(name, value):
    return {"name": name, "type": "float32", "value": value}


def values(**outputs):
    return {"values": {k: plain(v) for k, v in outputs.items()}}


def rand(seed, n, low=-2.0, high=2.0, period=61):
    """n floats of 12 bits after the point, the first `period` of them repeated."""
    head = np.random.default_rng(seed).uniform(low, high, min(n, period))
    head = (np.round(head * 4096) / 4096).astype(F)
    return np.resize(head, n)


def ints(seed, n, low, high, dtype=np.int32, period=67):
    head = np.random.default_rng(seed).integers(low, high, min(n, period), dtype=dtype)
    return np.resize(head, n)


def fma32(a, b, c):
    """fl32(a * b + c): the product is exact in double, the sum is rounded to odd there."""
    a, b, c = (np.asarray(v, F).astype(np.float64) for v in (a, b, c))
    p = a * b
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    bits = s.view(np.int64) if s.ndim else np.array(s).view(np.int64)
    even = (bits & 1) == 0
    toward = np.where((error > 0) == (s > 0), 1, -1)
    fixed = np.where((error != 0) & even & np.isfinite(s), bits + toward, bits)
    return fixed.view(np.float64).astype(F).reshape(s.shape)


def blocks(n, block=256):
    return -(-n // block)


ONE_D = {"grid": ["ceil_div(n, 256)"], "block": [256]}
SIZES = [{"n": 1000}, {"n": 257}, {"n": 31}, {"n": 1}]
RUN1 = {"init": {"normal": [0, 1]}}


def near(rtol, atol=0.0):
    return {"tolerance": {"rtol": rtol, "atol": atol}}


def vec(name, type="float32", **more):
    return {"name": name, "type": type, "shape": ["n"], **more}


# --- the sample kernels ---

def elementwise():
    check("../01_vector_add.cu", "vector_add", ONE_D,
          [vec("a", **RUN1), vec("b", **RUN1), vec("c", output=True), i32("n", "n")],
          {"expression": {"c": "a[i] + b[i]"}}, SIZES, compare="exact")
    for n4, grid, block in ((1, 1, 32), (5, 1, 64), (97, 2, 48)):
        x, y = rand(1, 4 * n4), rand(2, 4 * n4, period=67)
        check("../02_saxpy_float4.cu", "saxpy4 %d" % n4, {"grid": [grid], "block": [block]},
              [f32("a", 1.3), buf("x", x.reshape(n4, 4)), buf("y", y.reshape(n4, 4), output=True), i32("n4", n4)],
              values(y=fma32(F(1.3), x, y)), compare="exact")
    for kernel, words in (("gelu_tanh", "tanh(0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i]))"),
                          ("gelu_erf", "erf(x[i] * 0.70710678118654752)")):
        check("../03_gelu.cu", kernel, ONE_D, [vec("x", init={"normal": [0, 2]}), vec("y", output=True), i32("n", "n")],
              {"expression": {"y": "0.5 * x[i] * (1 + %s)" % words}}, SIZES, kernel=kernel, **near(2e-6, 2e-6))


def norms():
    for rows, D, block in ((3, 77, 64), (1, 1, 32), (2, 512, 256)):
        x, g, b = rand(3, rows * D).reshape(rows, D), rand(4, D, 0.5, 1.5), rand(5, D, -1, 1)
        v = x.astype(np.float64)
        m = v.mean(1, keepdims=True)
        z = (v - m) / np.sqrt((v * v).mean(1, keepdims=True) - m * m + 1e-3) * g + b
        y = 0.5 * z * (1 + np.vectorize(math.erf)(z * math.sqrt(0.5)))
        check("../05_layernorm_gelu.cu", "layernorm_gelu %dx%d" % (rows, D), {"grid": [rows], "block": [block]},
              [buf("x", x), buf("g", g), buf("b", b), out("y", "float32", rows, D), i32("D", D), f32("eps", 1e-3)],
              values(y=y.astype(F)), **near(2e-5, 2e-6))
    for rows, D, block in ((2, 100, 64), (3, 1, 1), (1, 300, 128)):
        x, w = rand(6, rows * D).reshape(rows, D), rand(7, D, 0.5, 1.5)
        y = x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5) * w
        check("../06_rmsnorm.cu", "rmsnorm_f32 %dx%d" % (rows, D),
              {"grid": [rows], "block": [block], "shared_bytes": 4 * block},
              [buf("x", x), buf("w", w), out("y", "float32", rows, D), i32("D", D), f32("eps", 1e-5)],
              values(y=y.astype(F)), kernel="rmsnorm_f32", **near(5e-6, 1e-6))
    check("../06_rmsnorm.cu", "rmsnorm_bf16x2", {"grid": ["rows"], "block": [64]},
          [{"name": "x", "type": "bfloat16", "shape": ["rows", "d"], **RUN1},
           {"name": "w", "type": "bfloat16", "shape": ["d"], "init": {"uniform": [0.5, 1.5]}},
           {"name": "y", "type": "bfloat16", "shape": ["rows", "d"], "output": True}, i32("D2", "d / 2"), f32("eps", 1e-5)],
          {"expression": {"y": "x[i] * rsqrt(sum(k, i / d * d, i / d * d + d, x[k] * x[k]) / d + 0.00001) * w[i % d]"}},
          [{"rows": 3, "d": 130}, {"rows": 1, "d": 2}], kernel="rmsnorm_bf16x2", **near(1.2e-2))


def softmax():
    args = [{"name": "x", "type": "float32", "shape": ["rows", "cols"], "init": {"normal": [0, 3]}},
            {"name": "y", "type": "float32", "shape": ["rows", "cols"], "output": True}]
    one = "exp(x[i] - maximum(k, i / cols * cols, i / cols * cols + cols, x[k])) / " \
          "sum(k, i / cols * cols, i / cols * cols + cols, exp(x[k] - maximum(j, i / cols * cols, i / cols * cols + cols, x[j])))"
    both = args + [i32("rows", "rows"), i32("cols", "cols")]
    check("../07_softmax_online.cu", "softmax_online", {"grid": ["ceil_div(rows, 4)"], "block": [128]}, both,
          {"expression": {"y": one}}, [{"rows": 5, "cols": 33}, {"rows": 2, "cols": 17}, {"rows": 1, "cols": 100}],
          **near(1e-5, 1e-9))
    check("../07_softmax_online.cu", "softmax_online, empty lanes meet", {"grid": ["ceil_div(rows, 4)"], "block": [128]}, both,
          {"expression": {"y": one}}, [{"rows": 5, "cols": 15}], verdict="fail")
    check("softmax_block.cu", "softmax_rows", {"grid": ["rows"], "block": [64], "shared_bytes": "4 * cols"},
          args + [i32("cols", "cols")], {"expression": {"y": one}},
          [{"rows": 3, "cols": 65}, {"rows": 2, "cols": 1}, {"rows": 1, "cols": 90}], **near(1e-5, 1e-9))
    for rows, V, block in ((4, 50, 64), (2, 7, 32), (3, 130, 128)):
        x, t = rand(8, rows * V, -4, 4).reshape(rows, V), ints(9, rows, 0, V)
        t[0] = -100
        v = x.astype(np.float64)
        loss = np.log(np.exp(v).sum(1)) - v[np.arange(rows), np.maximum(t, 0)]
        check("../29_cross_entropy.cu", "cross_entropy %dx%d" % (rows, V), {"grid": [rows], "block": [block]},
              [buf("logits", x), buf("tgt", t), out("loss", "float32", rows), i32("V", V)],
              values(loss=np.where(t == -100, 0, loss).astype(F)), **near(3e-6, 2e-6))


def reductions():
    for n, block, code in ((1000, 256, ()), (1, 256, ()), (513, 256, ())):
        x = ints(10, n, -9, 9).astype(F)
        check("../08_block_reduce.cu", "block_reduce %d" % n, {"grid": [blocks(n, 512)], "block": [block]},
              [buf("x", x), out("out", "float32", 1, init={"fill": 0}), i32("n", n)],
              values(out=np.array([x.sum()])), compare="exact")
    x = ints(10, 300, 1, 9).astype(F)
    check("../08_block_reduce.cu", "block_reduce, block too small", {"grid": [1], "block": [128]},
          [buf("x", x), out("out", "float32", 1, init={"fill": 0}), i32("n", 300)], values(out=np.array([x.sum()])),
          verdict="fail", codes=["uninitialized"])
    check("../08_block_reduce.cu", "block_reduce, block too large", {"grid": [1], "block": [512]},
          [buf("x", x), out("out", "float32", 1, init={"fill": 0}), i32("n", 300)], values(out=np.array([x.sum()])),
          verdict="fail", codes=["out_of_bounds"])
    for n, block in ((300, 64), (1, 1), (128, 64), (129, 64)):
        x = ints(11, n, -99, 99)
        parts = blocks(n, 2 * block)
        full = np.zeros(parts * 2 * block, np.int32)
        full[:n] = x
        full = full.reshape(parts, -1)
        scan = (np.cumsum(full, 1) - full).reshape(-1)[:n]
        check("../10_scan_block.cu", "scan_blelloch %d" % n, {"grid": [parts], "block": [block], "shared_bytes": 8 * block},
              [buf("in", x), out("out", "int32", n), out("sums", "int32", parts), i32("n", n)],
              values(out=scan, sums=full.sum(1)))
    for n, grid, block in ((1000, 3, 96), (1, 1, 32), (255, 2, 256)):
        d = ints(12, n, 0, 256, np.uint8)
        check("../11_histogram.cu", "histogram256 %d" % n, {"grid": [grid], "block": [block]},
              [buf("d", d), out("h", "uint32", 256, init={"fill": 0}), i32("n", n)],
              values(h=np.bincount(d, minlength=256)))
    for rows, n in ((2, 100), (1, 1), (3, 32)):
        x = rand(13, rows * n).reshape(rows, n)
        y = np.zeros_like(x)
        for r in range(rows):
            carry = F(0)
            for base in range(0, n, 32):
                v = np.zeros(32, F)
                v[:min(32, n - base)] = x[r, base:base + 32]
                for o in (1, 2, 4, 8, 16):
                    v[o:] = v[o:] + v[:-o].copy()
                v = v + carry
                carry = v[31]
                y[r, base:base + 32] = v[:min(32, n - base)]
        check("../34_cumsum_warp.cu", "cumsum_warp %dx%d" % (rows, n), {"grid": [rows], "block": [32]},
              [buf("x", x), out("y", "float32", rows, n), i32("n", n)], values(y=y), compare="exact")
    for n in (300, 1, 64):
        x = ints(14, n, -5, 9)
        warps = blocks(n, 64) * 2
        padded = np.zeros(warps * 32, np.int32)
        padded[:n] = x
        count = [int((x > 0).sum()), 32 * int((padded.reshape(-1, 32) < 0).any(1).sum())]
        check("../42_vote_ballot_compact.cu", "compact %d" % n, {"grid": [blocks(n, 64)], "block": [64]},
              [buf("in", x), out("out", "int32", n, init={"fill": 0}), out("cnt", "int32", 2, init={"fill": 0}), i32("n", n)],
              values(out=np.concatenate([x[x > 0], np.zeros(n - count[0], np.int32)]), cnt=np.array(count)),
              compare="multiset")


def matrices():
    for kernel in ("transpose_nopad", "transpose_pad"):
        check("../12_transpose.cu", kernel, {"grid": ["ceil_div(w, 32)", "ceil_div(h, 32)"], "block": [32, 8]},
              [{"name": "in", "type": "float32", "shape": ["h", "w"], **RUN1},
               {"name": "out", "type": "float32", "shape": ["w", "h"], "output": True}, i32("W", "w"), i32("H", "h")],
              {"expression": {"out": "in[i % h * w + i / h]"}},
              [{"w": 33, "h": 70}, {"w": 1, "h": 1}, {"w": 64, "h": 32}, {"w": 5, "h": 100}], kernel=kernel, compare="exact")
    for source, kernel, block, tile in (("../13_gemm_naive.cu", "gemm_naive", (32, 8), None),
                                        ("../14_gemm_tiled.cu", "gemm_tiled", (16, 16), 16)):
        for M, N, K in ((19, 35, 33), (1, 1, 1), (16, 16, 40)):
            a, b = rand(15, M * K).reshape(M, K), rand(16, K * N, period=67).reshape(K, N)
            c = np.zeros((M, N), F)
            for k in range(K):
                c = fma32(a[:, k:k + 1] + np.zeros((1, N), F), b[k:k + 1, :] + np.zeros((M, 1), F), c)
            if tile and K % tile:  # padding adds 0 * 0: the sum stays, but -0 becomes 0
                c = c + F(0)
            check(source, "%s %dx%dx%d" % (kernel, M, N, K),
                  {"grid": [blocks(N, block[0]), blocks(M, block[1])], "block": list(block)},
                  [buf("A", a), buf("B", b), out("C", "float32", M, N), i32("M", M), i32("N", N), i32("K", K)],
                  values(C=c), compare="exact")
    for n, block in ((100, 128), (1, 32), (32, 32)):
        x = rand(17, n).astype(np.float64)
        check("../25_dynamic_shared.cu", "dyn_reverse %d" % n, {"grid": [1], "block": [block], "shared_bytes": 12 * n},
              [buf("in", x), out("out", "float64", n), i32("n", n)], values(out=x[::-1] / 2), compare="exact")
    check("../25_dynamic_shared.cu", "dyn_reverse, too little shared memory", {"grid": [1], "block": [32], "shared_bytes": 8 * 32},
          [buf("in", rand(17, 32).astype(np.float64)), out("out", "float64", 32), i32("n", 32)],
          values(out=rand(17, 32).astype(np.float64)[::-1] / 2), verdict="fail", codes=["out_of_bounds"])
    for n, segments in ((64, 3), (1, 2), (256, 1)):
        d = ints(18, n * segments, 0, 1 << 32, np.uint32).reshape(segments, n)
        check("../31_bitonic.cu", "bitonic_shared %dx%d" % (segments, n), {"grid": [segments], "block": [n], "shared_bytes": 4 * n},
              [buf("d", d, output=True), i32("n", n)], values(d=np.sort(d, 1)))
    for N, K4 in ((7, 40), (1, 1), (16, 33)):
        w, x = ints(19, N * K4 * 4, -128, 128, np.int8).reshape(N, K4 * 4), ints(20, K4 * 4, -128, 128, np.int8, period=71)
        scale = rand(21, N, 0.001, 0.01)
        acc = w.astype(np.int64) @ x.astype(np.int64)
        q = np.clip(np.rint(acc.astype(F) * scale), -128, 127)
        check("../32_int8_dp4a.cu", "gemv_dp4a %dx%d" % (N, K4), {"grid": [blocks(N, 4)], "block": [32, 4]},
              [buf("W", w), buf("x", x), buf("sc", scale), out("y", "int8", N), i32("N", N), i32("K4", K4)],
              values(y=q.astype(np.int64)))
    for rows, K in ((5, 96), (1, 32), (3, 1056)):
        rng = np.random.default_rng(22)
        w = np.resize(rng.integers(0, 256, 61, dtype=np.uint8), rows * K // 2).reshape(rows, K // 2)
        sc = np.resize(rng.integers(1, 9, 61), rows * K // 32).reshape(rows, K // 32) / 64
        x = np.resize(rng.integers(-8, 9, 67), K) / 8
        q = np.zeros((rows, K))
        q[:, 0::2], q[:, 1::2] = w & 15, w >> 4
        y = ((q - 8) * np.repeat(sc, 32, 1) * x).sum(1)  # every partial sum is exact in float32
        check("../47_q4_dequant_gemv.cu", "q4_gemv %dx%d" % (rows, K), {"grid": [rows], "block": [32]},
              [buf("w", w), buf("sc", sc.astype(np.float16)), buf("x", x.astype(np.float16)), out("y", "float16", rows), i32("K", K)],
              values(y=y.astype(np.float16)), compare="exact")


def others():
    check("../27_rope.cu", "rope_f32", {"grid": ["t", "h"], "block": [32]},
          [{"name": "x", "type": "float32", "shape": ["t", "h", "d"], **RUN1, "output": True},
           {"name": "pos", "type": "int32", "shape": ["t"], "init": {"integers": [0, 50]}},
           i32("H", "h"), i32("D", "d"), f32("base", 10000)],
          {"expression": {"x": "i % d < d / 2"
                               " ? x[i] * cos(pow(10000, -2.0 * (i % d) / d) * pos[i / (h * d)])"
                               " - x[i + d / 2] * sin(pow(10000, -2.0 * (i % d) / d) * pos[i / (h * d)])"
                               " : x[i - d / 2] * sin(pow(10000, -2.0 * (i % d - d / 2) / d) * pos[i / (h * d)])"
                               " + x[i] * cos(pow(10000, -2.0 * (i % d - d / 2) / d) * pos[i / (h * d)])"}},
          [{"t": 3, "h": 2, "d": 10}, {"t": 1, "h": 1, "d": 2}, {"t": 2, "h": 3, "d": 64}], kernel="rope_f32", **near(1e-5, 5e-5))
    check("../27_rope.cu", "rope_half_fast", {"grid": ["t", "h"], "block": [32]},
          [{"name": "x", "type": "float16", "shape": ["t", "h", "d2", 2], **RUN1, "output": True},
           {"name": "inv", "type": "float32", "shape": ["d2"], "init": {"uniform": [0, 1]}}, i32("H", "h"), i32("D2", "d2")],
          {"expression": {"x": "i % 2 == 0 ? x[i] * cos(inv[i / 2 % d2] * (i / (h * d2 * 2))) - x[i + 1] * sin(inv[i / 2 % d2] * (i / (h * d2 * 2)))"
                               " : x[i - 1] * sin(inv[i / 2 % d2] * (i / (h * d2 * 2))) + x[i] * cos(inv[i / 2 % d2] * (i / (h * d2 * 2)))"}},
          [{"t": 3, "h": 2, "d2": 5}, {"t": 1, "h": 1, "d2": 1}, {"t": 4, "h": 1, "d2": 32}], kernel="rope_half_fast", **near(1e-3, 1e-3))
    for tokens, D4, V in ((5, 3, 7), (1, 1, 1), (9, 40, 20)):
        ids = ints(23, tokens, -2, V + 2, np.int64)
        ids[:3] = [0, V, V - 1][:tokens]
        ids[-1] = V if tokens > 1 else 0
        w = rand(24, V * D4 * 4).reshape(V, D4 * 4)
        inside = (ids >= 0) & (ids < V)
        check("../28_embedding.cu", "embedding %dx%d" % (tokens, D4), {"grid": [tokens], "block": [32]},
              [buf("ids", ids), buf("W", w), out("out", "float32", tokens, D4 * 4), i32("D4", D4), i32("V", V)],
              values(out=np.where(inside[:, None], w[np.where(inside, ids, 0)], F(0))), compare="exact")
    x = rand(25, 100)
    x[37] = np.nan
    args = [buf("x", x), i32("n", 100)]
    check("../36_printf_assert.cu", "dbg", {"grid": [2], "block": [64]}, args, codes=["nothing_compared"])
    files["../36_printf_assert.cu"][-1]["printf"] = "NaN at 37: nan (block 0)\n"
    check("../36_printf_assert.cu", "dbg, assert", {"grid": [1], "block": [64]}, [args[0], i32("n", 0)], verdict="fail", codes=["assert"])
    check("../36_printf_assert.cu", "dbg, trap", {"grid": [1], "block": [64]}, [args[0], i32("n", 12345)], verdict="fail", codes=["trap", "out_of_bounds"])
    files["../36_printf_assert.cu"][-1]["some"] = True
    fib = [0, 1, 1, 2, 3, 5, 8, 13]
    for n in (1, 40):
        t = np.arange(n)
        check("../38_recursion_calls.cu", "calls %d" % n, {"grid": [1], "block": [n]},
              [out("o", "int32", n), out("f", "float32", n), {"struct": [{"type": "float32", "value": 0.5}] + [{"type": "int32", "value": v} for v in (3, 4, 5)]}],
              values(o=np.array([fib[k & 7] for k in t]), f=(t + 0.5 + 5 + np.where(t & 1, 2 * t, t + 2)).astype(F)), compare="exact")
    for n, it in ((100, 3), (1, 1), (65, 4)):
        a = rand(26, n)
        before = now = a
        for _ in range(it):
            before = now
            left, right = now[np.maximum(np.arange(n) - 1, 0)], now[np.minimum(np.arange(n) + 1, n - 1)]
            now = fma32(F(0.25), left + right, F(0.5) * now)  # 0.5 * a is exact: either way of fusing gives this
        odd = it % 2
        check("../41_grid_sync.cu", "jacobi_grid %d" % n, {"grid": [2], "block": [32], "cooperative": True},
              [buf("a", a, output=True), out("b", "float32", n), i32("n", n), i32("it", it)],
              values(b=now if odd else before, a=before if odd else now), compare="exact")
    for n4 in (70, 1):
        x = rand(27, 4 * n4, -300, 300).reshape(n4, 4)
        check("../45_fp8_quant.cu", "fp8_quant %d" % n4, {"grid": [blocks(n4, 64)], "block": [64]},
              [buf("x", x), out("y", "float8_e4m3", n4, 4), out("amax", "float32", 1, init={"fill": 0}), f32("s", 0.25), i32("n4", n4)],
              values(y=e4m3(x * F(0.25)), amax=np.array([abs(x).max()])), kernel="fp8_quant", compare="exact")
    y = e4m3(rand(28, 238, -400, 400, period=238)).astype(F)
    check("../45_fp8_quant.cu", "fp8_dequant", {"grid": [1], "block": [128]},
          [buf("x", y, type="float8_e4m3"), out("y", "float16", 238), i32("n", 119)], values(y=y.astype(np.float16)),
          kernel="fp8_dequant", compare="exact")
    for n in (50, 1):
        a = np.resize(np.abs(rand(29, 61)) + F(0.25), 2 * n).astype(np.float16)
        b = np.resize(rand(30, 67), 2 * n).astype(np.float16)
        h = np.float16
        s = (a + b).astype(h)
        z = (a.astype(np.float64) * b + s).astype(h)  # exact in double before the one rounding
        z = np.maximum(z, h(0))
        pairs = z.reshape(-1, 2)
        grow = np.repeat(pairs[:, 0] > pairs[:, 1], 2)
        z = np.where(grow, np.exp(z.astype(np.float64)), z).astype(h)
        c = z.astype(np.float64) - 1 / np.sqrt(a.astype(np.float64))
        check("../44_half2_math.cu", "half2_math %d" % n, {"grid": [1], "block": [64]},
              [buf("a", a.reshape(n, 2)), buf("b", b.reshape(n, 2)), out("c", "float16", n, 2), i32("n", n)],
              values(c=c.astype(h)), **near(2e-3, 4e-3))


def small(x, mantissa, bias, largest):
    """Round to a float of few bits, ties to even, saturating."""
    x = np.clip(np.asarray(x, np.float64), -largest, largest)
    e = np.floor(np.log2(np.maximum(np.abs(x), 2.0 ** (1 - bias))))
    step = 2.0 ** (np.maximum(e, 1 - bias) - mantissa)
    return np.clip(np.rint(x / step) * step, -largest, largest).astype(F)


def e4m3(x):
    return small(x, 3, 7, 448.0)


def e5m2(x):
    return small(x, 2, 15, 57344.0)


def tensors():
    for M, N, K in ((16, 16, 16), (32, 32, 48)):
        a, b = ints(31, M * K, -4, 5).reshape(M, K), ints(32, N * K, -4, 5).reshape(N, K)
        check("../16_wmma_fp16.cu", "wmma_gemm %dx%dx%d" % (M, N, K), {"grid": [1, 1], "block": [2 * M, N // 16]},
              [buf("A", a, type="float16"), buf("B", b, type="float16"), out("C", "float32", M, N), i32("M", M), i32("N", N), i32("K", K)],
              values(C=(2 * a @ b.T).astype(F)), compare="exact")
    for M, N, K in ((32, 32, 64), (64, 32, 32), (32, 96, 96)):
        a, b = ints(33, M * K, -4, 5).reshape(M, K), ints(34, K * N, -4, 5).reshape(K, N)
        check("../18_cp_async_gemm.cu", "gemm_cp_async %dx%dx%d" % (M, N, K), {"grid": [N // 32, M // 32], "block": [256]},
              [buf("A", a, type="float32"), buf("B", b, type="float32"), out("C", "float32", M, N), i32("M", M), i32("N", N), i32("K", K)],
              values(C=(a @ b).astype(F)), compare="exact")
    check("../20_cuda_barrier_pipeline.cu", "pipe_scale", {"grid": [1], "block": [256], "shared_bytes": 2048},
          [{"name": "in", "type": "float32", "shape": [768], **RUN1}, out("out", "float32", 768), i32("tiles", 3)],
          {"expression": {"out": "2 * in[i]"}}, kernel="pipe_scale")
    check("../20_cuda_barrier_pipeline.cu", "barrier_arrive", {"grid": [1], "block": [32]},
          [{"name": "x", "type": "int32", "shape": [32], "init": {"arange": [0, 1]}, "output": True}],
          values(x=[(j + 1) + 3 * ((j - 1) % 32 + 1) for j in range(32)]), kernel="barrier_arrive")
    check("../21_tma_bulk_1d.cu", "tma_1d", {"grid": [1], "block": [64]},
          [{"name": "in", "type": "int32", "shape": [1024], "init": {"arange": [0, 1]}}, out("out", "int32", 1024), {"name": "off", "type": "uint64", "value": 0}],
          {"expression": {"out": "in[i] + 1"}})
    # Its tiles are not swizzled, its descriptors say so: pieces of 16 bytes are read in another order.
    a, b = ints(35, 64 * 64, -4, 5).reshape(64, 64), ints(36, 8 * 64, -4, 5).reshape(8, 64)
    unswizzled = lambda x: np.array([[row[((k // 8) ^ (r % 8)) * 8 + k % 8] for k in range(64)] for r, row in enumerate(x)])
    check("../23_wgmma_bf16.cu", "wgmma_m64n8k16", {"grid": [1], "block": [128]},
          [buf("A", a, type="bfloat16"), buf("B", b, type="bfloat16"), out("C", "float32", 64, 8), i32("K", 64)],
          values(C=(unswizzled(a) @ unswizzled(b).T).astype(F)), compare="exact")


# --- our further kernels ---

def more_reductions():
    for kernel, tile in (("row_sums_32", 32), ("row_sums_8", 8)):
        for rows, cols in ((5, 70), (1, 1), (17, 9)):
            x = ints(40, rows * cols, -1000, 1000).reshape(rows, cols)
            check("cg_reduce.cu", "%s %dx%d" % (kernel, rows, cols), {"grid": [blocks(rows, 64 // tile)], "block": [64]},
                  [buf("x", x), out("sum", "int32", rows), out("most", "int32", rows), i32("rows", rows), i32("cols", cols)],
                  values(sum=x.sum(1), most=x.max(1)), kernel=kernel)
    for n in (300, 1, 128, 96):
        x = ints(41, n, -1000, 1000)
        cut = lambda size: np.add.reduceat(x, np.arange(0, n, size))
        check("cub_block.cu", "block_sums %d" % n, {"grid": [blocks(n, 128)], "block": [128]},
              [buf("x", x), out("sums", "int32", blocks(n, 128)), i32("n", n)], values(sums=cut(128)), kernel="block_sums")
        check("cub_block.cu", "block_scan %d" % n, {"grid": [1], "block": [64]},
              [buf("x", x), out("y", "int32", n), i32("n", n)], values(y=np.cumsum(x)), kernel="block_scan")
        check("cub_block.cu", "warp_sums %d" % n, {"grid": [blocks(n, 128)], "block": [128]},
              [buf("x", x), out("sums", "int32", blocks(n, 32)), i32("n", n)], values(sums=cut(32)), kernel="warp_sums")
    for n in (256, 201, 1):
        x = ints(42, n, 0, 1 << 32, np.uint32)
        order = np.argsort(x, kind="stable")
        check("cub_radix.cu", "sort_pairs %d" % n, {"grid": [1], "block": [64]},
              [buf("in", x), out("keys", "uint32", n), out("from", "int32", n), i32("n", n)],
              values(keys=x[order], **{"from": order}))
    for n, block in ((1000, 64), (1, 32), (513, 256)):
        x = ints(43, n, -1000, 1000)
        check("look_back.cu", "scan_look_back %d" % n, {"grid": [blocks(n, block)], "block": [block]},
              [buf("x", x), out("y", "int32", n), scratch("ticket", "int32", 1, init={"fill": 0}),
               scratch("state", "uint64", blocks(n, block), init={"fill": 0}), i32("n", n)], {"values": {"y": plain(np.cumsum(x))}})
    for rows, cols in ((3, 50), (1, 1), (2, 130)):
        x = (np.arange(rows * cols) * 37 % 101).astype(F).reshape(rows, cols)
        check("arg_top.cu", "argmax_rows %dx%d" % (rows, cols), {"grid": [rows], "block": [32]},
              [buf("x", x), out("where", "int32", rows), i32("cols", cols)], values(where=x.argmax(1)), kernel="argmax_rows")
    for k, rows, cols in ((4, 40, 9), (7, 3, 30), (4, 1, 4)):
        x = ints(44, rows * cols, -999, 999).reshape(rows, cols)
        check("arg_top.cu", "top_k<%d> %dx%d" % (k, rows, cols), {"grid": [blocks(rows, 32)], "block": [32]},
              [buf("x", x), out("y", "int32", rows, k), i32("rows", rows), i32("cols", cols)],
              values(y=-np.sort(-x, 1)[:, :k]), kernel="top_k<%d>" % k)
    rows, cols = 9, 40
    rng = np.random.default_rng(45)
    lengths = rng.integers(0, 70, rows)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    col = rng.integers(0, cols, start[-1]).astype(np.int32)
    val, x = rng.integers(-9, 9, start[-1]) / 4, rng.integers(-9, 9, cols) / 8
    y = [sum(val[k] * x[col[k]] for k in range(start[r], start[r + 1])) for r in range(rows)]
    check("spmv_csr.cu", "spmv_warp", {"grid": [blocks(rows, 2)], "block": [64]},
          [buf("start", start), buf("col", col), buf("val", val), buf("x", x), out("y", "float64", rows), i32("rows", rows)],
          values(y=np.array(y, np.float64)), compare="exact")
    keys = ints(46, 200, 0, 1 << 16, np.uint32, period=200)
    for shift in (0, 4):
        order = np.argsort(keys >> shift & 15, kind="stable")
        buffers = [buf("keys", keys), scratch("count", "int32", 64), out("sorted", "uint32", 200)]
        check("radix_step.cu", "radix step, shift %d" % shift, None, None, values(sorted=keys[order]),
              launches=[{"kernel": "radix_count", "launch": {"grid": [4], "block": [64]}, "args": [buffers[0], buffers[1], i32("n", 200), i32("shift", shift)]},
                        {"kernel": "radix_scan", "launch": {"grid": [1], "block": [1]}, "args": ["count", i32("m", 64)]},
                        {"kernel": "radix_scatter", "launch": {"grid": [4], "block": [64]},
                         "args": ["keys", "count", buffers[2], i32("n", 200), i32("shift", shift)]}])


def grids():
    for nx, ny, nz in ((9, 5, 3), (1, 1, 1), (16, 4, 2)):
        x = rand(50, nx * ny * nz).reshape(nz, ny, nx)
        p = np.pad(x, 1)
        c = slice(1, -1)
        sides = (p[c, c, :-2] + p[c, c, 2:]) + (p[c, :-2, c] + p[c, 2:, c])
        y = (sides + (p[:-2, c, c] + p[2:, c, c])) - F(6) * x
        check("stencil3d.cu", "stencil7 %dx%dx%d" % (nx, ny, nz), {"grid": [blocks(nx, 8), blocks(ny, 4), nz], "block": [8, 4]},
              [buf("in", x), out("out", "float32", nz, ny, nx), i32("nx", nx), i32("ny", ny), i32("nz", nz)], values(out=y), compare="exact")
    for W, H in ((20, 9), (1, 1), (33, 2)):
        x, w = rand(51, W * H).reshape(H, W), rand(52, 9)
        s = np.zeros((H, W), F)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                rows, cols = np.clip(np.arange(H) + dy, 0, H - 1), np.clip(np.arange(W) + dx, 0, W - 1)
                s = fma32(w[(dy + 1) * 3 + dx + 1] + np.zeros_like(s), x[rows][:, cols], s)
        check("conv2d.cu", "conv3x3 %dx%d" % (W, H), {"grid": [blocks(W, 16), blocks(H, 4)], "block": [16, 4]},
              [buf("in", x), out("out", "float32", H, W), i32("W", W), i32("H", H)], values(out=s), compare="exact",
              globals={"filter": {"type": "float32", "shape": [9], "init": {"values": plain(w)}}})
    for rows, cols in ((3, 70), (1, 32), (4, 33)):
        dy, x, g = rand(53, rows * cols, period=67).reshape(rows, cols), rand(54, rows * cols).reshape(rows, cols), rand(55, cols, 0.5, 1.5)
        v = x.astype(np.float64)
        mean, var = v.mean(1, keepdims=True), v.var(1, keepdims=True)
        rstd = 1 / np.sqrt(var + 1e-3)
        h, d = (v - mean) * rstd, dy * g.astype(np.float64)
        dx = (d - d.mean(1, keepdims=True) - h * (d * h).mean(1, keepdims=True)) * rstd
        check("layernorm_backward.cu", "layernorm_backward %dx%d" % (rows, cols), {"grid": [rows], "block": [64]},
              [buf("dy", dy), buf("x", x), buf("gain", g), out("dx", "float32", rows, cols), out("dgain", "float32", cols, init={"fill": 0}),
               out("dbias", "float32", cols, init={"fill": 0}), i32("cols", cols), f32("eps", 1e-3)],
              values(dx=dx.astype(F), dgain=(dy * h).sum(0).astype(F), dbias=dy.sum(0, dtype=np.float64).astype(F)), **near(2e-5, 1e-5))
    for n, grid in ((500, 3), (1, 1)):
        x = ints(56, n, 1, 9)
        check("grid_sum.cu", "normalize %d" % n, {"grid": [grid], "block": [64], "cooperative": True},
              [buf("x", x), out("y", "float32", n), scratch("part", "int32", grid), i32("n", n)],
              {"values": {"y": plain(x.astype(F) / F(x.sum()))}}, compare="exact")
    for W, H, limit in ((40, 9, 30), (1, 1, 5)):
        steps = []
        for py in range(H):
            for px in range(W):
                cx, cy = -8192 + px * 12288 // W, -4096 + py * 8192 // H
                x = y = k = 0
                while k < limit and x * x + y * y <= 4 << 24:
                    x, y, k = ((x * x - y * y) >> 12) + cx, ((2 * x * y) >> 12) + cy, k + 1
                steps.append(k)
        check("divergent.cu", "mandelbrot %dx%d" % (W, H), {"grid": [blocks(W, 16), blocks(H, 4)], "block": [16, 4]},
              [out("steps", "int32", H, W), i32("W", W), i32("H", H), i32("limit", limit)], values(steps=np.array(steps)), kernel="mandelbrot")
    x = ints(57, 90, 1, 5000, np.uint32)

    def collatz(v):
        k = 0
        while v > 1:
            v, k = (3 * v + 1 if v % 2 else v // 2), k + 1
        return k
    check("divergent.cu", "collatz", {"grid": [2], "block": [64]}, [buf("x", x), out("length", "int32", 90), i32("n", 90)],
          values(length=np.array([collatz(int(v)) for v in x])), kernel="collatz")
    for n, m in ((100, 77), (1, 5)):
        s, keys = np.sort(ints(58, n, 0, 500)), ints(59, m, -5, 505)
        check("divergent.cu", "lower_bound %d" % n, {"grid": [blocks(m, 64)], "block": [64]},
              [buf("sorted", s), i32("n", n), buf("keys", keys), out("where", "int32", m), i32("m", m)],
              values(where=np.searchsorted(s, keys)), kernel="lower_bound")


def numbers():
    text = np.frombuffer(b"the Quick brown  fox: jumps OVER 13 lazy dogs, and then some more words ", np.uint8)
    n = len(text)
    big = np.where((text >= 97) & (text <= 122), text - 32, text)
    check("bytes.cu", "upper", {"grid": [2], "block": [64]}, [buf("in", text, type="uint8"), out("out", "uint8", n), i32("n", n)], values(out=big), kernel="upper")
    check("bytes.cu", "count_words", {"grid": [2], "block": [64]}, [buf("text", text), i32("n", n), out("words", "int32", 1, init={"fill": 0})],
          values(words=np.array([len(bytes(text).split())])), kernel="count_words")
    w = ints(60, 77, 0, 1 << 32, np.uint32)
    check("bytes.cu", "reverse_words32", {"grid": [2], "block": [64]}, [buf("in", w), out("out", "uint32", 77), i32("n", 77)],
          values(out=w[::-1].byteswap()), kernel="reverse_words32")
    words = (b"abcdefghijklmnopponmlkjihgfedcba", b"abcdefghijklmnopqonmlkjihgfedcba", b"xbcdcba")
    launches = [{"kernel": "is_palindrome", "launch": {"grid": [1], "block": [32]},
                 "args": [buf("s%d" % k, np.frombuffer(w, np.uint8)), i32("n", len(w)), out("yes%d" % k, "uint8", 1, init={"fill": 9})]}
                for k, w in enumerate(words)]
    check("bytes.cu", "is_palindrome", None, None, {"values": {"yes%d" % k: [int(w == w[::-1])] for k, w in enumerate(words)}}, launches=launches)
    n = 70
    a = ints(61, n, -2 ** 62, 2 ** 62, np.int64)
    b = ints(62, n, -10 ** 9, 10 ** 10, np.int64, period=71) | 1
    a[b < 0] &= 2 ** 62 - 1  # so that no high product passes what JSON can write
    mask = (1 << 64) - 1
    A, B = [int(v) for v in a], [int(v) for v in b]
    q = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(A, B)]
    bits = [bin(x & mask).count("1") * 10000 + (64 - (y & mask).bit_length()) * 100 + ((x & -x).bit_length()) for x, y in zip(A, B)]
    check("int64.cu", "int64_ops", {"grid": [2], "block": [64]},
          [wide("a", A), wide("b", B), out("quotient", "int64", n), out("rest", "int64", n), out("high", "uint64", n), out("bits", "int32", n), i32("n", n)],
          {"values": {"quotient": q, "rest": [x - k * y for x, y, k in zip(A, B, q)],
                      "high": [(x & mask) * (y & mask) >> 64 for x, y in zip(A, B)], "bits": bits}}, kernel="int64_ops")
    ga, gb = [abs(v) >> 20 for v in A], [abs(v) * 6 for v in B]
    check("int64.cu", "gcds", {"grid": [2], "block": [64]}, [wide("a", ga, "uint64"), wide("b", gb, "uint64"), out("g", "uint64", n), i32("n", n)],
          {"values": {"g": [math.gcd(x, y) for x, y in zip(ga, gb)]}}, kernel="gcds")
    a, b = np.random.default_rng(63).normal(0, 1e3, 61), np.random.default_rng(64).normal(0, 1e-3, 61)
    check("double_math.cu", "double_exact", {"grid": [1], "block": [64]},
          [buf("a", a), buf("b", b), out("sum", "float64", 61), out("ratio", "float64", 61), out("root", "float64", 61), i32("n", 61)],
          values(sum=a + b, ratio=a / b, root=np.sqrt(abs(a))), kernel="double_exact", compare="exact")
    check("double_math.cu", "double_functions", ONE_D,
          [vec("x", "float64", init={"normal": [0, 2]})] + [vec(k, "float64", output=True) for k in "elsp"] + [i32("n", "n")],
          {"expression": {"e": "exp(x[i])", "l": "log(abs(x[i]) + 0.5)", "s": "sin(x[i])", "p": "pow(abs(x[i]) + 0.25, 1.7)"}},
          [{"n": 300}, {"n": 7}], kernel="double_functions", **near(1e-14, 1e-15))


def words(numbers):
    """Of 128 bits each: the low and the high word, as signed ones."""
    return [(x >> shift & 2 ** 64 - 1 ^ 2 ** 63) - 2 ** 63 for x in numbers for shift in (0, 64)]


def wide_division():
    rng, n = random.Random(65), 96
    a = [rng.getrandbits(128) >> rng.choice((0, 0, 20, 61, 100)) for _ in range(n - 2)] + [2 ** 66, 2 ** 128 - 1]
    b = [(rng.getrandbits(128) >> rng.choice((0, 1, 40, 64, 90, 120))) or 1 for _ in range(n - 2)] + [6, 1]
    signed = [(x ^ 1 << 127) - (1 << 127) for x in a], [(x ^ 1 << 127) - (1 << 127) for x in b]
    toward = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(*signed)]
    check("int128.cu", "wide_division", {"grid": [2], "block": [64]},
          [wide("high", words(a)[1::2]), wide("low", words(a)[::2]), wide("by_high", words(b)[1::2]), wide("by_low", words(b)[::2]),
           out("quotient", "int64", 2 * n), out("rest", "int64", 2 * n), out("signed_quotient", "int64", 2 * n), i32("n", n)],
          {"values": {"quotient": words([x // y for x, y in zip(a, b)]), "rest": words([x % y for x, y in zip(a, b)]),
                      "signed_quotient": words(toward)}}, kernel="wide_division")


def wide(name, numbers, type="int64"):
    return {"name": name, "type": type, "shape": [len(numbers)], "init": {"values": numbers}}


def small_numbers():
    h = np.float16
    x, y = np.resize(rand(70, 61), 99).astype(h), np.resize(rand(71, 67), 99).astype(h)
    check("small_floats.cu", "half_axpy", {"grid": [2], "block": [64]},
          [buf("x", x), buf("y", y, output=True), {"name": "a", "type": "float16", "value": 1.5}, i32("n", 99)],
          values(y=(1.5 * x.astype(np.float64) + y).astype(h)), kernel="half_axpy", compare="exact")
    check("small_floats.cu", "bf16_scale", ONE_D, [vec("x", "bfloat16", **RUN1), vec("y", "bfloat16", output=True), f32("a", 0.75), i32("n", "n")],
          {"expression": {"y": "x[i] * 0.75"}}, SIZES, kernel="bf16_scale", compare="exact")
    a, b = ints(72, 140, -8, 8) / 8, ints(73, 140, -8, 8, period=71) / 4
    check("small_floats.cu", "half_dot", {"grid": [1], "block": [32]},
          [buf("x", a.astype(h)), buf("y", b.astype(h)), out("out", "float32", 1), i32("n", 70)],
          values(out=np.array([(a * b).sum()], F)), kernel="half_dot", compare="exact")
    v = np.concatenate([rand(74, 61), rand(75, 61, -9e4, 9e4), rand(76, 61) * F(2.0 ** -14), F([0, 1e9, -1e9, np.inf])]).astype(F)
    check("small_floats.cu", "to_e5m2", {"grid": [3], "block": [64]}, [buf("x", v), out("y", "float8_e5m2", len(v)), i32("n", len(v))],
          values(y=e5m2(v)), kernel="to_e5m2", compare="exact")
    x = np.array([l * 13 % 37 for l in range(64)], np.int32)
    y = []
    for w in range(2):
        v = x[32 * w:32 * w + 32]
        lane = np.arange(32)
        ballot = sum(1 << int(l) for l in lane if v[l] & 1)
        y += list(v[(lane * 7) & 31]) + [v[l - 3] if l % 8 >= 3 else v[l] for l in lane] + [v[l + 5] if l % 16 + 5 < 16 else v[l] for l in lane]
        y += list(v[lane ^ 9]) + [ballot - (1 << 32) if ballot >> 31 else ballot] * 32 + [int((v % 5 == v[l] % 5).sum()) for l in lane]
        y += [int(v.sum()) ^ int(v.max())] * 32
        y += [int(v[15 - l]) + int((v[:16] == 3).any()) + 1 if l < 16 else 0 for l in lane]
    check("shuffles.cu", "shuffles", {"grid": [2], "block": [32]}, [buf("x", x), out("out", "int32", 512)], values(out=np.array(y)))
    x = ints(77, 200, 0, 1000)
    for n in (200, 1):
        check("atomics.cu", "with_atomic_ref %d" % n, {"grid": [blocks(n, 64)], "block": [64]},
              [buf("x", x[:n]), out("sum", "int32", 1, init={"fill": 5}), out("largest", "uint32", 1, init={"fill": 0}), i32("n", n)],
              values(sum=np.array([x[:n].sum() + 5]), largest=np.array([x[:n].max()])), kernel="with_atomic_ref")
    u = ints(78, 90, 0, 1 << 32, np.uint32) | np.uint32(1)
    product = 1
    for v in u:
        product = product * int(v) & 0xffffffff
    check("atomics.cu", "by_compare_and_swap", {"grid": [3], "block": [32]}, [buf("x", u), out("product", "uint32", 1, init={"fill": 1}), i32("n", 90)],
          values(product=np.array([product])), kernel="by_compare_and_swap")
    for n in (100, 3):
        i = range(n)
        xor = 0
        for k in i:
            xor ^= k
        check("atomics.cu", "widths %d" % n, {"grid": [2], "block": [64]},
              [out("sum", "uint64", 1, init={"fill": 1}), out("dsum", "float64", 1, init={"fill": 0}), out("least", "int32", 1, init={"fill": 9}),
               out("bits", "uint32", 3, init={"fill": 0}), i32("n", n)],
              {"values": {"sum": [1 + (sum(i) << 33)], "dsum": [sum(i) / 2], "least": [1 - n], "bits": [(1 << min(n, 32)) - 1, xor, n % 7]}}, kernel="widths")
    check("spin_lock.cu", "locked_count", {"grid": [2], "block": [48]}, [out("lock", "int32", 1, init={"fill": 0}), out("count", "int32", 1, init={"fill": 3}), i32("rounds", 2)],
          {"values": {"count": [3 + 2 * 96], "lock": [0]}}, kernel="locked_count")
    check("spin_lock.cu", "ticket_lock", {"grid": [2], "block": [40]},
          [out("next", "int32", 1, init={"fill": 0}), out("serving", "int32", 1, init={"fill": 0}), out("order", "int32", 80)],
          {"values": {"order": [3 * k for k in range(80)], "next": [80], "serving": [80]}}, kernel="ticket_lock")


def objects():
    """Made in one launch, called in the next, deleted in a third."""
    for n in (64, 33):
        x = ints(70 + n, n, -9, 100)
        y = [min(v, i) if i % 3 == 0 else i * v for i, v in enumerate(x.tolist())]
        y = [-v if i % 2 else v * v for i, v in enumerate(y)]
        one = {"launch": {"grid": [1], "block": [64]}}
        check("objects.cu", "objects of another kernel, %d" % n, None, None, values(y=np.array(y, np.int32)),
              launches=[{"kernel": "build", **one, "args": [i32("n", n)]},
                        {"kernel": "forward", **one, "args": [buf("x", x), out("y", "int32", n), i32("n", n)]},
                        {"kernel": "tear_down", **one, "args": [i32("n", n)]}])


def language():
    objects()
    n = 61
    x = rand(80, n).astype(np.float64)
    offset = np.array([7, -8, 9])[np.arange(n) % 3]
    step = lambda kind, scale, o: [{"type": "int8", "value": kind}, {"type": "float64", "value": scale}] + [{"type": "int32", "value": v} for v in o]
    check("structs_templates.cu", "run_plan", {"grid": [1], "block": [64]},
          [{"struct": step(109, 1.7, (0, 0, 0)) + [{"type": "int32", "value": 0}] + step(97, 0.0, (7, -8, 9)) +
            [{"type": "int32", "value": 0}, {"type": "int16", "value": 2}]}, buf("x", x), out("y", "float64", n), i32("n", n)],
          values(y=x * 1.7 + offset), kernel="run_plan", compare="exact")
    w = rand(81, 5)
    x = rand(82, n)
    check("structs_templates.cu", "weighted", {"grid": [1], "block": [64]}, [buf("x", x), out("y", "float32", n), i32("n", n)],
          values(y=x * np.resize(w, n)), kernel="weighted", compare="exact", globals={"weights": {"type": "float32", "shape": [5], "init": {"values": plain(w)}}})
    a, b = ints(83, 100, -999, 999), ints(84, 100, -999, 999, period=71)
    y = np.where(np.arange(100) % 3 == 0, a + b, np.where(np.arange(100) % 3 == 1, a * b, a - b))
    check("structs_templates.cu", "by_pointer", {"grid": [2], "block": [64]}, [buf("a", a), buf("b", b), out("y", "int32", 100), i32("n", 100)],
          values(y=y, calls=np.array([100])), kernel="by_pointer",
          globals={"calls": {"type": "int32", "shape": [1], "init": {"fill": 0}, "output": True}})

    def ackermann(m, k):
        return k + 1 if m == 0 else ackermann(m - 1, 1) if k == 0 else ackermann(m - 1, ackermann(m, k - 1))
    check("structs_templates.cu", "recurse", {"grid": [1], "block": [18]}, [out("y", "int32", 18)],
          values(y=np.array([ackermann(t % 3, t // 3) for t in range(18)])), kernel="recurse")
    check("structs_templates.cu", "scaled<int>", ONE_D, [vec("x", "int32", init={"integers": [-99, 99]}), vec("y", "int32", output=True), i32("n", "n")],
          {"expression": {"y": "3 * x[i]"}}, SIZES, kernel="scaled<int, 3>")
    check("structs_templates.cu", "scaled<float>", ONE_D, [vec("x", **RUN1), vec("y", output=True), i32("n", "n")],
          {"expression": {"y": "-2 * x[i]"}}, SIZES, kernel="scaled<float, -2>", compare="exact")
    code, v = ints(85, 100, 0, 11, np.uint8), ints(86, 100, -1 << 31, (1 << 31) - 1)
    check("switch_bits.cu", "interpret", {"grid": [2], "block": [64]}, [buf("code", code), buf("a", v), out("y", "int32", 100), i32("n", 100)],
          values(y=np.array([interpret(code, int(v[i]), i, 100) for i in range(100)])), kernel="interpret")
    u = ints(87, 75, 0, 1 << 32, np.uint32)
    check("switch_bits.cu", "bits", {"grid": [2], "block": [64]}, [buf("x", u), out("y", "uint32", 75, 4), i32("n", 75)],
          values(y=np.array([bit_words(int(k)) for k in u])), kernel="bits")
    for n, seed in ((50, 12345), (1, 0)):
        check("random.cu", "philox %d" % n, {"grid": [1], "block": [64]}, [out("out", "uint32", n, 4), {"name": "seed", "type": "uint32", "value": seed}, i32("n", n)],
              values(out=np.array([philox(k, seed) for k in range(n)])), kernel="philox")
    state = [int(k) for k in np.random.default_rng(88).integers(1, 1 << 63, 40)]
    after = []
    for s in state:
        for _ in range(9):
            s ^= s << 13 & (1 << 64) - 1
            s ^= s >> 7
            s ^= s << 17 & (1 << 64) - 1
        after.append(s)
    check("random.cu", "xorshift64", {"grid": [1], "block": [64]}, [dict(wide("state", state), output=True), out("unit", "float32", 40), i32("steps", 9), i32("n", 40)],
          {"values": {"state": [s - (s >> 63 << 64) for s in after], "unit": [(s >> 40) * 2.0 ** -24 for s in after]}}, kernel="xorshift64", compare="exact")
    x, w = ints(89, 4 * 90, -128, 128, np.int8).reshape(90, 4), ints(90, 4 * 5, -128, 128, np.int8).reshape(5, 4)
    y = [sum(int(x[i + k].astype(np.int64) @ w[k].astype(np.int64)) for k in range(5) if i + k < 90) for i in range(90)]
    check("int8_conv.cu", "conv_dp4a", {"grid": [2], "block": [64]}, [buf("x", x), buf("w", w), out("y", "int32", 90), i32("n", 90), i32("taps", 5)], values(y=np.array(y)))
    a, b = ints(91, 4 * 40, 0, 1 << 32, np.uint32).reshape(40, 4), ints(92, 4 * 40, 0, 1 << 32, np.uint32, period=71).reshape(40, 4)
    a[3], b[3] = 0xffffffff, [1, 0, 0, 0]
    total = [sum(int(r[k]) << 32 * k for k in range(4)) + sum(int(s[k]) << 32 * k for k in range(4)) for r, s in zip(a, b)]
    check("inline_asm.cu", "add128", {"grid": [1], "block": [64]}, [buf("a", a), buf("b", b), out("y", "uint32", 40, 4), i32("n", 40)],
          values(y=np.array([[t >> 32 * k & 0xffffffff for k in range(4)] for t in total])), kernel="add128")
    u = ints(93, 70, 0, 1 << 32, np.uint32)
    rows = []
    for v in (int(k) for k in u):
        field = v >> 5 & 511
        rows.append([v ^ 0x0f0f3355 ^ v >> 7, (field - 512 if field >> 8 else field) & 0xffffffff, (0xffffffff & ~(63 << 12)) | (v & 63) << 12, 11 if v > 0x7fffffff else 2])
    check("inline_asm.cu", "fields", {"grid": [2], "block": [64]}, [buf("x", u), out("y", "uint32", 70, 4), i32("n", 70)], values(y=np.array(rows)), kernel="fields")
    extremes()
    check("printing.cu", "say", {"grid": [1], "block": [4]}, [buf("x", np.arange(4, dtype=np.int32)), out("y", "int32", 4)], values(y=np.arange(1, 5)))
    files["printing.cu"][-1]["printf"] = "2 7  2.50|42  |text z 1234567890 %\n"


def extremes():
    nan, inf = np.nan, np.inf
    v = F([nan, inf, -inf, 0.0, -0.0, 1e-42, -1e-42, 3e38, 1.5, -2.5, 3e9, -3e9, 0.5])
    a, b = np.repeat(v, len(v)), np.tile(v, len(v))
    n = len(a)
    with np.errstate(all="ignore"):
        s = a + b
    pick = lambda f, zero: [(y if math.isnan(x) else x) if math.isnan(x) or math.isnan(y) else zero if x == 0 and y == 0 and math.copysign(1, x) != math.copysign(1, y) else f(x, y)
                            for x, y in zip(a, b)]
    whole = [0 if math.isnan(x) else max(-2 ** 31, min(2 ** 31 - 1, float(np.rint(x)))) for x in a]
    kind = [int(math.isnan(x)) | math.isinf(x) << 1 | bool(x < y) << 2 | bool(x != y) << 3 | bool(np.signbit(x)) << 4 for x, y in zip(a, b)]
    kind = [(k & ~16) if math.isnan(x) else k for k, x in zip(kind, a)]
    check("special_values.cu", "extremes", {"grid": [3], "block": [64]},
          [buf("a", a), buf("b", b), out("low", "float32", n), out("high", "float32", n), out("sum", "float32", n), out("whole", "int32", n), out("kind", "uint32", n), i32("n", n)],
          values(low=np.array(pick(min, -0.0), F), high=np.array(pick(max, 0.0), F), sum=s, whole=np.array([int(w) for w in whole]), kind=np.array(kind)), compare="exact")


def wrap(v):
    return (v + (1 << 31)) % (1 << 32) - (1 << 31)


def interpret(code, v, i, n):
    for k in range(3):
        c = int(code[(i + k) % n])
        if c == 0:
            v += 17
        elif c == 1:
            v ^= 0x5a5a
        elif c == 2:
            v = v << 3 | (v & 0xffffffff) >> 29
        elif c == 3:
            v *= 31
        elif c == 4:
            v = ~wrap(-v)
        elif c == 5:
            v = ~v
        elif c == 6:
            v = abs(v) % 1000
        elif c == 7:
            v -= int(code[i])
        elif c == 8:
            v = max(v, -5) >> 1
        else:
            v = 0
        v = wrap(v)
    return v


def bit_words(v):
    full = 0xffffffff
    first = int(format(v, "032b")[::-1], 2) ^ (v & (v - 1 & full))
    second = bin(v).count("1") | (32 - v.bit_length()) << 8 | (v & -v).bit_length() << 16
    s = v & 31
    third = ((~v & full) << s | (v >> 32 - s if s else 0)) & full
    fourth = sum(((v >> 8 * k & 255) + (0x01ff7f80 >> 8 * k & 255) & 255) << 8 * k for k in range(4))
    return [first, second, third, fourth]


def philox(i, seed):
    full = 0xffffffff
    c, k = [i, 0, 0, 0], [seed, 0]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & full, p0 >> 32 ^ c[3] ^ k[1], p0 & full]
        k = [k[0] + 0x9E3779B9 & full, k[1] + 0xBB67AE85 & full]
    return c


def write():
    total = 0
    for source, checks in sorted(files.items()):
        path = "%s/%s.json" % (HERE, os.path.splitext(os.path.basename(source))[0])
        lines = ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in checks)
        with open(path, "w") as f:
            f.write('{"source": "%s", "checks": [\n%s\n]}\n' % (source, lines))
        total += os.path.getsize(path)
    print("%d files, %d checks, %d bytes" % (len(files), sum(map(len, files.values())), total))


for part in (elementwise, norms, softmax, reductions, matrices, others, tensors, more_reductions, grids, numbers, wide_division, small_numbers, language):
    part()
matrix_corpus.add(sys.modules[__name__])
texture_corpus.add(check=check, buf=buf, out=out, i32=i32, plain=plain)
write()
