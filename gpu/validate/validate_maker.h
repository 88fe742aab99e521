#pragma once
/* validate_maker: what kernel/validate reads and writes, on libuv's threads.
 *
 * A spec may have a million values and compiled code many megabytes: reading the one and
 * writing the other for a worker takes long, and a spec's file may lie on a slow disk.
 * Nothing of it may hold the loop up. The functions are called on the loop's thread and
 * call back from the loop, exactly once and never from inside; work_cancel makes that
 * happen sooner. */
#include "base/work.h"
#include "gpu/check/check_input.h"
#include "gpu/spec/kernel_spec.h"
#include "gpu/validate/worker_request.h"

struct shared_bytes;

/* What is asked for. Every case of the spec can be resolved. */
struct validate_asked {
    json_t *params; /* with what the spec's file says */
    char *folder;   /* that file's, or NULL */
    struct kernel_spec spec;
};
void validate_asked_finish(struct validate_asked *asked, uv_loop_t *loop);

/* r is 0, and *asked is the callee's to finish; or a negative errno with refusal filled;
 * -ECANCELED. */
typedef void validate_reading_done(int r, const struct validate_asked *asked,
                                   const struct check_refusal *refusal, void *data);
/* Nobody changes params any more. roots (absolute, NULL-terminated) are copied. */
struct work *validate_reading_start(uv_loop_t *loop, const json_t *params,
                                    const char *const *roots, validate_reading_done *done,
                                    void *data);

/* The arguments as worker_request's. */
struct validate_material {
    const struct kernel_spec *spec;
    json_t *kernel, *reference;
    json_t *places;
};
/* request: for pool_submit, borrowed. NULL with problem filled, or, cancelled,
 * with its stage NULL. */
typedef void validate_writing_done(struct shared_bytes *request,
                                   const struct request_problem *problem, void *data);
/* Until the callback nobody else touches what the pointers lead to. */
struct work *validate_writing_start(uv_loop_t *loop,
                                    const struct validate_material *material,
                                    validate_writing_done *done, void *data);
