#include "skills/statistics/statistics.h"

#include "base/find.h"
#include "base/random.h"

#include <math.h>

#define RESAMPLES 10000
#define FLIPS 100000
#define Z975 1.9599639845400542
#define Z80 0.8416212335729143

/* --- random numbers --- */

/* Below n < 2^32; the bias is below 2^-32. */
static size_t random_below(uint64_t *state, size_t n) {
    return (size_t)(((random_next(state) >> 32) * (uint64_t)n) >> 32);
}

/* --- sorting --- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_doubles(double *v, size_t n) {
    qsort(v, n, sizeof *v, compare_doubles);
}

double median_of(double *v, size_t n) {
    sort_doubles(v, n);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Linear interpolation between order statistics, as numpy's default. */
static double quantile_of_sorted(const double *v, size_t n, double q) {
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    double part = at - (double)i;
    if (part == 0 || i + 1 >= n) {
        return v[i];
    }
    return isinf(v[i + 1]) ? v[i + 1] : v[i] + part * (v[i + 1] - v[i]);
}

/* --- rates --- */

struct interval wilson_interval(double passed, size_t n) {
    if (n == 0) {
        return (struct interval){NAN, 0, 1};
    }
    double count = (double)n, p = fmin(fmax(passed / count, 0), 1), zz = Z975 * Z975;
    double scale = 1 + zz / count;
    double centre = (p + zz / (2 * count)) / scale;
    double half = Z975 * sqrt(p * (1 - p) / count + zz / (4 * count * count)) / scale;
    return (struct interval){p, p == 0 ? 0 : fmax(centre - half, 0),
                             p == 1 ? 1 : fmin(centre + half, 1)};
}

/* hypot(3) would ask for glibc 2.35; differences of rates do not overflow. */
static double distance(double x, double y) {
    return sqrt(x * x + y * y);
}

struct interval newcombe_interval(double passed_a, size_t n_a, double passed_b,
                                  size_t n_b) {
    struct interval a = wilson_interval(passed_a, n_a);
    struct interval b = wilson_interval(passed_b, n_b);
    if (n_a == 0 || n_b == 0) {
        return (struct interval){NAN, -1, 1};
    }
    double d = b.estimate - a.estimate;
    return (struct interval){d, d - distance(b.estimate - b.low, a.high - a.estimate),
                             d + distance(b.high - b.estimate, a.estimate - a.low)};
}

/* --- Student's t --- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's
 * method; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step = 1;
        for (int i = 0; i < 2; i++) {
            double k = i ? odd : even;
            d = 1 + k * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + k / c;
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            h *= step;
        }
        if (fabs(step - 1) < 1e-16) {
            break;
        }
    }
    return h;
}

static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* The regularised incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x) {
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    double front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double student_upper(double t, double df) {
    return incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2;
}

/* Student's quantile with the probability `upper` above it; z is the normal quantile.
 * For many degrees of freedom it uses the expansion of Abramowitz and Stegun 26.7.5. */
