#pragma once
/* program_job: a whole program compiled and run by a worker, for an operation. The
 * sources are gathered on a thread, all else is the loop's. */
#include "gpu/check/check_input.h"
#include "protocol/operation.h"

struct program_job;

/* answer: the worker's (gpu/worker/program_child.h), borrowed; NULL: refusal says why, or
 * it was cancelled (then both are NULL). worker: who it was, owned by the callee, with an
 * answer only. Called once, never from inside the functions below. */
typedef void program_job_end(const json_t *answer, json_t *worker,
                             const struct check_refusal *refusal, void *data);

/* params: kernel/run's, for as long as it lasts, and {"record": {"kernel"}}
 * (gpu/runtime/run_report.h). The call's origin must have a gpu. */
struct program_job *program_job_start(struct call *call, const json_t *params,
                                      program_job_end *end, void *data);
void program_job_cancel(struct program_job *j);
