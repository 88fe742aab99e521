#!/usr/bin/env python3
"""Makes textures.json: what texture fetches give, for test_ptx_textures.c.

The formulas are those of NVIDIA's CUDA C++ Programming Guide, "Texture Fetching", written down as
they stand there and computed in binary64 with numpy: nearest-point sampling T[floor(x)]; linear
filtering between floor(xB) and the next texel, xB = x - 0.5, with weights of 8 bits of fraction
(rounded to the nearest: the guide does not say how); address modes on x, or on the texel's number.

usage: make_textures.py > textures.json
"""
import itertools
import json

import numpy as np

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


def as_read(t, kind, reads):
    if not reads:
        return t.astype(np.float64)
    most = float(np.iinfo(t.dtype).max)
    return np.maximum(t.astype(np.float64) / most, -1.0)


def to_texels(x, n, mode, normalized):
    """The guide's frac(x) for wrap, and frac(x) or 1 - frac(x) for mirror, then times N."""
    if not normalized:
        return x
    whole = np.floor(x)
    if mode == "wrap":
        x = x - whole
    elif mode == "mirror":
        x = x - whole if whole % 2 == 0 else 1 - (x - whole)
    return x * n


def one(t, index, modes):
    """T[i, j, k], outside by the address modes; index and modes from x on, T's axes from z on."""
    place = []
    for d, i in enumerate(index):
        n = t.shape[len(index) - 1 - d]
        if modes[d] == "border" and not 0 <= i < n:
            return np.zeros(t.shape[-1])
        place.append(i % n if modes[d] == "wrap" else min(max(i, 0), n - 1))
    return t[tuple(reversed(place))]


def fetch(t, coords, modes, linear, normalized):
    xs = [to_texels(float(c), t.shape[len(coords) - 1 - d], modes[d], normalized)
          for d, c in enumerate(coords)]
    if not linear:
        return one(t, [int(np.floor(x)) for x in xs], modes)
    low = [int(np.floor(x - 0.5)) for x in xs]
    alpha = [np.rint(((x - 0.5) - np.floor(x - 0.5)) * 256) / 256 for x in xs]
    total = np.zeros(t.shape[-1])
    for corner in itertools.product((0, 1), repeat=len(xs)):
        weight = np.prod([a if c else 1 - a for a, c in zip(alpha, corner)])
        total = total + weight * one(t, [i + c for i, c in zip(low, corner)], modes)
    return total


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
    value = as_read(t, kind, reads)
    out = []
    for i in range(THREADS):
        v = value[min(max(layer[i], 0), layers - 1)] if layers else value
        got = fetch(v, coords[i], modes, linear, normalized)
        # Channels that there are not: 0, the fourth 1; a border is 0 in all of them.
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
