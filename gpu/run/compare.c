#include "gpu/run/compare_internal.h"

#include "base/find.h"
#include "base/parts.h"
#include "base/vectors.h"
#include "gpu/run/expected_scale.h"

#include <math.h>

#define SAMPLES 8 /* wrong elements that are told, in every view */

enum {
    CHUNK = 1 << 18, /* those that a thread takes; a multiple of BLOCK */
    CHUNKS = 64,     /* at a time */
};

static bool is_wide(enum tensor_type type) {
    return type == TENSOR_INT64 || type == TENSOR_UINT64;
}

static size_t keep_judged(struct compare_block *b, const bool *judged, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        b->at[kept] = b->at[i];
        b->expected[kept] = b->expected[i];
        b->actual[kept] = b->actual[i];
        kept += judged[i];
    }
    return kept;
}

/* Elements from `first` on, and before `end`, that are judged; false when there are none
 * left or the time is up. ret_next: where to go on. */
static bool take_block(struct comparing *c, uint64_t first, uint64_t end, bool actual,
                       uint64_t *ret_next) {
    const struct compare_input *in = c->in;
    struct compare_block *b = &c->block;
    size_t n = end - first < BLOCK ? (size_t)(end - first) : BLOCK;
    c->stopped |= in->stopped && in->stopped();
    if (!n || c->stopped) {
        return false;
    }
    tensor_load(in->expected_type, c->expected, first - c->base, n, b->expected);
    if (actual) {
        tensor_load(in->buffer->type, in->actual, first, n, b->actual);
    }
    for (size_t i = 0; i < n; i++) {
        b->at[i] = first + i;
    }
    b->count = in->judged ? keep_judged(b, in->judged + first, n) : n;
    *ret_next = first + n;
    return true;
}

/* --- of all expected values --- */

/* Below the atol that follows the largest magnitude, but above what may be rounding. */
static double narrow_atol(const struct comparing *c, const struct expected_scale *s) {
    const struct compare_input *in = c->in;
    const uint64_t one = 1;
    double least = tensor_get(in->buffer->type, &one, 0); /* the type's least step */
    double rounding =
        expected_scale_largest(s, COMPARE_MASK) * COMPARE_ROUNDING(in->buffer->type);
    double atol = fmax(in->buffer->tolerance.atol * c->scale, fmax(least, rounding));
    return fmin(c->wide_atol, fmax(atol, in->noise));
}

static void set_atol(struct comparing *c, const struct expected_scale *s) {
    const struct tolerance *t = &c->in->buffer->tolerance;
    c->largest = expected_scale_largest(s, INFINITY);
    c->scale = t->scale && t->mode != COMPARE_EXACT ? expected_scale_get(s, t->rtol)
                                                    : c->largest;
    c->wide_atol = t->scale ? fmax(t->atol * c->largest, c->in->noise) : t->atol;
    c->atol = c->scale < c->largest ? narrow_atol(c, s) : c->wide_atol;
}

/* Of finite values. */
struct survey {
    double sum[LANES], magnitudes[LANES]; /* of every fourth element */
    uint64_t finite, nonzero;
};

/* The same of many. */
struct surveyed {
    double sum, magnitudes;
    uint64_t finite, nonzero;
    struct expected_scale *scale;
};

VECTORS static void survey_block(struct comparing *c, struct survey *s) {
    struct compare_block *b = &c->block;
    vec_mask finite = {0}, nonzero = {0}, zero = {0}, other = {0};
    vec sum = vec_load(s->sum), magnitudes = vec_load(s->magnitudes);
    c->one = c->judged || !b->count ? c->one : b->expected[0];
    for (size_t i = 0; i < b->count; i += LANES) {
        vec e = vec_load(b->expected + i);
        vec_mask here = vec_below(i, b->count), known = here & (vec_abs(e) < INFINITY);
        vec v = (vec)((vec_mask)e & known);
        sum += v;
        magnitudes += vec_abs(v);
        finite += known;
        nonzero += known & (e != 0);
        zero += here & (e == 0);
        other += here & (e != c->one);
    }
    memcpy(s->sum, &sum, sizeof sum);
    memcpy(s->magnitudes, &magnitudes, sizeof magnitudes);
    c->any_nonzero |= vec_count(zero) < b->count;
    c->varies |= vec_count(other) > (!c->judged && isnan(c->one)); /* but itself */
    c->judged += b->count;
    s->finite += vec_count(finite);
    s->nonzero += vec_count(nonzero);
}

