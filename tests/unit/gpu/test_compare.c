/* When an output is right, and what is said when it is not. */
#include "base/json.h"
#include "base/mem.h"
#include "gpu/run/compare.h"
#include "gpu/run/expected_scale.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static const int64_t shape[] = {2, 3};

static const struct kernel_spec spec;
static struct spec_buffer y; /* of the comparison that is made */

static struct compare_input input(const float *actual, const float *expected,
                                  struct tolerance tolerance) {
    y = (struct spec_buffer){
        .name = "y", .type = TENSOR_FLOAT32, .tolerance = tolerance};
    return (struct compare_input){.spec = &spec,
                                  .buffer = &y,
                                  .expected_type = TENSOR_FLOAT32,
                                  .actual = actual,
                                  .expected = expected,
                                  .count = 6,
                                  .shape = shape,
                                  .rank = 2};
}

static bool passes(const float *actual, const float *expected, struct tolerance t) {
    struct compare_input in = input(actual, expected, t);
    struct compare_result r;
    compare_output(&r, &in);
    json_decref(r.json);
    return r.pass;
}

Test(compare, elementwise) {
    const float e[6] = {1, 2, 3, 4, 5, 6};
    float a[6];
    struct tolerance t = {.mode = COMPARE_ELEMENTWISE, .rtol = 0.01};
    memcpy(a, e, sizeof a);
    cr_assert(passes(a, e, t));
    a[2] = 3.029f;
    cr_assert(passes(a, e, t));
    a[2] = 3.031f;
    cr_assert(passes(a, e, t) == false);
    a[2] = NAN;
    cr_assert(passes(a, e, t) == false);
    a[2] = INFINITY;
    cr_assert(passes(a, e, t) == false);
}

/* x - x * (1 + eps) is no error of a kernel. What a spec says itself stands. */
Test(compare, what_inputs_cancel_to_is_rounded_by_their_size) {
    const float e[6] = {-5.6e-8f, 0, 0, 0, 0, 0}, a[6] = {-6.0e-8f, 2e-8f, 0, 0, 0, 0};
    for (int k = 0; k < 2; k++) {
        struct tolerance t = tolerance_default(TENSOR_FLOAT32);
        t.scale = k == 0;
        struct compare_input in = input(a, e, t);
        in.noise = 0x1p-21;
        t.atol = t.scale ? t.atol : 1e-12;
        y.tolerance = t;
        struct compare_result r;
        compare_output(&r, &in);
        json_decref(r.json);
        cr_assert_eq(r.pass, k == 0);
    }
    cr_assert(!passes(a, e, tolerance_default(TENSOR_FLOAT32)));
}

Test(compare, special_values) {
    const float e[6] = {NAN, INFINITY, -INFINITY, 0, -0.0f, 1};
    float a[6] = {NAN, INFINITY, -INFINITY, -0.0f, 0, 1};
    struct tolerance loose = {.mode = COMPARE_ELEMENTWISE, .rtol = 1},
                     exact = {.mode = COMPARE_EXACT};
    cr_assert(passes(a, e, loose));
    cr_assert(passes(a, e, exact) == false); /* the zeros' signs */
    a[3] = 0;
    a[4] = -0.0f;
    cr_assert(passes(a, e, exact));
    a[1] = -INFINITY;
    cr_assert(passes(a, e, loose) == false);
    a[1] = 3.4e38f;
    cr_assert(passes(a, e, loose) == false);
}

/* The region, the first and the samples of what is wrong. */
Test(compare, tells_where) {
    const float e[6] = {1, 2, 3, 4, 5, 6}, a[6] = {1, 2.5f, 3, 4, 5, 7};
    struct compare_input in =
        input(a, e, (struct tolerance){.mode = COMPARE_ELEMENTWISE, .rtol = 1e-3});
    struct compare_result r;
    compare_output(&r, &in);
    cr_assert_eq(r.mismatches, 2);
    autojson *want =
        json_loads("{\"index\":[0,1],\"expected\":2.0,\"actual\":2.5,\"expected_bits\":"
                   "\"0x40000000\",\"actual_bits\":\"0x40200000\"}",
                   0, NULL);
    cr_assert(json_equal(json_object_get(r.json, "first_mismatch"), want));
    autojson *region = json_loads("{\"low\":[0,1],\"high\":[1,2]}", 0, NULL);
    cr_assert(json_equal(json_object_get(r.json, "region"), region));
    cr_assert_eq(json_array_size(json_object_get(r.json, "samples")), 2);
    cr_assert(json_number_value(json_object_get(r.json, "max_abs_error")) == 1.0);
    cr_assert(json_number_value(json_object_get(r.json, "max_rel_error")) == 0.25);
    /* 4 exact, 0.25 = 2^-2 and 1/6 = 2^-2.58 */
    json_t *histogram = json_object_get(r.json, "histogram");
    cr_assert_eq(json_array_size(histogram), 3);
    cr_assert_eq(
        json_integer_value(json_object_get(json_array_get(histogram, 0), "count")), 4);
    cr_assert_eq(
        json_integer_value(json_object_get(json_array_get(histogram, 1), "log2_error")),
        -3);
    json_decref(r.json);
}

