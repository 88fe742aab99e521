#pragma once
/* barriers: bar and barrier of a block: sync, arrive, red.
 *
 * PTX ISA: a thread at a barrier waits for all threads of its warp that have not exited;
 * then its warp counts as arrived. Without a number of threads all live warps are
 * expected. */
#include "gpu/ptx/state/block.h"

/* No warp can continue: adds findings that say which warp waits where. */
void block_tell_stuck(struct block *b);
/* After lanes arrived or exited: completes the barriers that are complete. */
void block_check_barriers(struct block *b);
