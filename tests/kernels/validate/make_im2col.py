#!/usr/bin/env python3
"""Writes im2col.json (needs numpy; running it does not).

usage: make_im2col.py        writes it beside itself

What a copy brings follows here from the ISA's words (PTX ISA 9.0, "im2col mode"): the filter goes through the bounding
box of one image after the other, and each of its places, moved by the offsets, is a pixel. PUBLISHED are cases of the
Gluon tutorial on im2col (triton-lang.org), whose values were asserted on Hopper; the model must give them. Convolutions
are compared with the built-in operators.
"""
import itertools, json, os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def places(extents, lower, upper, strides):
    """Of the filter in one image, in order: extents and so on from the outermost dimension."""
    return list(itertools.product(*(range(lo, e + hi, s) for e, lo, hi, s in zip(extents, lower, upper, strides))))


def copied(x, lower, upper, pixels, channels, at, offsets, strides=None, fill=0):
    """x: [n, …, channels]; `at`, from the image to the channel, is a place of the filter. [pixels, channels], and
    where in x they are (None: outside)."""
    extents = x.shape[1:-1]
    strides = strides or [1] * len(extents)
    box = places(extents, lower, upper, strides)
    start = box.index(tuple(at[1:-1]))
    out, where = np.full((pixels, channels), fill, dtype=object), []
    for k in range(pixels):
        n, inside = at[0] + (start + k) // len(box), box[(start + k) % len(box)]
        pixel = (n,) + tuple(p + o for p, o in zip(inside, offsets))
        where.append(pixel if all(0 <= p < e for p, e in zip(pixel, x.shape)) else None)
        for c in range(channels):
            if where[-1] and at[-1] + c < x.shape[-1]:
                out[k, c] = x[pixel + (at[-1] + c,)]
    return out, where


PUBLISHED = [
    (1, [0, 0], [0, 0], [0, 0, 0, 0], [0, 0], list(range(1, 17))),
    (1, [-1, -1], [-1, -1], [0, -1, -1, 0], [0, 0], [0, 0, 0, 0, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11]),
    (1, [-1, -1], [-1, -1], [0, -1, -1, 0], [1, 1], list(range(1, 17))),
    (2, [0, 0], [0, 0], [0, 1, 3, 0], [0, 0], list(range(8, 24))),
    (2, [-1, -1], [-1, -1], [0, 1, 2, 0], [0, 0], [7, 0, 9, 10, 11, 0, 0, 0, 0, 0, 17, 18, 19, 0, 21, 22]),
]


def im2col(of, lower, upper, pixels, channels, **more):
    return {"tensor_map": {"of": of, "im2col": {"lower": lower, "upper": upper, "channels": channels, "pixels": pixels}, **more}}


def place(at, offsets):
    """The kernels' struct: innermost first."""
    def padded(values, count):
        return list(values)[::-1] + [0] * (count - len(values))
    return {"name": "p", "struct": [{"type": "int32", "values": padded(at, 5)}, {"type": "uint16", "values": padded(offsets, 3)}]}


