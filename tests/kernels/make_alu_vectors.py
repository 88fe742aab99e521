#!/usr/bin/env python3
"""Makes tests/unit/gpu/data/alu_*.bin: operands and results of PTX arithmetic.

usage: make_alu_vectors.py [folder]        (needs Python only)

Results come from alu_reference.py, never from the emulator; make_alu_folds.py compares
that reference with the constants that NVIDIA's compiler folds. The files are lists of
  u8 length, spelling; u8 length, widths; u8 flags (1 pair, 2 carry); u16 rows
and per row, little-endian: every source, [u8 carry in], result, [u8 second predicate],
[u8 carry out]. Widths are letters: b h w d of 1 2 4 8 bytes, p predicate (stored in one
byte); the result first.
"""
import os
import random
import sys

import alu_reference as ref
from alu_book import LETTER, Book, float_pool, op, signed, some_float, some_int, write
from alu_reference import BF16, F16, F32, F64, NAN, decode, encode, flush, of

# Integers.
def trunc_div(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def arithmetic(book):
    for n in (16, 32, 64):
        for sign in "us":
            t = f"{sign}{n}"
            v = (lambda x, n=n: signed(x, n)) if sign == "s" else (lambda x: x)
            op(book, f"add.{t}", n, (n, n), lambda a, b: a + b)
            op(book, f"sub.{t}", n, (n, n), lambda a, b: a - b)
            op(book, f"mul.lo.{t}", n, (n, n), lambda a, b: a * b)
            op(book, f"mul.hi.{t}", n, (n, n), lambda a, b: v(a) * v(b) >> n)
            op(book, f"mad.lo.{t}", n, (n,) * 3, lambda a, b, c: a * b + c)
            op(book, f"mad.hi.{t}", n, (n,) * 3, lambda a, b, c: (v(a) * v(b) >> n) + c)
            op(book, f"sad.{t}", n, (n,) * 3, lambda a, b, c: c + abs(v(a) - v(b)))
            op(book, f"min.{t}", n, (n, n), lambda a, b: min(v(a), v(b)))
            op(book, f"max.{t}", n, (n, n), lambda a, b: max(v(a), v(b)))
            op(book, f"div.{t}", n, (n, n), lambda a, b: trunc_div(v(a), v(b)) if b else -1, 160)
            op(book, f"rem.{t}", n, (n, n),
               lambda a, b: v(a) - trunc_div(v(a), v(b)) * v(b) if b else -1, 160)
            if n < 64:
                op(book, f"mul.wide.{t}", 2 * n, (n, n), lambda a, b: v(a) * v(b))
                op(book, f"mad.wide.{t}", 2 * n, (n, n, 2 * n), lambda a, b, c: v(a) * v(b) + c)
        op(book, f"abs.s{n}", n, (n,), lambda a: abs(signed(a, n)))
        op(book, f"neg.s{n}", n, (n,), lambda a: -a)
    clamp = lambda x: min(max(x, -2 ** 31), 2 ** 31 - 1)
    s = lambda x: signed(x, 32)
    op(book, "add.sat.s32", 32, (32, 32), lambda a, b: clamp(s(a) + s(b)))
    op(book, "sub.sat.s32", 32, (32, 32), lambda a, b: clamp(s(a) - s(b)))
    op(book, "mad.hi.sat.s32", 32, (32,) * 3, lambda a, b, c: clamp((s(a) * s(b) >> 32) + s(c)))
    for sign in "us":
        v = (lambda x: signed(x, 24)) if sign == "s" else (lambda x: x & 0xFFFFFF)
        for half, shift in (("lo", 0), ("hi", 16)):
            op(book, f"mul24.{half}.{sign}32", 32, (32, 32), lambda a, b: v(a) * v(b) >> shift)
            op(book, f"mad24.{half}.{sign}32", 32, (32,) * 3,
               lambda a, b, c: (v(a) * v(b) >> shift) + c)
    op(book, "mad24.hi.sat.s32", 32, (32,) * 3, lambda a, b, c: clamp(
        s(signed(a, 24) * signed(b, 24) >> 16) + s(c)))
    pairs(book)
    dots(book)


def halves(f):
    return lambda *x: (f(*(v & 0xFFFF for v in x)) & 0xFFFF
                       | (f(*(v >> 16 for v in x)) & 0xFFFF) << 16)


def pairs(book):
    h = lambda x: signed(x, 16)
    for sign, v in (("u", lambda x: x), ("s", h)):
        t = f"{sign}16x2"
        op(book, f"add.{t}", 32, (32, 32), halves(lambda a, b: a + b))
        op(book, f"min.{t}", 32, (32, 32), halves(lambda a, b: min(v(a), v(b))))
        op(book, f"max.{t}", 32, (32, 32), halves(lambda a, b: max(v(a), v(b))))
    op(book, "min.relu.s16x2", 32, (32, 32), halves(lambda a, b: max(0, min(h(a), h(b)))))
    op(book, "max.relu.s16x2", 32, (32, 32), halves(lambda a, b: max(0, h(a), h(b))))
    s = lambda x: signed(x, 32)
    op(book, "min.relu.s32", 32, (32, 32), lambda a, b: max(0, min(s(a), s(b))))
    op(book, "max.relu.s32", 32, (32, 32), lambda a, b: max(0, s(a), s(b)))


def dots(book):
    def part(x, k, bits, t):
        x = x >> bits * k & (1 << bits) - 1
        return signed(x, bits) if t == "s32" else x
    for ta in ("u32", "s32"):
        for tb in ("u32", "s32"):
            op(book, f"dp4a.{ta}.{tb}", 32, (32,) * 3, lambda a, b, c: c + sum(
                part(a, k, 8, ta) * part(b, k, 8, tb) for k in range(4)))
            for half, first in (("lo", 0), ("hi", 2)):
                op(book, f"dp2a.{half}.{ta}.{tb}", 32, (32,) * 3, lambda a, b, c: c + sum(
                    part(a, k, 16, ta) * part(b, first + k, 8, tb) for k in range(2)))


# CC.CF behind a subtraction says that nothing was borrowed: __int128's division by NVRTC reads it
# with addc behind subc.cc, and its quotients are right only so (tests/kernels/validate/int128.cu).
def chains(book):
    def chain(spelling, n, sources, f, reads, writes):
        rows = []
        for _ in range(64):
            a, cin = [some_int(n) for _ in range(sources)], random.getrandbits(1)
            full = f(*a, cin if reads else 0)
            out = (int(full >> n != 0) ^ spelling.startswith("sub")) if writes else cin
            rows.append((*a, cin, full, out))
        book.add(spelling, LETTER[n] * (sources + 1), rows, carry=True)
    for n in (32, 64):
        for sign in "us":
            t = f"{sign}{n}"
            v = (lambda x, n=n: signed(x, n)) if sign == "s" else (lambda x: x)
            for cc, writes in (("", False), (".cc", True)):
                if writes:
                    chain(f"add.cc.{t}", n, 2, lambda a, b, c: a + b + c, False, True)
                    chain(f"sub.cc.{t}", n, 2, lambda a, b, c: a - b, False, True)
                chain(f"addc{cc}.{t}", n, 2, lambda a, b, c: a + b + c, True, writes)
                chain(f"subc{cc}.{t}", n, 2, lambda a, b, c: a - b - 1 + c, True, writes)
                for half, shift in (("lo", 0), ("hi", n)):
                    low = (1 << n) - 1
                    f = lambda a, b, c, cin: (v(a) * v(b) >> shift & low) + c + cin
                    if writes:
                        chain(f"mad.{half}.cc.{t}", n, 3, f, False, True)
                    chain(f"madc.{half}{cc}.{t}", n, 3, f, True, writes)


# Bits.
def bits(book):
    for n in (16, 32, 64):
        ones = (1 << n) - 1
        op(book, f"and.b{n}", n, (n, n), lambda a, b: a & b)
        op(book, f"or.b{n}", n, (n, n), lambda a, b: a | b)
        op(book, f"xor.b{n}", n, (n, n), lambda a, b: a ^ b)
        op(book, f"not.b{n}", n, (n,), lambda a: ~a)
        op(book, f"cnot.b{n}", n, (n,), lambda a: int(a == 0))
        amount = lambda: random.choice([0, 1, n - 1, n, n + 1, 31, 32, 63, 64, 255, 2 ** 32 - 1,
                                        random.randrange(n)])
        for spelling, f in ((f"shl.b{n}", lambda a, b: a << b if b < n else 0),
                            (f"shr.b{n}", lambda a, b: a >> b),
                            (f"shr.u{n}", lambda a, b: a >> b),
                            (f"shr.s{n}", lambda a, b: signed(a, n) >> min(b, n))):
            rows = [(a, b, f(a, b)) for a, b in ((some_int(n), amount()) for _ in range(64))]
            book.add(spelling, LETTER[n] * 2 + "w", rows)
        if n == 16:
            continue
        op(book, f"brev.b{n}", n, (n,), lambda a: int(f"{a:0{n}b}"[::-1], 2))
        op(book, f"clz.b{n}", 32, (n,), lambda a: n - a.bit_length())
        op(book, f"popc.b{n}", 32, (n,), lambda a: bin(a).count("1"))
        find = lambda a: a.bit_length() - 1
        sfind = lambda a: find(~signed(a, n) & ones if a >> n - 1 else a)
        op(book, f"bfind.u{n}", 32, (n,), find)
        op(book, f"bfind.s{n}", 32, (n,), sfind)
        shift = lambda p: n - 1 - p if p >= 0 else -1
        op(book, f"bfind.shiftamt.u{n}", 32, (n,), lambda a: shift(find(a)))
        op(book, f"bfind.shiftamt.s{n}", 32, (n,), lambda a: shift(sfind(a)))
        fields(book, n)
    words(book)


def fields(book, n):
    edge = lambda: random.choice([0, 1, n - 1, n, n + 1, 255, 256 if n == 32 else 2, 8, random.randrange(n),
                                  random.getrandbits(32 if n == 32 else 8)])

    def extract(a, pos, length, sign):
        pos, length, msb = pos & 255, length & 255, n - 1
        fill = a >> min(pos + length - 1, msb) & 1 if sign and length else 0
        d = 0
        for i in range(n):
            d |= (a >> pos + i & 1 if i < length and pos + i <= msb else fill) << i
        return d

    def insert(a, b, pos, length):
        pos, length = pos & 255, length & 255
        for i in range(length):
            if pos + i < n:
                b = b & ~(1 << pos + i) | (a >> i & 1) << pos + i
        return b
    for sign in "us":
        rows = []
        for _ in range(128):
            a, p, l = some_int(n), edge(), edge()
            rows.append((a, p, l, extract(a, p, l, sign == "s")))
        book.add(f"bfe.{sign}{n}", LETTER[n] * 2 + "ww", rows)
    rows = []
    for _ in range(128):
        a, b, p, l = some_int(n), some_int(n), edge(), edge()
        rows.append((a, b, p, l, insert(a, b, p, l)))
    book.add(f"bfi.b{n}", LETTER[n] * 3 + "ww", rows)


def words(book):
    def lop(a, b, c, table):
        return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i
                   for i in range(32))
    for table in range(0, 256, 5):  # the table is an immediate: one for all lanes
        rows = [(*a, table, lop(*a, table)) for a in
                ([random.getrandbits(32) for _ in range(3)] for _ in range(2))]
        book.add("lop3.b32", "wwwww", rows)
    amount = lambda: random.choice([0, 1, 31, 32, 33, 63, 64, 2 ** 32 - 1, random.randrange(32)])
    for side in "lr":
        for mode in ("wrap", "clamp"):
            rows = []
            for _ in range(64):
                a, b, c = random.getrandbits(32), random.getrandbits(32), amount()
                n = c & 31 if mode == "wrap" else min(c, 32)
                whole = b << 32 | a
                rows.append((a, b, c, whole << n >> 32 if side == "l" else whole >> n))
            book.add(f"shf.{side}.{mode}.b32", "wwww", rows)
    permutes(book)
    masks(book)


