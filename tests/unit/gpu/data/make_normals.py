#!/usr/bin/env python3
"""What tensor_fill gives for a seed, element by element: Philox4x32-10 and the ziggurat once more, in Python.

usage: make_normals.py > normals.json
"""
import importlib.util
import json
import math
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("table", os.path.join(HERE, "../../../../gpu/tensor/make_normal_table.py"))
SEED, STREAM, MASK = 0x123456789ABCDEF, 7, 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & MASK, a >> 32 ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c[0] | c[1] << 32, c[2] | c[3] << 32


# kat_vectors of the Random123 distribution.
assert philox((0, 0, 0, 0), (0, 0)) == (0xE169C58D6627E8D5, 0x9B00DBD8BC57AC4C)
assert philox((MASK,) * 4, (MASK,) * 2) == (0x41C83B0E408F276D, 0x6D5451FDA20BC7C6)
assert philox((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)) == (0x94FDCCEBD16CFE09, 0x24126EA15001E420)


def draw(i, retry):
    return philox((i & MASK, i >> 32, STREAM, retry), (SEED & MASK, SEED >> 32))


def unit(bits):
    return (bits >> 11) * 2.0**-53


def normal(i, edges, feet):
    bits, retry, how = draw(i // 2, 0)[i % 2], 1, "inside"
    while True:
        layer, sign, u = bits & 255, -1.0 if bits >> 8 & 1 else 1.0, unit(bits)
        x = u * edges[layer]
        if x < edges[layer + 1]:
            return sign * x, how
        if layer == 0:
            while True:
                a, b = draw(i, retry)
                x, y = -math.log1p(-unit(a)) / edges[1], -math.log1p(-unit(b))
                if 2 * y > x * x:
                    return sign * (edges[1] + x), "tail"
                retry += 1
        a, b = draw(i, retry)
        if feet[layer] + (feet[layer + 1] - feet[layer]) * unit(a) < math.exp(-0.5 * x * x):
            return sign * x, "wedge"
        bits, retry, how = b, retry + 1, "again"


def main():
    # The edges are divided out of the table's widths: what C multiplies is the same double.
    table = importlib.util.module_from_spec(SPEC)
    source = open(SPEC.origin).read().rsplit("main()", 1)[0]
    exec(compile(source, SPEC.origin, "exec"), table.__dict__)
    exact = table.solve()
    edges, feet = [float(x) for x in exact], [float(table.f(x)) for x in exact]
    chosen, seen = list(range(40)), {}
    for i in range(40, 60000):
        how = normal(i, edges, feet)[1]
        if how != "inside" and seen.setdefault(how, 0) < 12:
            seen[how] += 1
            chosen.append(i)
    values = [normal(i, edges, feet)[0] for i in chosen]
    print(json.dumps({"seed": hex(SEED), "stream": STREAM, "seen": seen, "at": chosen,
                      "bits": ["%016x" % struct.unpack("<Q", struct.pack("<d", v))[0] for v in values],
                      "words": ["%016x" % draw(i // 2, 0)[i % 2] for i in chosen]}))


main()