/* KernelBench's trap: an absolute tolerance above all values lets zeros pass. */
Test(compare, trivial_outputs_are_seen) {
    const float e[6] = {1e-6f, 2e-6f, 3e-6f, 1e-6f, 2e-6f, 3e-6f}, zero[6] = {0};
    struct compare_result r;
    struct compare_input in =
        input(zero, e, (struct tolerance){.mode = COMPARE_ELEMENTWISE, .atol = 1e-4});
    compare_output(&r, &in);
    cr_assert(r.pass && r.zero_passes && r.constant_passes && r.shift_passes);
    json_decref(r.json);
    y.tolerance = tolerance_default(TENSOR_FLOAT32);
    compare_output(&r, &in);
    cr_assert(r.pass == false);
    cr_assert(r.zero_passes == false);
    cr_assert(r.constant_passes == false);
    json_decref(r.json);
    in.expected = zero; /* an output that should be zero is no trap */
    compare_output(&r, &in);
    cr_assert(r.pass);
    cr_assert(r.nonzero == false && r.varies == false);
    cr_assert(r.shift_passes == false);
    json_decref(r.json);
}

/* One mask must not excuse everything else; what a spec says itself stands. */
Test(compare, a_default_follows_what_is_below_a_gap) {
    const float e[6] = {-1e9f, 1, -2, 3, -4, -1e9f},
                a[6] = {-1e9f, 42, 42, 42, 42, -1e9f},
                few[6] = {-1e9f, 1, -2, 3, 0, -1e9f};
    struct tolerance t = tolerance_default(TENSOR_FLOAT32);
    struct compare_input in = input(a, e, t);
    struct compare_result r;
    compare_output(&r, &in);
    const json_t *told = json_object_get(r.json, "tolerance");
    cr_expect_eq(r.mismatches, 4);
    cr_expect_eq(r.narrowed, 4);
    cr_expect(r.scale == 4 && r.largest == 1e9);
    cr_expect_float_eq(json_number_value(json_object_get(told, "atol")), 4e-5, 1e-12);
    cr_expect_str_eq(json_get_string(told, "allowed", ""), "4e-05 + 0.0001 * |expected|");
    json_decref(r.json);
    cr_expect(passes(e, e, t));
    in.expected = few; /* three are no group */
    compare_output(&r, &in);
    cr_expect(r.pass && !r.narrowed);
    cr_expect(r.sized == 5 && r.loose == 3);
    json_decref(r.json);
    t = (struct tolerance){.mode = COMPARE_ELEMENTWISE, .rtol = 1e-4, .atol = 1e4};
    cr_expect(passes(a, e, t));
}

/* What may be noise shows nothing of the tolerance. */
Test(compare, elements_that_any_value_up_to_their_size_would_pass) {
    const float e[6] = {-1e9f, 1, -2, 3, -4, 0};
    const struct tolerance t = {.mode = COMPARE_ELEMENTWISE, .rtol = 1e-4, .atol = 6};
    struct compare_input in = input(e, e, t);
    for (int k = 0; k < 2; k++) {
        struct compare_result r;
        in.noise = k ? 2.5 : 0;
        compare_output(&r, &in);
        cr_expect_eq(r.sized, k ? 3 : 5);
        cr_expect_eq(r.loose, k ? 1 : 3);
        json_decref(r.json);
    }
}

