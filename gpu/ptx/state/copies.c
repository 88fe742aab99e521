#include "gpu/ptx/state/copies.h"

#include "gpu/ptx/state/block.h"

#include <stdlib.h>

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
        for (uint32_t k = 0; k < list->count; k++) {
            const struct bulk_copy *c = &list->items[k];
            if (c->block == b && c->kind != BULK_ARRIVE && c->kind != BULK_NOTHING &&
                offset < c->shared + (uint64_t)c->bytes && c->shared < offset + bytes) {
                return true;
            }
        }
    }
    return false;
}

const char *block_copies_to(const struct block *b, uint64_t offset, uint64_t bytes) {
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const struct warp *w = &b->warps[i];
        for (uint32_t k = 0; k < w->copy_count; k++) {
            const struct async_copy *c = &w->copies[k];
            if (offset < c->to + (uint64_t)c->bytes && c->to < offset + bytes) {
                return "cp.async";
            }
        }
    }
    return bulk_copies_to(b, offset, bytes) ? "bulk copy" : NULL;
}
