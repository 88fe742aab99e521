#pragma once
/* compilation: one running compilation and its waiters.
 *
 * Equal inputs are compiled once: a check joins a running compilation of its key. A
 * compilation owns its input until it ends, holds a reference to the gpu, and puts its
 * result into the gpu's cache whether or not somebody still waits. Call everything on the
 * loop's thread, where the callbacks run; long work is done on libuv's threads
 * (check_result.h). */
#include "gpu/check/check_input.h"

struct compilation;
struct compilation_waiter;

/* Called from the loop, at most once, with check_result_new's base or a refusal, both
 * borrowed, or neither: it was cancelled. It may free the waiter and make others leave.
 */
typedef void compilation_done(struct compilation_waiter *waiter, json_t *base,
                              const struct check_refusal *refusal);

/* Embedded by a waiter; set `done` and zero the rest. */
struct compilation_waiter {
    compilation_done *done;
    struct compilation *compilation; /* NULL: not waiting */
    struct compilation_waiter *next;
};

/* Joins or starts the compilation of input, whose contents are stolen. */
void compilation_join(struct gpu *gpu, struct check_input *input,
                      struct compilation_waiter *waiter);
/* Stops waiting; `done` does not follow. A pool job without waiters is cancelled. No-op
 * if not waiting. */
void compilation_leave(struct compilation_waiter *waiter);
