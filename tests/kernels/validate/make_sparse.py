#!/usr/bin/env python3
"""Writes mma_sparse.json (needs numpy; running it does not).

usage: make_sparse.py        writes it beside itself

Sums of whole numbers, by numpy, of a matrix with zeros where the metadata say. Which lane holds which row's
metadata: CUTLASS, atom/mma_traits_sm80_sparse.hpp; fragments: PTX ISA 9.0. Lanes that hold none have random words.
"""
import json, os, re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(2026)
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "s4": 4}


def words(kind, rows):
    """Rows of elements as words of 32 bits."""
    if kind == "s4":
        pairs = np.asarray(rows).reshape(len(rows), -1, 2) & 15
        return (pairs[:, :, 0] | pairs[:, :, 1] << 4).astype(np.uint8).view(np.uint32)
    if kind == "bf16":
        return (np.asarray(rows, np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)
    return np.ascontiguousarray(np.asarray(rows).astype({"f16": np.float16, "tf32": np.float32, "s8": np.int8}[kind])).view(np.uint32)


def sparse_matrix(kind, k):
    """16 rows: whole, what stays of each, and the nibbles of its chunks."""
    unit, one_of_two = 2 if kind == "s4" else 1, kind == "tf32"
    whole, kept, nibbles = np.zeros((16, k), int), [], []
    for row in whole:
        stays, marks = [], []
        for c in range(0, k, unit * (2 if one_of_two else 4)):
            places = [rng.integers(2)] if one_of_two else sorted(rng.choice(4, 2, replace=False))
            marks.append(int(0xe if places[0] else 0x4) if one_of_two else int(places[0] | places[1] << 2))
            for p in places:
                values = rng.integers(-7, 8, unit)
                row[c + p * unit:c + (p + 1) * unit] = values
                stays += list(values)
        kept.append(stays)
        nibbles.append(sum(m << 4 * i for i, m in enumerate(marks)))
    return whole, kept, nibbles


def metadata(kind, wide, nibbles, selector):
    out = rng.integers(0, 2 ** 32, 32, dtype=np.uint32)
    for g in range(8):
        low, high = nibbles[g], nibbles[g + 8]
        if BITS[kind] >= 16:  # 16 bits of each row a lane
            for half in range(2 if wide else 1):
                lane = 2 * selector + half if wide else selector
                out[4 * g + lane] = (low >> 16 * half & 0xffff) | (high >> 16 * half & 0xffff) << 16
        else:
            for half in range(2 if wide else 1):
                lane = 2 * half if wide else 2 * selector
                out[4 * g + lane], out[4 * g + lane + 1] = low >> 32 * half & 0xffffffff, high >> 32 * half & 0xffffffff
    return out


def fragments(a, b, wide):
    """Registers of each lane, from rows of words of a and columns of b."""
    lanes = [(l // 4, l % 4) for l in range(32)]
    return ([a[g + r * 8][t + 4 * h] for g, t in lanes for h in range(2 if wide else 1) for r in range(2)],
            [b[g][t + 4 * h] for g, t in lanes for h in range(4 if wide else 2)])


def check(kernel, kind, k, selector):
    wide = k * BITS[kind] == 64 * 8
    whole, kept, nibbles = sparse_matrix(kind, k)
    b = rng.integers(-7, 8, (8, k))
    held = dict(zip("ab", fragments(words(kind, kept), words(kind, b), wide)), e=metadata(kind, wide, nibbles, selector))
    args = [{"name": n, "type": "uint32", "shape": [len(v)], "init": {"values": [int(x) for x in v]}} for n, v in held.items()]
    args.append({"name": "d", "type": "float32" if BITS[kind] >= 16 else "int32", "shape": [16, 8], "output": True})
    floats = {"codes": ["unconfirmed_sums"]} if BITS[kind] >= 16 else {}  # nobody has recorded these sums of an H100
    return {"name": kernel, **floats, "spec": {"trials": 1, "kernel": kernel, "launch": {"grid": [1], "block": [32]}, "args": args, "compare": "exact",
                                     "expect": {"values": {"d": [int(v) for v in (whole @ b.T).reshape(-1)]}}}}


with open(os.path.join(HERE, "mma_sparse.cu")) as f:
    found = re.findall(r"^(?:NARROW|WIDE)\(((\w+?)_k(\d+)_(\d))", f.read(), re.M)
checks = [check(name, kind, int(k), int(selector)) for name, kind, k, selector in found]
with open(os.path.join(HERE, "mma_sparse.json"), "w") as f:
    f.write('{"source": "mma_sparse.cu", "checks": [\n%s\n]}\n' % ",\n".join("  " + json.dumps(c, separators=(",", ":")) for c in checks))
