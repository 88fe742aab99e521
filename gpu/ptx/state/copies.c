#include "gpu/ptx/state/copies.h"

#include "base/find.h"
#include "gpu/ptx/state/block.h"

void bulk_list_reset(struct bulk_list *list) {
    for (uint32_t k = 0; k < list->count; k++) {
        free(list->items[k].tensor);
    }
    list->count = 0;
}

static bool bulk_copies_to(const struct block *b, uint64_t offset, uint64_t bytes) {
    /* The mbarrier may be another block's. */
    for (uint32_t r = 0; r < b->cluster->count; r++) {
        const struct bulk_list *list = &b->cluster->blocks[r]->arrivals;
        list_each(k, c, list->items, list->count) {
            if (c->block == b && c->kind != BULK_ARRIVE && c->kind != BULK_NOTHING &&
                offset < c->shared + (uint64_t)c->bytes && c->shared < offset + bytes) {
                return true;
            }
        }
    }
    return false;
}

/* Its own copies of that group, or if it is past it of an earlier one, are pending too. */
static bool has_pending(const struct warp *w, unsigned lane, uint32_t group) {
    uint32_t first = w->copy_groups[lane] > group ? 0 : group;
    return any_of(k, 0, w->copy_count,
                  w->copies[k].lane == lane && w->copies[k].group >= first &&
                      w->copies[k].group <= group);
}

/* Threads mostly copy alike: how far the reader is with its own groups says what is
 * missing between it and the copy. Who counts no groups may be told by an mbarrier. */
static const char *async_words(const struct warp *w, unsigned lane, uint32_t group) {
    uint32_t groups = w->copy_groups[lane];
    return has_pending(w, lane, group) ? "cp.async that nobody has waited for"
           : groups == 0
               ? "cp.async of another thread: that thread's wait for it, and then a "
                 "barrier such as __syncthreads(), must come before this read"
           : groups <= group
               ? "cp.async of a thread that is ahead of this one: no barrier, such as "
                 "__syncthreads(), keeps the copy behind this read"
               : "cp.async of another thread: the wait here is for this thread's own "
                 "copies alone, and no barrier, such as __syncthreads(), is between the "
                 "other thread's wait and this read";
}

const char *block_copies_to(const struct block *b, const struct warp *w, unsigned lane,
                            uint64_t offset, uint64_t bytes) {
    list_each(i, x, b->warps, b->warp_count) {
        list_each(k, c, x->copies, x->copy_count) {
            if (offset < c->to + (uint64_t)c->bytes && c->to < offset + bytes) {
                return async_words(w, lane, c->group);
            }
        }
    }
    return bulk_copies_to(b, offset, bytes) ? "bulk copy that nobody has waited for"
                                            : NULL;
}
