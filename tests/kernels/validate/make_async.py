#!/usr/bin/env python3
"""Writes async_copies.json and async_defects.json (needs numpy; running them does not).

usage: make_async.py        writes them beside itself

Expected values are whole numbers that every order of adding gives, computed here by numpy.
"""
import json, os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def out(name, type, *shape, **more):
    return {"name": name, "type": type, "shape": list(shape), "output": True, **more}


def head(seed, low, high):
    return [int(v) for v in np.random.default_rng(seed).integers(low, high, 61)]


def given(name, type, shape, values):
    """The values once after the other, as the spec repeats them; and as numpy has them."""
    return ({"name": name, "type": type, "shape": list(shape), "init": {"values": values}},
            np.resize(np.array(values), shape))


def tensor_map(of, *box, **more):
    return {"tensor_map": {"of": of, "box": list(box), **more}}


def i32(name, value):
    return {"name": name, "type": "int32", "value": value}


def check(name, kernel, grid, block, args, expect, **more):
    spec = {"trials": 1, "kernel": kernel, "args": args, "launch": {"grid": grid, "block": block}}
    if expect:
        spec["expect"] = {"values": {k: [int(x) for x in np.asarray(v).reshape(-1)] for k, v in expect.items()}}
        spec["compare"] = "exact"
    return {"name": name, "spec": spec, **more}


