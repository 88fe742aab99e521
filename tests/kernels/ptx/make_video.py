#!/usr/bin/env python3
"""What the video instructions come to, computed from the pseudocode of PTX ISA 9.0.

usage: make_video.py [SEED] > video.txt

A line is the result, the words a, b and c, and the instruction, whose operands have these names.
Written after "Scalar Video Instructions" and "SIMD Video Instructions" alone, in integers of any
size. vshl that saturates or is compared is left out: how wide its result is meanwhile is not said.
"""
import random
import sys

WORDS = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x01FE8000, 0xFF01807F, 0x00FF7F80]
COMPARES = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
            "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def number(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def clamp(value, bits, signed):
    low = -(1 << (bits - 1)) if signed else 0
    return max(low, min(value, low + (1 << bits) - 1))


def halved(total):
    """vavrg rounds away from zero what lies in the middle."""
    return (total + 1 if total >= 0 else total) // 2


def field(selector):
    """The bits and the place of one part: "", "h1", "b3"."""
    bits = {"": 32, "h": 16, "b": 8}[selector[:1]]
    return bits, bits * int(selector[1:] or 0)


def first(name, words, a, b):
    if name == "vset":
        return int(next(COMPARES[w] for w in words if w in COMPARES)(a, b))
    if name in ("vshl", "vshr"):
        by = b & 31 if "wrap" in words else min(b, 32)
        return a << by if name == "vshl" else a >> by
    return {"vadd": lambda: a + b, "vsub": lambda: a - b, "vabsdiff": lambda: abs(a - b),
            "vmin": lambda: min(a, b), "vmax": lambda: max(a, b),
            "vavrg": lambda: halved(a + b)}[name]()


def scalar(name, words, signs, selectors, a, b, c):
    (abits, aat), (bbits, bat), (dbits, dat) = map(field, selectors)
    dsigned, asigned, bsigned = signs
    value = first(name, words, number(a >> aat, abits, asigned), number(b >> bat, bbits, bsigned))
    if "sat" in words:
        value = clamp(value, dbits, dsigned)
    for word, what in (("add", lambda x, y: x + y), ("min", min), ("max", max)):
        if word in words:
            value = what(value, number(c, 32, dsigned))
    mask = ((1 << dbits) - 1) << dat
    return value << dat & mask | c & ~mask & 0xFFFFFFFF


def simd(name, parts, words, signs, selectors, a, b, c):
    bits, both = 32 // parts, b << 32 | a
    letter = "bh"[parts == 2]
    order = "76543210"[-parts * 2:]
    asel, bsel, mask = (s.lstrip(letter) for s in selectors)
    asel, bsel, mask = asel or order[parts:], bsel or order[:parts], mask or order[parts:]
    total, word = c, c
    for part in range(parts):
        x = number(both >> bits * int(asel[-1 - part]), bits, signs[1])
        y = number(both >> bits * int(bsel[-1 - part]), bits, signs[2])
        value = first(name, words, x, y)
        if "sat" in words:
            value = clamp(value, bits, signs[0])
        if str(part) in mask:
            total += value
            word = word & ~(((1 << bits) - 1) << bits * part) | number(value, bits, 0) << bits * part
    return (total if "add" in words else word) & 0xFFFFFFFF


def multiply(words, signs, selectors, minus, a, b, c):
    (abits, aat), (bbits, bat), _ = map(field, selectors)
    signed = signs[1] or signs[2] or minus[0] != minus[1] or minus[2]
    value = number(a >> aat, abits, signs[1]) * number(b >> bat, bbits, signs[2])
    c, one = number(c, 32, signed), 0
    if "po" in words:
        one = 1
    elif minus[0] != minus[1]:
        value, one = ~value, 1
    elif minus[2]:
        c, one = ~c, 1
    value = value + c + one >> (7 if "shr7" in words else 15 if "shr15" in words else 0)
    return (clamp(value, 32, signed) if "sat" in words else value) & 0xFFFFFFFF


def result(instruction, a, b, c):
    opcode, operands = instruction.split(" ", 1)
    name, *words = opcode.split(".")
    types = [w for w in words if w in ("u32", "s32")]
    signs = [t == "s32" for t in types]
    signs = [False] * (3 - len(signs)) + signs
    operands = operands.split(", ")
    of = dict((o.lstrip("-")[0], o.partition(".")[2]) for o in operands)
    selectors = of["a"], of["b"], of["d"]
    if name == "vmad":
        return multiply(words, signs, selectors, [o[0] == "-" for o in operands[1:]], a, b, c)
    if name[-1] in "24":
        return simd(name[:-1], int(name[-1]), words, signs, selectors, a, b, c)
    return scalar(name, words, signs, selectors, a, b, c)


def spellings():
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"):
            yield f"{name}.{types} d, a, b"
            yield f"{name}.{types}.sat d, a, b"
            yield f"{name}.{types}.sat d.b2, a.h1, b, c"
            yield f"{name}.{types} d.h1, a.b3, b.h0, c"
            for second in ("add", "min", "max"):
                yield f"{name}.{types}.sat.{second} d, a, b.b1, c"
                yield f"{name}.{types}.{second} d, a.h1, b.b0, c"
    for name in ("vshl", "vshr"):
        for types in ("u32.u32.u32", "s32.s32.u32"):
            for how in ("clamp", "wrap"):
                yield f"{name}.{types}.{how} d, a, b.b0"
                yield f"{name}.{types}.{how} d, a.h1, b"
                yield f"{name}.{types}.{how} d.h1, a.b2, b.b1, c"
                yield f"{name}.{types}.{how}.add d, a, b.b3, c"
    for how in ("clamp", "wrap"):
        yield f"vshr.u32.s32.u32.sat.{how} d.b1, a, b.b3, c"
        yield f"vshr.s32.s32.u32.sat.{how}.max d, a, b.b2, c"
    for compare in COMPARES:
        yield f"vset.u32.u32.{compare} d, a, b"
        yield f"vset.s32.u32.{compare}.add d, a.b2, b.h1, c"
        yield f"vset.s32.s32.{compare} d.b3, a.h0, b.b1, c"
        yield f"vset2.u32.u32.{compare} d, a, b, c"
        yield f"vset2.s32.s32.{compare} d.h1, a.h31, b.h20, c"
        yield f"vset4.s32.s32.{compare} d, a, b, c"
        yield f"vset4.s32.u32.{compare}.add d.b20, a.b3210, b.b4567, c"
    for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"):
        for words in ("", ".sat", ".shr7", ".sat.shr15"):
            for minus in ("a, b, c", "-a, b, c", "a, -b, c", "a, b, -c", "-a, -b, c"):
                yield f"vmad.{types}{words} d, {minus}"
            yield f"vmad.{types}.po{words} d, a, b, c"
            yield f"vmad.{types}{words} d, a.h1, b.b2, c"
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg"):
        for types in ("u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"):
            for words in ("", ".sat", ".add"):
                yield f"{name}2.{types}{words} d, a, b, c"
                yield f"{name}4.{types}{words} d, a, b, c"
                yield f"{name}2.{types}{words} d.h1, a.h13, b.h20, c"
                yield f"{name}4.{types}{words} d.b310, a.b7012, b.b6543, c"


def main():
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for instruction in dict.fromkeys(spellings()):
        a, b, c = (rng.choice((rng.choice(WORDS), rng.getrandbits(32))) for _ in range(3))
        print(f"{result(instruction, a, b, c):08x} {a:08x} {b:08x} {c:08x} {instruction}")


if __name__ == "__main__":
    main()
