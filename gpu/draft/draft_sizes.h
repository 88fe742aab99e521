#pragma once
/* draft_sizes: reduces sizes so that the CPU backend takes only seconds. */
#include "base/json.h"
#include "gpu/host/host_amount.h"

/* Halves sizes, first those on which the grid depends, while a buffer or the launch is
 * too large. The launch keeps its meaning: half the size is about half the blocks, each
 * as full as before; a division without remainder stays one; and a size that does not
 * affect the grid, over which a kernel loops, stays longer than a block. */
void draft_sizes_shrink(struct host_sizes *sizes, const json_t *spec);
