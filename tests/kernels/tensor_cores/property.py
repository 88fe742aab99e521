#!/usr/bin/env python3
"""Tensor cores against model.py, in exact fractions, on cases made to be hard:
property.py PTX_RUN [--cases N] [--seed N]

The seed is TEST_DRAW or 1; the last line prints it. Sparse products keep the same places of
every chunk; what they leave out is noise, infinities and NaNs included."""
import argparse
import os
import random
import sys

from case_kernels import BITS, Form, Runner, extensions
from model import FORMATS, encode, product, two

FP8 = [f"{a}.{b}" for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
SUMS = [("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")]  # types of d and c
FORMS = [f"mma.{shape}.{d}.{factors}.{c}" for shapes, factors, sums in (
    ("m16n8k8 m16n8k16 m8n8k4 sp.m16n8k16 sp.m16n8k32", "f16.f16", SUMS),
    ("m16n8k8 m16n8k16 sp.m16n8k16 sp.m16n8k32", "bf16.bf16", SUMS[:1]),
    ("m16n8k4 m16n8k8 sp.m16n8k8 sp.m16n8k16", "tf32.tf32", SUMS[:1]),
    *(("m16n8k16 m16n8k32 sp.m16n8k64", pair, SUMS) for pair in FP8)) for shape in shapes.split() for d, c in sums]
FORMS += [f"mma.{shape}.f64.f64.f64.f64" for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")]
FORMS += [f"wmma.{shape}.{d}.{factors}.{c}" for shape in ("m16n16k16", "m32n8k16", "m8n32k16") for factors, sums in (
    ("f16.f16", SUMS), ("bf16.bf16", SUMS[:1])) for d, c in sums] + ["wmma.m16n16k8.f32.tf32.tf32.f32", "wmma.m8n8k4.f64.f64.f64.f64"]
FORMS += [f"wgmma.{sparse}m64n8k{k * (2 if sparse else 1)}.{d}.{factors}" for sparse in ("", "sp.") for k, d, factors in (
    (16, "f32", "f16.f16"), (16, "f16", "f16.f16"), (16, "f32", "bf16.bf16"), (8, "f32", "tf32.tf32"),
    *((32, d, pair) for d in ("f32", "f16") for pair in FP8))]


def number(r, name, kind, middle):
    """Bits of a number; middle: its exponent is about that, of -1 to 1 in the format's range."""
    exponent_bits, fraction_bits = FORMATS[name]
    top = (1 << exponent_bits) - 1
    if kind == "special" and r.random() < 0.15:
        field, fraction = top, r.choice([0, 0, (1 << fraction_bits) - 1])
    elif kind == "zeros" and r.random() < 0.6:
        field = fraction = 0
    elif kind == "tiny":
        field, fraction = r.choice([0, 0, 1, 2]), r.getrandbits(fraction_bits)
    elif kind == "wide":
        field, fraction = r.randrange(top), r.getrandbits(fraction_bits)
    else:
        about = int((middle + 1) / 2 * (top - 1))
        spread = 2 if kind == "cancel" else 4
        field = min(max(about + r.randint(-spread, spread), 0), top - 1)
        fraction = r.choice([0, (1 << fraction_bits) - 1, r.getrandbits(fraction_bits), r.getrandbits(fraction_bits)])
    if name == "e4m3" and kind != "special" and field == top and fraction == 7:
        fraction = 6
    return r.getrandbits(1) << exponent_bits + fraction_bits | field << fraction_bits | fraction


def case(r, form, places):
    kind = r.choice(["near", "wide", "cancel", "tiny", "zeros", "special", "big"])
    middle = {"big": 0.45, "tiny": -0.9}.get(kind, r.uniform(-0.4, 0.4) if r.random() < 0.4 else 0)
    a = [number(r, form.a, kind, middle) for _ in range(form.kept)]
    b = [number(r, form.b, kind, middle) for _ in range(form.kept)]
    if kind == "cancel":  # pairs whose sum is small
        sign = 1 << sum(FORMATS[form.a])
        for k in range(0, form.kept - 1, 2):
            a[k + 1], b[k + 1] = a[k] ^ sign, b[k] ^ r.getrandbits(1)
    c = r.choice([0, number(r, form.c, "near" if kind == "tiny" else kind, r.choice([0, 2 * middle]))])
    return a, b, scattered(r, form, places, b), c


def scattered(r, form, places, b):
    """What is kept among noise."""
    whole = [r.getrandbits(BITS[form.b]) for _ in range(form.k)]
    for at, y in zip(places, b):
        whole[at] = y
    return whole


def edges(form):
    """Factors whose sum stands or falls with one bit: of a tie behind the 24th, behind the least E."""
    if form.d == "f16" and form.a == "f16":
        lists = [[(two(0), two(0)), (two(-5), two(-6)), (two(-12), two(-13))], [(two(-11), two(-14)), (two(-24), two(-24))]]
    elif form.a == "bf16":
        lists = [[(23 * two(-80), 89 * two(-80)), (two(-80), two(-80))], [(two(-65), two(-66)), (two(-75), two(-76))]]
    else:
        lists = []
    for pairs in lists:
        pairs = pairs + [(0, 0)] * (form.kept - len(pairs))
        yield tuple([encode(p[side], form.a, nearest=True) for p in pairs] for side in (0, 1))


def kept_places(form, r):
    """The metadata's four bits, and where what is kept stands."""
    if not form.sparse:
        return 0, range(form.k)
    if form.a == "tf32":
        nibble = r.choice([0x4, 0xe])
        return nibble, [2 * k + (nibble == 0xe) for k in range(form.kept)]
    nibble = r.choice([0x4, 0x8, 0xc, 0x9, 0xd, 0xe])
    pair = nibble & 3, nibble >> 2
    return nibble, [k // 2 * 4 + pair[k % 2] for k in range(form.kept)]


def check(runner, form, r, count):
    nibble, places = kept_places(form, r)
    cases = [case(r, form, places) for _ in range(count)]
    cases += [(a, b, scattered(r, form, places, b), 0) for a, b in edges(form)]
    got = runner.run(form, [(a, whole, c) for a, _, whole, c in cases], nibble)
    wrong = 0
    for (a, b, _, c), g in zip(cases, got):
        want = product(form, a, b, c)
        # The model's zeros have no sign; the tensor cores' are +0.
        if g != want and not ((form.quad or form.wide) and want == 0 and g == 1 << BITS[form.d] - 1):
            wrong += 1
            if wrong <= 2:
                print(f"{runner.extension} {form.name}: a {a} b {b} c {c:#x} gives {g:#x}, not {want:#x}")
    return wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ptx_run")
    p.add_argument("--cases", type=int, default=40, help="of each instruction and extension")
    p.add_argument("--seed", type=int, default=int(os.environ.get("TEST_DRAW", "1")))
    o = p.parse_args()
    wrong = count = 0
    for extension in extensions(o.ptx_run):
        for at, name in enumerate(FORMS):
            wrong += check(Runner(o.ptx_run, extension), Form(name), random.Random(o.seed * 100 + at), o.cases)
            count += o.cases
    print(f"{count} cases with seed {o.seed}, {wrong} differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
