#pragma once
/* cluster: the barrier of the blocks of a cluster, and addresses of each other's shared
 * memory. */
#include "gpu/ptx/state/block.h"

/* After lanes arrived or exited. */
void cluster_check_barrier(struct cluster *c);
/* No block of it can run, and some have not ended. */
bool cluster_is_stuck(const struct cluster *c);