/* What cancels, and the least step of a type, are no errors below a gap either. */
Test(compare, below_a_gap_rounding_is_no_error) {
    const double residue[6] = {1, 1e-16, -3e-16, 1e-5, 1e-6, 1},
                 masked[6] = {-65504, 1.5e-7, 2e-7, 3e-7, 4e-7, -65504};
    const float a[6] = {1, -8.7e-8f, 1e-7f, 1e-5f, 1e-6f, 1},
                wrong[6] = {1, 2e-6f, 0, 1e-5f, 1e-6f, 1};
    const uint16_t half[6] = {0xfbff, 2, 4, 5, 7, 0xfbff},
                   off[6] = {0xfbff, 5, 4, 5, 7, 0xfbff};
    struct compare_input in = input(a, NULL, tolerance_default(TENSOR_FLOAT32));
    in.expected_type = TENSOR_FLOAT64;
    for (int k = 0; k < 4; k++) {
        struct compare_result r;
        in.expected = k < 2 ? residue : masked;
        y.type = k < 2 ? TENSOR_FLOAT32 : TENSOR_FLOAT16;
        y.tolerance = tolerance_default(y.type);
        in.actual = k == 0   ? (const void *)a
                    : k == 1 ? wrong
                    : k == 2 ? half
                             : (const void *)off;
        compare_output(&r, &in);
        cr_expect_eq(r.mismatches, k % 2, "%d", k);
        json_decref(r.json);
    }
}

struct group {
    int count;
    double magnitude;
};

static double scale_of(const struct group *groups, double rtol) {
    autofree struct expected_scale *s = expected_scale_new();
    for (const struct group *g = groups; g->count; g++) {
        for (int i = 0; i < g->count; i++) {
            expected_scale_add(s, &g->magnitude, 1);
        }
    }
    return expected_scale_get(s, rtol);
}

Test(compare, which_magnitude_the_default_follows) {
    static const struct {
        struct group groups[8];
        double scale;
    } rows[] = {
        {{{0}}, 0},
        {{{3, 0}}, 0},
        {{{9, 1}, {1, 9e2}, {1, 8e5}}, 8e5},         /* no factor over 1e3 */
        {{{9, 0}, {3, 1}, {1, 4}, {1, 3999}}, 3999}, /* nor here */
        {{{9, 0}, {3, 1}, {1, 4}, {1, 4001}}, 4},
        {{{9, 0}, {3, 1}, {1, 1e9}}, 1e9}, /* three are no group */
        {{{1, 4}, {3, 1}, {1, 1e9}}, 4},
        {{{19, 1}, {1000, 1e9}}, 1e9}, /* 1.9 % are a tail */
        {{{21, 1}, {1000, 1e9}}, 1},
        {{{4, 1e-3}, {4, 1e6}, {4, 3.4e38}}, 1e-3}, /* the lowest gap */
        {{{9, 1e-15}, {9, 1}}, 1},                  /* cancelled in double */
        {{{9, 1}, {9, 3.4e38}}, 1},                 /* -FLT_MAX is a mask */
        {{{4, 5e-324}, {1, 1.7e308}}, 5e-324},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double scale = scale_of(rows[i].groups, 1e-4);
        cr_expect(scale == rows[i].scale, "%zu: %g", i, scale);
    }
}

Test(compare, a_gap_is_no_wider_than_a_type_is_coarse) {
    const struct group groups[] = {{9, 1}, {1, 90}, {1, 6000}, {0}};
    cr_expect(scale_of(groups, 2e-2) == 1);
    cr_expect(scale_of(groups, 1e-2) == 6000);
    cr_expect(scale_of(groups, 1e-9) == 6000);
}

Test(compare, integers_beyond_a_double_are_told) {
    const int64_t a[6] = {9007199254740992};
    double e[6] = {9007199254740992};
    struct compare_input in = input(NULL, NULL, tolerance_default(TENSOR_INT64));
    y.type = TENSOR_INT64;
    in.expected_type = TENSOR_FLOAT64;
    in.actual = a;
    in.expected = e;
    for (int k = 0; k < 2; k++, e[0] += 2) {
        struct compare_result r;
        compare_output(&r, &in);
        cr_expect_eq(r.inexact, k);
        json_decref(r.json);
    }
}

Test(compare, multiset) {
    const float e[6] = {1, 2, 3, 4, 5, 5}, a[6] = {5, 4, 3, 2, 1, 5},
                b[6] = {5, 4, 3, 2, 1, 4};
    struct tolerance t = {.mode = COMPARE_MULTISET, .rtol = 1e-6};
    cr_assert(passes(a, e, t));
    cr_assert(passes(b, e, t) == false);
}

Test(compare, unwritten_elements_are_wrong) {
    const float e[6] = {1, 2, 3, 4, 5, 6};
    struct compare_input in = input(e, e, (struct tolerance){.mode = COMPARE_EXACT});
    struct compare_result r;
    in.unwritten = 2;
    compare_output(&r, &in);
    cr_assert(r.pass == false);
    cr_assert_eq(r.mismatches, 2);
    json_decref(r.json);
}

