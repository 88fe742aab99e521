"""An H100's tensor cores in exact fractions: what gpu/ptx/alu/fused_sum.h says in words,
written from the publications named there and not from the C.

A float is (sign, whole significand, exponent of its last place, exponent), or a string:
"nan", "+inf", "-inf". Slow, and meant to be read.
"""
from fractions import Fraction

# Bits of exponent, bits of fraction.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2), "f32": (8, 23), "f64": (11, 52)}


def two(e):
    return Fraction(2) ** e


def decode(bits, name):
    """(value, exponent) of a finite number, or its name."""
    exponent_bits, fraction_bits = FORMATS[name]
    if name == "tf32":
        bits = bits >> 13 << 13
    sign = -1 if bits >> (exponent_bits + fraction_bits) else 1
    field = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    top = (1 << exponent_bits) - 1
    if name == "e4m3":
        if field == top and fraction == 7:
            return "nan"
    elif field == top:
        return "nan" if fraction else "+inf" if sign > 0 else "-inf"
    if field == 0:
        return sign * Fraction(fraction, 1 << fraction_bits) * two(1 - bias), 1 - bias
    return sign * (1 + Fraction(fraction, 1 << fraction_bits)) * two(field - bias), field - bias


def cut(value, step):
    """Towards zero to a multiple of step."""
    whole = abs(value) / step
    return (whole.numerator // whole.denominator) * step * (1 if value >= 0 else -1)


def floor_log2(value):
    e = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    return e if two(e) <= abs(value) else e - 1


def encode(value, name, nearest, kept=None, signed=False):
    """The bits of a fraction: cut to f32 or rounded to nearest even to f32 or f16. A negative one that
    becomes zero is -0 where signed, as IEEE 754 has it, and +0 in a tensor core."""
    exponent_bits, fraction_bits = FORMATS[name]
    bias = (1 << exponent_bits - 1) - 1
    if value == 0:
        return 0
    sign = 1 if value < 0 else 0
    least = 1 - bias
    e = max(floor_log2(value), least)
    step = two(e - (fraction_bits if kept is None else kept))
    size = cut(abs(value), step)
    if nearest:
        rest = abs(value) - size
        odd = (size / step).numerator % 2
        if rest > step / 2 or (rest == step / 2 and odd):
            size += step
    if size == 0:
        return sign << exponent_bits + fraction_bits if signed else 0
    if size >= two(bias + 1):
        return sign << exponent_bits + fraction_bits | ((1 << exponent_bits) - 1) << fraction_bits
    e = max(floor_log2(size), least)
    fraction = size / two(e - fraction_bits)
    assert fraction.denominator == 1
    fraction = fraction.numerator
    field = e + bias if fraction >> fraction_bits else 0
    return sign << exponent_bits + fraction_bits | field << fraction_bits | fraction & (1 << fraction_bits) - 1


def special_sum(terms):
    """Of terms among which one is no finite number: its name."""
    if "nan" in terms or ("+inf" in terms and "-inf" in terms):
        return "nan"
    return next(t for t in terms if isinstance(t, str))


def multiply(a, b):
    if isinstance(a, str) or isinstance(b, str):
        if "nan" in (a, b) or (isinstance(a, tuple) and a[0] == 0) or (isinstance(b, tuple) and b[0] == 0):
            return "nan"
        negative = sum(x == "-inf" or (isinstance(x, tuple) and x[0] < 0) for x in (a, b)) == 1
        return "-inf" if negative else "+inf"
    return a[0] * b[0], a[1] + b[1]


def special_bits(name, d):
    if d == "f16":
        return {"nan": 0x7fff, "+inf": 0x7c00, "-inf": 0xfc00}[name]
    if d == "f64":
        return {"nan": 0xfff8000000000000, "+inf": 0x7ff0000000000000, "-inf": 0xfff0000000000000}[name]
    return {"nan": 0x7fffffff, "+inf": 0x7f800000, "-inf": 0xff800000}[name]


def step(pairs, c, d, fraction, kept=None):
    """pairs of decoded factors, decoded c: the bits of d."""
    terms = [multiply(x, y) for x, y in pairs] + [c]
    if any(isinstance(t, str) for t in terms):
        return special_bits(special_sum(terms), d)
    e = max([-21 if d == "f16" else -133] + [t[1] for t in terms if t[0] != 0])
    total = sum(cut(t[0], two(e - fraction)) for t in terms)
    return encode(total, d, nearest=d == "f16", kept=kept)


def add(c, t, d):
    """c + t rounded to nearest even by an addition outside the tensor cores; both decoded."""
    if isinstance(c, str) or isinstance(t, str):
        return special_bits(special_sum([c, t]), d)
    return encode(c[0] + t[0], d, nearest=True, signed=True)


def multiply_adds(pairs, t, name):
    """One after the other, each rounded to the nearest; t decoded, and so what it returns."""
    for x, y in pairs:
        terms = [multiply(x, y), t]
        special = any(isinstance(p, str) for p in terms)
        t = special_sum(terms) if special else decode(encode(terms[0][0] + t[0], name, nearest=True), name)
    return t


def chain(pairs, c, d):
    """No tensor core: multiply-adds in binary32, then one addition."""
    total = decode(add(c, multiply_adds(pairs, (Fraction(0), 0), "f32"), "f32"), "f32")
    return special_bits(total, d) if isinstance(total, str) else encode(total[0], d, nearest=True)


def product(form, a, b, c):
    """What one instruction makes of bits; a and b of kept products only."""
    fp8 = form.a in ("e4m3", "e5m2")
    pairs = [(decode(x, form.a), decode(y, form.b)) for x, y in zip(a, b)]
    c = decode(c, form.c)
    if form.wide:
        d = multiply_adds(pairs, c, "f64")
        return special_bits(d, "f64") if isinstance(d, str) else encode(d[0], "f64", nearest=True)
    if form.quad:
        return chain(pairs, c, form.d)
    if fp8 and form.family == "mma":
        t = step([p for k, p in enumerate(pairs) if k % 4 < 2], (Fraction(0), 0), form.d, 25)
        t = step([p for k, p in enumerate(pairs) if k % 4 >= 2], decode(t, form.d), form.d, 25)
        return add(c, decode(t, form.d), form.d)
    if form.family == "wmma" and form.a == "tf32":
        half = len(pairs) // 2
        return step(pairs[half:], decode(step(pairs[:half], c, "f32", 25), "f32"), "f32", 25)
    narrow = fp8 and form.family == "wgmma"
    return step(pairs, c, form.d, 13 if narrow else 25, kept=13 if narrow and form.d == "f32" else None)
