#include "gpu/ptx/state/block.h"
#include "base/find.h"

bool block_can_run(const struct block *b) {
    return any_of(k, 0, b->warp_count, warp_can_run(&b->warps[k]));
}
