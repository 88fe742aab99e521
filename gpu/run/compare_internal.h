#pragma once
/* compare_internal: a comparison in progress: compare.c makes it, compare_json.c tells of
 * it. */
#include "gpu/run/compare.h"

enum {
    LOG2_LOWEST = -60, /* error buckets: below and above are counted in the last ones */
    LOG2_HIGHEST = 20,
    BUCKETS = LOG2_HIGHEST - LOG2_LOWEST + 1,
    BLOCK = 1024, /* elements that are looked at together; a multiple of LANES */
};

/* Judged elements. What is not filled is not read. */
struct compare_block {
    size_t count;
    uint64_t at[BLOCK];
    double expected[BLOCK], actual[BLOCK];
    /* What the output's own type makes of an expected value: a reference in double
     * precision must not fail an output for being of a smaller type. */
    double rounded[BLOCK];
    int64_t passes[BLOCK], bucket[BLOCK]; /* of the error; BUCKETS: none */
};

struct comparing {
    const struct compare_input *in;
    const void *expected; /* element `base` and those behind it */
    uint64_t base;
    int failed;
    double atol;                      /* with the scale applied */
    double scale, largest, wide_atol; /* wide_atol follows the largest */
    double constant;                  /* mean of the finite expected values */
    double constant_in_type;
    double shift; /* mean magnitude of those that are not 0 */
    bool shifted; /* somewhere that much more is another value of the type */
    bool stopped, any_nonzero, varies, finite;
    double one; /* an expected value */
    uint64_t judged, mismatches, nonfinite, exact, sized, loose, narrowed;
    /* Elements that a trivial output would get wrong; the shift's: some. */
    uint64_t zero_bad, constant_bad, shift_bad;
    double max_abs, max_rel;
    uint64_t first, low[TENSOR_MAX_RANK], high[TENSOR_MAX_RANK];
    uint64_t samples[COMPARE_SAMPLES];
    double sample_expected[COMPARE_SAMPLES];
    size_t sample_count;
    uint64_t buckets[BUCKETS + 1];
    struct compare_block block;
};

/* The indices of element i. */
void compare_index(const struct compare_input *in, uint64_t i, uint64_t *ret);
/* compare_result's json. */
json_t *compare_json(const struct comparing *c, uint64_t mismatches);
