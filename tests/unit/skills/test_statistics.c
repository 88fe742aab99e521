/* Figures against scipy, statsmodels and exact arithmetic (data/statistics.json, made by
 * data/make_statistics.py). */
#include "skills/statistics/statistics.h"

#include "base/json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

static json_t *data(const char *part) {
    json_error_t error;
    autojson *all = json_load_file(TEST_DATA "/statistics.json", 0, &error);
    cr_assert(all != NULL, "%s", error.text);
    json_t *value = json_incref(json_object_get(all, part));
    cr_assert(value != NULL, "%s", part);
    return value;
}

static double number(const json_t *row, const char *key) {
    json_t *value = json_object_get(row, key);
    cr_assert(value != NULL && json_is_number(value), "%s", key);
    return json_number_value(value);
}

static bool near(double a, double b, double relative) {
    return fabs(a - b) <= relative * fmax(1e-3, fabs(b));
}

static size_t numbers(const json_t *list, double *ret, size_t max) {
    size_t n = json_array_size(list);
    cr_assert(n <= max);
    for (size_t i = 0; i < n; i++) {
        ret[i] = json_number_value(json_array_get(list, i));
    }
    return n;
}

Test(statistics, wilson_intervals_are_those_of_statsmodels) {
    autojson *rows = data("wilson");
    size_t i;
    json_t *row;
    cr_assert(gt(sz, json_array_size(rows), 0));
    json_array_foreach(rows, i, row) {
        double n = number(row, "n");
        struct interval w = wilson_interval(number(row, "passed"), (size_t)n);
        cr_assert(near(w.estimate, number(row, "passed") / n, 1e-12));
        cr_assert(near(w.low, fmax(0, number(row, "low")), 1e-9), "row %zu", i);
        cr_assert(near(w.high, fmin(1, number(row, "high")), 1e-9), "row %zu", i);
    }
    struct interval none = wilson_interval(0, 0);
    cr_assert(isnan(none.estimate) && none.low == 0 && none.high == 1);
}

Test(statistics, newcombe_intervals_are_those_of_statsmodels) {
    autojson *rows = data("newcombe");
    size_t i;
    json_t *row;
    cr_assert(gt(sz, json_array_size(rows), 0));
    json_array_foreach(rows, i, row) {
        double a[2], b[2];
        numbers(json_object_get(row, "a"), a, 2);
        numbers(json_object_get(row, "b"), b, 2);
        struct interval d = newcombe_interval(a[0], (size_t)a[1], b[0], (size_t)b[1]);
        cr_assert(near(d.estimate, b[0] / b[1] - a[0] / a[1], 1e-12));
        cr_assert(near(d.low, number(row, "low"), 1e-9), "row %zu", i);
        cr_assert(near(d.high, number(row, "high"), 1e-9), "row %zu", i);
    }
    cr_assert(isnan(newcombe_interval(1, 1, 0, 0).estimate));
}

/* Figures that were published with the method, rounded as there. */
Test(statistics, worked_examples_come_out) {
    static const struct {
        double passed;
        size_t n;
        long low, high;
    } rates[] = {{4, 5, 38, 96},  {5, 5, 57, 100},  {2, 5, 12, 77},
                 {8, 20, 22, 61}, {17, 20, 64, 95}, {15, 15, 80, 100}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct interval w = wilson_interval(rates[i].passed, rates[i].n);
        cr_assert(eq(long, lround(100 * w.low), rates[i].low));
        cr_assert(eq(long, lround(100 * w.high), rates[i].high));
    }
    struct interval d = newcombe_interval(8, 20, 17, 20);
    cr_assert(eq(long, lround(100 * d.estimate), 45));
    cr_assert(eq(long, lround(100 * d.low), 15));
    cr_assert(eq(long, lround(100 * d.high), 66));
    /* One-sided tests as exact McNemar: 5-0, 6-0, 9-1. */
    const double wins[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, -1};
    cr_assert(epsilon_eq(dbl, sign_flip_p(wins, 5, 0), 0.0625, 1e-12));
    cr_assert(epsilon_eq(dbl, sign_flip_p(wins, 6, 0), 0.03125, 1e-12));
    cr_assert(epsilon_eq(dbl, sign_flip_p(wins, 10, 0), 22.0 / 1024, 1e-12));
}

Test(statistics, student_quantiles_are_those_of_scipy) {
    autojson *rows = data("student");
    size_t i;
    json_t *row;
    cr_assert(gt(sz, json_array_size(rows), 0));
    json_array_foreach(rows, i, row) {
        double t = student_t975(number(row, "df"));
        cr_assert(near(t, number(row, "t"), 1e-9), "df %g: %.15g", number(row, "df"), t);
    }
    cr_assert(isnan(student_t975(0.5)) && isnan(student_t975(NAN)));
}

