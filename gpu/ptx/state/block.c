#include "gpu/ptx/state/block.h"

bool block_can_run(const struct block *b) {
    for (uint32_t k = 0; k < b->warp_count; k++) {
        if (warp_can_run(&b->warps[k])) {
            return true;
        }
    }
    return false;
}
