#pragma once
/* statistics: inference from the results of an evaluation.
 *
 * Pure functions of doubles; no I/O, no state, deterministic (resampling uses a generator
 * seeded by the caller). The unit of observation is the TEST: several runs of one test
 * are repeated measurements, not more tests. The same holds for several tests of one
 * lesson, which must be joined first.
 * Sources: Wilson 1927; Miller 2024, "Adding Error Bars to Evals" (arXiv 2411.00640) for
 * the paired, clustered difference; Fisher's sign-flip randomisation test; Student's t;
 * Efron's percentile bootstrap; Holm 1979. docs/architecture/evaluation.md. */
#include "base/mem.h"

struct interval {
    double estimate, low, high;
};

double mean_of(const double *v, size_t n); /* NaN for n = 0 */
double median_of(double *v, size_t n);     /* n >= 1; sorts v */
/* 95 % Wilson score interval of a rate over n tests; passed may be fractional (a mean
 * over runs). n = 0 gives NaN with [0, 1]. */
struct interval wilson_interval(double passed, size_t n);
/* 95 % interval of rate b minus rate a over different tests (Newcombe 1998, method 10);
 * [-1, 1] around NaN if a count is 0. */
struct interval newcombe_interval(double passed_a, size_t n_a, double passed_b,
                                  size_t n_b);
/* Two-sided Student quantile t_{df, .975} for df >= 1, to 1e-9 relative. */
double student_t975(double df);
/* Mean of d over n tests with its t-interval (n < 2: the bounds are NaN). */
struct interval paired_lift(const double *d, size_t n);
enum { SIGN_FLIP_EXACT = 30 };
/* Two-sided p of the sign-flip test of mean(d) = 0: exact (all 2^n patterns) for up to
 * SIGN_FLIP_EXACT differences that are not zero, otherwise 100,000 seeded flips,
 * (hits + 1) / (flips + 1). Zeros stay in; they change nothing. NaN for n = 0. */
double sign_flip_p(const double *d, size_t n, uint64_t seed);
/* Geometric mean of a/b over the tests where both are positive, with its
 * percentile bootstrap interval (10,000 resamples); NaN if there are none. */
struct interval bootstrap_geometric_mean(const double *a, const double *b, size_t n,
                                         uint64_t seed);
/* The smallest true lift that this many tests with this spread detect with a power of
 * about
 * 80 % (two-sided 5 %): (t_{n-1,.975} + t_{n-1,.80}) * SE, times n / (n - 2)
 * (n / (n - 3) if every difference is a whole test) for the power that the sign-flip
 * test loses with few tests, found by simulation; at least the lift at which six tests
 * change by the smallest observed difference (fewer than six cannot reach 5 %). At most
 * 1. NaN below six tests, which can show nothing. */
double smallest_detectable(const double *d, size_t n);
/* The number of ADDITIONAL tests that detect a lift of this size and spread with 80 %
 * power, by the same formula; 0 if the present ones do, SIZE_MAX if no number does (lift
 * 0). Capped at 10,000. A rough estimate: it takes the observed lift for the true one. */
size_t more_tests_needed(const double *d, size_t n);
/* Replaces the tests of each lesson by one observation, their mean, at the place of the
 * first, and closes the gaps. lesson: n names, one per test. Returns the new number. */
size_t join_lessons(double *a, double *b, const char *const *lesson, size_t n);
/* Holm's step-down adjustment of m p-values, in place, order kept. */
void holm_adjust(double *p, size_t m);

enum verdict { /* in the order of verdict_names */
               VERDICT_HELPS,
               VERDICT_HURTS,
               VERDICT_NO_EVIDENCE,
               VERDICT_NOT_MEASURABLE,
};
const char *verdict_name(enum verdict v); /* "helps", "hurts", "no_evidence", … */
/* All verdicts of results and records, NULL-terminated: these, then skill/trigger's
 * "pass" and "fail". */
extern const char *const verdict_names[];

enum { VERDICT_MIN_TESTS = 6 };

/* Paired results of one student: per test the mean over its runs in each arm. */
struct paired_results {
    const double *baseline, *skill; /* n each, 0…1 */
    size_t n;
    unsigned runs; /* per test and arm, the smallest; for the sentence only */
    uint64_t seed;
};
struct lift {
    enum verdict verdict;
    struct interval lift;
    double p;                   /* sign-flip; NaN below 2 tests */
    double baseline, skill;     /* rates */
    double smallest_detectable; /* NaN if undefined */
    size_t more_tests_needed;   /* SIZE_MAX = no number suffices */
    const char *method;         /* "paired t-interval, exact sign-flip test", … */
    bool ceiling, floor;        /* why it is not measurable */
    bool disagree;              /* test and interval disagree: no evidence */
};
/* In order: fewer than VERDICT_MIN_TESTS paired tests: no evidence; both arms >= 95 % or
 * both <= 5 %: not measurable; then the sign-flip test at 5 % two-sided, and the
 * t-interval must agree. */
void lift_judge(struct lift *ret, const struct paired_results *results);
/* One or two sentences a person understands, e.g. "The skill helps qwen3: it solves 85 %
 * of the tests instead of 40 % (+45 points, 95 % interval +21 to +69, p = 0.004, 12 tests
 * x 3 runs)." Appended to out. */
void lift_sentence(struct buf *out, const struct lift *lift, const char *model,
                   const struct paired_results *results);
