"""Checks of textures.cu and 39_texture.cu, for make_corpus.py. Fetches are texture_reference.py's,
with coordinates in the kernels' single precision."""
import os
import sys
import types

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from texture_reference import as_floats, cube_coordinates, fetch, fetch_cube, fetch_seamless

F = np.float32


def run(c, kernel, *args, **more):
    c.check("textures.cu", kernel, *args, kernel=kernel, **more)


def image(name, kind, of, **more):
    return {"name": name, kind: dict(of=of, **more)}


def sampled(t, coords, modes, linear, normalized):
    return np.array([fetch(t, c, modes, linear, normalized)[0] for c in coords], F)


def bilinear(c):
    rng = np.random.default_rng(39)
    for w, h, modes in ((8, 4, ("clamp", "clamp")), (13, 9, ("wrap", "mirror"))):
        t = rng.standard_normal((5, 6)).astype(F)
        at = [((F(x) + F(.5)) / F(w), (F(y) + F(.5)) / F(h)) for y in range(h) for x in range(w)]
        want = sampled(t[:, :, None], at, modes, True, True)
        c.check("../39_texture.cu", "tex_bilinear %s" % modes[0], {"grid": [2, 2], "block": [8, 8]},
                [image("t", "texture", "x", address=list(reversed(modes)), filter="linear", normalized=True),
                 image("s", "surface", "painted"), c.out("o", "float32", h, w), c.i32("W", w), c.i32("H", h)],
                {"values": {"o": c.plain(want), "painted": c.plain(want)}},
                buffers=[c.buf("x", t), c.out("painted", "float32", h, w)])


def fetches(c):
    rng = np.random.default_rng(40)
    w, h = 5, 4
    t = rng.integers(0, 256, (3, h, w), dtype=np.uint8)
    at = [((F(x) * F(.83) + F(.3)) / F(w), (F(y) * F(1.21) - F(.2)) / F(h)) for y in range(h) for x in range(w)]
    want = np.concatenate([sampled(as_floats(t[l])[:, :, None], at, ("mirror", "clamp"), True, True) for l in range(3)])
    run(c, "layers", {"grid": [2], "block": [32]},
            [image("t", "texture", "x", layered=True, address=["clamp", "mirror"], filter="linear", normalized=True,
                   read="normalized_float"), c.out("out", "float32", 60), c.i32("w", w), c.i32("h", h)],
            {"values": {"out": c.plain(want)}}, buffers=[c.buf("x", t)], tolerance={"rtol": 1e-5, "atol": 1e-6})
    t = rng.standard_normal((3, 4, 6)).astype(F)
    at = [(F(i) * F(.11) - F(1), F(i) * F(.07), F(3.6) - F(i) * F(.09)) for i in range(64)]
    for linear in (False, True):
        want = sampled(t[..., None], at, ("border",) * 3, linear, False)
        run(c, "volume", {"grid": [2], "block": [32]},
                [image("t", "texture", "x", address="border", filter="linear" if linear else "point"),
                 c.out("out", "float32", 64), c.i32("n", 64)],
                {"values": {"out": c.plain(want)}}, buffers=[c.buf("x", t)], tolerance={"rtol": 1e-5, "atol": 1e-6})
    pairs = rng.integers(-2 ** 31, 2 ** 31, (50, 2), dtype=np.int32)
    at = rng.integers(-3, 55, 70).astype(np.int32)
    want = np.where(((at >= 0) & (at < 50))[:, None], pairs[np.clip(at, 0, 49)], 0)
    run(c, "table", {"grid": [3], "block": [32]},
            [image("t", "texture", "x", memory="linear", channels=2), c.buf("at", at), c.out("out", "int32", 70, 2),
             c.i32("n", 70)], {"values": {"out": c.plain(want)}}, buffers=[c.buf("x", pairs)], compare="exact")
    t = rng.standard_normal((4, 5, 2)).astype(F)
    edge = lambda y, x: t[min(max(y, 0), 3), min(max(x, 0), 4), 1]
    want = np.array([[edge(y, x - 1), edge(y, x), edge(y - 1, x), edge(y - 1, x - 1)] for y in range(5) for x in range(6)])
    run(c, "corners", {"grid": [1], "block": [32]},
            [image("t", "texture", "x", channels=2), c.out("out", "float32", 30, 4), c.i32("w", 6), c.i32("h", 5)],
            {"values": {"out": c.plain(want)}}, buffers=[c.buf("x", t)], compare="exact")


def surfaces(c):
    rng = np.random.default_rng(41)
    a = rng.integers(0, 256, (3, 7, 4), dtype=np.uint8)
    b = np.concatenate([a[:, 1:], np.zeros((3, 1, 4), np.uint8)], 1)
    want = np.concatenate([a[:, :, :2], b[:, :, 2:]], 2).transpose(1, 0, 2)
    run(c, "turn", {"grid": [1], "block": [32]},
            [image("from", "surface", "x", channels=4), image("to", "surface", "y", channels=4), c.i32("w", 7), c.i32("h", 3)],
            {"values": {"y": c.plain(want)}}, buffers=[c.buf("x", a), c.out("y", "uint8", 7, 3, 4)], compare="exact")
    x, y = np.meshgrid(np.arange(9), np.arange(5))
    r = (x * x + 10 * y).astype(F)
    at = [(i + 1.0, j + 1.0) for j in range(5) for i in range(9)]
    half = sampled(r[:, :, None], at, ("clamp", "clamp"), True, False)
    c.check("textures.cu", "a surface, then a texture", None, None,
            {"values": {"r": c.plain(r), "out": c.plain(half)}}, compare="exact",
            buffers=[c.out("r", "float32", 5, 9)],
            launches=[{"kernel": "ramp", "launch": {"grid": [2], "block": [32]},
                       "args": [image("s", "surface", "r"), c.i32("w", 9), c.i32("h", 5)]},
                      {"kernel": "halves", "launch": {"grid": [2], "block": [32]},
                       "args": [image("t", "texture", "r", filter="linear"), c.out("out", "float32", 5, 9), c.i32("w", 9),
                                c.i32("h", 5)]}])
    i = np.arange(24)
    run(c, "cells", {"grid": [1], "block": [32]},
            [image("volume", "surface", "v"), image("layers", "surface", "l", channels=2, layered=True), c.i32("n", 24)],
            {"values": {"v": c.plain((i * 3).astype(np.int16)), "l": c.plain(np.stack([i, -i], 1).astype(F))}}, compare="exact",
            buffers=[c.out("v", "int16", 2, 3, 4), c.out("l", "float32", 6, 4, 2)])


