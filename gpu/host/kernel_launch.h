#pragma once
/* kernel_launch: one launch in host code, kernel<<<grid, block, bytes>>>(arguments), and
 * what its extents are. */
#include "gpu/host/host_amount.h"

struct kernel_launch {
    bool found;
    size_t open;               /* the <<< */
    struct place name, config; /* "k<float>", from the last name of its scopes on; what is
                                  between <<< and >>> */
    struct place args;
    bool has_grid, has_block, has_shared;
    struct amount grid[3], block[3], shared;
};
/* The launch whose <<< is token i of the program. False: it is none. */
bool kernel_launch_at(struct host_program *p, size_t i, struct kernel_launch *ret);
/* Its extents, over these sizes; those of the block stay numbers. */
void kernel_launch_read(struct host_program *p, struct host_sizes *sizes,
                        struct kernel_launch *launch);
