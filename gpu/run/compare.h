#pragma once
/* compare: is an output what was expected?
 *
 * An element passes when |actual - expected| <= atol + rtol * |expected|, both finite;
 * an expected NaN wants a NaN, an expected infinity the same infinity. With `scale` set,
 * atol is atol * (largest finite |expected| of the output) instead: a fixed absolute
 * tolerance lets zeros pass where all values are tiny; but not less than `noise`, since
 * what inputs cancel to is rounded by their size. Exact compares values of integers
 * and bits of floats (any NaN equals any NaN; -0 differs from 0). Multiset compares the
 * sorted elements, exactly for integers, by tolerance for floats. */
#include "base/json.h"
#include "gpu/spec/tolerance.h"

#define COMPARE_SAMPLES 8

struct compare_input {
    const char *name;
    enum tensor_type type;          /* of actual */
    enum tensor_type expected_type; /* float64 for expressions and operators */
    const void *actual, *expected;
    uint64_t count;
    const int64_t *shape;
    size_t rank;
    struct tolerance tolerance;
    double noise; /* with a scaled tolerance: no absolute error below this is one */
    bool (*stopped)(void);               /* asked now and then; may be NULL */
    const bool *judged;                  /* by element; NULL: all are compared */
    uint64_t unwritten, first_unwritten; /* elements never written: they count as
                                            mismatches even when their value is right */
};
struct compare_result {
    bool stopped; /* it did not come to its end, and the rest means nothing */
    bool pass;
    uint64_t judged; /* elements that were compared */
    uint64_t mismatches;
    bool zero_passes, constant_passes; /* would all zeros, or the mean of the expected
                                          values everywhere, have passed? */
    bool shift_passes; /* with a given tolerance: would `shift` more everywhere? */
    double shift;      /* the mean magnitude of those that are not 0; 1: all are 0 */
    bool nonzero;      /* some expected value is not 0 */
    bool finite;       /* some expected value is a finite number */
    bool varies;       /* not every expected value is the same */
    double mean;       /* of the finite expected values */
    json_t *json;      /* kernel/validate's `outputs` entry; owned by the caller */
};
void compare_output(struct compare_result *ret, const struct compare_input *in);
