#pragma once
/* kernel_launch: one launch in host code, kernel<<<grid, block, bytes>>>(arguments), and
 * its extents. */
#include "gpu/host/host_amount.h"

struct kernel_launch {
    bool found;
    size_t open; /* the <<< */
    /* "k<float>", without its scopes; the text between <<< and >>> */
    struct place name, config;
    struct place args;
    bool has_grid, has_block, has_shared;
    struct amount grid[3], block[3], shared;
};
/* The launch whose <<< is token i of the program. False: it is not one. */
bool kernel_launch_at(struct host_program *p, size_t i, struct kernel_launch *ret);
/* Its extents, over these sizes; those of the block stay numbers. */
void kernel_launch_read(struct host_program *p, struct host_sizes *sizes,
                        struct kernel_launch *launch);
