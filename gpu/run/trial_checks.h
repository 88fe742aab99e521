#pragma once
/* trial_checks: what a finished trial left behind, beside what its backend noticed. */
#include "gpu/run/compare.h"
#include "gpu/run/expectation.h"

/* One output against what is expected of it, with elements that nothing wrote counted as
 * mismatches. ret->json is owned by the caller. ret_unwritten: elements, the first at
 * byte *ret_first. -EIO, -ETIME. */
int trial_compare_output(const struct trial *t, size_t buffer,
                         const struct expected_output *expected,
                         struct compare_result *ret, uint64_t *ret_unwritten,
                         uint64_t *ret_first, struct err *err);

/* Would the buffer's first contents pass as the output? Of one that has any: with an init
 * or a variable. */
bool trial_unchanged_passes(const struct trial *t, size_t buffer,
                            const struct expected_output *expected);

/* Of all outputs that something is expected of, the first that is wrong. */
struct trial_difference {
    const char *output; /* NULL: all are right; borrowed from the spec */
    uint64_t mismatches, elements;
};
int trial_compare(const struct trial *t, const struct expectation *expected,
                  struct trial_difference *ret, struct err *err);

/* Bytes of a buffer that only is an input and yet differ from its first contents, the
 * first at *ret_first; 0 for other buffers. -EIO. */
int64_t trial_input_changes(const struct trial *t, size_t buffer, uint64_t *ret_first,
                            struct err *err);
