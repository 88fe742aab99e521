#pragma once
/* reuse: a loop that allocates and frees gets its addresses back.
 *
 * The library does not use addresses twice, so that any use of freed memory is found. A
 * loop would then launch its kernels with other addresses in each round, none of which
 * is known from the round before (repeats.h), and would use up the table of allocations.
 * So the last freed allocation of the same size from the same line takes its place again,
 * once there are REUSE_KEPT more of them: what a loop does wrong it does in its first
 * rounds too. Any thread. */
#include "gpu/device/device.h"
#include "gpu/runtime/host_site.h"

#define REUSE_KEPT 3

/* A device allocation was freed that nothing uses any more. */
void reuse_freed(struct allocation *a);
/* A freed allocation to renew (memory_renew); NULL: make a new one. */
struct allocation *reuse_take(const struct host_site *site, uint64_t bytes,
                              unsigned flags);
