#pragma once
/* trial_checks: checks of a finished trial's memory, in addition to the backend's
 * findings. */
#include "gpu/run/expectation.h"

/* Compares one output with its expectation; elements that were never written count as
 * mismatches. ret->json is owned by the caller. ret_unwritten: elements, the first at
 * byte *ret_first. -EIO, -ETIME. */
int trial_compare_output(const struct trial *t, size_t buffer,
                         const struct expected_output *expected,
                         struct compare_result *ret, uint64_t *ret_unwritten,
                         uint64_t *ret_first, struct err *err);

/* Whether the buffer's initial contents would pass as the output. Only for a buffer that
 * has any: with an init or a variable. */
bool trial_unchanged_passes(const struct trial *t, size_t buffer,
                            const struct expected_output *expected);

/* The first wrong output of those with an expectation. */
struct trial_difference {
    const char *output; /* NULL: all are right; borrowed from the spec */
    uint64_t mismatches, elements;
};
int trial_compare(const struct trial *t, const struct expectation *expected,
                  struct trial_difference *ret, struct err *err);

/* The number of changed bytes in a buffer that is only an input, the first at *ret_first;
 * 0 for other buffers. -EIO. */
int64_t trial_input_changes(const struct trial *t, size_t buffer, uint64_t *ret_first,
                            struct err *err);
