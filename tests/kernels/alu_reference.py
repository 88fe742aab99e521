"""Arithmetic of PTX in exact rationals: what make_alu_vectors.py compares with.

Nothing here is taken from the emulator. Floats are decoded into Fractions by the definition
of their format (IEEE 754-2008 3.4; OCP 8-bit floating point specification 1.0), computed
exactly, and rounded by rounding the Fraction. Transcendentals are summed in 60 digits.
"""
from decimal import Decimal, getcontext
from fractions import Fraction
from math import isqrt

getcontext().prec = 70

NAN = "nan"


class Format:
    def __init__(self, exponent, mantissa, nan, shift=0):
        self.exponent, self.mantissa, self.nan, self.shift = exponent, mantissa, nan, shift
        self.bias = (1 << (exponent - 1)) - 1
        self.top = (1 << exponent) - 1
        self.sign = 1 << (exponent + mantissa)
        self.infinity = self.top << mantissa
        self.bits = exponent + mantissa + 1


F16 = Format(5, 10, 0x7FFF)
BF16 = Format(8, 7, 0x7FFF)
F32 = Format(8, 23, 0x7FFFFFFF)
F64 = Format(11, 52, 0xFFF8000000000000)
TF32 = Format(8, 10, 0x7FFFFFFF >> 13)


class Number:
    """sign, and a magnitude: a Fraction, or None for infinity. NaN is the string."""

    def __init__(self, negative, size):
        self.negative, self.size = negative, size

    def value(self):
        return -self.size if self.negative else self.size


def decode(bits, f):
    negative, e = bool(bits & f.sign), bits >> f.mantissa & f.top
    m = bits & ((1 << f.mantissa) - 1)
    if e == f.top:
        return NAN if m else Number(negative, None)
    if e == 0:
        return Number(negative, Fraction(m) * Fraction(2) ** (1 - f.bias - f.mantissa))
    size = Fraction(m + (1 << f.mantissa)) * Fraction(2) ** (e - f.bias - f.mantissa)
    return Number(negative, size)


def round_whole(q, mode, negative):
    """A Fraction >= 0 to an integer; mode as of the signed number."""
    floor = q.numerator // q.denominator
    rest = q - floor
    if rest == 0:
        return floor
    if mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative):
        return floor
    if mode in ("rm", "rp"):
        return floor + 1
    half = Fraction(1, 2)
    if mode == "rna":
        return floor + (rest >= half)
    return floor + (rest > half or (rest == half and floor % 2 == 1))


def exponent_of(q):
    e = q.numerator.bit_length() - q.denominator.bit_length()
    return e if q >= Fraction(2) ** e else e - 1


def encode(n, f, mode="rn", satfinite=False):
    if n is NAN:
        return f.nan
    sign = f.sign if n.negative else 0
    if n.size is None:
        return sign | (f.infinity - 1 if satfinite else f.infinity)
    if n.size == 0:
        return sign
    e = max(exponent_of(n.size), 1 - f.bias)
    ulp = Fraction(2) ** (e - f.mantissa)
    whole = round_whole(n.size / ulp, mode, n.negative)
    code = ((e + f.bias - 1) << f.mantissa) + whole
    if code >= f.infinity:
        finite = (mode == "rz" or (mode == "rm" and not n.negative)
                  or (mode == "rp" and n.negative))
        code = f.infinity - 1 if finite or satfinite else f.infinity
    return sign | code


def flush(bits, f):
    return bits if bits & f.infinity else bits & f.sign


def of(value, negative_zero=False):
    return Number(value < 0 or (value == 0 and negative_zero), abs(value))


def negate(n):
    return n if n is NAN else Number(not n.negative, n.size)


def add(a, b, mode="rn"):
    if a is NAN or b is NAN:
        return NAN
    if a.size is None or b.size is None:
        if a.size is None and b.size is None and a.negative != b.negative:
            return NAN
        return a if a.size is None else b
    total = a.value() + b.value()
    if total == 0:
        return Number(a.negative if a.negative == b.negative else mode == "rm", Fraction(0))
    return of(total)


def mul(a, b):
    if a is NAN or b is NAN:
        return NAN
    negative = a.negative != b.negative
    if a.size is None or b.size is None:
        return NAN if a.size == 0 or b.size == 0 else Number(negative, None)
    return Number(negative, a.size * b.size)


def div(a, b):
    if a is NAN or b is NAN:
        return NAN
    negative = a.negative != b.negative
    if a.size is None:
        return NAN if b.size is None else Number(negative, None)
    if b.size is None:
        return Number(negative, Fraction(0))
    if b.size == 0:
        return NAN if a.size == 0 else Number(negative, None)
    return Number(negative, a.size / b.size)