def permutes(book):
    # Bytes of the result, highest first, for the control 0 to 3 (PTX ISA, prmt).
    modes = {"f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"),
             "rc8": ("0000", "1111", "2222", "3333"), "ecl": ("3210", "3211", "3222", "3333"),
             "ecr": ("0000", "1110", "2210", "3210"), "rc16": ("1010", "3232", "1010", "3232")}

    def permute(a, b, selectors):
        source = [(b << 32 | a) >> 8 * k & 255 for k in range(8)]
        d = 0
        for k in range(4):
            s = selectors >> 4 * k & 15
            byte = source[s & 7]
            d |= ((255 if byte & 128 else 0) if s & 8 else byte) << 8 * k
        return d
    rows = []
    for _ in range(128):
        a, b, c = (random.getrandbits(32) for _ in range(3))
        rows.append((a, b, c, permute(a, b, c)))
    book.add("prmt.b32", "wwww", rows)
    for mode, table in modes.items():
        rows = []
        for k in range(32):
            a, b, c = random.getrandbits(32), random.getrandbits(32), random.getrandbits(32)
            rows.append((a, b, c, permute(a, b, int(table[c & 3], 16))))
        book.add(f"prmt.b32.{mode}", "wwww", rows)


def masks(book):
    def bmsk(a, b, clamp):
        if clamp:
            a, b = min(a, 32), min(b, 32)
        else:
            a, b = a & 31, b & 31
        return ((1 << b) - 1) << a

    def szext(a, b, clamp, sign):
        b = min(b, 32) if clamp else b & 31
        low = a & (1 << b) - 1
        return signed(low, b) if sign and b else low
    amount = lambda: random.choice([0, 1, 5, 31, 32, 33, 64, 2 ** 32 - 1, random.randrange(33)])
    for mode in ("wrap", "clamp"):
        rows = [(a, b, bmsk(a, b, mode == "clamp")) for a, b in
                ((amount(), amount()) for _ in range(64))]
        book.add(f"bmsk.{mode}.b32", "www", rows)
        for sign in "us":
            rows = [(a, b, szext(a, b, mode == "clamp", sign == "s")) for a, b in
                    ((some_int(32), amount()) for _ in range(64))]
            book.add(f"szext.{mode}.{sign}32", "www", rows)

    def fns(mask, base, offset):
        if offset == 0:
            return base if mask >> base & 1 else -1
        order = range(base, 32) if offset > 0 else range(base, -1, -1)
        found = [k for k in order if mask >> k & 1]
        return found[abs(offset) - 1] if len(found) >= abs(offset) else -1
    rows = []
    for _ in range(128):
        mask, base, offset = some_int(32), random.randrange(32), random.randint(-8, 8)
        rows.append((mask, base, offset, fns(mask, base, offset)))
    book.add("fns.b32", "wwww", rows)


