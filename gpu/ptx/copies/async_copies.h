#pragma once
/* async_copies: cp.async and its groups.
 *
 * A copy arrives when its group is waited for, not when it is issued. In between its
 * destination counts as not initialised: whoever reads it has not waited, or still reads
 * what another copy left there. Addresses are checked, and the source read for
 * initialisation, when the copy is issued. */
#include "gpu/ptx/state/block.h"

/* cp.async: those of the lane that came before `order` arrive, for an mbarrier. */
void warp_copies_arrive(struct warp *w, unsigned lane, uint64_t order, struct block *b,
                        uint32_t mbarrier);
