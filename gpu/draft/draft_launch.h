#pragma once
/* draft_launch: the launch of a kernel that a draft is made from: the first of those
 * kernel<<<…>>>(…) whose grid and block are known, and which its switch would take. */
#include "gpu/draft/host_amount.h"

struct draft_launch {
    bool found;
    size_t open;               /* the <<< */
    struct place name, config; /* "k<float>"; what is between <<< and >>> */
    struct place args;
    bool has_grid, has_block, has_shared;
    struct amount grid[3], block[3], shared;
};
void draft_launch_find(struct host_program *p, const struct declaration *kernel,
                       struct draft_launch *ret);
/* Its extents, over these sizes; those of the block stay numbers. */
void draft_launch_read(struct host_program *p, struct host_sizes *sizes,
                       struct draft_launch *launch);
/* "ns::k<256, float>", as far as the text says all of it; else the name. Malloc'ed. */
char *draft_launch_kernel(struct host_program *p, struct host_sizes *sizes,
                          const struct declaration *kernel,
                          const struct draft_launch *launch);