# Floats.
ROUNDINGS = ("rn", "rz", "rm", "rp")


def float_rows(f, sources, compute, count, ftz=False, sat=False, close=None):
    rows = []
    for k in range(count):
        a = [some_float(f) for _ in range(sources)]
        if close and k % 2:
            a = close(a)
        x = [decode(flush(v, f) if ftz else v, f) for v in a]
        r = compute(*x)
        r = flush(r, f) if ftz else r
        rows.append((*a, ref.saturate(r, f) if sat else r))
    return rows


def near_cancellation(f):
    """c = -(a b) rounded, and such that the sum has a long tail."""
    def make(a):
        p = encode(ref.mul(decode(a[0], f), decode(a[1], f)), f)
        choice = random.randrange(3)
        c = p ^ f.sign if choice == 0 else p if choice == 1 else a[2]
        if choice == 2 and p & f.infinity not in (0, f.infinity):
            shift = min(f.mantissa + random.randint(0, 3), (p & f.infinity) // (1 << f.mantissa))
            c = (p & f.infinity) - (shift << f.mantissa) | random.getrandbits(1) * f.sign
        return [a[0], a[1], c]
    return make


def floats(book):
    for name, f, forms in (("f32", F32, [(t, s) for t in (0, 1) for s in (0, 1)]),
                           ("f64", F64, [(0, 0)])):
        letter = LETTER[f.bits]
        for rounding in (None,) + ROUNDINGS:
            mode = rounding or "rn"
            for ftz, sat in forms:
                tail = (f".{rounding}" if rounding else "") + ".ftz" * ftz + ".sat" * sat
                count = 48 if ftz or sat else 96
                for word, compute in (
                        ("add", lambda a, b: encode(ref.add(a, b, mode), f, mode)),
                        ("sub", lambda a, b: encode(ref.add(a, ref.negate(b), mode), f, mode)),
                        ("mul", lambda a, b: encode(ref.mul(a, b), f, mode))):
                    book.add(f"{word}{tail}.{name}", letter * 3,
                             float_rows(f, 2, compute, count, ftz, sat))
                if not rounding:
                    continue
                rows = float_rows(f, 3, lambda a, b, c: encode(ref.fma(a, b, c, mode), f, mode),
                                  count, ftz, sat, near_cancellation(f))
                book.add(f"fma{tail}.{name}", letter * 4, rows)
                if not ftz and not sat:
                    book.add(f"mad{tail}.{name}", letter * 4, rows[:32])
                if sat:
                    continue
                for word, sources, compute in (
                        ("div", 2, lambda a, b: encode(ref.div(a, b), f, mode)),
                        ("rcp", 1, lambda a: encode(ref.div(of(ref.Fraction(1)), a), f, mode)),
                        ("sqrt", 1, lambda a: encode(ref.sqrt(a), f, mode))):
                    book.add(f"{word}{tail}.{name}", letter * (sources + 1),
                             float_rows(f, sources, compute, count, ftz))
    signs(book)


def signs(book):
    for word, least in (("min", True), ("max", False)):
        for ftz in (0, 1):
            for nan in (0, 1):
                for xorsign in (0, 1):
                    tail = ".ftz" * ftz + ".NaN" * nan + ".xorsign.abs" * xorsign
                    rows = []
                    for _ in range(64):
                        a, b = some_float(F32), some_float(F32)
                        x, y = (flush(a, F32), flush(b, F32)) if ftz else (a, b)
                        rows.append((a, b, ref.extreme(x, y, F32, least, nan, xorsign)))
                    book.add(f"{word}{tail}.f32", "www", rows)
        rows = [(a, b, ref.extreme(a, b, F64, least)) for a, b in
                ((some_float(F64), some_float(F64)) for _ in range(96))]
        book.add(f"{word}.f64", "ddd", rows)
    for name, f in (("f32", F32), ("f64", F64)):
        letter = LETTER[f.bits]
        rows = [(a, b, a & f.sign | b & ~f.sign) for a, b in
                ((some_float(f), some_float(f)) for _ in range(32))]
        book.add(f"copysign.{name}", letter * 3, rows)
        tests = {"finite": lambda e, m: e != f.top, "infinite": lambda e, m: e == f.top and not m,
                 "number": lambda e, m: e != f.top or not m,
                 "notanumber": lambda e, m: e == f.top and m != 0,
                 "normal": lambda e, m: 0 < e < f.top or (e == 0 and m == 0),
                 "subnormal": lambda e, m: e == 0 and m != 0}
        for test, holds in tests.items():
            rows = []
            for a in float_pool(f) + [some_float(f) for _ in range(24)]:
                e, m = a >> f.mantissa & f.top, a & (1 << f.mantissa) - 1
                rows.append((a, int(holds(e, m))))
            book.add(f"testp.{test}.{name}", "p" + letter, rows)
    pool = float_pool(F32)
    for ftz in (0, 1):
        fl = (lambda v: flush(v, F32)) if ftz else (lambda v: v)
        book.add("abs" + ".ftz" * ftz + ".f32", "ww",
                 [(a, fl(a & 0x7FFFFFFF)) for a in pool])
        book.add("neg" + ".ftz" * ftz + ".f32", "ww",
                 [(a, fl(a ^ 0x80000000)) for a in pool])
    pool = float_pool(F64)
    book.add("abs.f64", "dd", [(a, a & ~F64.sign) for a in pool])
    book.add("neg.f64", "dd", [(a, a ^ F64.sign) for a in pool])


def half_row(f, sources, compute):
    a = [some_float(f) for _ in range(sources)]
    return a, compute(*a)


def halves_book(book):
    for name, f in (("f16", F16), ("bf16", BF16)):
        wrap = lambda g, ftz, end: (lambda *a: end(flush_if(encode(g(
            *(decode(flush(v, f) if ftz else v, f) for v in a)), f), f, ftz)))
        flush_if = lambda r, f, ftz: flush(r, f) if ftz else r
        sat = lambda r: ref.saturate(r, f)
        keep = lambda r: r
        list_of = []
        forms = [("", 0, keep)]
        if name == "f16":
            forms += [(".ftz", 1, keep), (".sat", 0, sat), (".ftz.sat", 1, sat)]
        for tail, ftz, end in forms:
            for word, g in (("add", ref.add), ("sub", lambda a, b: ref.add(a, ref.negate(b))),
                            ("mul", ref.mul)):
                list_of.append((word + tail, 2, wrap(g, ftz, end)))
                list_of.append((word + ".rn" + tail, 2, wrap(g, ftz, end)))
            list_of.append(("fma.rn" + tail, 3, wrap(ref.fma, ftz, end)))
        relu = lambda r: ref.relu(r, f)
        list_of.append(("fma.rn.relu", 3, wrap(ref.fma, 0, relu)))
        if name == "f16":
            list_of.append(("fma.rn.ftz.relu", 3, wrap(ref.fma, 1, relu)))
        for word, least in (("min", True), ("max", False)):
            for ftz in (0, 1) if name == "f16" else (0,):
                for nan in (0, 1):
                    for x in (0, 1):
                        tail = ".ftz" * ftz + ".NaN" * nan + ".xorsign.abs" * x
                        g = lambda a, b, least=least, ftz=ftz, nan=nan, x=x: ref.extreme(
                            flush_if(a, f, ftz), flush_if(b, f, ftz), f, least, nan, x)
                        list_of.append((word + tail, 2, g))
        canon = lambda v: f.nan if decode(v, f) is NAN else v
        for ftz in (0, 1) if name == "f16" else (0,):
            list_of.append(("neg" + ".ftz" * ftz, 1,
                            lambda a, ftz=ftz: canon(flush_if(a, f, ftz) ^ f.sign)))
            list_of.append(("abs" + ".ftz" * ftz, 1,
                            lambda a, ftz=ftz: canon(flush_if(a, f, ftz) & ~f.sign)))
        for word, sources, g in list_of:
            close = near_cancellation(f) if sources == 3 else None
            rows = []
            for k in range(128 if word.startswith("fma.rn") else 64):
                a = [some_float(f) for _ in range(sources)]
                a = close(a) if close and k % 2 else a
                rows.append((*a, g(*a)))
            book.add(f"{word}.{name}", "h" * (sources + 1), rows)
            if word in ("neg", "abs"):  # of pairs ptxas makes plain logic
                rows = [(a, a ^ f.sign if word == "neg" else a & ~f.sign) for a, _ in rows]
            rows2 = []
            for low, high in zip(rows[::2], rows[1::2]):
                rows2.append(tuple(x | y << 16 for x, y in zip(low, high)))
            book.add(f"{word}.{name}x2", "w" * (sources + 1), rows2)
    state = random.getstate()
    filled_book(book)
    random.setstate(state)


def filled_book(book):
    """fma.oob: 0 where a factor is what a tensor copy fills with, which is 0x7ff7 or 0xfff7."""
    for name, f in (("f16", F16), ("bf16", BF16)):
        for tail, end in (("", lambda r: r), (".relu", lambda r: ref.relu(r, f))):
            def g(a, b, c, f=f, end=end):
                if a & 0x7FFF == 0x7FF7 or b & 0x7FFF == 0x7FF7:
                    return 0
                return end(encode(ref.fma(*(decode(v, f) for v in (a, b, c))), f))
            rows = []
            for k in range(64):
                a = [some_float(f) for _ in range(3)]
                if k % 2:
                    a[k // 2 % 3] = (0x7FF7, 0xFFF7, 0x7FFF, 0x7FF6)[k // 6 % 4]
                rows.append((*a, g(*a)))
            book.add(f"fma.rn.oob{tail}.{name}", "hhhh", rows)
            rows2 = [tuple(x | y << 16 for x, y in zip(*pair)) for pair in zip(rows[::2], rows[1::2])]
            book.add(f"fma.rn.oob{tail}.{name}x2", "wwww", rows2)


# Special functions: the correctly rounded value.
def special(book):
    def rows_of(pool, f, ftz, g):
        rows = []
        for a in pool:
            r = encode(g(decode(flush(a, f) if ftz else a, f)), f)
            rows.append((a, flush(r, f) if ftz else r))
        return rows

    def arguments(count, low, high, f):
        """Random numbers with exponents between."""
        return [random.getrandbits(1) * f.sign | (f.bias + random.randint(low, high)) << f.mantissa
                | random.getrandbits(f.mantissa) for _ in range(count)]
    functions = {"ex2": (ref.ex2, (-24, 7)), "lg2": (ref.lg2, (-126, 127)),
                 "sin": (lambda a: ref.sin_cos(a, False), (-20, 30)),
                 "cos": (lambda a: ref.sin_cos(a, True), (-20, 30)),
                 "tanh": (ref.tanh, (-20, 4)), "rsqrt": (ref.rsqrt, (-126, 127)),
                 "sqrt": (ref.sqrt, (-126, 127)),
                 "rcp": (lambda a: ref.div(of(ref.Fraction(1)), a), (-126, 127))}
    limit = 30
    for word, (g, (low, high)) in functions.items():
        pool = [v for v in float_pool(F32)]
        if word in ("sin", "cos"):
            pool = [v for v in pool if (v >> 23 & 255) < 127 + limit or (v >> 23 & 255) == 255]
        pool += arguments(200, low, high, F32)
        book.add(f"{word}.approx.f32", "ww", rows_of(pool, F32, 0, g))
        if word != "tanh":
            book.add(f"{word}.approx.ftz.f32", "ww", rows_of(pool, F32, 1, g))
    for name, f, tail in (("f16", F16, ""), ("bf16", BF16, ".ftz")):
        pool = float_pool(f) + arguments(160, -10, 4, f)
        for word, g, t in (("ex2", ref.ex2, tail), ("tanh", ref.tanh, "")):
            rows = rows_of(pool, f, bool(t), g)
            book.add(f"{word}.approx{t}.{name}", "hh", rows)
            book.add(f"{word}.approx{t}.{name}x2", "ww",
                     [tuple(x | y << 16 for x, y in zip(p, q)) for p, q in zip(rows[::2], rows[1::2])])
    divisions(book)


def divisions(book):
    for form in ("approx", "full"):
        for ftz in (0, 1):
            rows = []
            for _ in range(160):
                a, b = some_float(F32), some_float(F32)
                if random.random() < 0.1:
                    b = 0x7E800001 + random.getrandbits(20)
                x, y = (flush(a, F32), flush(b, F32)) if ftz else (a, b)
                r = encode(ref.div(decode(x, F32), decode(y, F32)), F32)
                huge = 0x7E800000 < (y & 0x7FFFFFFF) < 0x7F800000
                if form == "approx" and huge and decode(x, F32) is not NAN:
                    r = (x ^ y) & F32.sign if x & 0x7FFFFFFF < 0x7F800000 else F32.nan
                rows.append((a, b, flush(r, F32) if ftz else r))
            book.add(f"div.{form}{'.ftz' * ftz}.f32", "www", rows)


# Conversions.
FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def convert_pool(f, bits, sign):
    """Around the ends of an integer type, and ties."""
    edges = [(1 << bits) - 1, 1 << bits, 1 << bits - 1, (1 << bits - 1) - 1]
    values = [ref.Fraction(2 * k + 1, 2) for k in range(0, 6)]
    values += [e + ref.Fraction(d, 4) for e in edges for d in (-5, -4, -2, -1, 0, 1, 2, 3)]
    return [encode(ref.Number(n, abs(v)), f, m) for v in values for n in (False, True)
            for m in ("rz",)]


def conversions(book):
    kinds = [(s, n) for s in "us" for n in (8, 16, 32, 64)]
    for s, n in kinds:  # between integers
        for s2, n2 in kinds:
            if (s, n) == (s2, n2):
                continue
            v = lambda x: signed(x, n2) if s2 == "s" else x
            low, high = (-(1 << n - 1), (1 << n - 1) - 1) if s == "s" else (0, (1 << n) - 1)
            op(book, f"cvt.{s}{n}.{s2}{n2}", n, (n2,), v, 16)
            op(book, f"cvt.sat.{s}{n}.{s2}{n2}", n, (n2,), lambda a: min(max(v(a), low), high), 32)
    for name, f in FLOATS.items():
        letter = LETTER[f.bits]
        for s, n in kinds:
            for word, mode in INTEGRAL.items():
                for ftz in (0, 1) if name == "f32" else (0,):
                    pool = random.sample(convert_pool(f, n, s), 24) + random.sample(float_pool(f), 16)
                    rows = [(a, ref.to_integer(decode(flush(a, f) if ftz else a, f), n, s == "s",
                                               mode, name == "f64")) for a in pool]
                    book.add(f"cvt.{word}{'.ftz' * ftz}.{s}{n}.{name}", LETTER[n] + letter, rows)
            for mode in ROUNDINGS:
                rows = []
                for _ in range(24):
                    a = some_int(n)
                    if random.random() < 0.4 and n > f.mantissa:  # long ones, close to ties
                        a = (random.getrandbits(f.mantissa + 2) << n) >> f.mantissa + 3
                        a = (a + random.randint(-1, 1)) & (1 << n) - 1
                    v = signed(a, n) if s == "s" else a
                    rows.append((a, encode(of(ref.Fraction(v)), f, mode)))
                book.add(f"cvt.{mode}.{name}.{s}{n}", letter + LETTER[n], rows)
    between_floats(book)
    fp8(book)
    packs(book)


def tie_pool(f, to):
    """Numbers of f next to the numbers of `to` and the middles between them."""
    pool = []
    for _ in range(40):
        base = random.getrandbits(to.bits) if random.random() < 0.5 else some_float(to)
        n = decode(base, to)
        if n is NAN or n.size is None:
            continue
        ulp = ref.Fraction(2) ** (max(ref.exponent_of(n.size), 1 - to.bias) - to.mantissa
                                  if n.size else 1 - to.bias - to.mantissa)
        x = ref.Number(n.negative, n.size + ulp * random.choice(
            [ref.Fraction(1, 2), ref.Fraction(1, 4), ref.Fraction(0), ref.Fraction(3, 4)]))
        bits = encode(x, f)
        near = bits + random.choice([-1, 0, 0, 1])
        pool.append(near if 0 <= near < 1 << f.bits else bits)
    return pool


def convert(bits, f, to, mode):
    """Between f32 and f64 a NaN keeps sign and upper payload, and becomes quiet."""
    n = decode(bits, f)
    if n is not NAN:
        return encode(n, to, mode)
    if f is F16 or f is BF16 or to is F16 or to is BF16:
        return 0x7FFFFFFFE0000000 if to is F64 else to.nan  # of 0x7fffffff
    payload = bits & (1 << f.mantissa) - 1 | 1 << f.mantissa - 1
    shift = to.mantissa - f.mantissa
    payload = payload << shift if shift > 0 else payload >> -shift
    return (to.sign if bits & f.sign else 0) | to.infinity | payload


def between_floats(book):
    for to_name, to in FLOATS.items():
        for name, f in FLOATS.items():
            letters = LETTER[to.bits] + LETTER[f.bits]
            pool = tie_pool(f, to) + random.sample(float_pool(f), 24)
            widens = to.mantissa >= f.mantissa and to.exponent >= f.exponent
            if name == to_name:
                for word, mode in INTEGRAL.items():
                    for sat in (0, 1):
                        rows = []
                        for a in random.sample(pool, 24) + convert_pool(f, 8, "s")[:16]:
                            n = decode(a, f)
                            if n is not NAN and n.size is not None:
                                n = ref.Number(n.negative, ref.Fraction(
                                    ref.round_whole(n.size, mode, n.negative)))
                            r = encode(n, f)
                            rows.append((a, ref.saturate(r, f) if sat else r))
                        book.add(f"cvt.{word}{'.sat' * sat}.{name}.{name}", letters, rows)
                continue
            for mode in (None,) if widens else ROUNDINGS:
                tail = f".{mode}" if mode else ""
                for ftz in (0, 1) if "f32" in (name, to_name) and "bf16" not in (name, to_name) else (0,):
                    for sat in (0, 1) if "bf16" not in (name, to_name) else (0,):
                        rows = []
                        for a in pool:
                            x = flush(a, f) if ftz and name == "f32" else a
                            r = convert(x, f, to, mode or "rn")
                            r = flush(r, to) if ftz and to_name == "f32" else r
                            rows.append((a, ref.saturate(r, to) if sat else r))
                        book.add(f"cvt{tail}{'.ftz' * ftz}{'.sat' * sat}.{to_name}.{name}", letters, rows)
    for to_name, to in (("f16", F16), ("bf16", BF16)):
        pool = tie_pool(F32, to) + float_pool(F32)
        for mode in ("rn", "rz"):
            for relu in (0, 1):
                for fin in (0, 1):
                    tail = f"cvt.{mode}" + ".relu" * relu + ".satfinite" * fin

                    def one(a):
                        r = encode(decode(a, F32), to, mode, fin)
                        return ref.relu(r, to) if relu else r
                    book.add(f"{tail}.{to_name}.f32", "hw", [(a, one(a)) for a in pool])
                    rows = [(a, b, one(a) << 16 | one(b)) for a, b in zip(pool, pool[1:])]
                    book.add(f"{tail}.{to_name}x2.f32", "www", rows)
    pool = tie_pool(F32, ref.TF32) + float_pool(F32)
    for mode in ("rn", "rz", "rna"):
        for relu in (0, 1) if mode != "rna" else (0,):
            for fin in (0, 1):
                rows = []
                for a in pool:
                    n = decode(a, F32)
                    r = F32.nan if n is NAN else encode(n, ref.TF32, mode, fin) << 13
                    if n is NAN and mode == "rna" and not fin:  # as ptxas has it
                        r = a & ~0x1FFF
                    rows.append((a, 0 if relu and r >> 31 else r))
                book.add(f"cvt.{mode}" + ".relu" * relu + ".satfinite" * fin + ".tf32.f32", "ww", rows)


def fp8(book):
    for name, e4m3 in (("e4m3", True), ("e5m2", False)):
        for relu in (0, 1):
            t = ".relu" * relu

            def one(n):
                if relu and n is not NAN and n.negative:
                    return 0
                return ref.fp8_encode(n, e4m3)
            values = sorted(set(ref.fp8_table(e4m3).values()))
            middles = [(p + q) / 2 for p, q in zip(values, values[1:])]
            pool = [encode(of(v), F32) for v in values + middles]
            pool += [v + d for v in pool for d in (-1, 1) if v] + float_pool(F32)
            pool += [v | F32.sign for v in pool[::3]]
            codes = [one(decode(a, F32)) for a in pool]
            rows = [(a, b, x << 8 | y) for a, b, x, y in zip(pool, pool[::-1], codes, codes[::-1])]
            book.add(f"cvt.rn.satfinite{t}.{name}x2.f32", "hww", rows)
            pool = [encode(of(v), F16) for v in values + middles] + float_pool(F16)
            codes = [one(decode(a, F16)) for a in pool]
            rows = [(a << 16 | b, x << 8 | y)
                    for a, b, x, y in zip(pool, pool[::-1], codes, codes[::-1])]
            book.add(f"cvt.rn.satfinite{t}.{name}x2.f16x2", "hw", rows)
            halves_of = []
            for code in range(256):
                h = encode(ref.fp8_decode(code, e4m3), F16)
                halves_of.append(ref.relu(h, F16) if relu else h)
            rows = [(c << 8 | 255 - c, halves_of[c] << 16 | halves_of[255 - c]) for c in range(256)]
            book.add(f"cvt.rn{t}.f16x2.{name}x2", "wh", rows)


def packs(book):
    for t, n in (("u16", 16), ("s16", 16), ("u8", 8), ("s8", 8), ("u4", 4), ("s4", 4),
                 ("u2", 2), ("s2", 2)):
        low, high = (-(1 << n - 1), (1 << n - 1) - 1) if t[0] == "s" else (0, (1 << n) - 1)
        c = lambda x: min(max(signed(x, 32), low), high) & (1 << n) - 1
        if n == 16:
            op(book, f"cvt.pack.sat.{t}.s32", 32, (32, 32), lambda a, b: c(a) << 16 | c(b))
        else:
            op(book, f"cvt.pack.sat.{t}.s32.b32", 32, (32,) * 3,
               lambda a, b, d: d << 2 * n | c(a) << n | c(b))


# Comparisons.
ORDERED = {"eq": lambda o: o == 0, "ne": lambda o: o != 0, "lt": lambda o: o < 0,
           "le": lambda o: o <= 0, "gt": lambda o: o > 0, "ge": lambda o: o >= 0}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def compare_float(word, a, b, f):
    x, y = decode(a, f), decode(b, f)
    nan = x is NAN or y is NAN
    if word in ("num", "nan"):
        return nan == (word == "nan")
    unordered = word[-1] == "u"
    if nan:
        return unordered
    huge = ref.Fraction(2) ** 5000
    p, q = ((huge if n.size is None else n.size) * (-1 if n.negative else 1) for n in (x, y))
    return ORDERED[word[:2]]((p > q) - (p < q))


FLOAT_WORDS = list(ORDERED) + [w + "u" for w in ORDERED] + ["num", "nan"]
COMBINE = {"and": lambda p, c: p & c, "or": lambda p, c: p | c, "xor": lambda p, c: p ^ c}


def comparisons(book):
    def setp(word, t, letter, values, holds, tail=""):
        rows, combined = [], {k: [] for k in COMBINE}
        for a, b in values:
            p = int(holds(a, b))
            rows.append((a, b, p, 1 - p))
            for k, f in COMBINE.items():
                c = random.getrandbits(1)
                combined[k].append((a, b, c, f(p, c), f(1 - p, c)))
        book.add(f"setp.{word}{tail}.{t}", "p" + letter * 2, rows, pair=True)
        k = random.choice(list(COMBINE))
        book.add(f"setp.{word}.{k}{tail}.{t}", "p" + letter * 2 + "p", combined[k], pair=True)
        return rows
    for n in (16, 32, 64):
        letter = LETTER[n]
        for s in "usb":
            v = (lambda x: signed(x, n)) if s == "s" else (lambda x: x)
            words = {w: w for w in (ORDERED if s != "b" else ("eq", "ne"))}
            words.update(UNSIGNED if s == "u" else {})
            for word, same in words.items():
                values = [(some_int(n), some_int(n)) for _ in range(24)]
                values += [(a, a) for a in (some_int(n) for _ in range(8))]
                rows = setp(word, f"{s}{n}", letter, values,
                            lambda a, b: ORDERED[same]((v(a) > v(b)) - (v(a) < v(b))))
                for d, one, dl in (("u32", 2 ** 32 - 1, "w"), ("f32", 0x3F800000, "w")):
                    book.add(f"set.{word}.{d}.{s}{n}", dl + letter * 2,
                             [(a, b, one * p) for a, b, p, _ in rows])
    for name, f in FLOATS.items():
        for ftz in (0, 1) if name in ("f16", "f32") else (0,):
            for word in FLOAT_WORDS:
                values = [(some_float(f), some_float(f)) for _ in range(24)]
                values += [(a, a) for a in (some_float(f) for _ in range(8))]
                fl = (lambda a: flush(a, f)) if ftz else (lambda a: a)
                rows = setp(word, name, LETTER[f.bits], values,
                            lambda a, b: compare_float(word, fl(a), fl(b), f), ".ftz" * ftz)
                if f.bits > 16:
                    book.add(f"set.{word}{'.ftz' * ftz}.s32.{name}", "w" + LETTER[f.bits] * 2,
                             [(a, b, p * (2 ** 32 - 1)) for a, b, p, _ in rows])
                    continue
                one = f.bias << f.mantissa
                book.add(f"set.{word}{'.ftz' * ftz}.{name}.{name}", "hhh",
                         [(a, b, p * one) for a, b, p, _ in rows])
                two = list(zip(rows[::2], rows[1::2]))
                book.add(f"setp.{word}{'.ftz' * ftz}.{name}x2", "pww",
                         [(x[0] | y[0] << 16, x[1] | y[1] << 16, x[2], y[2]) for x, y in two],
                         pair=True)
                book.add(f"set.{word}{'.ftz' * ftz}.{name}x2.{name}x2", "www",
                         [(x[0] | y[0] << 16, x[1] | y[1] << 16,
                           x[2] * one | y[2] * one << 16) for x, y in two])
    choices(book)


def choices(book):
    for n, types in ((16, "b16 u16 s16"), (32, "b32 u32 s32 f32"), (64, "b64 u64 s64 f64")):
        letter = LETTER[n]
        for t in types.split():
            book.add(f"mov.{t}", letter * 2, [(a, a) for a in (some_int(n) for _ in range(8))])
            rows = []
            for _ in range(32):
                a, b, p = some_int(n), some_int(n), random.getrandbits(1)
                rows.append((a, b, p, a if p else b))
            book.add(f"selp.{t}", letter * 3 + "p", rows)
            rows = [(a, b, c, a if not c >> 31 else b) for a, b, c in
                    ((some_int(n), some_int(n), some_int(32)) for _ in range(16))]
            book.add(f"slct.{t}.s32", letter * 3 + "w", rows)
            for ftz in (0, 1):
                rows = []
                for _ in range(32):
                    a, b, c = some_int(n), some_int(n), some_float(F32)
                    x = decode(flush(c, F32) if ftz else c, F32)
                    first = x is not NAN and (x.size == 0 or not x.negative)
                    rows.append((a, b, c, a if first else b))
                book.add(f"slct{'.ftz' * ftz}.{t}.f32", letter * 3 + "w", rows)
    both = [(a, b) for a in (0, 1) for b in (0, 1)] * 8
    book.add("and.pred", "ppp", [(a, b, a & b) for a, b in both])
    book.add("or.pred", "ppp", [(a, b, a | b) for a, b in both])
    book.add("xor.pred", "ppp", [(a, b, a ^ b) for a, b in both])
    book.add("not.pred", "pp", [(a, 1 - a) for a, _ in both])
    book.add("mov.pred", "pp", [(a, a) for a, _ in both])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../unit/gpu/data")
    for name, makers in (("alu_integer.bin", (arithmetic, chains, bits)),
                         ("alu_float.bin", (floats,)), ("alu_half.bin", (halves_book,)),
                         ("alu_special.bin", (special,)), ("alu_convert.bin", (conversions,)),
                         ("alu_select.bin", (comparisons,))):
        book = Book()
        for make in makers:
            make(book)
        write(book, folder, name)


if __name__ == "__main__":
    main()
