#pragma once
/* compare_internal: a comparison in progress: compare.c computes it, compare_json.c
 * reports it. */
#include "gpu/run/compare.h"

enum {
    /* error buckets: smaller and larger errors are counted in the outermost ones */
    LOG2_LOWEST = -60,
    LOG2_HIGHEST = 20,
    BUCKETS = LOG2_HIGHEST - LOG2_LOWEST + 1,
    SAMPLES_MOST = 64, /* room: compare.c decides how many wrong elements are told */
    BLOCK = 1024, /* elements that are compared together; a multiple of LANES */
};

/* Compared elements. Entries from count on are not read. */
struct compare_block {
    size_t count;
    uint64_t at[BLOCK];
    double expected[BLOCK], actual[BLOCK];
    /* The expected value rounded to the output's type: an output of a smaller type must
     * not fail against a reference in double precision. */
    double rounded[BLOCK];
    int64_t passes[BLOCK], bucket[BLOCK]; /* of the error; BUCKETS: none */
};

struct comparing {
    const struct compare_input *in;
    const void *expected; /* element `base` and the following ones */
    uint64_t base;
    int failed;
    double atol;                      /* with the scale applied */
    double scale, largest, wide_atol; /* wide_atol is based on the largest */
    double constant;                  /* the mean of the finite expected values */
    double constant_in_type;
    double shift; /* the mean magnitude of the values that are not 0 */
    bool shifted; /* for some element, adding that much gives another value of the type */
    bool stopped, any_nonzero, varies, finite;
    double one; /* one expected value */
    uint64_t judged, mismatches, nonfinite, exact, sized, loose, narrowed;
    /* Elements that a trivial output would get wrong; for the shift: some of them. */
    uint64_t zero_bad, constant_bad, shift_bad;
    double max_abs, max_rel;
    uint64_t first, low[TENSOR_MAX_RANK], high[TENSOR_MAX_RANK];
    uint64_t samples[SAMPLES_MOST];
    double sample_expected[SAMPLES_MOST];
    size_t sample_count;
    uint64_t buckets[BUCKETS + 1];
    struct compare_block block;
};

/* The indices of element i. */
void compare_index(const struct compare_input *in, uint64_t i, uint64_t *ret);
/* compare_result's json; `result` has the others. Takes `tolerance`. */
json_t *compare_json(const struct comparing *c, const struct compare_result *result,
                     json_t *tolerance);
