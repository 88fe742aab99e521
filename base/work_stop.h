#pragma once
/* work_stop: whether what this thread is working on is still wanted.
 *
 * Long loops in the rules ask here, so that cancelling reaches into them without every
 * function between carrying a flag. Per thread; a thread of the pool sets it for the one
 * piece of work it does. */
#include <stdatomic.h>
#include <stdbool.h>

/* flag: true once nobody wants the work any more; NULL: it will be done in any case. It
 * must live until the next call. */
void work_stop_watch(const atomic_bool *flag);
bool work_is_stopped(void);
