#pragma once
/* system_calls: device functions that CUDA's runtime provides: printf, assert, the heap.
 */
#include "gpu/ptx/state/warp.h"

enum system_call { SYSTEM_VPRINTF, SYSTEM_ASSERTFAIL, SYSTEM_MALLOC, SYSTEM_FREE };

int system_call_find(const char *name); /* -1 = none */
/* Whether arguments and results have the sizes of the real function. */
bool system_call_fits(enum system_call which, const struct call_site *site);
/* Whether its effect depends on the order of blocks. */
bool system_call_is_ordered(enum system_call which);
void system_call_run(enum system_call which, struct warp *w, const struct step *s,
                     const struct call_site *site, uint32_t mask);
