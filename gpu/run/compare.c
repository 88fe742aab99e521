#include "gpu/run/compare.h"

#include "base/json.h"
#include "base/mem.h"
#include "gpu/run/expected_scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LOG2_LOWEST = -60, /* error buckets: below and above are counted in the last ones */
    LOG2_HIGHEST = 20,
    BUCKETS = LOG2_HIGHEST - LOG2_LOWEST + 1,
    LOOK_EVERY = 1 << 16, /* elements, until the time may be up */
};

struct comparing {
    const struct compare_input *in;
    double atol;                      /* with the scale applied */
    double scale, largest, wide_atol; /* wide_atol follows the largest */
    double constant;                  /* mean of the finite expected values */
    double shift;                     /* mean magnitude of those that are not 0 */
    bool shifted; /* somewhere that much more is another value of the type */
    bool stopped, any_nonzero, varies, finite;
    uint64_t judged, mismatches, nonfinite, exact, sized, loose, narrowed;
    /* Elements that a trivial output would get wrong; the shift's: some. */
    uint64_t zero_bad, constant_bad, shift_bad;
    double max_abs, max_rel;
    uint64_t first, low[TENSOR_MAX_RANK], high[TENSOR_MAX_RANK];
    uint64_t samples[COMPARE_SAMPLES];
    size_t sample_count;
    uint64_t buckets[BUCKETS];
};

static double expected_at(const struct compare_input *in, uint64_t i) {
    return tensor_get(in->expected_type, in->expected, i);
}

static double actual_at(const struct compare_input *in, uint64_t i) {
    return tensor_get(in->type, in->actual, i);
}

/* What the output's own type makes of an expected value: a reference in double precision
 * must not fail an output for being of a smaller type. */
static double rounded(const struct compare_input *in, double expected) {
    uint64_t room;
    tensor_set(in->type, &room, 0, expected);
    return tensor_get(in->type, &room, 0);
}

static bool is_judged(const struct compare_input *in, uint64_t i) {
    return !in->judged || in->judged[i];
}

static bool is_wide(enum tensor_type type) {
    return type == TENSOR_INT64 || type == TENSOR_UINT64;
}

static bool is_exact(const struct compare_input *in, uint64_t i, double value,
                     double expected) {
    if (isnan(expected) || isnan(value)) {
        return isnan(expected) && isnan(value);
    }
    if (in->type == in->expected_type && is_wide(in->type)) {
        return tensor_bits(in->type, in->actual, i) ==
               tensor_bits(in->type, in->expected, i);
    }
    expected = rounded(in, expected);
    return value == expected && signbit(value) == signbit(expected);
}

static bool is_within(const struct comparing *c, double atol, double value,
                      double expected) {
    if (isnan(expected) || isnan(value)) {
        return isnan(expected) && isnan(value);
    }
    double in_type = rounded(c->in, expected);
    if (value == in_type) {
        return true;
    }
    if (isinf(value) || isinf(in_type)) {
        return false;
    }
    return fabs(value - expected) <= atol + c->in->tolerance.rtol * fabs(expected);
}

static bool is_close(const struct comparing *c, double value, double expected) {
    return is_within(c, c->atol, value, expected);
}

static bool element_passes(const struct comparing *c, uint64_t i, double value,
                           double expected) {
    return c->in->tolerance.mode == COMPARE_EXACT ? is_exact(c->in, i, value, expected)
                                                  : is_close(c, value, expected);
}

/* Would `value` in place of the output's element pass? -0 counts as 0 here. */
static bool trivial_passes(const struct comparing *c, double value, double expected) {
    value = rounded(c->in, value);
    return c->in->tolerance.mode == COMPARE_EXACT ? value == rounded(c->in, expected)
                                                  : is_close(c, value, expected);
}

