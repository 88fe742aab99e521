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

const char *block_copies_to(const struct block *b, uint64_t offset, uint64_t bytes) {
    list_each(i, w, b->warps, b->warp_count) {
        list_each(k, c, w->copies, w->copy_count) {
            if (offset < c->to + (uint64_t)c->bytes && c->to < offset + bytes) {
                return "cp.async";
            }
        }
    }
    return bulk_copies_to(b, offset, bytes) ? "bulk copy" : NULL;
}
