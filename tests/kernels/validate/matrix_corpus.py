"""Check specs of the matrix instructions' kernels, for make_corpus.py: sums by numpy in binary64."""
import numpy as np


def add(corpus):
    check, buf, out, i32, ints, values = corpus.check, corpus.buf, corpus.out, corpus.i32, corpus.ints, corpus.values
    F = np.float32

    def small(seed, *shape, low=-4, high=5, dtype=np.int32):
        return ints(seed, int(np.prod(shape)), low, high, dtype=dtype).reshape(shape)

    # Whole numbers that their types hold and whose sums are exact.
    def mma(kernel, type, M, N, K, result="float32", low=-4, high=5, **more):
        a, b = small(50, M, K, low=low, high=high), small(51, N, K, low=max(low, -4), high=min(high, 5))
        check("mma_gemms.cu", "%s %dx%dx%d" % (kernel, M, N, K), {"grid": [N // 8, M // 16], "block": [32]},
              [buf("A", a, type=type), buf("B", b, type="int8" if kernel == "gemm_u8" else type), out("C", result, M, N),
               i32("M", M), i32("N", N), i32("K", K)],
              values(C=(a.astype(np.int64) @ b.T).astype(F if result == "float32" else np.int32)), kernel=kernel, compare="exact", **more)

    for kernel, type in (("gemm_f16", "float16"), ("gemm_bf16", "bfloat16"), ("gemm_tf32", "float32"), ("gemm_e4m3", "float8_e4m3")):
        mma(kernel, type, 32, 16, 64)
    mma("gemm_s8", "int8", 16, 16, 96, "int32", -128, 128)
    mma("gemm_u8", "uint8", 32, 8, 64, "int32", 0, 256)
    a, b = small(52, 16, 64, low=0, high=256), small(53, 8, 64, low=0, high=256)
    joined = np.array([[sum(bin(x & y).count("1") for x, y in zip(r.tolist(), c.tolist())) for c in b] for r in a])
    check("mma_gemms.cu", "gemm_b1 16x8x512", {"grid": [1, 1], "block": [32]},
          [buf("A", a, type="uint8"), buf("B", b, type="uint8"), out("C", "int32", 16, 8), i32("M", 16), i32("N", 8), i32("K", 64)],
          values(C=joined), kernel="gemm_b1", compare="exact")
    a, b = small(54, 32, 48), small(55, 48, 16)
    check("mma_gemms.cu", "gemm_trans 32x16x48", {"grid": [2, 2], "block": [32]},
          [buf("A", a, type="float16"), buf("B", b, type="float16"), out("C", "float16", 32, 16), i32("N", 16), i32("K", 48)],
          values(C=(a @ b).astype(F)), kernel="gemm_trans", compare="exact")
    a, b = small(56, 16, 12) / 3.0, small(57, 16, 12) / 7.0
    check("mma_gemms.cu", "gemm_f64 16x16x12", {"grid": [2, 1], "block": [32]},
          [buf("A", a, type="float64"), buf("B", b, type="float64"), out("C", "float64", 16, 16), i32("N", 16), i32("K", 12)],
          values(C=a @ b.T), kernel="gemm_f64", tolerance={"rtol": 1e-13, "atol": 1e-13})
    x = np.arange(64, dtype=np.int32).reshape(8, 8)
    words = lambda v: (v.reshape(-1, 2)[:, 0] | v.reshape(-1, 2)[:, 1] << 16).astype(np.uint32)
    check("mma_gemms.cu", "transpose 8x8", {"grid": [1], "block": [32]},
          [buf("x", words(x)), out("y", "uint32", 32)], values(y=words(x.T)), kernel="transpose", compare="exact")

    def wmma(kernel, type, M, N, K, tile, ra, rb, rc, result="float32"):
        low = 0 if type == "uint8" else -4
        a, b, c = small(60, M, K, low=low), small(61, K, N, low=low), small(62, M, N, low=-30, high=31)
        d = np.maximum(a @ b + c, 0)
        turn = lambda v, row: v if row else np.ascontiguousarray(v.T)
        expected = {"float32": F, "float16": F, "float64": np.float64, "int32": np.int32}[result]
        one = buf("C", turn(c, rc), type=result, output=True)
        check("wmma_gemms.cu", "%s %dx%dx%d" % (kernel, M, N, K), {"grid": [N // tile[1], M // tile[0]], "block": [32]},
              [buf("A", turn(a, ra), type=type), buf("B", turn(b, rb), type=type), one, i32("rows", M), i32("columns", N), i32("depth", K)],
              values(C=turn(d, rc).astype(expected)), kernel=kernel, compare="exact")

    wmma("f16_16_16", "float16", 32, 32, 32, (16, 16), True, True, True)
    wmma("f16_32_8", "float16", 32, 16, 32, (32, 8), False, False, True)
    wmma("f16_8_32", "float16", 16, 32, 16, (8, 32), True, False, False, "float16")
    wmma("bf16_16_16", "bfloat16", 16, 16, 48, (16, 16), False, True, False)
    wmma("s8_16_16", "int8", 16, 32, 32, (16, 16), True, False, True, "int32")
    wmma("u8_8_32", "uint8", 16, 32, 32, (8, 32), False, True, True, "int32")
    wmma("tf32_16_16", "float32", 16, 16, 24, (16, 16), True, False, True)
    wmma("f64_8_8", "float64", 16, 8, 12, (8, 8), True, False, True, "float64")
    a, b = small(63, 16, 48), small(64, 16, 48)
    check("wmma_gemms.cu", "f16_shared 16x16x48", {"grid": [1], "block": [32]},
          [buf("A", a, type="float16"), buf("B", b, type="float16"), out("C", "float16", 16, 16), i32("depth", 48)],
          values(C=(a @ b.T / 2).astype(F)), kernel="f16_shared", compare="exact")

    def wgmma(kernel, type, N, K, result="float32", sign=1, **more):
        a, b = small(70, 64, K, **more), small(71, N, K, **more)
        check("wgmma_gemms.cu", "%s 64x%dx%d" % (kernel, N, K), {"grid": [N // 64, 1], "block": [128]},
              [buf("A", a, type=type), buf("B", b, type=type), out("C", result, 64, N), i32("N", N), i32("K", K)],
              values(C=(sign * (a @ b.T)).astype(F if result == "float32" else np.int32)), kernel=kernel, compare="exact")

    wgmma("gemm_bf16", "bfloat16", 128, 128)
    wgmma("gemm_f16", "float16", 64, 128)
    wgmma("gemm_tf32", "float32", 64, 64)
    wgmma("gemm_e4m3", "float8_e4m3", 64, 128)
    wgmma("gemm_e5m2", "float8_e5m2", 64, 128, sign=-1)
    wgmma("gemm_s8", "int8", 64, 256, "int32", low=-128, high=128)

    # A pipeline by tensor maps, mbarriers and two warpgroups: six stages of k through four buffers.
    M, N, K = 128, 64, 384
    a, b = small(76, M, K), small(77, N, K)
    held = [dict(buf("A", a, type="bfloat16")), dict(buf("B", b, type="bfloat16"))]
    map_of = lambda name, rows: {"tensor_map": {"of": name, "box": [rows, 64], "swizzle": "128B"}}
    for kernel, verdict, codes in (("gemm", "pass", ()), ("early", "fail", ("race",)), ("late_wait", "fail", ("race",))):
        check("wgmma_pipeline.cu", "%s %dx%dx%d" % (kernel, M, N, K),
              {"grid": [N // 64, M // 128], "block": [384], "shared_bytes": 4 * 192 * 128 + 64},
              [map_of("A", 128), map_of("B", 64), out("C", "float32", M, N), i32("N", N), i32("K", K)],
              values(C=(a @ b.T).astype(F)) if verdict == "pass" else None, kernel=kernel, verdict=verdict, codes=codes,
              buffers=held, **({"compare": "exact"} if verdict == "pass" else {}))

    # Positive data: what an H100 cuts off adds up. Its fp8 sums lose 7 % at k = 4096, and 0.06 % where every 128 of k go to
    # a second accumulator; ideal sums lose nothing.
    uniform = lambda name, rows, K: {"name": name, "type": "float8_e4m3", "shape": [rows, K], "init": {"uniform": [0.0, 2.0]}}
    for kernel, K, verdict, more in (("direct", 4096, "fail", {}), ("direct", 4096, "pass", {"numerics": "ideal"}),
                                     ("direct", 128, "pass", {}), ("promoted", 4096, "pass", {})):
        check("fp8_sums.cu", "%s 64x8x%d%s" % (kernel, K, " ideal" if more else ""), {"grid": [1], "block": [128]},
              [uniform("A", 64, K), uniform("B", 8, K), out("C", "bfloat16", 64, 8), i32("K", K)],
              {"op": "linear", "inputs": {"input": "A", "weight": "B"}, "outputs": {"output": "C"}}, kernel=kernel, verdict=verdict,
              codes=("low_precision_accumulation",) if verdict == "fail" else (), **more)
        if verdict == "fail":  # of multiply, by way of gemm and the kernel
            corpus.files["fp8_sums.cu"][-1]["calls"] = [[22, [35, 45]]]

    q, k, v = (corpus.rand(s, 64 * 64, -1, 1).reshape(64, 64).astype(np.float64) for s in (72, 73, 74))
    s = q[:32] @ k.T * 0.5
    p = np.exp(s - s.max(1, keepdims=True))
    check("mma_attention.cu", "attention 32x64", {"grid": [1], "block": [64]},
          [buf("Q", q[:32].astype(F), type="float16"), buf("K", k.astype(F), type="float16"), buf("V", v.astype(F), type="float16"),
           out("O", "float16", 32, 64), i32("length", 64), corpus.f32("scale", 0.5)],
          values(O=(p / p.sum(1, keepdims=True) @ v).astype(F)), tolerance={"rtol": 4e-3, "atol": 4e-3})

    x = small(75, 64)
    for kernel, threads, verdict, codes in (
            ("right", 128, "pass", ()), ("no_wait", 128, "pass", ("uninitialized",)), ("no_fence", 128, "pass", ("uninitialized",)),
            ("older_group", 128, "pass", ()), ("younger_group", 128, "pass", ("uninitialized",)),
            ("no_proxy_fence", 128, "fail", ("missing_fence",)), ("overwritten", 128, "fail", ("race",)), ("outside", 128, "fail", ("out_of_bounds",)),
            ("warp_missing", 128, "fail", ("deadlock",)), ("half_group", 64, "fail", ("launch_error",)),
            ("divergent", 32, "fail", ("invalid_mask",)), ("rows_outside", 32, "fail", ("out_of_bounds",))):
        n = threads
        if kernel in ("right", "no_wait", "no_fence", "no_proxy_fence", "older_group", "younger_group"):
            tile = np.resize(x, 4096)
            half = lambda rows, start: np.array([[tile[start + k // 8 * 512 + r * 8 + k % 8] for k in range(16)] for r in range(rows)])
            c = half(64, 0) @ half(8, 2048).T
            rows = [t // 32 * 16 + t % 32 // 4 for t in range(128)]
            sums = [sum(c[r + i][t % 4 * 2 + j] for i in (0, 8) for j in (0, 1)) for t, r in enumerate(rows)]
            expected = values(out=np.array(sums, F))
        else:
            expected = None
        check("matrix_defects.cu", kernel, {"grid": [1], "block": [threads]}, [buf("x", x, type="float16"), out("out", "float32", n)],
              expected, verdict=verdict, codes=codes, kernel=kernel)
