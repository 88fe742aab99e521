#pragma once
/* draft_sizes: sizes that the CPU backend gets through in seconds. */
#include "base/json.h"
#include "gpu/host/host_amount.h"

/* Halves them, first those that the grid grows with, while a buffer or the launch is
 * larger than that takes. The launch keeps its meaning: half of the size is half of the
 * blocks, each as full as before; a division that left no remainder leaves none; and what
 * the grid does not know, which a kernel loops over, stays longer than a block. */
void draft_sizes_shrink(struct host_sizes *sizes, const json_t *spec);