static double student_quantile(double df, double upper, double z) {
    if (!(df >= 1)) {
        return NAN;
    }
    if (df >= 1000) {
        double z2 = z * z, g1 = (z2 + 1) * z / 4, g2 = ((5 * z2 + 16) * z2 + 3) * z / 96,
               g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384;
        return z + (g1 + (g2 + g3 / df) / df) / df;
    }
    double low = 0, high = 16;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(student_upper(middle, df) > upper ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

double student_t975(double df) {
    return student_quantile(df, 0.025, Z975);
}

/* --- paired differences --- */

double mean_of(const double *d, size_t n) {
    double sum = total_of(double, i, 0, n, d[i]);
    return n ? sum / (double)n : NAN;
}

/* Standard deviation with n - 1; rounding apart, equal values give exactly 0. */
static double spread_of(const double *d, size_t n) {
    double mean = mean_of(d, n), sum = 0, low = d[0], high = d[0];
    for (size_t i = 0; i < n; i++) {
        sum += (d[i] - mean) * (d[i] - mean);
        low = fmin(low, d[i]);
        high = fmax(high, d[i]);
    }
    return high - low < 1e-12 ? 0 : sqrt(sum / (double)(n - 1));
}

struct interval paired_lift(const double *d, size_t n) {
    if (n < 2) {
        return (struct interval){n ? d[0] : NAN, NAN, NAN};
    }
    double mean = mean_of(d, n);
    double half = student_t975((double)(n - 1)) * spread_of(d, n) / sqrt((double)n);
    return (struct interval){mean, mean - half, mean + half};
}

size_t join_lessons(double *a, double *b, const char *const *lesson, size_t n) {
    autofree bool *done = xcalloc(n + 1, sizeof *done);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        double sum_a = 0, sum_b = 0, count = 0;
        for (size_t k = i; k < n && !done[i]; k++) {
            if (k > i && strcmp(lesson[i], lesson[k]) != 0) {
                continue;
            }
            sum_a += a[k];
            sum_b += b[k];
            count++;
            done[k] = k > i;
        }
        if (count) {
            a[kept] = sum_a / count;
            b[kept++] = sum_b / count;
        }
    }
    return kept;
}

/* --- the sign-flip test --- */

/* All sums of ±d[0] ±d[1] …, sorted: 2^n of them. */
static double *signed_sums(const double *d, size_t n) {
    double *sums = xreallocarray(NULL, (size_t)1 << n, sizeof *sums);
    sums[0] = 0;
    for (size_t i = 0, count = 1; i < n; i++, count *= 2) {
        for (size_t k = 0; k < count; k++) {
            sums[count + k] = sums[k] + d[i];
            sums[k] -= d[i];
        }
    }
    sort_doubles(sums, (size_t)1 << n);
    return sums;
}

/* The share of the 2^n patterns whose sum is at least `limit`: the patterns of one half
 * of the differences against those of the other. */
static double share_at_least(const double *d, size_t n, double limit) {
    size_t left = n / 2, right = n - left;
    autofree double *a = signed_sums(d, left), *b = signed_sums(d + left, right);
    size_t a_count = (size_t)1 << left, b_count = (size_t)1 << right;
    double hits = 0;
    for (size_t i = 0, j = b_count; i < a_count; i++) {
        while (j > 0 && a[i] + b[j - 1] >= limit) {
            j--;
        }
        hits += (double)(b_count - j);
    }
    return ldexp(hits, -(int)n);
}

/* For each eight differences, the 256 sums of ±d; the bits of the index choose the
 * signs. */
static double *sums_of_eights(const double *d, size_t n, size_t eights) {
    double *sums = xreallocarray(NULL, eights * 256, sizeof *sums);
    for (size_t at = 0; at < eights * 256; at++) {
        double sum = 0;
        for (size_t i = at / 256 * 8, bit = 0; bit < 8 && i < n; i++, bit++) {
            sum += at & ((size_t)1 << bit) ? d[i] : -d[i];
        }
        sums[at] = sum;
    }
    return sums;
}

static double sampled_share(const double *d, size_t n, double limit, uint64_t seed) {
    size_t hits = 0, eights = (n + 7) / 8;
    autofree double *sums = sums_of_eights(d, n, eights);
    for (size_t flip = 0; flip < FLIPS; flip++) {
        double sum = 0;
        uint64_t bits = 0;
        for (size_t i = 0; i < eights; i++) {
            bits = i % 8 ? bits >> 8 : random_next(&seed);
            sum += sums[i * 256 + (bits & 255)];
        }
        hits += fabs(sum) >= limit;
    }
    return (double)(hits + 1) / (FLIPS + 1);
}

double sign_flip_p(const double *d, size_t n, uint64_t seed) {
    if (n == 0) {
        return NAN;
    }
    /* A zero doubles both the patterns and the hits, so zeros are left out. */
    autofree double *v = xreallocarray(NULL, n, sizeof *v);
    size_t count = 0;
    double sum = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (d[i] != 0) {
            v[count++] = d[i];
        }
        sum += d[i];
        size += fabs(d[i]);
    }
    /* Sums that are equal but for rounding are ties. */
    double limit = fabs(sum) - 1e-9 * size;
    if (limit <= 0) {
        return 1;
    }
    return count <= SIGN_FLIP_EXACT ? 2 * share_at_least(v, count, limit)
                                    : sampled_share(v, count, limit, seed);
}

/* --- power --- */

/* Fewer tests that changed all one way cannot reach p = 0.05: 2 / 2^5 > 0.05. */
#define CHANGED_TESTS 6
#define MORE_TESTS_MAX 10000

