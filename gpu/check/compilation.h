#pragma once
/* compilation: one compilation on its way, and all that wait for it.
 *
 * Equal inputs are compiled once: who wants what is being compiled already joins. A
 * compilation owns its input until it ends, holds the gpu, and puts its result into the
 * gpu's cache whether somebody still waits or not. Everything is called and calls back on
 * the loop's thread; what takes long is done on libuv's threads (check_result.h). */
#include "gpu/check/check_input.h"

struct compilation;
struct compilation_waiter;

/* From the loop, at most once. base: check_result_new's, borrowed; or else a refusal,
 * borrowed; or neither: it was cancelled. The waiter may be freed, others may leave. */
typedef void compilation_done(struct compilation_waiter *waiter, json_t *base,
                              const struct check_refusal *refusal);

/* Part of who waits; zero but for `done`. */
struct compilation_waiter {
    compilation_done *done;
    struct compilation *compilation; /* NULL: waits for none */
    struct compilation_waiter *next;
};

/* Waits for the compilation of what input holds, which is stolen. */
void compilation_join(struct gpu *gpu, struct check_input *input,
                      struct compilation_waiter *waiter);
/* `done` does not follow. What the pool has and nobody waits for any more is cancelled.
 * A no-op for one that waits for none. */
void compilation_leave(struct compilation_waiter *waiter);
