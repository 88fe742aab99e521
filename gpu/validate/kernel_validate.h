#pragma once
/* kernel_validate: compiles a kernel, runs it against a reference, and reports all
 * faults.
 *
 * The operation "kernel/validate" and its interface for other parts of the daemon (an
 * evaluation's check kernel_passes). kernel_check compiles kernel and reference, and a
 * worker runs them (gpu/run/validate_run.h). */
#include "gpu/check/kernel_check.h"

struct kernel_validate;
/* Progress for a progress bar, at least every second: a short text, and done of total
 * steps, which are the compilation and the trials. May be NULL. */
typedef void kernel_validate_stage(struct kernel_validate *v, double done, double total,
                                   const char *words, void *data);
/* done gets kernel/validate's result in the way that kernel_check's callback gets its
 * own. origin must live until then; do not change params. */
struct kernel_validate *kernel_validate_start(struct gpu *gpu, const json_t *params,
                                              const struct call_origin *origin,
                                              kernel_validate_stage *stage,
                                              kernel_check_done *done, void *data);
void kernel_validate_cancel(struct kernel_validate *v); /* done follows */

/* Appends kernel/validate's result as text for a model or a person. */
void validate_result_describe(const json_t *result, struct buf *out);

extern const struct operation validate_operations[];
extern const size_t validate_operation_count;
