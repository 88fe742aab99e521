#!/usr/bin/env python3
"""Makes textures.json: what texture fetches give, for test_ptx_textures.c, by
tests/kernels/texture_reference.py (needs numpy).

usage: make_textures.py > textures.json
"""
import json
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../kernels"))
from texture_reference import as_floats, fetch

THREADS = 32
rng = np.random.default_rng(20260)


def texels(kind, shape):
    if kind == "f32":
        return rng.standard_normal(shape).astype(np.float32)
    if kind == "f16":
        return rng.standard_normal(shape).astype(np.float16)
    info = np.iinfo({"u": "uint", "s": "int"}[kind[0]] + kind[1:])
    t = rng.integers(info.min, info.max, shape, endpoint=True).astype(info.dtype)
    t.flat[0], t.flat[-1] = info.min, info.max
    return t


def coordinates(extent, normalized):
    """From well before the first texel to well behind the last; some on edges and centres."""
    c = np.zeros((THREADS, len(extent)))
    for d, n in enumerate(extent):
        c[:, d] = rng.uniform(-1.3 * n, 2.4 * n, THREADS)
        c[:4, d] = [0.5, n - 0.5, 1.5, n / 2]
        c[4:8, d] = [-0.25, n + 0.25, -n - 0.7, 2 * n + 0.2]
    if normalized:
        c = c / np.array(extent)
    return c.astype(np.float32)


def case(kind, channels, extent, modes, linear, normalized, reads=False, layers=0):
    shape = ([layers] if layers else []) + list(reversed(extent)) + [channels]
    t = texels(kind, shape)
    coords = coordinates(extent, normalized)
    layer = rng.integers(-2, layers + 2, THREADS) if layers else np.zeros(THREADS, int)
    value = as_floats(t) if reads else t.astype(np.float64)
    out = []
    for i in range(THREADS):
        v = value[min(max(layer[i], 0), layers - 1)] if layers else value
        got = fetch(v, coords[i], modes, linear, normalized)
        out.append([float(g) for g in got])
    flat = [float(x) for x in t.astype(np.float64).ravel()]
    return {"type": kind, "channels": channels, "extent": list(extent), "layers": layers,
            "modes": list(modes), "linear": linear, "normalized": normalized, "reads_floats": reads,
            "texels": flat, "coordinates": coords.astype(np.float64).tolist(),
            "layer": layer.tolist(), "expect": out}


def main():
    cases = []
    for mode in ("clamp", "border", "wrap", "mirror"):
        for linear in (False, True):
            cases.append(case("f32", 1, (7, 5), (mode, mode), linear, True))
            if mode in ("clamp", "border"):
                cases.append(case("f32", 2, (6, 4), (mode, mode), linear, False))
    cases.append(case("f32", 1, (9,), ("clamp",), True, False))
    cases.append(case("f32", 4, (8,), ("wrap",), False, True))
    cases.append(case("f32", 1, (4, 3, 5), ("clamp", "border", "clamp"), True, False))
    cases.append(case("f32", 1, (4, 4, 3), ("wrap", "mirror", "clamp"), True, True))
    cases.append(case("f16", 2, (6, 3), ("clamp", "wrap"), True, True))
    for kind, channels in (("u8", 4), ("s8", 2), ("u16", 1), ("s16", 4)):
        cases.append(case(kind, channels, (5, 4), ("clamp", "mirror"), True, True, reads=True))
        cases.append(case(kind, channels, (5, 4), ("border", "clamp"), False, False))
    cases.append(case("u32", 1, (6,), ("clamp",), False, False))
    cases.append(case("s32", 2, (3, 3), ("border", "border"), False, False))
    cases.append(case("f32", 1, (5,), ("clamp",), True, False, layers=3))
    cases.append(case("u8", 1, (4, 3), ("wrap", "wrap"), True, True, reads=True, layers=2))
    print(json.dumps(cases, separators=(",", ":")))


main()
