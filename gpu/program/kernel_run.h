#pragma once
/* kernel_run: the operation kernel/run, which compiles a whole CUDA program and runs it
 * without a GPU. The compiler and the program are a worker's
 * (gpu/worker/program_child.h); here sources are gathered and the answer is told. */
#include "protocol/operation.h"

/* kernel/run's result as text for a model: short, what is wrong first; appended. */
void program_describe(const json_t *result, struct buf *out);
/* The verdict in a line: "fail: 2 findings, exit status 0, 3 launches". Freed by the
 * caller. */
char *program_title(const json_t *result);

extern const struct operation program_operations[];
extern const size_t program_operation_count;
