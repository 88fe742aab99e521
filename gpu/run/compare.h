#pragma once
/* compare: compares an output with the expected values.
 *
 * An element passes if |actual - expected| <= atol + rtol * |expected|, both finite; an
 * expected NaN requires a NaN, an expected infinity the same infinity. With `scale` set,
 * the effective atol is atol * (the output's expected_scale), because a fixed absolute
 * tolerance lets zeros pass if all values are tiny. It is at least `noise`, because
 * results of cancellation are rounded by the size of the inputs. If the scale is not the
 * largest magnitude, it is also at least the type's smallest step and the rounding of
 * the largest expected magnitude that is no mask (COMPARE_MASK). Exact compares values
 * of integers and bits of floats (any NaN equals any NaN; -0 differs from 0). Multiset
 * compares the sorted elements, exactly for integers, by tolerance for floats. */
#include "base/err.h"
#include "gpu/spec/kernel_spec.h"

#define COMPARE_MASK 1e4 /* larger magnitudes, such as -1e9, are masks, not sums */
/* The rounding of terms of size 1: some units in the last place. */
#define COMPARE_ROUNDING(type) ((type) == TENSOR_FLOAT64 ? 0x1p-49 : 0x1p-20)

/* Expected values in double precision that are computed during the comparison, some rows
 * at a time, twice. */
struct compare_source {
    int64_t rows, at_once;
    uint64_t row; /* elements of one */
    /* Computes rows [from, to); negative on failure, with err. */
    int (*make)(void *data, int64_t from, int64_t to, double *ret, struct err *err);
    void *data;
    struct err *err; /* of the first failure */
};

struct compare_input {
    const struct kernel_spec *spec;   /* for what it says of comparing */
    const struct spec_buffer *buffer; /* the same of this output: name, type, tolerance */
    enum tensor_type expected_type; /* float64 for expressions and operators */
    const void *actual, *expected;
    const struct compare_source *source; /* if expected is NULL; not for multisets */
    uint64_t count;
    const int64_t *shape;
    size_t rank;
    bool inexact;          /* expected integers were computed through values above 2^53 */
    double noise;          /* rounding left by cancelling inputs: no error by default */
    bool (*stopped)(void); /* polled; may be NULL */
    const bool *judged;    /* by element; NULL: all are compared */
    uint64_t unwritten;    /* elements never written: they count as mismatches even when
                              their value is right */
    /* What a person should know of a wrong element besides its value: "never written", or
     * NULL. May be NULL. */
    const char *(*state)(const void *data, uint64_t i);
    const void *state_data;
};
struct compare_result {
    bool stopped; /* it was stopped; the other members are meaningless */
    int failed;   /* likewise: the source's negative result */
    bool pass;
    uint64_t judged; /* elements that were compared */
    uint64_t mismatches;
    bool zero_passes, constant_passes; /* whether all zeros, or the mean of the expected
                                          values everywhere, would pass */
    bool shift_passes; /* with a given tolerance: whether adding `shift` would pass */
    double shift;      /* the mean magnitude of nonzero values; 1 if all are 0 */
    bool nonzero;      /* some expected value is not 0 */
    /* Elements above the noise whose expected values are finite and not 0; and those of
     * them that would pass with the other sign, so with any value up to their size. */
    uint64_t sized, loose;
    /* If the scale is not the largest magnitude: both, and the number of mismatches that
     * would pass if atol followed the largest. */
    double scale, largest;
    uint64_t narrowed;
    bool inexact; /* integers were computed in double precision above 2^53 */
    bool finite;  /* some expected value is a finite number */
    bool varies;  /* not every expected value is the same */
    double mean;  /* of the finite expected values */
    json_t *json; /* kernel/validate's `outputs` entry; owned by the caller */
};
void compare_output(struct compare_result *ret, const struct compare_input *in);