/* A default tolerance is never so wide. A type's largest values may have none above. */
static void try_trivial(struct comparing *c, double expected) {
    const struct tolerance *t = &c->in->tolerance;
    double more = expected + c->shift;
    c->zero_bad += !trivial_passes(c, 0, expected);
    c->constant_bad += !trivial_passes(c, c->constant, expected);
    if (isfinite(expected) && fabs(expected) > c->in->noise) {
        c->sized++;
        c->loose += t->mode != COMPARE_EXACT && is_close(c, -expected, expected);
    }
    if (!t->scale && !c->shift_bad && isfinite(expected)) {
        c->shift_bad += !trivial_passes(c, more, expected);
        c->shifted |= rounded(c->in, more) != rounded(c->in, expected);
    }
}

/* Is there an element i, and time for it? */
static bool goes_on(struct comparing *c, uint64_t i) {
    const struct compare_input *in = c->in;
    if (i % LOOK_EVERY == 0 && in->stopped && in->stopped()) {
        c->stopped = true;
    }
    return i < in->count && !c->stopped;
}

/* Below the atol that follows the largest magnitude, but above what may be rounding. */
static double narrow_atol(const struct comparing *c, const struct expected_scale *s) {
    const struct compare_input *in = c->in;
    const uint64_t one = 1;
    double least = tensor_get(in->type, &one, 0); /* the type's least step */
    double rounding =
        expected_scale_largest(s, COMPARE_MASK) * COMPARE_ROUNDING(in->type);
    double atol = fmax(in->tolerance.atol * c->scale, fmax(least, rounding));
    return fmin(c->wide_atol, fmax(atol, in->noise));
}

static void set_atol(struct comparing *c, const struct expected_scale *s) {
    const struct tolerance *t = &c->in->tolerance;
    c->largest = expected_scale_largest(s, INFINITY);
    c->scale = t->scale && t->mode != COMPARE_EXACT ? expected_scale_get(s, t->rtol)
                                                    : c->largest;
    c->wide_atol = t->scale ? fmax(t->atol * c->largest, c->in->noise) : t->atol;
    c->atol = c->scale < c->largest ? narrow_atol(c, s) : c->wide_atol;
}

static void survey(struct comparing *c) {
    const struct compare_input *in = c->in;
    autofree struct expected_scale *scale = expected_scale_new();
    double sum = 0, magnitudes = 0, first = 0;
    uint64_t finite = 0, nonzero = 0;
    for (uint64_t i = 0; goes_on(c, i); i++) {
        if (!is_judged(in, i)) {
            continue;
        }
        double e = expected_at(in, i);
        c->any_nonzero |= !(e == 0);
        c->varies |= c->judged && !(e == first);
        first = c->judged++ ? first : e;
        if (isfinite(e)) {
            expected_scale_add(scale, fabs(e));
            sum += e;
            magnitudes += fabs(e);
            nonzero += e != 0;
            finite++;
        }
    }
    c->finite = finite;
    c->constant = finite ? sum / (double)finite : 0;
    c->shift = nonzero ? magnitudes / (double)nonzero : 1;
    set_atol(c, scale);
}

/* --- one element --- */

static void index_of(const struct compare_input *in, uint64_t i, uint64_t *ret) {
    for (size_t d = in->rank; d-- > 0;) {
        uint64_t extent = in->shape[d] > 0 ? (uint64_t)in->shape[d] : 1;
        ret[d] = i % extent;
        i /= extent;
    }
}

static void note_mismatch(struct comparing *c, uint64_t i) {
    uint64_t at[TENSOR_MAX_RANK];
    index_of(c->in, i, at);
    if (!c->mismatches++) {
        c->first = i;
        memcpy(c->low, at, sizeof c->low);
        memcpy(c->high, at, sizeof c->high);
    }
    for (size_t d = 0; d < c->in->rank; d++) {
        c->low[d] = at[d] < c->low[d] ? at[d] : c->low[d];
        c->high[d] = at[d] > c->high[d] ? at[d] : c->high[d];
    }
    if (c->sample_count < COMPARE_SAMPLES) {
        c->samples[c->sample_count++] = i;
    }
}

