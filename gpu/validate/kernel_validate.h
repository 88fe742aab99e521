#pragma once
/* kernel_validate: compile a kernel, run it against a reference, say all that is wrong.
 *
 * The operation "kernel/validate" and the same thing for other parts of the daemon (an
 * evaluation's check kernel_passes). Kernel and reference are compiled by kernel_check,
 * the run is a worker's (gpu/run/validate_run.h). */
#include "gpu/check/kernel_check.h"

struct kernel_validate;
/* What is going on, in a few words, for a progress bar: done of total steps, which are
 * the compilation and the trials. At least every second. May be NULL. */
typedef void kernel_validate_stage(struct kernel_validate *v, double done, double total,
                                   const char *words, void *data);
/* done gets kernel/validate's result as kernel_check's gets its own. origin must live
 * until then; params stay as they are. */
struct kernel_validate *kernel_validate_start(struct gpu *gpu, const json_t *params,
                                              const struct call_origin *origin,
                                              kernel_validate_stage *stage,
                                              kernel_check_done *done, void *data);
void kernel_validate_cancel(struct kernel_validate *v); /* done follows */

/* kernel/validate's result as text for a model or a person; appended. */
void validate_result_describe(const json_t *result, struct buf *out);

extern const struct operation validate_operations[];
extern const size_t validate_operation_count;
