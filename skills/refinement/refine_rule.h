#pragma once
/* refine_rule: decides whether a changed skill is better, or only lucky.
 *
 * Each gate test is asked several times with the old skill and with the new one. The
 * change is accepted only if
 *   1. a first look shows more passes (mean over tests of each test's pass rate),
 *   2. a second look, with fresh answers on both sides, shows more passes again, and
 *   3. both looks together are unlikely by chance: one-sided p of at most REFINE_MAX_P.
 * p is the exact conditional test over tables of passes, one per test (Cochran 1954,
 * Mantel and Haenszel 1959; the sum of independent hypergeometric counts): given how
 * often a test passed at all, its passes fall to either side by chance. It tests whether
 * the answers to THESE tests changed; the report split measures the value of the change
 * elsewhere. Pure. docs/architecture/refinement.md has its rates of error. */
#include "base/mem.h"

#define REFINE_MAX_P 0.05

/* One test with one skill, over students and runs. */
struct refine_score {
    unsigned passed, graded;
    const char *lesson; /* that the test is of (struct test_case), borrowed */
};

struct refine_comparison {
    size_t tests;         /* number of tests graded on both sides; others are ignored */
    double before, after; /* mean over those tests of the pass rate; NaN without any */
    double p;             /* one-sided; 1 without any */
};
void refine_compare(struct refine_comparison *ret, const struct refine_score *before,
                    const struct refine_score *after, size_t n);

/* More passes than before; a tie is not better. */
bool refine_is_better(const struct refine_comparison *c);
/* both: the two looks' answers together. */
bool refine_accepts(const struct refine_comparison *first,
                    const struct refine_comparison *second,
                    const struct refine_comparison *both);

void refine_add(struct refine_score *sum, const struct refine_score *more, size_t n);
/* Mean of the tests' pass rates; NaN if none was graded. */
double refine_rate(const struct refine_score *scores, size_t n);
/* Whether every test was graded, and none failed. */
bool refine_is_perfect(const struct refine_score *scores, size_t n);
