#!/usr/bin/env python3
"""Write matrix_cases.txt: what matrix instructions give, for test_ptx_matrix.c.

usage: make_matrix_vectors.py CUTE > ../unit/gpu/data/matrix_cases.txt

CUTE is the folder include/cute of CUTLASS 4.2.0 (in the package nvidia-cutlass, which brings
pycute too; numpy is needed as well). Which thread holds which element is taken from CuTe's
MMA_Traits, the places of wgmma's operands from its canonical layouts and swizzles; products and
sums are numpy's in binary64 (exact for the values chosen here) or, for f64, exact rational
numbers rounded by each step. Inputs come from a generator that the test repeats, so that a line
holds only the instruction, what its words are, and a checksum of the resulting words.

A line: m INSTRUCTION|registers d a b c|kinds of words a b c|seed|checksum
        w INSTRUCTION|registers d a c|kinds a b c|operands behind|descriptors a b|seed|checksum
Behind a sparse INSTRUCTION stand # and the selector; its metadata are the last word of each thread.
"""
import fractions
import itertools
import pathlib
import re
import sys

import numpy as np
import pycute

# --- layouts, from the headers ---


def parse(text, names):
    """Layout<Shape<…>,Stride<…>> as a pair of nested tuples."""
    tokens = re.findall(r"[A-Za-z_:0-9]+|[<>,]", text)
    at = 0

    def item():
        nonlocal at
        word = tokens[at]
        at += 1
        if re.fullmatch(r"_\d+", word):
            return int(word[1:])
        if re.fullmatch(r"Int", word):
            at += 1
            value = item()
            at += 1
            return value
        if word in names:
            return names[word]
        if word.isdigit():
            return int(word)
        if at < len(tokens) and tokens[at] == "<":
            at += 1
            inner = []
            while tokens[at] != ">":
                if tokens[at] == ",":
                    at += 1
                inner.append(item())
            at += 1
            if word == "Layout":
                return ("layout", *inner)
            return tuple(inner)
        raise ValueError(f"{word} in {text}")

    return item()


def unwrap(x):
    """CUTLASS 4.2.0 has one pair of brackets too many in SM80_16x8x128_S32U1U1S32_TN."""
    while isinstance(x, tuple) and len(x) == 1:
        x = x[0]
    return tuple(map(unwrap, x)) if isinstance(x, tuple) else x


def layout(text, names):
    what = parse(text, names)
    if what[0] != "layout":
        raise ValueError(text)
    return pycute.Layout(what[1], what[2]) if len(what) > 2 else pycute.Layout(what[1])


def traits(folder):
    """{instruction: (m, n, k, layouts of a, b, c, threads)}"""
    raw, names = {}, {}
    for header in ("sm70", "sm75", "sm80", "sm89", "sm90"):
        text = (folder / f"atom/mma_traits_{header}.hpp").read_text()
        text = re.sub(r"//[^\n]*", "", text)
        for name, body in re.findall(r"using (SM\w+_\w+)\s*=\s*(Layout<.*?);", text, re.S):
            names[name] = parse(body, names)
        for name, base, body in re.findall(
                r"struct MMA_Traits<(\w+)>\s*(?::\s*MMA_Traits<(\w+)>)?\s*\{(.*?)\};", text, re.S):
            fields = dict(re.findall(r"using (\w+)\s*=\s*(.*?);", body, re.S))
            raw[name] = (base, fields)

    def field(name, which):
        base, fields = raw[name]
        return fields[which] if which in fields else field(base, which)

    out = {}
    for name in raw:
        try:
            m, n, k = parse(field(name, "Shape_MNK"), names)
            maps = [parse(field(name, w), names) for w in ("ALayout", "BLayout", "CLayout", "ThrID")]
        except (KeyError, ValueError):
            continue
        maps = [pycute.Layout(*map(unwrap, x[1:])) for x in maps]
        if re.match(r"SM80_16x8x32_S32[SU]4", name):
            # 4.2.0 names elements of b twice; the ISA: row 8 (lane % 4) + i, column lane / 4
            maps[1] = pycute.Layout(((4, 8), 8), ((64, 1), 8))
        for which, size in zip(maps, (m * k, n * k, m * n)):
            if sorted(map(which, range(size))) != list(range(size)):
                raise ValueError(f"{name}: {which} is no arrangement")
        out[name] = (m, n, k, *maps)
    return out