static double sum_of(const double *sums) {
    return total_of(double, k, 0, LANES, sums[k]);
}

/* Elements [at, end) of a chunk. */
static void survey_some(struct comparing *c, struct survey *s,
                        struct expected_scale *scale, uint64_t at, uint64_t end) {
    while (take_block(c, at, end, false, &at)) {
        survey_block(c, s);
        expected_scale_add(scale, c->block.expected, c->block.count);
    }
}

/* --- all chunks --- */

/* A chunk's part of the whole, which depends on the number of elements alone, never on
 * that of threads. */
struct compare_chunk {
    struct comparing c;
    struct survey s;
    struct expected_scale *scale; /* of a survey */
};

/* Chunks are looked at in their order, as far as what is expected is there: one may have
 * begun with the rows before and go on with the next. */
struct chunks {
    struct comparing *whole, *start; /* start: what each begins with */
    bool surveys;                    /* else compares */
    uint64_t from, to;               /* elements compared now; `from` is in the first */
    struct compare_chunk *list[CHUNKS + 1];
};

static void compare_some(struct comparing *c, uint64_t at, uint64_t end);

static struct compare_chunk *chunk_new(const struct chunks *all) {
    struct compare_chunk *own = xcalloc(1, sizeof *own);
    own->c = *all->start;
    own->scale = all->surveys ? expected_scale_new() : NULL;
    return own;
}

static int each_chunk(void *data, int64_t from, int64_t to) {
    struct chunks *all = data;
    for (int64_t i = from; i < to; i++) {
        uint64_t begin = (all->from / CHUNK + (uint64_t)i) * CHUNK, end = begin + CHUNK;
        struct compare_chunk *own = all->list[i] =
            all->list[i] ? all->list[i] : chunk_new(all);
        own->c.expected = all->whole->expected;
        own->c.base = all->whole->base;
        begin = begin < all->from ? all->from : begin;
        end = end < all->to ? end : all->to;
        if (all->surveys) {
            survey_some(&own->c, &own->s, own->scale, begin, end);
        } else {
            compare_some(&own->c, begin, end);
        }
    }
    return 0;
}

typedef void join_chunk(struct comparing *c, const struct compare_chunk *own, void *data);

/* Up to `to`, which is a multiple of BLOCK or the end; what is complete is joined. */
static void chunks_run(struct chunks *all, uint64_t to, join_chunk *join, void *data) {
    struct comparing *c = all->whole;
    bool ends = to == c->in->count;
    while (all->from < to) {
        uint64_t first = all->from / CHUNK, most = (first + CHUNKS) * CHUNK;
        all->to = most < to ? most : to;
        int64_t count = (int64_t)((all->to + CHUNK - 1) / CHUNK - first);
        int64_t done = all->to == to && ends ? count : (int64_t)(all->to / CHUNK - first);
        (void)parts_run(count, 1, each_chunk, all, NULL);
        for (int64_t i = 0; i < done; i++) {
            c->stopped |= all->list[i]->c.stopped;
            join(c, all->list[i], data);
            free(all->list[i]->scale);
            free(all->list[i]);
        }
        all->list[0] = done < count ? all->list[done] : NULL;
        for (int64_t i = 1; i <= CHUNKS; i++) {
            all->list[i] = NULL;
        }
        all->from = all->to;
    }
}

/* Rows of the source, after elements that remain from the previous ones; returns their
 * end. */