/* A reference in double precision does not fail an output for its smaller type. */
Test(compare, expected_in_double) {
    const double e[6] = {0.1, 0.2, 0.3, 1.0 / 3, 2.0 / 3, 1e-3};
    float a[6];
    for (int i = 0; i < 6; i++) {
        a[i] = (float)e[i];
    }
    struct compare_input in = input(a, NULL, (struct tolerance){.mode = COMPARE_EXACT});
    struct compare_result r;
    in.expected = e;
    in.expected_type = TENSOR_FLOAT64;
    compare_output(&r, &in);
    cr_assert(r.pass);
    json_decref(r.json);
}

/* --- expected values that are made while they are compared --- */

struct made {
    const double *values;
    int64_t row, calls;
};

static int make_rows(void *data, int64_t from, int64_t to, double *ret, struct err *err) {
    struct made *m = data;
    (void)err;
    m->calls++;
    memcpy(ret, m->values + from * m->row, (size_t)((to - from) * m->row) * sizeof *ret);
    return 0;
}

static bool same_result(const struct compare_result *a, const struct compare_result *b) {
    return json_equal(a->json, b->json) && a->pass == b->pass && a->judged == b->judged &&
           a->mismatches == b->mismatches && a->zero_passes == b->zero_passes &&
           a->constant_passes == b->constant_passes &&
           a->shift_passes == b->shift_passes && a->shift == b->shift &&
           a->sized == b->sized && a->loose == b->loose && a->scale == b->scale &&
           a->largest == b->largest && a->narrowed == b->narrowed &&
           a->varies == b->varies && a->mean == b->mean;
}

/* Rows of 3 to 100,000 elements, some at a time, against all of them at once: the same
 * verdict, first wrong elements, histogram, worst element, scale and mean. The last size
 * has several of what is looked at together. */
Test(compare, rows_as_the_whole) {
    static const int64_t sizes[][2] = {
        {400, 3}, {7, 1023}, {5, 1024}, {9, 5000}, {8, 100000}};
    const enum tensor_type types[] = {TENSOR_FLOAT32, TENSOR_FLOAT16, TENSOR_INT32};
    for (size_t k = 0; k < 2 * 3 * ARRAY_LEN(sizes); k++) {
        const int64_t *s = sizes[k / 6];
        enum tensor_type type = types[k % 3];
        size_t count = (size_t)(s[0] * s[1]);
        autofree double *e = xcalloc(count, sizeof *e);
        autofree char *a = xcalloc(count, 4);
        for (size_t i = 0; i < count; i++) {
            e[i] = (double)(i * 7919 % 2003) / (type == TENSOR_INT32 ? 1 : 64) - 16;
            e[i] = i % 3001 == 5 ? NAN : e[i];
            tensor_set(type, a, i,
                       e[i] + (i % 977 == 976 ? 3
                               : i % 10 == 0  ? 0x1p-9
                                              : 0));
        }
        struct made m = {e, s[1], 0};
        struct compare_source source = {
            .rows = s[0], .row = (uint64_t)s[1], .make = make_rows, .data = &m};
        y = (struct spec_buffer){
            .name = "y", .type = type, .tolerance = tolerance_default(type)};
        struct compare_input in = {.spec = &spec,
                                   .buffer = &y,
                                   .expected_type = TENSOR_FLOAT64,
                                   .actual = a,
                                   .expected = e,
                                   .count = count,
                                   .shape = s,
                                   .rank = 2};
        y.tolerance = k % 6 < 3 ? y.tolerance
                                 : (struct tolerance){.mode = COMPARE_ELEMENTWISE,
                                                      .rtol = 1e-3,
                                                      .atol = 1e-3};
        struct compare_result whole, rows;
        compare_output(&whole, &in);
        cr_expect_gt(whole.mismatches, 0);
        in.expected = NULL;
        in.source = &source;
        for (source.at_once = 1; source.at_once <= s[0];
             source.at_once += 1 + source.at_once / 2) {
            m.calls = 0;
            compare_output(&rows, &in);
            cr_expect(same_result(&whole, &rows), "%lld x %lld, %lld at once",
                      (long long)s[0], (long long)s[1], (long long)source.at_once);
            cr_expect_eq(m.calls, 2 * ((s[0] + source.at_once - 1) / source.at_once));
            json_decref(rows.json);
        }
        json_decref(whole.json);
    }
}

