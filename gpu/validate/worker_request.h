#pragma once
/* worker_request: makes the worker's request (gpu/run/validate_run.h) from a check spec
 * and two compiled modules. */
#include "gpu/spec/kernel_spec.h"

/* The members of kernel/validate's `error` if a request cannot be made. */
struct request_problem {
    const char *stage, *code, *hint; /* hint may be NULL */
    struct err *err;                 /* the message */
};

/* The params; new reference. */
json_t *validate_params(const struct kernel_spec *spec, uint64_t seed);

/* Appends the attachment as JSON text to out. kernel, reference: kernel/check's
 * results with "ptx" and "cubin", which this removes from them; reference NULL: the
 * kernel's own source. places: array_load's, or NULL. 0, or -EINVAL with *problem:
 * a missing kernel, an impossible launch, more than out holds. */
int worker_request(const struct kernel_spec *spec, json_t *kernel, json_t *reference,
                   json_t *places, struct buf *out, struct request_problem *problem);