static uint64_t take_rows(struct comparing *c, const struct compare_source *s,
                          uint64_t from, double **room, size_t *size) {
    uint64_t have = c->expected ? *size : 0, left = have ? c->base + have - from : 0;
    int64_t first = (int64_t)((from + left) / (s->row ? s->row : 1));
    int64_t last = s->rows - first < s->at_once ? s->rows : first + s->at_once;
    size_t more = (size_t)(last - first) * s->row;
    double *fresh = *room;
    if (!fresh) {
        fresh = xmalloc(((size_t)s->at_once * s->row + BLOCK) * sizeof *fresh);
        memory_advise_huge(fresh, ((size_t)s->at_once * s->row + BLOCK) * sizeof *fresh);
        *room = fresh;
    }
    memmove(fresh, fresh + (have - left), left * sizeof *fresh);
    c->failed = s->make(s->data, first, last, fresh + left, s->err);
    c->expected = fresh;
    c->base = from;
    *size = left + more;
    return from + *size;
}

/* All elements, some rows at a time where they must be made. */
static void all_run(struct comparing *c, bool surveys, join_chunk *join, void *data) {
    const struct compare_source *s = c->in->source;
    autofree struct comparing *start = xmalloc(sizeof *start);
    struct chunks all = {.whole = c, .start = start, .surveys = surveys};
    autofree double *room = NULL;
    size_t size = 0;
    c->expected = s ? NULL : c->in->expected;
    c->base = 0;
    *start = *c;
    while (all.from < c->in->count && !c->stopped && !c->failed) {
        uint64_t to = s ? take_rows(c, s, all.from, &room, &size) : c->in->count;
        to -= to < c->in->count ? to % BLOCK : 0;
        if (!c->failed) {
            chunks_run(&all, to, join, data);
        }
    }
    if (all.list[0]) { /* it was not completed */
        free(all.list[0]->scale);
        free(all.list[0]);
    }
}

static void join_survey(struct comparing *c, const struct compare_chunk *own,
                        void *data) {
    struct surveyed *s = data;
    bool differs = c->judged && own->c.judged && own->c.one != c->one &&
                   !(isnan(own->c.one) && isnan(c->one));
    c->varies |= own->c.varies || differs;
    c->any_nonzero |= own->c.any_nonzero;
    c->one = c->judged ? c->one : own->c.one;
    c->judged += own->c.judged;
    s->sum += sum_of(own->s.sum);
    s->magnitudes += sum_of(own->s.magnitudes);
    s->finite += own->s.finite;
    s->nonzero += own->s.nonzero;
    expected_scale_join(s->scale, own->scale);
}

static void survey(struct comparing *c) {
    struct surveyed s = {.scale = expected_scale_new()};
    all_run(c, true, join_survey, &s);
    c->finite = s.finite;
    c->constant = s.finite ? s.sum / (double)s.finite : 0;
    c->shift = s.nonzero ? s.magnitudes / (double)s.nonzero : 1;
    tensor_round(c->in->buffer->type, &c->constant, 1, &c->constant_in_type);
    set_atol(c, s.scale);
    free(s.scale);
}

/* --- one element --- */

static void note_mismatch(struct comparing *c, uint64_t i, double expected) {
    uint64_t at[TENSOR_MAX_RANK];
    compare_index(c->in, i, at);
    if (!c->mismatches++) {
        c->first = i;
        memcpy(c->low, at, sizeof c->low);
        memcpy(c->high, at, sizeof c->high);
    }
    for (size_t d = 0; d < c->in->rank; d++) {
        c->low[d] = at[d] < c->low[d] ? at[d] : c->low[d];
        c->high[d] = at[d] > c->high[d] ? at[d] : c->high[d];
    }
    if (c->sample_count < SAMPLES) {
        c->sample_expected[c->sample_count] = expected;
        c->samples[c->sample_count++] = i;
    }
}