# --- values ---

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f64": 64, "s8": 8, "u8": 8,
        "s4": 4, "u4": 4, "b1": 1, "f32": 32, "s32": 32}


class Words:
    """xorshift32, as in the test."""

    def __init__(self, seed):
        self.state = seed

    def word(self):
        x = self.state
        x ^= x << 13 & 0xffffffff
        x ^= x >> 17
        x ^= x << 5 & 0xffffffff
        self.state = x
        return x

    def take(self, kind):
        """A word of elements that are neither infinite nor NaN nor far apart."""
        x = self.word()
        if kind == "f16":
            return sum(((h & 0x8000) | ((h >> 10 & 7) + 12) << 10 | (h & 0x3ff)) << s
                       for h, s in ((x & 0xffff, 0), (x >> 16, 16)))
        if kind == "bf16":
            return sum(((h & 0x8000) | ((h >> 7 & 7) + 124) << 7 | (h & 0x7f)) << s
                       for h, s in ((x & 0xffff, 0), (x >> 16, 16)))
        if kind in ("tf32", "f32"):
            return (x & 0x80000000) | ((x >> 23 & 7) + 124) << 23 | (x & 0x7fffff)
        if kind in ("e4m3", "e5m2"):
            return sum((b & ~0x40 if b & 0x7c == 0x7c else b) << s
                       for s in (0, 8, 16, 24) for b in [x >> s & 0xff])
        if kind == "f64":
            high = (x & 0x80000000) | ((x >> 20 & 7) + 1020) << 20 | (x & 0xfffff)
            return high << 32 | self.word()
        return x


def value(kind, bits):
    if kind == "f16":
        return float(np.uint16(bits).view(np.float16))
    if kind == "bf16":
        return float(np.uint32(bits << 16).view(np.float32))
    if kind == "tf32":
        return float(np.uint32(bits & 0xffffe000).view(np.float32))
    if kind == "f32":
        return float(np.uint32(bits).view(np.float32))
    if kind == "f64":
        return float(np.uint64(bits).view(np.float64))
    if kind == "e5m2":
        return float(np.uint16(bits << 8).view(np.float16))
    if kind == "e4m3":
        e, f = bits >> 3 & 15, bits & 7
        size = f * 2.0**-9 if e == 0 else (8 + f) * 2.0**(e - 10)
        return -size if bits & 0x80 else size
    if kind in ("s8", "s4", "s32"):
        return bits - (1 << BITS[kind]) if bits >> (BITS[kind] - 1) else bits
    return bits


def bits_of(kind, v, saturate=False):
    if kind == "f16":
        return int(np.float64(v).astype(np.float16).view(np.uint16))
    if kind == "f32":
        return int(np.float64(v).astype(np.float32).view(np.uint32))
    if kind == "f64":
        return int(np.float64(v).view(np.uint64))
    v = int(v)
    if saturate:
        v = max(-2**31, min(2**31 - 1, v))
    return v & 0xffffffff


