#!/usr/bin/env python3
"""The build's normal_table.h: Marsaglia and Tsang's ziggurat ("The ziggurat method for generating random variables",
2000) of 256 layers, in arithmetic of 60 digits.

usage: make_normal_table.py > normal_table.h: numbers of the ziggurat, rounded once; some seconds
"""
from decimal import Decimal, getcontext

getcontext().prec = 60
LAYERS = 256
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def f(x):
    return (-x * x / 2).exp()


def tail(r):
    """The integral of f from r on: the continued fraction of erfc, from far below."""
    t = r
    for n in range(400, 0, -1):
        t = r + n / t
    return f(r) / t


def edges(r):
    """Where the layers end, from the base strip's up; the last is 0 when r is right."""
    area = r * f(r) + tail(r)
    x = [area / f(r), r]
    while len(x) < LAYERS:
        y = f(x[-1]) + area / x[-1]
        if y >= 1:
            return x, Decimal(1)
        x.append((-2 * y.ln()).sqrt())
    return x, f(x[-1]) + area / x[-1] - 1


def solve():
    low, high = Decimal("3.6"), Decimal("3.7")
    for _ in range(180):
        middle = (low + high) / 2
        x, over = edges(middle)
        low, high = (middle, high) if over > 0 else (low, middle)
    return edges(high)[0] + [Decimal(0)]


def main():
    x = solve()
    print("#pragma once")
    print("#include <stdint.h>\n\nstatic const struct layer {\n    uint64_t inside; /* of 2^53: below it a value lies under the curve for certain */")
    print("    double width;    /* of the layer, times 2^-53 */\n    double foot;     /* the density at its outer edge */")
    print("} layers[%d] = {" % (LAYERS + 1))
    for i, edge in enumerate(x):
        inside = int(x[i + 1] / edge * 2**53) if i < LAYERS else 0
        print("    {%d, %s, %s}," % (inside, float(edge / 2**53).hex(), float(f(edge)).hex()))
    print("};\n#define TAIL %s /* where the base layer's rectangle ends */" % float(x[1]).hex())


main()