static void note_error(struct comparing *c, double value, double expected) {
    double error = fabs(value - expected);
    if (!isfinite(error)) {
        return;
    }
    c->max_abs = fmax(c->max_abs, error);
    c->narrowed += c->atol < c->wide_atol && !is_close(c, value, expected) &&
                   is_within(c, c->wide_atol, value, expected);
    if (error == 0) {
        c->exact++;
        return;
    }
    double relative = expected != 0 ? error / fabs(expected) : INFINITY;
    if (isfinite(relative)) {
        c->max_rel = fmax(c->max_rel, relative);
    }
    int bucket = isfinite(relative) ? (int)floor(log2(relative)) : LOG2_HIGHEST;
    bucket = bucket < LOG2_LOWEST    ? LOG2_LOWEST
             : bucket > LOG2_HIGHEST ? LOG2_HIGHEST
                                     : bucket;
    c->buckets[bucket - LOG2_LOWEST]++;
}

static void compare_elements(struct comparing *c) {
    const struct compare_input *in = c->in;
    for (uint64_t i = 0; goes_on(c, i); i++) {
        if (!is_judged(in, i)) {
            continue;
        }
        double e = expected_at(in, i), a = actual_at(in, i);
        c->nonfinite += !isfinite(a);
        note_error(c, a, e);
        if (!element_passes(c, i, a, e)) {
            note_mismatch(c, i);
        }
        try_trivial(c, e);
    }
}

/* --- as a multiset --- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) {
        return isnan(x) - isnan(y);
    }
    return (x > y) - (x < y);
}

/* Those that are judged. */
static double *sorted(const struct compare_input *in, enum tensor_type type,
                      const void *data) {
    double *list = xcalloc(in->count ? in->count : 1, sizeof *list);
    uint64_t count = 0;
    for (uint64_t i = 0; i < in->count; i++) {
        if (is_judged(in, i)) {
            list[count++] = tensor_get(type, data, i);
        }
    }
    qsort(list, count, sizeof *list, by_value);
    return list;
}

static void compare_multisets(struct comparing *c) {
    const struct compare_input *in = c->in;
    autofree double *expected = sorted(in, in->expected_type, in->expected);
    autofree double *actual = sorted(in, in->type, in->actual);
    for (uint64_t i = 0; i < c->judged; i++) {
        c->nonfinite += !isfinite(actual[i]);
        note_error(c, actual[i], expected[i]);
        bool same = actual[i] == rounded(in, expected[i]);
        if (!same &&
            (!tensor_type_float(in->type) || !is_close(c, actual[i], expected[i]))) {
            note_mismatch(c, i);
        }
        try_trivial(c, expected[i]);
    }
}

/* --- the answer --- */

static json_t *bits_json(enum tensor_type type, const void *data, uint64_t i) {
    return json_sprintf("0x%0*" PRIx64, (int)(2 * tensor_type_bytes(type)),
                        tensor_bits(type, data, i));
}

static json_t *index_json(const uint64_t *at, size_t rank) {
    json_t *list = json_array();
    for (size_t d = 0; d < rank; d++) {
        json_array_append_new(list, json_integer((json_int_t)at[d]));
    }
    return list;
}

static json_t *number_at(enum tensor_type type, const void *data, uint64_t i) {
    if (type == TENSOR_INT64 ||
        (type == TENSOR_UINT64 && !(tensor_bits(type, data, i) >> 63))) {
        return json_integer((json_int_t)tensor_bits(type, data, i));
    }
    return tensor_type_float(type) || type == TENSOR_UINT64
               ? json_double(tensor_get(type, data, i))
               : json_integer((json_int_t)tensor_get(type, data, i));
}

static json_t *element_json(const struct comparing *c, uint64_t i) {
    const struct compare_input *in = c->in;
    uint64_t at[TENSOR_MAX_RANK] = {0};
    index_of(in, i, at);
    bool same = in->expected_type == in->type;
    return json_pack("{s:o, s:o, s:o, s:o*, s:o}", "index", index_json(at, in->rank),
                     "expected", number_at(in->expected_type, in->expected, i), "actual",
                     number_at(in->type, in->actual, i), "expected_bits",
                     same ? bits_json(in->type, in->expected, i) : NULL, "actual_bits",
                     bits_json(in->type, in->actual, i));
}