def swizzled(values, swizzle):
    """Bytes of 4-byte elements where they lie: address bits 4 to 6 XOR bits 7 to 9, as many as are swizzled."""
    flat, out = np.asarray(values).reshape(-1), np.empty(np.asarray(values).size, dtype=object)
    bits = {"none": 0, "32B": 1, "64B": 3, "128B": 7}[swizzle]
    for e, v in enumerate(flat):
        out[(4 * e ^ (4 * e >> 7 & bits) << 4) // 4] = v
    return out


def numbered(name, shape, **more):
    values = np.arange(1, int(np.prod(shape)) + 1).reshape(shape)
    return {"name": name, "type": "float32", "shape": list(shape), "init": {"arange": [1, 1]}, **more}, values


def check(name, kernel, args, grid=(1,), block=128, **more):
    return {"name": name, "spec": dict({"trials": 1, "kernel": kernel, "launch": {"grid": list(grid), "block": [block]}, "args": args, "compare": "exact"}, **more)}


def out(name, type, *shape, **more):
    return {"name": name, "type": type, "shape": list(shape), "output": True, **more}


def numbers(values):
    return [int(v) for v in np.asarray(values, dtype=object).reshape(-1)]


def load(name, shape, lower, upper, pixels, channels, at, offsets, strides=None, swizzle="none", fill=None, kernel=None):
    x, values = numbered("x", shape)
    brought, _ = copied(values, lower, upper, pixels, channels, at, offsets, strides, -1 if fill else 0)
    more = dict({"swizzle": swizzle} if swizzle != "none" else {}, **({"fill": fill} if fill else {}))
    if strides:
        more["element_strides"] = [1] + list(strides) + [1]
    count, copies = pixels * channels, 2 if kernel else 1
    args = [x, im2col("x", lower, upper, pixels, channels, **more), out("out", "float32", copies * count), place(at, offsets),
            {"name": "count", "type": "int32", "value": count}]
    return check(name, kernel or "pixels%d" % len(shape), args, grid=[copies], expect={"values": {"out": numbers(swizzled(brought, swizzle)) * copies}})


def loads():
    for k, (images, lower, upper, at, offsets, wanted) in enumerate(PUBLISHED):
        pixel_number = np.repeat(np.arange(1, 16 * images + 1), 32).reshape(images, 4, 4, 32)
        assert copied(pixel_number, lower, upper, 16, 32, at, offsets)[0][:, 0].tolist() == wanted, k
        yield load("published %d" % k, (images, 4, 4, 32), lower, upper, 16, 32, at, offsets, swizzle="128B")
    # The ISA's three examples, with fewer images and channels.
    yield load("example 1", (3, 14, 9, 8), [-1, -1], [-1, -1], 64, 8, [1, 7, 4, 0], [0, 0])
    yield load("example 2", (3, 14, 9, 8), [0, 0], [-2, -2], 64, 8, [1, 7, 4, 0], [2, 2])
    yield load("example 3", (3, 14, 8, 16), [-1, -1], [-1, -1], 32, 16, [1, 7, 5, 0], [1, 1], strides=[2, 2])
    yield load("a row of images", (3, 20, 12), [-2], [-1], 40, 8, [0, 13, 4], [2], strides=[3])
    yield load("volumes", (2, 4, 5, 6, 8), [-1, 0, -2], [-1, -2, 0], 100, 8, [0, 1, 2, 3, 0], [2, 1, 3], fill="nan")
    yield load("volumes with steps", (2, 5, 7, 6, 8), [-1, -1, -1], [-1, -1, -1], 30, 4, [0, 1, 1, 3, 4], [1, 0, 2], strides=[2, 1, 4])
    yield load("channels beyond the last", (1, 5, 5, 20), [0, 0], [0, 0], 16, 8, [0, 2, 2, 16], [0, 0], swizzle="32B", fill="nan")
    yield load("images beyond the last", (2, 3, 3, 4), [0, 0], [0, 0], 32, 4, [1, 0, 0, 0], [0, 0])
    yield load("far offsets", (1, 4, 4, 4), [-100, -128], [100, 127], 64, 4, [0, -100, -128, 0], [101, 129])
    yield load("many pixels", (2, 20, 30, 4), [-1, -1], [-1, -1], 1024, 4, [0, -1, -1, 0], [1, 2])
    yield load("two blocks", (2, 4, 4, 8), [-1, -1], [-1, -1], 32, 8, [0, 0, 1, 0], [1, 0], kernel="both")


def stores():
    for add in (0, 1):
        shape, lower, upper, at, strides = (2, 6, 5, 8), [1, 0], [-1, -2], [0, 3, 2, 0], [2, 1]
        y = np.full(shape, 1000)
        _, where = copied(y, lower, upper, 16, 8, at, [0, 0], strides)
        for k, pixel in enumerate(where):
            if pixel:
                y[pixel] = (1 + add) * np.arange(k * 8 + 1, k * 8 + 9)
        args = [out("y", "int32", *shape, init={"fill": 1000}), im2col("y", lower, upper, 16, 8, element_strides=[1] + strides + [1]),
                place(at, []), {"name": "count", "type": "int32", "value": 128}, {"name": "add", "type": "int32", "value": add}]
        yield check("added" if add else "stored", "scatter", args, expect={"values": {"y": numbers(y)}})


def convolution(name, n, h, w, ci, co, r, s, stride, pad, dilation):
    p, q = ((e + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for e, k in ((h, r), (w, s)))
    random = {"init": {"integers": [-2, 3]}}
    upper = [pad - dilation * (k - 1) for k in (r, s)]
    args = [dict({"name": "x", "type": "float16", "shape": [n, h, w, ci]}, **random), dict({"name": "weight", "type": "float16", "shape": [co, r, s, ci]}, **random),
            im2col("x", [-pad, -pad], upper, 64, 64, swizzle="128B", element_strides=[1, stride, stride, 1]),
            {"tensor_map": {"of": "weight", "shape": [co, r * s * ci], "box": [64, 64], "swizzle": "128B"}}, out("y", "float32", n, p, q, co),
            {"struct": [{"type": "int32", "values": [h, w, ci, co, r, s, stride, pad, dilation, p, q, n * p * q]}]}]
    expect = {"op": "permute", "inputs": {"input": "weight"}, "dims": [0, 3, 1, 2], "outputs": {"output": "filters"},
              "then": [{"op": "permute", "inputs": {"input": "x"}, "dims": [0, 3, 1, 2]},
                       {"op": "conv2d", "inputs": {"weight": "filters"}, "stride": stride, "padding": pad, "dilation": dilation},
                       {"op": "permute", "dims": [0, 2, 3, 1], "outputs": {"output": "y"}}]}
    return check(name, "conv", args, grid=[-(-n * p * q // 64), -(-co // 64)], expect=expect)


def convolutions():
    yield convolution("convolution", 2, 8, 9, 64, 64, 3, 3, 1, 1, 1)
    yield convolution("convolution by steps of 2", 3, 11, 10, 72, 40, 3, 3, 2, 1, 1)
    yield convolution("convolution, dilated", 2, 12, 12, 64, 64, 3, 2, 1, 0, 2)
    yield convolution("convolution, 1 x 1", 4, 6, 6, 128, 96, 1, 1, 2, 0, 1)


checks = [*loads(), *stores(), *convolutions()]
with open(os.path.join(HERE, "im2col.json"), "w") as f:
    f.write('{"source": "im2col.cu", "checks": [\n%s\n]}\n' % ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in checks))