def copies():
    a, av = given("a", "float32", (64, 96), head(1, -8, 9))
    b, bv = given("b", "float32", (32, 96), head(2, -8, 9))
    yield check("tma_gemm", "tma_gemm", [1, 2], [160],
                [a, b, tensor_map("a", 32, 32), tensor_map("b", 32, 32, swizzle="128B"), out("c", "float32", 64, 32),
                 i32("n", 32), i32("k", 96)], {"c": av @ bv.T})
    x, xv = given("in", "float32", (64, 32), head(3, 0, 1000))
    yield check("swizzled_transpose", "swizzled_transpose", [1, 2], [128],
                [x, out("out", "float32", 32, 64), tensor_map("in", 32, 32, swizzle="128B"),
                 tensor_map("out", 32, 32, swizzle="128B")], {"out": xv.T})
    x, xv = given("in", "float32", (10, 20), head(4, 1, 1000))
    for at, (c, r) in {"over the end": (12, 5), "in front of the start": (-3, -2)}.items():
        seen = np.zeros((8, 16), int)
        sums = np.full((10, 20), 7)
        for i in range(8):
            for j in range(16):
                if 0 <= r + i < 10 and 0 <= c + j < 20:
                    seen[i, j] = xv[r + i, c + j]
                    sums[r + i, c + j] += xv[r + i, c + j]
        yield check("edge_box " + at, "edge_box", [1], [128],
                    [x, out("out", "float32", 10, 20, init={"fill": 7}), tensor_map("in", 8, 16),
                     tensor_map("out", 8, 16), out("seen", "float32", 8, 16), i32("x", c), i32("y", r)],
                    {"out": sums, "seen": seen})
    x, xv = given("x", "int32", (500,), head(5, 0, 64))
    yield check("bulk_histogram", "bulk_histogram", [3], [64],
                [x, i32("n", 500), out("counts", "int32", 64, init={"fill": 3})],
                {"counts": 3 + np.bincount(xv, minlength=64)})
    x, xv = given("x", "float32", (700,), head(6, 0, 50))
    owner = np.arange(700) // 64 % 8 // 4
    yield check("cluster_sum", "cluster_sum", [8], [64], [x, out("sums", "float32", 2), i32("n", 700)],
                {"sums": [xv[owner == c].sum() for c in (0, 1)]})
    x, xv = given("x", "float32", (32, 32), head(7, 0, 1000))
    yield check("multicast", "multicast", [8], [64], [x, tensor_map("x", 4, 32), out("y", "float32", 8, 512)],
                {"y": [xv[blk // 4 * 16:blk // 4 * 16 + 16].reshape(-1) * (blk % 4 + 1) for blk in range(8)]})
    x, xv = given("x", "float32", (40, 16), head(8, 0, 1000))
    first = [0, 13, 16, 40]
    yield check("grouped", "grouped", [3], [32],
                [x, tensor_map("x", 8, 16), {"name": "maps", "type": "uint8", "shape": [3, 128], "scratch": True},
                 {"name": "first", "type": "int32", "shape": [4], "init": {"values": first}}, out("sums", "float32", 3, 16)],
                {"sums": [xv[a:b].sum(0) for a, b in zip(first, first[1:])]})
    x, xv = given("x", "int32", (10, 128), head(9, 0, 1000))
    yield check("multicast_ring", "multicast_ring", [4], [160], [x, out("y", "int32", 4, 128), i32("rows", 10)],
                {"y": [xv.sum(0) * (blk % 2 + 1) for blk in range(4)]})
    tiles = np.arange(3)[:, None] * 1000 + np.arange(8 * 32)
    one = check("warp_store", "warp_store", [3], [64],
                [out("y", "float32", 24, 32), out("z", "float32", 24, 32), tensor_map("z", 8, 32)], {"y": tiles, "z": tiles})
    one["spec"]["checks"] = ["memory", "initialized", "race", "barrier"]
    yield one
    x, xv = given("x", "float32", (8, 48), head(10, 0, 1000))
    y = xv[:, 16:32] * 3
    yield {"name": "planned", "spec": {
        "trials": 1, "buffers": [x, {"name": "plan", "type": "uint8", "shape": [512], "scratch": True}],
        "launches": [{"kernel": "prepare", "launch": {"grid": [1], "block": [1]},
                      "args": ["plan", {"name": "scale", "type": "float32", "value": 3}, i32("column", 16), tensor_map("x", 8, 16)]},
                     {"kernel": "planned", "launch": {"grid": [1], "block": [128]},
                      "args": [out("y", "float32", 8, 16), {"contents_of": "plan"}, i32("n", 128)]}],
        "compare": "exact", "expect": {"values": {"y": [int(v) for v in y.reshape(-1)]}}}}
    # Blocks of a 4 x 2 grid in clusters of 2 x 2; ranks run along x first.
    y = np.zeros((2, 4, 64), int)
    for row in range(2):
        for column in range(4):
            rank = column % 2 + 2 * row
            y[row, column] = (rank - 1) % 4 * 1000 + np.arange(64)
    yield check("ring", "ring", [4, 2], [64], [out("y", "int32", 8, 64)], {"y": y})


# What a device makes of them is not defined: it may hang.
DEFECTS = {
    "no_expect": ("uninitialized", "unwaited_copy"),
    "too_many_bytes": ("deadlock",),
    "too_few_bytes": ("deadlock",),
    "wrong_parity": ("uninitialized", "unwaited_copy"),
    "no_init": ("invalid_mbarrier",),
    "store_not_waited": ("unwaited_copy",),
    "no_proxy_fence": ("missing_fence",),
    "fence_of_one": ("missing_fence",),
    "odd_bytes": ("misaligned",),
    "no_tensor_map": ("invalid_tensor_map",),
    "reused_too_early": ("race",),
    "no_last_sync": ("early_exit",),
    "not_yet_initialised": ("invalid_mbarrier",),
    "exited_block": ("out_of_bounds",),
    "ring_without_tail": ("early_exit",),
    "one_of_two_announced": ("uninitialized", "unwaited_copy"),
    "store_not_announced": ("uninitialized", "unwaited_copy"),
}
CLUSTERS = ("no_last_sync", "not_yet_initialised", "exited_block", "ring_without_tail", "store_not_announced")


# Told all the same, as a warning.
HARMLESS = {"store_committed": ("unwaited_copy",)}


def defects():
    for kernel, codes in (*DEFECTS.items(), *HARMLESS.items()):
        x = {"name": "x", "type": "int32", "shape": [64], "init": {"arange": [0, 1]}}
        one = check(kernel, kernel, [2 if kernel in CLUSTERS else 1], [64], [x, out("y", "int32", 64)], None,
                    verdict="pass" if kernel in HARMLESS else "fail", codes=sorted(codes),
                    emulator_only=True)
        one["spec"]["expect"] = {"expression": {"y": "x[i]"}}
        one["spec"]["checks"] = ["memory", "initialized", "race", "barrier"]
        yield one


def write(name, checks):
    lines = ["  " + json.dumps(c, separators=(",", ":")) for c in checks]
    with open(os.path.join(HERE, name + ".json"), "w") as f:
        f.write('{"source": "%s.cu", "checks": [\n%s\n]}\n' % (name, ",\n".join(lines)))


write("async_copies", copies())
write("async_defects", defects())
