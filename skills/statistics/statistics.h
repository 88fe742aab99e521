#pragma once
/* statistics: what the numbers of an evaluation can and cannot say.
 *
 * Pure functions of doubles; no I/O, no state, deterministic (resampling uses a generator
 * seeded by the caller). The unit of observation is the TEST: several runs of one test
 * are repeated looks at one thing, not more tests; and so are several tests of one
 * lesson, which are joined first.
 * Sources: Wilson 1927; Miller 2024, "Adding Error Bars to Evals" (arXiv 2411.00640) for
 * the paired, clustered difference; Fisher's sign-flip randomisation test; Student's t;
 * Efron's percentile bootstrap; Holm 1979. docs/architecture/evaluation.md. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    double estimate, low, high;
};

double mean_of(const double *v, size_t n); /* NaN without any */
double median_of(double *v, size_t n);     /* of one at least; sorts them */
/* 95 % Wilson score interval of a rate over n tests; passed may be fractional (a mean
 * over runs). n = 0 gives NaN with [0, 1]. */
struct interval wilson_interval(double passed, size_t n);
/* 95 % interval of rate b minus rate a over different tests (Newcombe 1998, method 10);
 * [-1, 1] around NaN where a count is 0. */
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
 * percentile bootstrap interval (10,000 resamples); NaN when there is none. */
struct interval bootstrap_geometric_mean(const double *a, const double *b, size_t n,
                                         uint64_t seed);
/* The smallest true lift that this many tests with this spread would have found in about
 * 80 % of such evaluations (two-sided 5 %): (t_{n-1,.975} + t_{n-1,.80}) * SE, times
 * n / (n - 2) (n / (n - 3) where every difference is a whole test) for what the sign-flip
 * test of few tests costs, which was found by simulation; never less than what makes six
 * tests change by the smallest difference seen (six are the least that can reach 5 %). At
 * most 1. NaN below six tests: nothing could be shown. */
double smallest_detectable(const double *d, size_t n);
/* How many tests MORE would settle a lift of this size and spread with 80 % power, by the
 * same formula; 0 when the present ones do, SIZE_MAX when no number would (lift 0).
 * Capped at 10,000. A rough guess: it takes the lift seen for the true one. */
size_t more_tests_needed(const double *d, size_t n);
/* Tests of one lesson made one observation, their mean, in place of the first; the others
 * close up. lesson: n names, one per test. Returns how many remain. */
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
/* All the verdicts that results and records may hold, ended by NULL: behind these
 * "pass" and "fail", skill/trigger's. */
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
    double smallest_detectable; /* NaN when it cannot be said */
    size_t more_tests_needed;   /* SIZE_MAX = no number would */
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
struct buf;
void lift_sentence(struct buf *out, const struct lift *lift, const char *model,
                   const struct paired_results *results);