static int fails(void *data, int64_t from, int64_t to, double *ret, struct err *err) {
    (void)data, (void)from, (void)to, (void)ret;
    return err_set(err, -EINVAL, "an index is outside");
}

Test(compare, rows_that_cannot_be_made) {
    const float a[6] = {0};
    struct err err;
    const struct compare_source source = {
        .rows = 2, .row = 3, .at_once = 1, .make = fails, .err = &err};
    struct compare_input in = input(a, NULL, tolerance_default(TENSOR_FLOAT32));
    struct compare_result r;
    in.expected_type = TENSOR_FLOAT64;
    in.source = &source;
    compare_output(&r, &in);
    cr_assert_eq(r.failed, -EINVAL);
    cr_assert_str_eq(err.msg, "an index is outside");
    cr_assert_null(r.json);
}

static bool always(void) {
    return true;
}

static bool never(void) {
    return false;
}

Test(compare, told_to_stop_it_says_so) {
    const float a[6] = {0}, e[6] = {1};
    struct compare_input in = input(a, e, tolerance_default(TENSOR_FLOAT32));
    struct compare_result r;
    in.stopped = always;
    compare_output(&r, &in);
    cr_expect(r.stopped);
    json_decref(r.json);
    in.stopped = never;
    compare_output(&r, &in);
    cr_expect_not(r.stopped);
    cr_expect_eq(r.mismatches, 1);
    json_decref(r.json);
}

Test(compare, wide_integers_are_exact) {
    const int64_t e[6] = {9007199254740993}, a[6] = {9007199254740992};
    struct compare_input in = input(NULL, NULL, tolerance_default(TENSOR_INT64));
    struct compare_result r;
    y.type = in.expected_type = TENSOR_INT64;
    in.actual = a;
    in.expected = e;
    compare_output(&r, &in);
    cr_assert_eq(r.mismatches, 1);
    json_decref(r.json);
}

/* Of 5000 elements: one in ten is off by 2^-10 of itself, which the tolerance allows;
 * three are wrong, in other blocks of what is looked at together. */
Test(compare, many_elements) {
    enum { MANY = 5000 };
    static float e[MANY], a[MANY];
    static bool judged[MANY];
    const int64_t many[] = {50, 100};
    const size_t wrong[] = {1023, 1024, 4999};
    for (int i = 0; i < MANY; i++) {
        e[i] = 1 + (float)(i % 7);
        a[i] = i % 10 ? e[i] : e[i] * (1 - 0x1p-10f);
        judged[i] = i != 4999;
    }
    for (size_t k = 0; k < 3; k++) {
        a[wrong[k]] = k == 1 ? NAN : -e[wrong[k]];
    }
    struct compare_input in = input(
        a, e, (struct tolerance){.mode = COMPARE_ELEMENTWISE, .rtol = 0.01, .atol = 0});
    in.count = MANY;
    in.shape = many;
    for (int k = 0; k < 2; k++) {
        struct compare_result r;
        in.judged = k ? judged : NULL;
        compare_output(&r, &in);
        cr_expect_eq(r.mismatches, k ? 2u : 3u);
        cr_expect_eq(r.judged, (uint64_t)(MANY - k));
        cr_expect_eq(r.sized, (uint64_t)(MANY - k));
        cr_expect_eq(r.loose, 0);
        cr_expect_eq(r.largest, 7);
        /* 500 of 2^-10, one of 2^1 in front of the last (1024 is no multiple of 10) */
        autojson *want =
            json_loads(k ? "[[-10, 500], [1, 1]]" : "[[-10, 500], [1, 2]]", 0, NULL);
        json_t *histogram = json_object_get(r.json, "histogram"), *item;
        size_t i;
        json_array_foreach(want, i, item) {
            json_t *got = json_array_get(histogram, i + 1); /* behind the exact ones */
            cr_expect_eq(json_integer_value(json_object_get(got, "log2_error")),
                         json_integer_value(json_array_get(item, 0)));
            cr_expect_eq(json_integer_value(json_object_get(got, "count")),
                         json_integer_value(json_array_get(item, 1)));
        }
        autojson *high = json_loads(k ? "[10, 24]" : "[49, 99]", 0, NULL);
        json_t *region = json_object_get(r.json, "region");
        cr_expect(json_equal(json_object_get(region, "high"), high));
        cr_expect_eq(json_integer_value(json_object_get(r.json, "nonfinite")), 1);
        json_decref(r.json);
    }
}
