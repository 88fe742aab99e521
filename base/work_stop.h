#pragma once
/* work_stop: whether this thread's current work was cancelled.
 *
 * Long loops poll it, so that no flag has to be passed through all functions between. The
 * flag is per thread; work.c sets it for each piece of work. */
#include <stdatomic.h>
#include <stdbool.h>

/* flag becomes true when the work is cancelled; NULL: it cannot be. It must live until
 * the next call. */
void work_stop_watch(const atomic_bool *flag);
bool work_is_stopped(void);