Test(statistics, paired_figures_are_exact) {
    autojson *rows = data("paired");
    size_t i;
    json_t *row;
    cr_assert(gt(sz, json_array_size(rows), 40));
    json_array_foreach(rows, i, row) {
        double d[64];
        size_t n = numbers(json_object_get(row, "d"), d, 64);
        double p = sign_flip_p(d, n, 7);
        cr_assert(near(p, number(row, "p"), 1e-9), "row %zu: %.12g", i, p);
        struct interval lift = paired_lift(d, n);
        if (json_object_get(row, "low")) {
            cr_assert(near(lift.low, number(row, "low"), 1e-9), "row %zu", i);
            cr_assert(near(lift.high, number(row, "high"), 1e-9), "row %zu", i);
        } else {
            cr_assert(isnan(lift.low) && isnan(lift.high));
        }
        if (json_object_get(row, "smallest")) {
            double s = smallest_detectable(d, n);
            cr_assert(near(s, number(row, "smallest"), 1e-8), "row %zu: %.12g", i, s);
        }
    }
    cr_assert(isnan(sign_flip_p(NULL, 0, 1)) && isnan(paired_lift(NULL, 0).estimate));
}

/* 100,000 flips: the standard error of a share of 0.05 is 0.0007. */
Test(statistics, many_tests_are_sampled_and_repeat_exactly) {
    autojson *row = data("sampled");
    double d[64];
    size_t n = numbers(json_object_get(row, "d"), d, 64);
    double p = sign_flip_p(d, n, 42), exact = number(row, "p");
    cr_assert(epsilon_eq(dbl, p, exact, 5 * sqrt(exact * (1 - exact) / 1e5) + 1e-5));
    cr_assert(p == sign_flip_p(d, n, 42));
    cr_assert(p != sign_flip_p(d, n, 43));
    double same[40];
    for (size_t i = 0; i < 40; i++) {
        same[i] = 0.1;
    }
    cr_assert(epsilon_eq(dbl, sign_flip_p(same, 40, 1), 1.0 / 100001, 1e-12));
}

Test(statistics, resampled_intervals_agree_with_scipy) {
    autojson *row = data("resampled");
    double a[32], b[32], geometric[3];
    size_t n = numbers(json_object_get(row, "a"), a, 32);
    numbers(json_object_get(row, "b"), b, 32);
    numbers(json_object_get(row, "geometric"), geometric, 3);
    struct interval g = bootstrap_geometric_mean(a, b, n, 3);
    cr_assert(near(g.estimate, geometric[0], 1e-12));
    cr_assert(near(g.low, geometric[1], 0.015) && near(g.high, geometric[2], 0.015));
}

Test(statistics, a_ratio_of_nothing_is_no_number) {
    const double tokens[] = {100, 200, 300}, solved[] = {0, 0, 1}, none[] = {0, 0, 0};
    cr_assert(isnan(bootstrap_geometric_mean(tokens, none, 3, 1).estimate));
    cr_assert(bootstrap_geometric_mean(tokens, solved, 3, 1).estimate > 299);
}

/* A ratio has no unit: thousands of tokens, or tokens. */
Test(statistics, a_ratio_does_not_depend_on_the_unit) {
    const double a[] = {100, 250, 900, 70}, b[] = {80, 300, 450, 90};
    double small_a[4], small_b[4];
    for (size_t i = 0; i < 4; i++) {
        small_a[i] = a[i] / 4096;
        small_b[i] = b[i] / 4096;
    }
    struct interval tokens = bootstrap_geometric_mean(a, b, 4, 9),
                    thousands = bootstrap_geometric_mean(small_a, small_b, 4, 9);
    cr_assert(near(tokens.estimate,
                   pow(100. * 250 * 900 * 70 / (80. * 300 * 450 * 90), .25), 1e-12));
    cr_assert(tokens.estimate == thousands.estimate && tokens.low == thousands.low &&
              tokens.high == thousands.high);
}

Test(statistics, holm_adjusts_as_statsmodels_does) {
    autojson *rows = data("holm");
    size_t i;
    json_t *row;
    cr_assert(gt(sz, json_array_size(rows), 0));
    json_array_foreach(rows, i, row) {
        double p[16], expected[16];
        size_t m = numbers(json_object_get(row, "p"), p, 16);
        numbers(json_object_get(row, "adjusted"), expected, 16);
        holm_adjust(p, m);
        for (size_t k = 0; k < m; k++) {
            cr_assert(near(p[k], expected[k], 1e-12), "row %zu[%zu]: %g", i, k, p[k]);
        }
    }
    double some[] = {0.03, NAN, 0.01};
    holm_adjust(some, 3);
    cr_assert(isnan(some[1]) && near(some[0], 0.03, 1e-12));
    cr_assert(near(some[2], 0.02, 1e-12));
}

Test(statistics, more_tests_shrink_what_can_be_found) {
    const double clear[] = {1, 1, 1, 0, 1, 1, 1, 1, 0, 1}, even[] = {1, -1, 1, -1, 0, 0};
    const double weak[] = {1, -1, 1, 0, 0, 0, 0, 1, -1, 0, 0, 1};
    cr_assert(zero(sz, more_tests_needed(clear, 10)));
    cr_assert(eq(sz, more_tests_needed(even, 6), SIZE_MAX));
    size_t more = more_tests_needed(weak, 12);
    cr_assert(more > 12 && more < 400, "%zu", more);
    cr_assert(eq(sz, more_tests_needed(clear, 1), 5));
    cr_assert(eq(sz, more_tests_needed(clear, 0), 6));
    cr_assert(isnan(smallest_detectable(clear, 5)));
    double faint[12] = {1e-6, 0, 0, 0, 0, 0, -1, 1, -1, 1, 0, 0};
    cr_assert(eq(sz, more_tests_needed(faint, 12), 10000));
}