static json_t *histogram_json(const struct comparing *c) {
    json_t *list = json_array();
    if (c->exact) {
        json_array_append_new(list, json_pack("{s:o, s:I}", "log2_error",
                                              json_double(-INFINITY), "count",
                                              (json_int_t)c->exact));
    }
    for (int i = 0; i < BUCKETS; i++) {
        if (c->buckets[i]) {
            json_array_append_new(list,
                                  json_pack("{s:i, s:I}", "log2_error", i + LOG2_LOWEST,
                                            "count", (json_int_t)c->buckets[i]));
        }
    }
    return list;
}

static json_t *tolerance_json(const struct comparing *c) {
    static const char *const modes[] = {"elementwise", "exact", "multiset"};
    const struct tolerance *t = &c->in->tolerance;
    json_t *json = json_pack("{s:s}", "compare", modes[t->mode]);
    if (t->mode != COMPARE_EXACT) {
        json_object_set_new(json, "rtol", json_double(t->rtol));
        json_object_set_new(json, "atol", json_double(c->atol));
    }
    return json;
}

static void mismatches_to_json(const struct comparing *c, json_t *json) {
    if (c->in->tolerance.mode == COMPARE_MULTISET) {
        return; /* sorted places are nobody's indices */
    }
    json_object_set_new(json, "first_mismatch", element_json(c, c->first));
    json_object_set_new(json, "region",
                        json_pack("{s:o, s:o}", "low", index_json(c->low, c->in->rank),
                                  "high", index_json(c->high, c->in->rank)));
    json_t *samples = json_array();
    for (size_t i = 0; i < c->sample_count; i++) {
        json_array_append_new(samples, element_json(c, c->samples[i]));
    }
    json_object_set_new(json, "samples", samples);
}

static json_t *comparison_json(const struct comparing *c, uint64_t mismatches) {
    const struct compare_input *in = c->in;
    json_t *json =
        json_pack("{s:o, s:s, s:I, s:o*, s:I, s:I, s:o, s:o, s:o, s:o*}", "name",
                  json_clean_z(in->name), "verdict", mismatches ? "fail" : "pass",
                  "elements", (json_int_t)in->count, "judged",
                  in->judged ? json_integer((json_int_t)c->judged) : NULL, "mismatches",
                  (json_int_t)mismatches, "nonfinite", (json_int_t)c->nonfinite,
                  "max_abs_error", json_double(c->max_abs), "max_rel_error",
                  json_double(c->max_rel), "tolerance", tolerance_json(c), "unwritten",
                  in->unwritten ? json_integer((json_int_t)in->unwritten) : NULL);
    if (c->mismatches) {
        mismatches_to_json(c, json);
    }
    json_object_set_new(json, "histogram", histogram_json(c));
    return json;
}

void compare_output(struct compare_result *ret, const struct compare_input *in) {
    autofree struct comparing *c = xcalloc(1, sizeof *c);
    c->in = in;
    survey(c);
    if (in->tolerance.mode == COMPARE_MULTISET) {
        compare_multisets(c);
    } else {
        compare_elements(c);
    }
    /* An element that nobody wrote is wrong, whatever the poison happens to be. */
    uint64_t mismatches = c->mismatches > in->unwritten ? c->mismatches : in->unwritten;
    *ret = (struct compare_result){
        .stopped = c->stopped,
        .pass = !mismatches,
        .judged = c->judged,
        .mismatches = mismatches,
        .zero_passes = !c->zero_bad,
        .constant_passes = !c->constant_bad,
        .shift_passes = c->shifted && !c->shift_bad,
        .shift = c->shift,
        .nonzero = c->any_nonzero,
        .sized = c->sized,
        .loose = c->loose,
        .scale = c->scale,
        .largest = c->largest,
        .narrowed = c->narrowed,
        .inexact = !tensor_type_float(in->type) && in->expected_type == TENSOR_FLOAT64 &&
                   (in->inexact || c->largest > 0x1p53),
        .finite = c->finite,
        .varies = c->varies,
        .mean = c->constant,
        .json = comparison_json(c, mismatches),
    };
}
