#include "gpu/ptx/state/mbarriers.h"

#include "gpu/ptx/state/block.h"

void mbarriers_reset(struct mbarriers *m) {
    for (uint32_t k = 0; k < m->count; k++) {
        m->slots[m->items[k].offset / 8] = 0;
        free(m->items[k].known);
    }
    m->count = 0;
}

void mbarriers_finish(struct mbarriers *m) {
    mbarriers_reset(m);
    free(m->items);
    free(m->slots);
}

struct mbarrier *mbarrier_find(const struct block *b, uint32_t offset) {
    const struct mbarriers *m = &b->mbarriers;
    uint16_t slot = m->slots ? m->slots[offset / 8] : 0;
    return slot && m->items[slot - 1].offset == offset ? &m->items[slot - 1] : NULL;
}