/* By how much an element may be off. */
VECTORS_INLINE vec allowed_of(const struct comparing *c, vec expected, double atol) {
    return atol + c->in->buffer->tolerance.rtol * vec_abs(expected);
}

/* The same in words, and by its parts: an output's "tolerance". */
static json_t *tolerance_json(const struct comparing *c) {
    static const char *const modes[] = {"elementwise", "exact", "multiset"};
    const struct tolerance *t = &c->in->buffer->tolerance;
    if (t->mode == COMPARE_EXACT) {
        return json_pack("{s:s}", "compare", modes[t->mode]);
    }
    char words[64];
    snprintf(words, sizeof words, "%.3g + %.3g * |expected|", c->atol, t->rtol);
    return json_pack("{s:s, s:f, s:f, s:s}", "compare", modes[t->mode], "rtol", t->rtol,
                     "atol", c->atol, "allowed", words);
}

/* Whether `value` is right for each element. */
VECTORS_INLINE vec_mask is_within(vec value, vec expected, vec rounded, vec allowed) {
    vec_mask open = (vec_abs(value) == INFINITY) | (vec_abs(rounded) == INFINITY);
    vec_mask near = (vec_abs(value - expected) <= allowed) & ~open;
    return vec_either(expected != expected, value != value, (value == rounded) | near);
}

/* Its place in the histogram, rounded down; of a number that is not negative. */
VECTORS_INLINE vec_mask bucket_of(vec x) {
    vec_mask at = ((vec_mask)x >> 52) - 1023 - LOG2_LOWEST;
    at &= at > 0;
    return vec_either(at < BUCKETS - 1, at, at * 0 + BUCKETS - 1);
}

/* The errors of the elements. */
VECTORS static void block_errors(struct comparing *c) {
    struct compare_block *b = &c->block;
    vec max_abs = vec_all(c->max_abs), max_rel = vec_all(c->max_rel);
    vec_mask exact = {0}, finite = {0}, narrowed = {0}, none = {0};
    for (size_t i = 0; i < b->count; i += LANES) {
        vec a = vec_load(b->actual + i), e = vec_load(b->expected + i);
        vec r = vec_load(b->rounded + i);
        vec error = vec_abs(a - e), relative = error / vec_abs(e);
        vec_mask here = vec_below(i, b->count), known = here & (error < INFINITY);
        vec_mask wrong = known & (error != 0), sized = wrong & (relative < INFINITY);
        max_abs = vec_select(known & (error > max_abs), error, max_abs);
        max_rel = vec_select(sized & (relative > max_rel), relative, max_rel);
        exact += known & ~wrong;
        finite += known;
        narrowed += known & ~is_within(a, e, r, allowed_of(c, e, c->atol)) &
                    is_within(a, e, r, allowed_of(c, e, c->wide_atol));
        vec_mask bucket = vec_either(wrong, bucket_of(relative), none + BUCKETS);
        memcpy(b->bucket + i, &bucket, sizeof bucket);
    }
    c->max_abs = vec_most(max_abs);
    c->max_rel = vec_most(max_rel);
    c->exact += vec_count(exact);
    c->nonfinite += b->count - vec_count(finite);
    c->narrowed += vec_count(narrowed);
    for (size_t i = 0; i < b->count; i++) {
        c->buckets[b->bucket[i]]++;
    }
}

/* The number of wrong elements. */
VECTORS static size_t judge_block(struct comparing *c) {
    struct compare_block *b = &c->block;
    const struct compare_input *in = c->in;
    bool exact = in->buffer->tolerance.mode == COMPARE_EXACT;
    bool same = in->buffer->tolerance.mode == COMPARE_MULTISET && !tensor_type_float(in->buffer->type);
    vec_mask right = {0};
    for (size_t i = 0; i < b->count; i += LANES) {
        vec a = vec_load(b->actual + i), e = vec_load(b->expected + i);
        vec r = vec_load(b->rounded + i);
        vec_mask signs = ((vec_mask)a ^ (vec_mask)r) >= 0, passes;
        if (exact) {
            passes = vec_either(e != e, a != a, (a == r) & signs);
        } else if (same) {
            passes = a == r;
        } else {
            passes = is_within(a, e, r, allowed_of(c, e, c->atol));
        }
        memcpy(b->passes + i, &passes, sizeof passes);
        right += passes & vec_below(i, b->count);
    }
    return b->count - vec_count(right);
}

