#pragma once
/* bulk_copies: copies that an engine of the device makes while threads continue:
 * cp.async.bulk, its tensors and reductions, st.async, red.async, and cp.async that
 * arrive at an mbarrier.
 *
 * A copy that completes at an mbarrier is performed when a thread waits there and the
 * phase is not complete; a copy of a group when the group is waited for. Until then the
 * destination counts as uninitialised and the source is not read, so that a missing wait
 * shows. Addresses are checked when the copy is issued. A copy that was not waited for
 * when its block ends is reported and then performed. */
#include "gpu/ptx/state/block.h"

/* b: the block that owns the mbarrier, with its `arrivals`, or the thread's block, with
 * its `stores`. */
void bulk_add(struct block *b, struct bulk_list *list, const struct bulk_copy *c);
/* Performs the copies of groups older than the lane's limit. */
void bulk_deliver_groups(struct warp *w, uint32_t lanes, const uint32_t *limit);
/* Makes the destination of a copy count as uninitialised. */
void bulk_begin(const struct bulk_copy *c);
/* Performs the copies that complete the current phase of this mbarrier; later copies,
 * which expect_tx did not count, stay pending. true: there was a copy. */
bool bulk_deliver(struct block *b, uint32_t mbarrier);
/* A block has ended: adds findings for copies that were not waited for, and performs
 * them. */
void bulk_end(struct block *b);
