#pragma once
/* kernel_run: the operation kernel/run, which compiles a whole CUDA program and runs it
 * without a GPU. A worker compiles and runs it (gpu/worker/program_child.h); this code
 * gathers the sources and presents the answer. */
#include "protocol/operation.h"

/* Appends kernel/run's result as short text for a model, errors first. */
void program_describe(const json_t *result, struct buf *out);
/* Sets "summary", the verdict in a sentence that every face shows: "fail: exit status 0, 3
 * launches, 2 findings". */
void program_set_summary(json_t *result);

/* Sets "hint" where the program failed and no finding says why: what to look at next.
 * params: the request. */
void program_set_hint(json_t *result, const json_t *params);

extern const struct operation program_operations[];
extern const size_t program_operation_count;
