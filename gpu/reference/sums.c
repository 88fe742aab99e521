#include "gpu/reference/sums.h"

#include "base/vectors.h"

enum { SIDES = 4, STEP = SIDES * LANES };
struct lanes {
    vec s[SIDES], c[SIDES];
};

VECTORS_INLINE void lanes_add(struct lanes *l, int side, vec x) {
    vec t = l->s[side] + x, back = t - l->s[side];
    l->c[side] += (l->s[side] - (t - back)) + (x - back);
    l->s[side] = t;
}

VECTORS_INLINE struct sum lanes_sum(const struct lanes *l) {
    struct sum sum = {0};
    for (int k = 0; k < STEP; k++) {
        sum_add(&sum, l->s[k / LANES][k % LANES]);
        sum.c += l->c[k / LANES][k % LANES];
    }
    return sum;
}

/* What is summed of each number. */
typedef vec sum_term(vec x, const double *parameters);

VECTORS_INLINE struct sum sum_terms(const double *v, int64_t n, sum_term *term,
                                    const double *parameters) {
    struct lanes l = {0};
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        for (int k = 0; k < SIDES; k++) {
            lanes_add(&l, k, term(vec_load(v + i + (ptrdiff_t)k * LANES), parameters));
        }
    }
    struct sum sum = lanes_sum(&l);
    for (; i < n; i++) {
        sum_add(&sum, term(vec_all(v[i]), parameters)[0]);
    }
    return sum;
}

VECTORS_INLINE vec itself(vec x, const double *) {
    return x;
}
VECTORS_INLINE vec magnitude(vec x, const double *) {
    return vec_abs(x);
}
VECTORS_INLINE vec square(vec x, const double *) {
    return x * x;
}
VECTORS_INLINE vec square_from(vec x, const double *mean) {
    vec d = x - mean[0] - mean[1];
    return d * d;
}

VECTORS static struct sum plain_sum(const double *v, int64_t n) {
    return sum_terms(v, n, itself, NULL);
}

double sum_of(const double *v, int64_t n) {
    return sum_value(plain_sum(v, n));
}

VECTORS double squares_of(const double *v, int64_t n) {
    return sum_value(sum_terms(v, n, square, NULL));
}

VECTORS static double magnitudes_of(const double *v, int64_t n) {
    return sum_value(sum_terms(v, n, magnitude, NULL));
}

VECTORS static double squares_from(const double *v, int64_t n, const double *mean) {
    return sum_value(sum_terms(v, n, square_from, mean));
}

struct moments moments_of(const double *v, int64_t n) {
    struct sum sum = plain_sum(v, n);
    double count = (double)n, mean[2] = {sum_value(sum) / count};
    mean[1] = (fma(-mean[0], count, sum.s) + sum.c) / count;
    return (struct moments){mean[0], mean[1], squares_from(v, n, mean)};
}

static double largest_of(const double *v, int64_t n, bool smallest) {
    double extreme = smallest ? INFINITY : 0;
    for (int64_t i = 0; i < n; i++) {
        double x = fabs(v[i]);
        bool further = smallest ? x < extreme : x > extreme;
        extreme = (further || isnan(x)) && !isnan(extreme) ? x : extreme;
    }
    return extreme;
}

double norm_of(const double *v, int64_t n, double p) {
    if (isinf(p) || p == 1 || p == 2) {
        return isinf(p) ? largest_of(v, n, p < 0)
               : p == 1 ? magnitudes_of(v, n)
                        : sqrt(squares_of(v, n));
    }
    struct sum sum = {0};
    for (int64_t i = 0; i < n; i++) {
        sum_add(&sum, pow(fabs(v[i]), p));
    }
    return pow(sum_value(sum), 1 / p);
}