/* The share of tests that must change for CHANGED_TESTS of n to do so with 80 %. */
static double share_to_change(size_t n) {
    double low = 0, high = 1, more = (double)(n - CHANGED_TESTS) + 1;
    for (int i = 0; i < 50; i++) {
        double q = (low + high) / 2;
        *(incomplete_beta(CHANGED_TESTS, more, q) < 0.8 ? &low : &high) = q;
    }
    return high;
}

struct spread {
    double deviation; /* of the differences */
    double grain;     /* the smallest difference there is; 1 without any */
};

static struct spread spread_with_grain(const double *d, size_t n) {
    double grain = 1;
    for (size_t i = 0; i < n; i++) {
        grain = d[i] != 0 ? fmin(grain, fabs(d[i])) : grain;
    }
    return (struct spread){spread_of(d, n), grain};
}

/* The sign-flip test of few tests is coarser than Student's, and a skill that helps helps
 * some tests more than others: the factor was found by simulation (for whole tests won or
 * lost, and for means over runs). */
static double detectable_with(size_t n, struct spread s) {
    double count = (double)n, df = count - 1;
    double t = student_quantile(df, 0.025, Z975) + student_quantile(df, 0.2, Z80);
    double factor = count / (count - (s.grain == 1 ? 3 : 2));
    double by_spread = t * factor * s.deviation / sqrt(count);
    return fmin(1, fmax(by_spread, s.grain * share_to_change(n)));
}

double smallest_detectable(const double *d, size_t n) {
    return n < CHANGED_TESTS ? NAN : detectable_with(n, spread_with_grain(d, n));
}

size_t more_tests_needed(const double *d, size_t n) {
    size_t least = n < CHANGED_TESTS ? CHANGED_TESTS : n;
    double lift = n ? fabs(mean_of(d, n)) : 0;
    if (n < 2) {
        return least - n;
    }
    if (lift < 1e-12) {
        return SIZE_MAX;
    }
    struct spread s = spread_with_grain(d, n);
    size_t low = least - 1, high = n + MORE_TESTS_MAX;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(detectable_with(middle, s) <= lift ? &high : &low) = middle;
    }
    return high - n;
}

/* --- resampling --- */

/* exp of the mean of n logarithms, drawn with replacement. */
static double exp_of_draw(const double *logs, size_t n, uint64_t *seed) {
    double sum = total_of(double, i, 0, n, logs[random_below(seed, n)]);
    return exp(sum / (double)n);
}

static struct interval bootstrap(const double *logs, size_t n, uint64_t seed) {
    autofree double *values = xreallocarray(NULL, RESAMPLES, sizeof *values);
    for (size_t r = 0; r < RESAMPLES; r++) {
        values[r] = exp_of_draw(logs, n, &seed);
    }
    sort_doubles(values, RESAMPLES);
    return (struct interval){exp(mean_of(logs, n)),
                             quantile_of_sorted(values, RESAMPLES, 0.025),
                             quantile_of_sorted(values, RESAMPLES, 0.975)};
}

struct interval bootstrap_geometric_mean(const double *a, const double *b, size_t n,
                                         uint64_t seed) {
    autofree double *logs = xreallocarray(NULL, n ? n : 1, sizeof *logs);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (a[i] > 0 && b[i] > 0) {
            logs[count++] = log(a[i] / b[i]);
        }
    }
    return count ? bootstrap(logs, count, seed) : (struct interval){NAN, NAN, NAN};
}

/* --- several hypotheses --- */

struct ranked_value {
    double p;
    size_t at;
};

static int compare_ranked(const void *a, const void *b) {
    return compare_doubles(&((const struct ranked_value *)a)->p,
                           &((const struct ranked_value *)b)->p);
}

void holm_adjust(double *p, size_t m) {
    autofree struct ranked_value *order = xreallocarray(NULL, m ? m : 1, sizeof *order);
    size_t count = 0;
    for (size_t i = 0; i < m; i++) {
        if (!isnan(p[i])) {
            order[count++] = (struct ranked_value){p[i], i};
        }
    }
    qsort(order, count, sizeof *order, compare_ranked);
    double least = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmax(least, fmin(1, order[i].p * (double)(count - i)));
        p[order[i].at] = least;
    }
}
