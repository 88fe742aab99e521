#pragma once
/* work: what would hold up the loop, done on a thread of libuv's pool.
 *
 * Everything here is called on the loop's thread. `run` is called at most once, on some
 * thread; then `done`, exactly once, on the loop, never from inside work_start or
 * work_cancel. Until then what `data` leads to is the thread's: the loop only reads what
 * nobody writes. Nobody starts work that waits for other work: the pool has four threads.
 *
 * Cancelling is asking: what has not begun is left out, and what runs finds
 * work_is_stopped() true (base/work_stop.h) and ends early if it looks. `done` comes in
 * every case; so a result stands for "not done" until `run` sets it. */
#include <uv.h>

struct work;
typedef void work_step(void *data);

/* done NULL: nothing is left to do. The work is freed before `done` is called. */
struct work *work_start(uv_loop_t *loop, work_step *run, work_step *done, void *data);
void work_cancel(struct work *w); /* NULL and again: no-op */
