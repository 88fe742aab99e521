#pragma once
/* program_job: compiles and runs a whole program on a worker, for an operation. A thread
 * collects the sources; everything else is on the loop. */
#include "gpu/program/program_request.h"

struct program_job;

/* answer: the worker's (gpu/worker/program_child.h), borrowed; NULL: see refusal, or, if
 * both are NULL, it was cancelled. worker: its name and host, owned by the callee, only
 * with an answer. Called once, never from inside the functions below. */
typedef void program_job_end(const json_t *answer, json_t *worker,
                             const struct check_refusal *refusal, void *data);

/* params: kernel/run's, for as long as it lasts, {"record": {"kernel"}}
 * (gpu/runtime/run_report.h), and "work_s": a limit as timeout_s, but of processor time,
 * which a busy machine does not shorten. The call's origin must have a gpu. */
struct program_job *program_job_start(struct call *call, const json_t *params,
                                      program_job_end *end, void *data);
void program_job_cancel(struct program_job *j);
/* From the end's call, which frees it. */
const struct program_sources *program_job_sources(const struct program_job *j);
