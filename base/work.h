#pragma once
/* work: runs blocking work on a thread of libuv's pool.
 *
 * Call all functions but the last two on the loop's thread. `run` is called at most once,
 * on some thread; then `done`, exactly once, on the loop, never from inside work_start or
 * work_cancel. Until then `data` and everything it points to belong to the thread: the
 * loop may only read what nobody writes. Work must not wait for other work, because the
 * pool has only four threads.
 *
 * Cancelling is a request: work that has not begun is skipped; running work finds
 * work_is_stopped() true and should end early. `done` is called in every case, so
 * initialise results to mean "not done" until `run` sets them. */
#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

struct work;
typedef void work_step(void *data);

/* done may be NULL. The work is freed before `done` is called. */
struct work *work_start(uv_loop_t *loop, work_step *run, work_step *done, void *data);
void work_cancel(struct work *w); /* no-op for NULL and when repeated */

/* Whether this thread's current work was cancelled. Long loops poll it, so that no flag
 * has to be passed through all functions between. */
bool work_is_stopped(void);
/* For a thread that is not libuv's: flag becomes true when its work is cancelled; NULL:
 * it cannot be. It must live until the next call. */
void work_stop_watch(const atomic_bool *flag);
