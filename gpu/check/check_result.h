#pragma once
/* check_result: from a worker's answer to kernel/check's result.
 *
 * In two steps, because the first is what the cache keeps: everything that the content
 * decides; then what depends on the single request. Both may take long, and run on any
 * thread. */
#include "gpu/check/check_input.h"

struct buf;

#define CHECK_MAX_FINDINGS 100

/* A new reference, or NULL when the answer is not of the shape that compile.h tells (a
 * worker elsewhere may be anything). `keep` says whether it may be cached: a crash or a
 * time-out may be this moment's. note: one more finding, or NULL. Once it is shared,
 * nobody changes the result any more. */
json_t *check_result_new(const struct check_input *input, const json_t *answer,
                         json_t *note, bool *keep);
/* A new reference: base with occupancy and the launch's findings (NULL: no launch), the
 * findings in order. What it does not change it shares with base. The verdict is still to
 * be set: check_verdict.h. */
json_t *check_result_complete(const json_t *base, const json_t *launch, bool cached);
/* kernel/check's result as a compiler would print it; appended. */
void check_result_describe(const json_t *result, struct buf *out);