/* 64-bit integers do not all fit a double. */
static size_t judge_bits(struct comparing *c) {
    const struct compare_input *in = c->in;
    struct compare_block *b = &c->block;
    size_t wrong = 0;
    for (size_t i = 0; i < b->count; i++) {
        b->passes[i] = tensor_bits(in->buffer->type, in->actual, b->at[i]) ==
                       tensor_bits(in->buffer->type, in->expected, b->at[i]);
        wrong += !b->passes[i];
    }
    return wrong;
}

/* Which of them zeros, the constant, and the other sign would get right. -0 counts as 0
 * here. */
VECTORS static void block_trivial(struct comparing *c) {
    struct compare_block *b = &c->block;
    bool exact = c->in->buffer->tolerance.mode == COMPARE_EXACT;
    vec k = vec_all(c->constant_in_type), nothing = vec_all(0);
    vec_mask zero = {0}, constant = {0}, sized = {0}, loose = {0};
    for (size_t i = 0; i < b->count; i += LANES) {
        vec e = vec_load(b->expected + i), r = vec_load(b->rounded + i);
        vec size = vec_abs(e), allowed = allowed_of(c, e, c->atol);
        vec_mask here = vec_below(i, b->count);
        vec_mask has_size = here & (size < INFINITY) & (size > c->in->noise);
        zero += here & (exact ? r == 0 : is_within(nothing, e, r, allowed));
        constant += here & (exact ? r == k : is_within(k, e, r, allowed));
        sized += has_size;
        loose += has_size & is_within(-e, e, r, allowed);
    }
    c->zero_bad += b->count - vec_count(zero);
    c->constant_bad += b->count - vec_count(constant);
    c->sized += vec_count(sized);
    c->loose += exact ? 0 : vec_count(loose);
}

/* The same of a little more everywhere, which a default tolerance never lets through. A
 * type's largest values may have none above. */
VECTORS static void block_shift(struct comparing *c) {
    struct compare_block *b = &c->block;
    bool exact = c->in->buffer->tolerance.mode == COMPARE_EXACT;
    vec_mask bad = {0}, other = {0};
    double more[BLOCK];
    for (size_t i = 0; i < b->count; i++) {
        more[i] = b->expected[i] + c->shift;
    }
    tensor_round(c->in->buffer->type, more, b->count, more);
    for (size_t i = 0; i < b->count; i += LANES) {
        vec e = vec_load(b->expected + i), r = vec_load(b->rounded + i);
        vec m = vec_load(more + i), allowed = allowed_of(c, e, c->atol);
        vec_mask here = vec_below(i, b->count) & (vec_abs(e) < INFINITY);
        bad += here & ~(exact ? m == r : is_within(m, e, r, allowed));
        other += here & (m != r);
    }
    c->shift_bad += vec_count(bad);
    c->shifted |= vec_count(other) > 0;
}

static void compare_block(struct comparing *c) {
    const struct compare_input *in = c->in;
    struct compare_block *b = &c->block;
    tensor_round(in->buffer->type, b->expected, b->count, b->rounded);
    block_errors(c);
    size_t wrong = in->buffer->tolerance.mode == COMPARE_EXACT && is_wide(in->buffer->type) &&
                           in->buffer->type == in->expected_type
                       ? judge_bits(c)
                       : judge_block(c);
    for (size_t i = 0; wrong && i < b->count; i++) {
        if (!b->passes[i]) {
            note_mismatch(c, b->at[i], b->expected[i]);
        }
    }
    block_trivial(c);
    if (!in->buffer->tolerance.scale && !c->shift_bad) {
        block_shift(c);
    }
}

