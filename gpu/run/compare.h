#pragma once
/* compare: is an output what was expected?
 *
 * An element passes when |actual - expected| <= atol + rtol * |expected|, both finite;
 * an expected NaN wants a NaN, an expected infinity the same infinity. With `scale` set,
 * atol is atol * (the output's expected_scale) instead: a fixed absolute tolerance lets
 * zeros pass where all values are tiny; but not less than `noise`, since what inputs
 * cancel to is rounded by their size. Where the scale is not the largest magnitude, nor
 * is atol less than the type's least step, or than the rounding of the largest expected
 * magnitude that is not a mask's (COMPARE_MASK). Exact compares values of integers
 * and bits of floats (any NaN equals any NaN; -0 differs from 0). Multiset compares the
 * sorted elements, exactly for integers, by tolerance for floats. */
#include "base/err.h"
#include "base/json.h"
#include "gpu/spec/tolerance.h"

#define COMPARE_SAMPLES 8
#define COMPARE_MASK 1e4 /* masks hold -1e9 and the like: no measure of rounding */
/* Of terms of size 1, some units in the last place. */
#define COMPARE_ROUNDING(type) ((type) == TENSOR_FLOAT64 ? 0x1p-49 : 0x1p-20)

/* Expected values in double precision that are made when they are compared, twice, some
 * rows at a time. */
struct compare_source {
    int64_t rows, at_once;
    uint64_t row; /* elements of one */
    /* Rows [from, to); negative: err tells why. */
    int (*make)(void *data, int64_t from, int64_t to, double *ret, struct err *err);
    void *data;
    struct err *err; /* of the first that could not be made */
};

struct compare_input {
    const char *name;
    enum tensor_type type;          /* of actual */
    enum tensor_type expected_type; /* float64 for expressions and operators */
    const void *actual, *expected;
    const struct compare_source *source; /* where expected is NULL; not of multisets */
    uint64_t count;
    const int64_t *shape;
    size_t rank;
    struct tolerance tolerance;
    bool inexact; /* what was expected of integers went beyond 2^53 before */
    double noise; /* what inputs of their size cancel to: not an error by default */
    bool (*stopped)(void); /* asked now and then; may be NULL */
    const bool *judged;    /* by element; NULL: all are compared */
    uint64_t unwritten;    /* elements never written: they count as mismatches even when
                              their value is right */
};
struct compare_result {
    bool stopped; /* it did not come to its end, and the rest means nothing */
    int failed;   /* the same: negative, what the source said */
    bool pass;
    uint64_t judged; /* elements that were compared */
    uint64_t mismatches;
    bool zero_passes, constant_passes; /* would all zeros, or the mean of the expected
                                          values everywhere, have passed? */
    bool shift_passes; /* with a given tolerance: would `shift` more everywhere? */
    double shift;      /* the mean magnitude of those that are not 0; 1: all are 0 */
    bool nonzero;      /* some expected value is not 0 */
    /* Elements above the noise that are expected to be finite and not 0; those of them
     * that would pass with the other sign, so with any value up to their size. */
    uint64_t sized, loose;
    /* With a scale that is not the largest magnitude: both, and the mismatches that
     * would pass if atol followed the largest. */
    double scale, largest;
    uint64_t narrowed;
    bool inexact; /* integers were computed in double precision, and beyond 2^53 */
    bool finite;  /* some expected value is a finite number */
    bool varies;  /* not every expected value is the same */
    double mean;  /* of the finite expected values */
    json_t *json; /* kernel/validate's `outputs` entry; owned by the caller */
};
void compare_output(struct compare_result *ret, const struct compare_input *in);