def sqrt(a):
    if a is NAN or a.size == 0:
        return a
    if a.negative:
        return NAN
    if a.size is None:
        return a
    k = 200 + abs(exponent_of(a.size))
    scaled = a.size * Fraction(4) ** k
    whole = scaled.numerator // scaled.denominator
    root = isqrt(whole)
    exact = root * root == whole and scaled.denominator == 1
    return Number(False, (Fraction(root) if exact else root + Fraction(1, 2)) / 2 ** k)


def fma(a, b, c, mode="rn"):
    return add(mul(a, b), c, mode)


def saturate(bits, f):
    n = decode(bits, f)
    one = f.bias << f.mantissa
    if n is NAN or n.negative or n.size == 0:
        return 0
    return one if n.size is None or n.size > 1 else bits


def relu(bits, f):
    n = decode(bits, f)
    return 0 if n is not NAN and n.negative else bits


def order(n):
    """A key in the order of numbers, -0 before +0."""
    size = Fraction(2) ** 5000 if n.size is None else n.size
    return (-size if n.negative else size, 0 if n.negative else 1)


def extreme(a, b, f, least, nan=False, xorsign=False):
    sign = (a ^ b) & f.sign if xorsign else 0
    if xorsign:
        a, b = a & ~f.sign, b & ~f.sign
    x, y = decode(a, f), decode(b, f)
    if (x is NAN and y is NAN) or (nan and (x is NAN or y is NAN)):
        return f.nan
    if x is NAN or y is NAN:
        return (b if x is NAN else a) | sign
    return (a if (order(x) < order(y)) == least else b) | sign


# Transcendentals: numbers of 60 digits, as Fractions.
LN2 = Decimal(2).ln()
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def decimal_of(q):
    return Decimal(q.numerator) / Decimal(q.denominator)


def ex2(a):
    if a is NAN:
        return NAN
    if a.size is None or a.size > 3000:
        return Number(False, Fraction(0) if a.negative else None)
    return of(Fraction((decimal_of(a.value()) * LN2).exp()))


def lg2(a):
    if a is NAN:
        return NAN
    if a.size == 0:
        return Number(True, None)
    if a.negative:
        return NAN
    if a.size is None:
        return a
    return of(Fraction(decimal_of(a.size).ln() / LN2))


def tanh(a):
    if a is NAN or a.size == 0:
        return a
    if a.size is None:
        return Number(a.negative, Fraction(1))
    if a.size < Fraction(1, 2 ** 20):
        x = a.size
        return Number(a.negative, x - x ** 3 / 3 + 2 * x ** 5 / 15)
    e = (decimal_of(min(a.size, Fraction(60))) * -2).exp()
    return Number(a.negative, Fraction((1 - e) / (1 + e)))


def sin_cos(a, cosine):
    if a is NAN or a.size is None:
        return NAN
    if a.size == 0:
        return of(Fraction(1)) if cosine else a
    x = decimal_of(a.value())
    x -= (x / (2 * PI)).to_integral_value() * 2 * PI
    term, n = (Decimal(1), 0) if cosine else (x, 1)
    total = Decimal(0)
    while abs(term) > Decimal(10) ** -60:
        total += term
        term *= -x * x / ((n + 1) * (n + 2))
        n += 2
    return of(Fraction(total))


def rsqrt(a):
    if a is not NAN and a.size == 0:
        return Number(a.negative, None)
    root = sqrt(a)
    return root if root is NAN else div(of(Fraction(1)), root)


# fp8 (OCP): the values of all codes.
def fp8_table(e4m3):
    exponent, mantissa, bias = (4, 3, 7) if e4m3 else (5, 2, 15)
    values = {}
    for code in range(0x80):
        e, m = code >> mantissa, code & ((1 << mantissa) - 1)
        if e4m3 and code == 0x7F:
            continue
        if not e4m3 and e == 31:
            continue
        size = (Fraction(m) * Fraction(2) ** (1 - bias - mantissa) if e == 0 else
                Fraction(m + (1 << mantissa)) * Fraction(2) ** (e - bias - mantissa))
        values[code] = size
    return values


def fp8_encode(n, e4m3):
    """.rn.satfinite: the nearest code, ties to the even one."""
    if n is NAN:
        return 0x7F
    table = fp8_table(e4m3)
    sign = 0x80 if n.negative else 0
    largest = max(table)
    if n.size is None or n.size >= table[largest]:
        return sign | largest
    best = min(table, key=lambda c: (abs(table[c] - n.size), c & 1))
    return sign | best


def fp8_decode(code, e4m3):
    table = fp8_table(e4m3)
    if code & 0x7F in table:
        return Number(bool(code & 0x80), table[code & 0x7F])
    return NAN if e4m3 or code & 3 else Number(bool(code & 0x80), None)


def to_integer(n, bits, signed, mode, source_f64):
    if n is NAN:
        return 1 << (bits - 1) if source_f64 or bits == 64 else 0
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if n.size is None:
        whole = low if n.negative else high
    else:
        whole = round_whole(n.size, mode, n.negative)
        whole = -whole if n.negative else whole
    return min(max(whole, low), high) & ((1 << bits) - 1)
