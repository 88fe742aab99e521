#pragma once
/* barriers: bar and barrier of a block: sync, arrive, red.
 *
 * PTX ISA: a thread at a barrier waits for all threads of its warp that have not exited;
 * then its warp counts as arrived. Without a number of threads all warps that live are
 * expected. */
#include "gpu/ptx/state/block.h"

/* Nobody can run any more: findings of who waits where. */
void block_tell_stuck(struct block *b);
/* After lanes arrived or exited: complete what can be completed. */
void block_check_barriers(struct block *b);
