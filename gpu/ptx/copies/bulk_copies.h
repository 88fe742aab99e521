#pragma once
/* bulk_copies: copies that an engine of the device makes while threads go on:
 * cp.async.bulk, its tensors and reductions, st.async, red.async, and cp.async that
 * arrive at an mbarrier.
 *
 * One that completes at an mbarrier is done when somebody waits there and the phase is
 * not complete; one of a group when the group is waited for. Until then the destination
 * counts as not initialised, and the source is not yet read: so a wait that is missing
 * shows. Addresses are checked when the copy is issued. What nobody has waited for when
 * its block ends is told, and done then. */
#include "gpu/ptx/state/block.h"

/* b: the block that owns the mbarrier, and its `arrivals`, or that of the thread, and its
 * `stores`. */
void bulk_add(struct block *b, struct bulk_list *list, const struct bulk_copy *c);
/* Of groups older than the lane's limit. */
void bulk_deliver_groups(struct warp *w, uint32_t lanes, const uint32_t *limit);
/* Makes the destination of a copy count as not initialised. */
void bulk_begin(const struct bulk_copy *c);
/* What completes the present phase of this mbarrier is done; behind that, copies of which
 * expect_tx knew nothing are still on their way. true: there was something. */
bool bulk_deliver(struct block *b, uint32_t mbarrier);
/* A block has ended: findings for what nobody waited for, which is done now. */
void bulk_end(struct block *b);