def directions(rng, count, n):
    """In the kernels' precision, none of which is near to a place where two texels meet; some of any length."""
    found = []
    while len(found) < count:
        d = (rng.standard_normal(3) * rng.choice([0.1, 1, 40])).astype(F)
        if len(found) % 2:  # near to an edge
            big, next_to_it, other = rng.permutation(3)
            d[big], d[next_to_it], d[other] = d[big], d[big] * rng.choice([-1, 1]) * (1 - rng.uniform(0.01, 0.2) / n), d[big] * rng.uniform(-0.7, 0.7)
        size = np.sort(np.abs(d))
        place = np.array(cube_coordinates(d)[1]) * n
        if size[2] - size[1] > 1e-3 * size[2] and (abs(place - np.rint(place)) > 1e-3).all():
            found.append(d)
    return np.array(found)


def cubes(c):
    rng = np.random.default_rng(42)
    n = 5
    t = rng.standard_normal((6, n, n)).astype(F)
    at = directions(rng, 96, n)
    for modes in (("clamp", "clamp"), ("wrap", "border")):
        for linear in (False, True):
            want = np.array([fetch_cube(t[..., None], d, modes, linear)[0] for d in at], F)
            run(c, "cube", {"grid": [4], "block": [32]},
                    [image("t", "texture", "x", cube=True, address=list(reversed(modes)), filter="linear" if linear else "point"),
                     c.buf("at", at), c.out("out", "float32", 96), c.i32("n", 96)],
                    {"values": {"out": c.plain(want)}}, buffers=[c.buf("x", t)], tolerance={"rtol": 1e-4, "atol": 0.03 if linear else 1e-6})
    every = [fetch_seamless(t[..., None], d) for d in at]
    chosen = [k for k in range(len(at)) if every[k] is not None][:64]
    run(c, "cube", {"grid": [2], "block": [32]},
            [image("t", "texture", "x", cube=True, seamless=True, filter="linear", address="wrap"), c.buf("at", at[chosen]),
             c.out("out", "float32", 64), c.i32("n", 64)],
            {"values": {"out": c.plain(np.array([every[k][0] for k in chosen], F))}}, buffers=[c.buf("x", t)],
            tolerance={"rtol": 1e-4, "atol": 0.03})
    several = rng.integers(0, 256, (3, 6, 4, 4, 2), dtype=np.uint8)
    at = directions(rng, 64, 4)
    want = np.array([fetch_cube(as_floats(several[k % 3]), d, ("clamp", "clamp"), False) for k, d in enumerate(at)], F)
    run(c, "cubes", {"grid": [3], "block": [32]},
            [image("t", "texture", "x", cube=True, layered=True, channels=2, read="normalized_float"), c.buf("at", at),
             c.out("out", "float32", 64, 2), c.i32("n", 64)],
            {"values": {"out": c.plain(want)}}, buffers=[c.buf("x", several)], tolerance={"rtol": 1e-5, "atol": 1e-6})
    t = np.arange(6 * 4 * 4).reshape(6, 4, 4).astype(F)
    want = np.array([fetch_cube(t[..., None], d, ("clamp", "clamp"), False)[0] for d in at], F)
    c.check("textures.cu", "faces, then a cube", None, None, {"values": {"f": c.plain(t), "out": c.plain(want)}}, compare="exact",
            buffers=[c.out("f", "float32", 6, 4, 4), c.buf("at", at)],
            launches=[{"kernel": "faces", "launch": {"grid": [4], "block": [32]},
                       "args": [image("s", "surface", "f", layered=True), c.i32("n", 4)]},
                      {"kernel": "cube", "launch": {"grid": [2], "block": [32]},
                       "args": [image("t", "texture", "f", cube=True), "at", c.out("out", "float32", 64), c.i32("n", 64)]}])


def defects(c):
    run(c, "beyond", {"grid": [1], "block": [32]}, [image("s", "surface", "y"), c.i32("w", 20)],
            {"values": {"y": [1] * 20}}, buffers=[c.out("y", "float32", 20)], verdict="fail", codes=["out_of_bounds"])
    run(c, "mistaken", {"grid": [1], "block": [1]},
            [{"name": "t", "type": "uint64", "value": 0}, c.out("out", "float32", 1)],
            {"values": {"out": [0]}}, verdict="fail", codes=["out_of_bounds"])


def add(**writers):
    c = types.SimpleNamespace(**writers)
    bilinear(c)
    fetches(c)
    surfaces(c)
    cubes(c)
    defects(c)
