#pragma once
/* async_copies: cp.async and its groups.
 *
 * A copy is performed when its group is waited for, not when it is issued. Until then its
 * destination counts as uninitialised: a read of it means that a wait is missing, or that
 * the previous contents are still in use. When the copy is issued, its addresses are
 * checked, and the source is checked for initialisation. */
#include "gpu/ptx/state/block.h"

/* cp.async: performs the lane's copies that were issued before `order`, for an
 * mbarrier. */
void warp_copies_arrive(struct warp *w, unsigned lane, uint64_t order, struct block *b,
                        uint32_t mbarrier);
