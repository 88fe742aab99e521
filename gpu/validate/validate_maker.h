#pragma once
/* validate_maker: kernel/validate's reading and writing, on libuv's threads.
 *
 * A spec may have a million values and compiled code many megabytes. Reading the one and
 * writing the other for a worker takes long, and a spec's file may be on a slow disk;
 * nothing of that may block the loop. Call the functions on the loop's thread. Callbacks
 * come from the loop, exactly once and never from inside; work_cancel makes that
 * happen sooner. */
#include "base/work.h"
#include "gpu/check/check_input.h"
#include "gpu/validate/worker_request.h"

/* The parsed request. Every case of the spec can be resolved. */
struct validate_asked {
    json_t *params; /* merged with the spec's file */
    char *folder;   /* of that file, or NULL */
    struct kernel_spec spec;
};
void validate_asked_finish(struct validate_asked *asked, uv_loop_t *loop);

/* r is 0, and the callee must finish *asked; or a negative errno with refusal filled;
 * or -ECANCELED. */
typedef void validate_reading_done(int r, const struct validate_asked *asked,
                                   const struct check_refusal *refusal, void *data);
/* Do not change params any more. roots (absolute, NULL-terminated) are copied. */
struct work *validate_reading_start(uv_loop_t *loop, const json_t *params,
                                    const char *const *roots, validate_reading_done *done,
                                    void *data);

/* The arguments as worker_request's. */
struct validate_material {
    const struct kernel_spec *spec;
    json_t *kernel, *reference;
    json_t *places;
};
/* request: for pool_submit, borrowed. NULL with problem filled; if it was cancelled,
 * problem->stage is NULL. */
typedef void validate_writing_done(struct shared_bytes *request,
                                   const struct request_problem *problem, void *data);
/* Nothing else may access the data behind the pointers until the callback. */
struct work *validate_writing_start(uv_loop_t *loop,
                                    const struct validate_material *material,
                                    validate_writing_done *done, void *data);
