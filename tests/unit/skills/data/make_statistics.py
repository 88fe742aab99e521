#!/usr/bin/env python3
"""Write statistics.json: what scipy, statsmodels and exact integer arithmetic say.

usage: make_statistics.py > statistics.json    (numpy, scipy, statsmodels)
"""
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

rng = np.random.default_rng(20260102)


def wilson():
    pairs = [(0, 1), (1, 1), (4, 5), (5, 5), (2, 5), (8, 20), (17, 20), (15, 15), (0, 12),
             (7 / 3, 6), (10.5, 12), (123, 1000)]
    return [{"passed": c, "n": n, "low": lo, "high": hi} for c, n in pairs
            for lo, hi in [proportion_confint(c, n, method="wilson")]]


def newcombe():
    rows = [(8, 20, 17, 20), (2, 5, 4, 5), (2, 5, 5, 5), (0, 6, 6, 6), (10, 12, 3, 12), (1, 2, 40, 90)]
    return [{"a": [ca, na], "b": [cb, nb], "low": lo, "high": hi} for ca, na, cb, nb in rows
            for lo, hi in [confint_proportions_2indep(cb, nb, ca, na, method="newcomb", compare="diff")]]


def student():
    return [{"df": df, "t": stats.t.ppf(0.975, df)}
            for df in [1, 1.5, 2, 3, 4, 5, 7, 9.5, 11, 23, 47, 99, 500, 999, 1000, 1001, 5000, 1e5, 1e6, 1e9]]


def exact_sign_flip(d):
    """Counting sums of signed fractions, without rounding."""
    sums = Counter({Fraction(0): 1})
    for x in d:
        more = Counter()
        for s, count in sums.items():
            more[s + x] += count
            more[s - x] += count
        sums = more
    limit = abs(sum(d))
    return float(Fraction(sum(c for s, c in sums.items() if abs(s) >= limit), 2 ** len(d)))


def differences(n, runs, shift):
    a = rng.binomial(runs, 0.4, n)
    b = rng.binomial(runs, min(0.95, 0.4 + shift), n)
    return [Fraction(int(y - x), runs) for x, y in zip(a, b)]


def paired():
    out = []
    cases = [[Fraction(1)], [Fraction(0)] * 6, [Fraction(1)] * 5, [Fraction(1)] * 6,
             [Fraction(1)] * 9 + [Fraction(-1)], [Fraction(1, 3)] * 12]
    for n in (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 30):
        cases += [differences(n, runs, shift) for runs, shift in ((1, 0.2), (3, 0.0), (3, 0.4), (5, 0.15))]
    for d in cases:
        x = np.array([float(v) for v in d])
        row = {"d": list(x), "p": exact_sign_flip(d)}
        if 2 <= len(d) <= 12:
            other = stats.permutation_test((x,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
            assert abs(other - row["p"]) < 1e-12, (d, other, row)
        if len(d) >= 2:
            interval = stats.ttest_1samp(x, 0).confidence_interval()
            spread = x.std(ddof=1)
            low, high = (interval.low, interval.high) if spread > 0 else (x.mean(), x.mean())
            row |= {"low": low, "high": high}
        if len(d) >= 6:
            row["smallest"] = smallest(x)
        out.append(row)
    return out


def share_to_change(n):
    return optimize.brentq(lambda q: stats.binom.sf(5, n, q) - 0.8, 1e-9, 1, xtol=1e-13)


def smallest(x):
    n = len(x)
    grain = min([abs(v) for v in x if v] + [1])
    factor = n / (n - (3 if grain == 1 else 2))
    t = stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)
    spread = 0 if np.ptp(x) < 1e-12 else x.std(ddof=1)
    return min(1, max(t * factor * spread / math.sqrt(n), grain * share_to_change(n)))


def sampled():
    d = differences(60, 3, 0.12)
    return {"d": [float(v) for v in d], "p": exact_sign_flip(d)}


def resampled():
    a, b = rng.gamma(5, 200, 15), rng.gamma(6, 120, 15)
    options = {"paired": True, "vectorized": False, "method": "percentile", "n_resamples": 200000, "rng": rng}
    ratio = stats.bootstrap((a, b), lambda x, y: x.sum() / y.sum(), **options).confidence_interval
    gmean = stats.bootstrap((a, b), lambda x, y: stats.gmean(x / y), **options).confidence_interval
    return {"a": list(a), "b": list(b),
            "ratio": [a.sum() / b.sum(), ratio.low, ratio.high],
            "geometric": [stats.gmean(a / b), gmean.low, gmean.high]}


def holm():
    rows = [[0.01, 0.04, 0.03, 0.005], [0.5], [0.02, 0.02, 0.02], [0.9, 0.001, 0.2, 0.04, 0.04, 0.7]]
    return [{"p": p, "adjusted": list(multipletests(p, method="holm")[1])} for p in rows]


print(json.dumps({"wilson": wilson(), "newcombe": newcombe(), "student": student(), "paired": paired(),
                  "sampled": sampled(), "resampled": resampled(), "holm": holm()}, indent=1))
