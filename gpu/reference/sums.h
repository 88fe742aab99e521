#pragma once
/* sums: compensated sums (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
 * Summation endlicher Summen", 1974, with Knuth's branch-free two-sum). Long sums use
 * several lanes, which are added at the end. */
#include <math.h>
#include <stdint.h>

struct sum {
    double s, c;
};
static inline void sum_add(struct sum *sum, double x) {
    double t = sum->s + x, back = t - sum->s;
    sum->c += (sum->s - (t - back)) + (x - back);
    sum->s = t;
}
static inline double sum_value(struct sum sum) {
    return isfinite(sum.s) ? sum.s + sum.c : sum.s;
}
/* Of n numbers; of their squares. */
double sum_of(const double *v, int64_t n);
double squares_of(const double *v, int64_t n);
/* The mean is mean + rest, because rounding a large mean would change small distances
 * from it; squares is the sum of the squared distances. */
struct moments {
    double mean, rest, squares;
};
struct moments moments_of(const double *v, int64_t n);
/* The p-norm of n numbers; p is not 0, but may be negative or infinite. */
double norm_of(const double *v, int64_t n, double p);
