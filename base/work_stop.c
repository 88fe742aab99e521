#include "base/work_stop.h"

#include <stddef.h>

static _Thread_local const atomic_bool *watched;

void work_stop_watch(const atomic_bool *flag) {
    watched = flag;
}

bool work_is_stopped(void) {
    return watched && atomic_load_explicit(watched, memory_order_relaxed);
}