static void compare_some(struct comparing *c, uint64_t at, uint64_t end) {
    while (take_block(c, at, end, true, &at)) {
        compare_block(c);
    }
}

static void join_mismatches(struct comparing *c, const struct comparing *own) {
    if (!own->mismatches) {
        return;
    }
    bool first = !c->mismatches;
    c->first = first ? own->first : c->first;
    for (size_t d = 0; d < c->in->rank; d++) {
        c->low[d] = first || own->low[d] < c->low[d] ? own->low[d] : c->low[d];
        c->high[d] = first || own->high[d] > c->high[d] ? own->high[d] : c->high[d];
    }
    for (size_t i = 0; i < own->sample_count && c->sample_count < SAMPLES; i++) {
        c->sample_expected[c->sample_count] = own->sample_expected[i];
        c->samples[c->sample_count++] = own->samples[i];
    }
    c->mismatches += own->mismatches;
}

static void join_comparison(struct comparing *c, const struct compare_chunk *chunk,
                            void *) {
    const struct comparing *own = &chunk->c;
    join_mismatches(c, own);
    c->shifted |= own->shifted;
    c->nonfinite += own->nonfinite;
    c->exact += own->exact;
    c->sized += own->sized;
    c->loose += own->loose;
    c->narrowed += own->narrowed;
    c->zero_bad += own->zero_bad;
    c->constant_bad += own->constant_bad;
    c->shift_bad += own->shift_bad;
    c->max_abs = fmax(c->max_abs, own->max_abs);
    c->max_rel = fmax(c->max_rel, own->max_rel);
    for (size_t i = 0; i < ARRAY_LEN(c->buckets); i++) {
        c->buckets[i] += own->buckets[i];
    }
}

static void compare_elements(struct comparing *c) {
    all_run(c, false, join_comparison, NULL);
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
    tensor_load(type, data, 0, in->count, list);
    for (uint64_t i = 0; i < in->count; i++) {
        list[count] = list[i];
        count += !in->judged || in->judged[i];
    }
    qsort(list, count, sizeof *list, by_value);
    return list;
}

static void compare_multisets(struct comparing *c) {
    const struct compare_input *in = c->in;
    autofree double *expected = sorted(in, in->expected_type, in->expected);
    autofree double *actual = sorted(in, in->buffer->type, in->actual);
    for (uint64_t at = 0; at < c->judged; at += c->block.count) {
        struct compare_block *b = &c->block;
        b->count = c->judged - at < BLOCK ? (size_t)(c->judged - at) : BLOCK;
        for (size_t i = 0; i < b->count; i++) {
            b->at[i] = at + i;
            b->expected[i] = expected[at + i];
            b->actual[i] = actual[at + i];
        }
        compare_block(c);
    }
}

void compare_output(struct compare_result *ret, const struct compare_input *in) {
    autofree struct comparing *c = xcalloc(1, sizeof *c);
    c->in = in;
    survey(c);
    if (c->failed) {
        *ret = (struct compare_result){.failed = c->failed};
        return;
    }
    if (in->buffer->tolerance.mode == COMPARE_MULTISET) {
        compare_multisets(c);
    } else {
        compare_elements(c);
    }
    /* An unwritten element is wrong, whatever the poison is. */
    uint64_t mismatches = c->mismatches > in->unwritten ? c->mismatches : in->unwritten;
    *ret = (struct compare_result){
        .stopped = c->stopped,
        .failed = c->failed,
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
        .inexact = !tensor_type_float(in->buffer->type) && in->expected_type == TENSOR_FLOAT64 &&
                   (in->inexact || c->largest > 0x1p53),
        .finite = c->finite,
        .varies = c->varies,
        .mean = c->constant,
    };
    ret->json = compare_json(c, ret, tolerance_json(c));
}
