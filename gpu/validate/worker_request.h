#pragma once
/* worker_request: what a worker is asked to run, from a check spec and two compiled
 * modules (the request of gpu/run/validate_run.h). */
#include "base/json.h"
#include "gpu/spec/kernel_spec.h"

struct buf;

/* Where a request that cannot be made belongs in kernel/validate's `error`. */
struct request_problem {
    const char *stage, *code, *hint; /* hint may be NULL */
    struct err *err;                 /* the message */
};

/* The params; new reference. */
json_t *validate_params(const struct kernel_spec *spec, uint64_t seed);

/* What is attached to them, as JSON text into out. kernel, reference: kernel/check's
 * results with "ptx" and "cubin", which are taken out of them; reference NULL: the
 * kernel's own source. places: array_load's, or NULL. 0, or -EINVAL with *problem:
 * a kernel that there is not, a launch that cannot be, more than out holds. */
int worker_request(const struct kernel_spec *spec, json_t *kernel, json_t *reference,
                   json_t *places, struct buf *out, struct request_problem *problem);