def element(kind, words, e):
    """Element e of a thread's words."""
    size = BITS[kind]
    if size == 64:
        return words[e]
    return words[e * size // 32] >> (e * size % 32) & ((1 << size) - 1)


def checksum(words):
    h = 0xcbf29ce484222325
    for w in words:
        h = (h ^ w) * 0x100000001b3 & 0xffffffffffffffff
    return h


def product(kinds, a, b, c, operation, saturate):
    """Rows of a (m by k), of b (n by k), of c (m by n) to d."""
    if kinds[0] == "f64":
        out = []
        for row, crow in zip(a, c):
            line = []
            for col, s in zip(b, crow):
                for x, y in zip(row, col):
                    s = float(fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(s))
                line.append(s)
            out.append(line)
        return out
    if kinds[0] == "b1":
        join = {"xor": lambda x, y: x ^ y, "and": lambda x, y: x & y}[operation]
        return [[s + sum(join(x, y) for x, y in zip(row, col)) for col, s in zip(b, crow)]
                for row, crow in zip(a, c)]
    kind = np.int64 if kinds[2] == "s32" else np.float64
    return np.array(a, kind) @ np.array(b, kind).T + np.array(c, kind)


# --- warps ---


def matrix(lay, threads, lanes, rows, columns, kind, words):
    """The matrix that threads' words are. threads: index of a layout's thread -> lane."""
    out = [[0] * columns for _ in range(rows)]
    for t in range(threads):
        for v in range(pycute.size(lay) // threads):
            at = lay(t, v)
            out[at % rows][at // rows] = value(kind, element(kind, words[lanes(t)], v))
    return out


def warp_case(instruction, m, n, k, layouts, kinds, seed, groups=1, threads=32, lane_of=None,
              operation=None, saturate=False):
    """kinds: of a, b, c, d."""
    la, lb, lc = layouts
    words = Words(seed)
    per = [pycute.size(x) // threads * BITS[kind] // (64 if kind == "f64" else 32)
           for x, kind in zip((la, lb, lc), kinds)]
    nd = pycute.size(lc) // threads * BITS[kinds[3]] // (64 if kinds[3] == "f64" else 32)
    held = []
    for _ in range(32):
        held.append([[words.take(kinds[f]) for _ in range(per[f])] for f in range(3)])
    result = [[0] * nd for _ in range(32)]
    for g in range(groups):
        lanes = (lambda t, g=g: lane_of(t) + 4 * g) if lane_of else (lambda t: t)
        a = matrix(la, threads, lanes, m, k, kinds[0], [h[0] for h in held])
        b = matrix(lb, threads, lanes, n, k, kinds[1], [h[1] for h in held])
        c = matrix(lc, threads, lanes, m, n, kinds[2], [h[2] for h in held])
        d = product(kinds, a, b, c, operation, saturate)
        size = BITS[kinds[3]]
        for t in range(threads):
            for v in range(pycute.size(lc) // threads):
                at = lc(t, v)
                bits = bits_of(kinds[3], d[at % m][at // m], saturate)
                result[lanes(t)][v * size // (64 if size == 64 else 32)] |= bits << (v * size % (64 if size == 64 else 32))
    flat = []
    for line in result:
        for w in line:
            flat += [w & 0xffffffff, w >> 32] if kinds[3] == "f64" else [w]
    print(f"m {instruction}|{nd} {per[0]} {per[1]} {per[2]}|{kinds[0]} {kinds[1]} {kinds[2]}|{seed}|"
          f"{checksum(flat):016x}")


def warps(found):
    seeds = itertools.count(12345, 7919)

    def one(name, a, b, c, d, text, operation=None, saturate=False):
        m, n, k, la, lb, lc, _ = found[name]
        warp_case(text, m, n, k, (la, lb, lc), (a, b, c, d), next(seeds), operation=operation,
                  saturate=saturate)

    def mma(name, a, b, c, d, **more):
        m, n, k = found[name][:3]
        extra = ".satfinite" if more.get("saturate") else ""
        tail = f".{more['operation']}.popc" if more.get("operation") else ""
        one(name, a, b, c, d, f"mma.sync.aligned.m{m}n{n}k{k}.row.col{extra}.{d}.{a}.{b}.{c}{tail}", **more)

    for shape in ("16x8x8", "16x8x16"):
        for c, d in (("f16", "f16"), ("f32", "f32")):
            mma(f"SM80_{shape}_{d.upper()}F16F16{c.upper()}_TN", "f16", "f16", c, d)
        mma(f"SM80_{shape}_F32BF16BF16F32_TN", "bf16", "bf16", "f32", "f32")
    for shape in ("16x8x4", "16x8x8"):
        mma(f"SM80_{shape}_F32TF32TF32F32_TN", "tf32", "tf32", "f32", "f32")
    for name in ("SM80_8x8x4", "SM90_16x8x4", "SM90_16x8x8", "SM90_16x8x16"):
        mma(f"{name}_F64F64F64F64_TN", "f64", "f64", "f64", "f64")
    for a, b in itertools.product(("e4m3", "e5m2"), repeat=2):
        for c in ("f16", "f32"):
            mma(f"SM89_16x8x32_{c.upper()}{a.upper()}{b.upper()}{c.upper()}_TN", a, b, c, c)
    for a, b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):  # as of s8, by the ISA
        for c in ("f16", "f32"):
            one("SM80_16x8x16_S32S8S8S32_TN", a, b, c, c, f"mma.sync.aligned.m16n8k16.row.col.{c}.{a}.{b}.{c}")
    for kinds, shapes in ((("s8", "u8"), ("8x8x16", "16x8x16", "16x8x32")),
                          (("s4", "u4"), ("8x8x32", "16x8x32", "16x8x64"))):
        for shape in shapes:
            for a, b in itertools.product(kinds, repeat=2):
                name = f"SM80_{shape}_S32{a.upper()}{b.upper()}S32_TN"
                mma(name, a, b, "s32", "s32")
                mma(name, a, b, "s32", "s32", saturate=True)
    for shape in ("8x8x128", "16x8x128", "16x8x256"):
        for operation in ("xor", "and"):
            mma(f"SM80_{shape}_S32U1U1S32_TN_{operation.upper()}POPC", "b1", "b1", "s32", "s32",
                operation=operation)
    for c in ("f16", "f32"):
        for letters in ("TN", "NT", "NN", "TT"):
            name = f"SM70_8x8x4_{c.upper()}F16F16{c.upper()}_{letters}"
            m, n, k, la, lb, lc, quad = found[name]
            rows = {"T": "row", "N": "col"}
            # BLAS letters: a transposed is row major; b transposed is row major as well, which
            # CuTe's N-by-k tiles call the other way round
            text = (f"mma.sync.aligned.m8n8k4.{rows[letters[0]]}."
                    f"{'col' if letters[1] == 'N' else 'row'}.{c}.f16.f16.{c}")
            warp_case(text, m, n, k, (la, lb, lc), ("f16", "f16", c, c), next(seeds), groups=4,
                      threads=8, lane_of=lambda t: quad(t))


# --- sparse factors ---

# ELayouts of a warp with 32 bytes of k, and of 4-bit elements: what CUTLASS's own
# atom/mma_traits_sm80_sparse.hpp says, a header that came after 4.2. Which of four lanes, by selector.
NARROW = {
    (16, 16): ("Layout<Shape<Shape<_4,_8>,Shape<_16,_2>>,Stride<Stride<_0,_1>,Stride<_0,_8>>>", lambda t, s: t % 4 == s),
    (32, 8): ("Layout<Shape<Shape<_4,_8>,Shape<_8,_2>>,Stride<Stride<_0,_1>,Stride<_0,_8>>>", lambda t, s: t % 4 == s),
    (8, 32): ("Layout<Shape<Shape<_2,_2,_8>,_32>,Stride<Stride<_8,_0,_1>,_0>>", lambda t, s: t // 2 % 2 == s),
    (4, 64): ("Layout<Shape<Shape<_2,_2,_8>,_64>,Stride<Stride<_8,_0,_1>,_0>>", lambda t, s: t // 2 % 2 == s),
    (4, 128): ("Layout<Shape<Shape<_2,_2,_8>,_64>,Stride<Stride<_8,_1024,_1>,_0>>", lambda t, s: True),
}
PAIRS = (0x4, 0x8, 0xc, 0x9, 0xd, 0xe)  # two places of four, in order; the lower two bits are the first one's


class Sparse:
    """Where metadata stand, from CuTe's ELayouts: of 64 rows, of which a warp has 16."""

    def __init__(self, folder):
        text = re.sub(r"//[^\n]*", "", (folder / "atom/mma_traits_sm90_gmma_sparse.hpp").read_text())
        found = {int(k): layout(body, {}) for k, body in
                 re.findall(r"using ELayout_64x(\d+)\s*=\s*(.*?);", text, re.S)}
        self.layouts = {16: found[32], 32: found[16], 8: found[64]}  # by bits of an element

    def word(self, words, kind):
        x = words.word()
        nibbles = [x >> s & 15 for s in range(0, 32, 4)]
        return sum(((0xe if n % 2 else 0x4) if kind == "tf32" else PAIRS[n % 6]) << 4 * i for i, n in enumerate(nibbles))

    def narrow(self, kind, kept, words, selector):
        """The same of a warp with 32 bytes of k, and of 4-bit elements, of which pairs stay."""
        bits, columns, rows = BITS[kind], 2 * len(kept[0]), [[] for _ in kept]
        text, holds = NARROW[bits, columns]
        lay, of_row = layout(text, {}), {}
        values = pycute.size(lay) // 32
        for t, word in enumerate(words):
            for v in range(values) if holds(t, selector) else ():
                of_row.setdefault((lay(t, v) % 16, lay(t, v) // 16, t), []).append(v * 32 // values)
        for (row, _, t), places in sorted(of_row.items()):
            rows[row] += [words[t] >> p & 15 for p in sorted(set(places)) if p % 4 == 0]
        out, pair = [], 2 if bits == 4 else 1
        for row, nibbles in zip(kept, rows):
            whole, rest = [0] * columns, iter(row)
            for c, n in enumerate(nibbles):
                for place in ([2 * c + (n >> 3)] if kind == "tf32" else [4 * c + (n & 3), 4 * c + (n >> 2)]):
                    whole[place * pair:place * pair + pair] = [next(rest) for _ in range(pair)]
            assert next(rest, None) is None
            out.append(whole)
        return out

    def spread(self, kind, kept, words, selector):
        """Rows of what is kept to whole rows. words: of each thread."""
        if (BITS[kind], 2 * len(kept[0])) in NARROW:
            return self.narrow(kind, kept, words, selector)
        lay, columns = self.layouts[BITS[kind]], 2 * len(kept[0])
        values = pycute.size(lay) // 128
        size, chunk = 32 // values, 2 if kind == "tf32" else 4
        bits = [[None] * columns for _ in kept]
        for t, word in enumerate(words):
            if BITS[kind] != 8 and t // 2 % 2 != selector:
                continue
            for v in range(values):
                at = lay(t, v)
                if at % 64 < len(kept):
                    bits[at % 64][at // 64] = word >> v * size & ((1 << size) - 1)
        out = []
        for row, marks in zip(kept, bits):
            whole, rest = [0] * columns, iter(row)
            for c in range(0, columns, chunk):
                nibble = sum(marks[c + i] << i * size for i in range(chunk))
                for place in ([nibble >> 3] if kind == "tf32" else [nibble & 3, nibble >> 2]):
                    whole[c + place] = next(rest)
            out.append(whole)
        return out


def twice(lay, threads, n, k):
    """A dense layout of b (n by k) and the same again behind it."""
    values = pycute.size(lay) // threads
    return lambda t, v: lay(t, v % values) + v // values * n * k


def sparse_warps(found, sparse):
    seeds = itertools.count(777, 7919)

    def case(name, a, b, c, selector, ordered=False, saturate=False):
        m, n, k, la, lb, lc, _ = found[name]
        seed = next(seeds)
        words = Words(seed)
        per = [pycute.size(x) // 32 * BITS[kind] // 32 * times for x, kind, times in ((la, a, 1), (lb, b, 2), (lc, c, 1))]
        held = [[[words.take(kind) for _ in range(per[f])] for f, kind in enumerate((a, b, c))] +
                [sparse.word(words, a)] for _ in range(32)]
        kept = matrix(la, 32, lambda t: t, m, k, a, [h[0] for h in held])
        am = sparse.spread(a, kept, [h[3] for h in held], selector)
        lb2, bm = twice(lb, 32, n, k), [[0] * 2 * k for _ in range(n)]
        for t in range(32):
            for v in range(per[1] * 32 // BITS[b]):
                at = lb2(t, v)
                bm[at % n][at // n] = value(b, element(b, held[t][1], v))
        cm = matrix(lc, 32, lambda t: t, m, n, c, [h[2] for h in held])
        d = product((a, b, c), am, bm, cm, None, saturate)
        result = [[0] * per[2] for _ in range(32)]
        for t in range(32):
            for v in range(pycute.size(lc) // 32):
                at = lc(t, v)
                result[t][v * BITS[c] // 32] |= bits_of(c, d[at % m][at // m], saturate) << (v * BITS[c] % 32)
        flat = [w for line in result for w in line]
        text = (f"mma.sp{'::ordered_metadata' if ordered else ''}.sync.aligned.m{m}n{n}k{2 * k}.row.col"
                f"{'.satfinite' if saturate else ''}.{c}.{a}.{b}.{c}")
        print(f"m {text}#{selector}|{per[2]} {per[0]} {per[1]} {per[2]}|{a} {b} {c}|{seed}|{checksum(flat):016x}")

    for selector in (0, 1):
        for ordered in (False, True):
            case("SM80_16x8x16_F32F16F16F32_TN", "f16", "f16", "f32", selector, ordered)
            case("SM80_16x8x8_F32TF32TF32F32_TN", "tf32", "tf32", "f32", selector, ordered)
        case("SM80_16x8x16_F16F16F16F16_TN", "f16", "f16", "f16", selector)
        case("SM80_16x8x16_F32BF16BF16F32_TN", "bf16", "bf16", "f32", selector)
    case("SM80_16x8x32_S32S8S8S32_TN", "s8", "s8", "s32", 0)
    case("SM80_16x8x32_S32U8S8S32_TN", "u8", "s8", "s32", 0, ordered=True, saturate=True)
    case("SM89_16x8x32_F32E4M3E5M2F32_TN", "e4m3", "e5m2", "f32", 0, ordered=True)
    for selector in range(4):
        case("SM80_16x8x8_F32F16F16F32_TN", "f16", "f16", "f32", selector, selector % 2 == 0)
        case("SM80_16x8x4_F32TF32TF32F32_TN", "tf32", "tf32", "f32", selector, selector % 2 == 1)
    case("SM80_16x8x8_F16F16F16F16_TN", "f16", "f16", "f16", 2)
    case("SM80_16x8x8_F32BF16BF16F32_TN", "bf16", "bf16", "f32", 3, ordered=True)
    for selector in (0, 1):
        case("SM80_16x8x16_S32S8U8S32_TN", "s8", "u8", "s32", selector, ordered=selector == 1)
        case("SM80_16x8x32_S32S4S4S32_TN", "s4", "s4", "s32", selector, saturate=selector == 0)
    case("SM80_16x8x64_S32S4U4S32_TN", "s4", "u4", "s32", 0)
    case("SM80_16x8x64_S32U4U4S32_TN", "u4", "u4", "s32", 0, ordered=True)


# --- warpgroups ---

SHARED = 49152


def canonical(bits, swizzle, transposed, rows, lead, stride, wide=1):
    """Element (row, k) of an operand to its place in elements, without the start."""
    t, w = 128 // bits, {0: 1, 1: 2, 2: 4, 3: 8}[swizzle]
    k = 2 * t * wide
    if not transposed:
        if swizzle == 0:
            return pycute.Layout(((8, rows // 8), (t, 2 * wide)), ((t, stride), (1, lead)))
        return pycute.Layout(((8, rows // 8), (t, 8)), ((w * t, stride), (1, t)))
    if swizzle == 0:
        return pycute.Layout(((t, 1, rows // t), (8, k // 8)), ((1, t, stride), (t, lead)))
    return pycute.Layout(((t, w, rows // t // w), (8, k // 8)), ((1, t, lead), (w * t, stride)))


def gmma_layouts(folder):
    text = re.sub(r"//[^\n]*", "", (folder / "atom/mma_traits_sm90_gmma.hpp").read_text())
    return {name: body for name, body in re.findall(r"using ([AC]Layout_64x\w+)\s*=\s*(.*?);", text, re.S)}


class Group:
    def __init__(self, folder):
        self.sparse = Sparse(folder)
        self.texts = gmma_layouts(folder)
        self.seeds = itertools.count(99991, 104729)

    def sums(self, n):
        return layout(self.texts["CLayout_64xN"].replace("Int<N/8>", f"_{n // 8}"), {})

    def factor(self, k):
        return layout(self.texts[f"ALayout_64x{k}"], {})

    def operand(self, kind, swizzle, transposed, rows, start, piece, wide=1):
        """(descriptor, place of (row, k) in bytes)"""
        bits = BITS[kind]
        t, w = 128 // bits, {0: 1, 1: 2, 2: 4, 3: 8}[swizzle]
        if not transposed:
            lead, stride = (8 * t * (rows // 8), 8 * t) if swizzle == 0 else (t, 8 * w * t)
        elif swizzle == 0:
            lead, stride = 8 * t * (rows // t), 8 * t
        else:
            lead, stride = 2 * wide * 8 * w * t, 8 * w * t
        lay = canonical(bits, swizzle, transposed, rows, lead, stride, wide)
        sw = pycute.Swizzle(swizzle, 4, 3)
        skip = piece * 2 * t  # elements of k in front, inside a row of a swizzled tile

        def place(row, k):
            at = lay(row, k + skip) if not transposed else lay(row, k)
            # bits of what is smaller than a byte do not occur: b1 is taken byte by byte
            return sw(start + at * bits // 8), at * bits % 8

        if bits == 1:
            byte = canonical(8, swizzle, transposed, rows, lead // 8, stride // 8)

            def place(row, k):
                return sw(start + byte(row, (k + skip) // 8)), k % 8
        kinds = {0: 0, 3: 1, 2: 2, 1: 3}
        size = bits / 8
        at = start + piece * 32
        return (at >> 4 | int(lead * size) >> 4 << 16 | int(stride * size) >> 4 << 32 | kinds[swizzle] << 62), place

    def case(self, n, a, b, d, swizzle_a, swizzle_b, ta=False, tb=False, registers=False, scale=1,
             signs=(1, 1), piece=0, saturate=False, selector=None):
        k = 256 // BITS[a]
        wide = 1 if selector is None else 2
        seed = next(self.seeds)
        words = Words(seed)
        shared_kind = b
        image = [words.take(shared_kind) for _ in range(SHARED // 4)]
        raw = np.array(image, np.uint32).tobytes()
        fd = BITS[d]
        nd = 64 * n // 128 * fd // 32
        na = 4 if registers else 0
        held = [[[words.take(a) for _ in range(na)], [words.take(d) for _ in range(nd)],
                 self.sparse.word(words, a) if wide == 2 else 0] for _ in range(128)]

        def read(place, kind):
            at, bit = place
            size = BITS[kind]
            if size < 8:
                return value(kind, raw[at] >> bit & ((1 << size) - 1))
            return value(kind, int.from_bytes(raw[at:at + size // 8], "little"))

        da = 0
        if registers:
            am = matrix(self.factor(k), 128, lambda t: t, 64, k, a, [h[0] for h in held])
        else:
            da, place = self.operand(a, swizzle_a, ta, 64, 0, piece)
            am = [[read(place(r, i), a) for i in range(k)] for r in range(64)]
        if wide == 2:
            am = self.sparse.spread(a, am, [h[2] for h in held], selector)
        db, place = self.operand(b, swizzle_b, tb, n, 8192, piece if not tb else 0, wide)
        bm = [[read(place(r, i), b) for i in range(k * wide)] for r in range(n)]
        lc = self.sums(n)
        cm = matrix(lc, 128, lambda t: t, 64, n, d, [h[1] for h in held])
        if not scale:
            cm = [[0] * n for _ in range(64)]
        if signs[0] * signs[1] < 0:
            am = [[-x for x in row] for row in am]
        dm = product((a, b, d), am, bm, cm, "and", saturate)
        result = [[0] * nd for _ in range(128)]
        for t in range(128):
            for v in range(64 * n // 128):
                at = lc(t, v)
                result[t][v * fd // 32] |= bits_of(d, dm[at % 64][at // 64], saturate) << (v * fd % 32)
        tail = [str(scale)]
        if a not in ("s8", "u8", "b1"):
            tail += [str(s) for s in signs]
        if a in ("f16", "bf16"):
            tail += ([] if registers else [str(int(ta))]) + [str(int(tb))]
        text = (f"wgmma.mma_async{'.sp' if wide == 2 else ''}.sync.aligned.m64n{n}k{k * wide}"
                f"{'.satfinite' if saturate else ''}.{d}.{a}.{b}{'.and.popc' if a == 'b1' else ''}"
                f"{f'#{selector}' if wide == 2 else ''}")
        flat = [w for line in result for w in line]
        print(f"w {text}|{nd} {na} {nd}|{a} {b} {d}|{' '.join(tail)}|{da:x} {db:x}|{seed}|{checksum(flat):016x}")

    def run(self):
        fits = {0: 8, 1: 16, 2: 32, 3: 64}
        for n in range(8, 257, 8):  # every width, kinds and layouts by turns
            kind, sums = (("bf16", "f32"), ("f16", "f32"), ("f16", "f16"), ("tf32", "f32"),
                          ("e4m3", "f32"), ("e5m2", "f16"))[n // 8 % 6]
            self.case(n, kind, kind, sums, n // 8 % 4, (n // 8 + 1) % 4,
                      registers=n // 8 % 5 == 0, piece=0)
        for n in (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256):
            a, b = (("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8"))[n // 8 % 4]
            self.case(n, a, b, "s32", 3, n // 8 % 4, registers=n % 64 == 0, saturate=n % 96 == 0)
        for swizzle in range(4):
            for ta, tb in itertools.product((False, True), repeat=2):
                self.case(64, "bf16", "bf16", "f32", swizzle, swizzle, ta=ta, tb=tb)
            self.case(2 * fits[swizzle], "f16", "f16", "f16", swizzle, swizzle, tb=True, registers=True)
            self.case(16, "tf32", "tf32", "f32", swizzle, swizzle)
            self.case(16, "b1", "b1", "s32", swizzle, swizzle)
            self.case(40, "e4m3", "e5m2", "f32", swizzle, swizzle)
        for piece in range(4):
            self.case(32, "bf16", "bf16", "f32", 3, 3, piece=piece)
            self.case(32, "e5m2", "e4m3", "f16", 3, 3, piece=piece)
        self.case(32, "f16", "f16", "f32", 3, 3, scale=0)
        self.case(32, "f16", "f16", "f32", 3, 3, signs=(-1, 1))
        self.case(32, "bf16", "bf16", "f32", 3, 3, signs=(1, -1))
        self.case(32, "bf16", "bf16", "f32", 3, 3, signs=(-1, -1))
        self.case(32, "s8", "s8", "s32", 3, 3, scale=0)


    def run_sparse(self):
        for selector in (0, 1):
            self.case(64, "f16", "f16", "f32", 3, 3, selector=selector)
            self.case(24, "bf16", "bf16", "f32", 2, 2, selector=selector, registers=selector == 1)
            self.case(16, "f16", "f16", "f16", 0, 0, selector=selector, signs=(-1, 1))
            self.case(32, "tf32", "tf32", "f32", 3, 2, selector=selector, registers=selector == 0)
            self.case(64, "bf16", "bf16", "f32", 3, 3, selector=selector, tb=True, ta=selector == 1)
        self.case(128, "s8", "u8", "s32", 3, 3, selector=0)
        self.case(48, "u8", "u8", "s32", 2, 3, selector=0, registers=True, saturate=True)
        self.case(256, "e4m3", "e5m2", "f32", 3, 3, selector=0)
        self.case(8, "e5m2", "e4m3", "f16", 0, 0, selector=0, scale=0)


def main():
    folder = pathlib.Path(sys.argv[1])
    found, group = traits(folder), Group(folder)
    warps(found)
    group.run()
    sparse_warps(found, group.sparse)
    group.run_sparse()


main()
