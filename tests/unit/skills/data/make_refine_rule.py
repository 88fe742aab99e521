#!/usr/bin/env python3
"""The exact p of test_refinement.c's tables: fractions, from the definition."""
from fractions import Fraction
from math import comb

TABLES = [  # (passed, asked) of each test: before, after
    ([(0, 6)], [(6, 6)]),
    ([(0, 3)], [(3, 3)]),
    ([(0, 2), (0, 2)], [(2, 2), (2, 2)]),
    ([(3, 6), (0, 6)], [(3, 6), (0, 6)]),
    ([(1, 3), (0, 3), (2, 3)], [(2, 3), (3, 3), (1, 3)]),
    ([(1, 6), (2, 6), (0, 6), (6, 6)], [(4, 6), (3, 6), (5, 6), (6, 6)]),
    ([(2, 3), (1, 6)], [(6, 6), (4, 6)]),
    ([(6, 6)], [(0, 6)]),
]


def falls(passes, asked, after, k):
    """The chance that k of the passes fall to the `after` answers of all that were asked."""
    if k > passes or after - k > asked - passes:
        return Fraction(0)
    return Fraction(comb(passes, k) * comb(asked - passes, after - k), comb(asked, after))


for before, after in TABLES:
    sums = {0: Fraction(1)}
    for (b, nb), (a, na) in zip(before, after):
        longer = {}
        for total, chance in sums.items():
            for k in range(na + 1):
                longer[total + k] = longer.get(total + k, 0) + chance * falls(a + b, na + nb, na, k)
        sums = longer
    seen = sum(a for a, _ in after)
    print(before, after, sum(c for total, c in sums.items() if total >= seen))
