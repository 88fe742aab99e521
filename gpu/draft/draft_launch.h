#pragma once
/* draft_launch: the launch of a kernel that a draft is made from: the first of those
 * kernel<<<…>>>(…) whose grid and block are known. */
#include "gpu/host/kernel_launch.h"

/* False: others have another grid, block or template arguments, and which of them the
 * program makes does not show. */
bool draft_launch_find(struct host_program *p, const struct declaration *kernel,
                       struct kernel_launch *ret);
/* "ns::k<256, float>", as far as the text says all of it; else the name. Malloc'ed. */
char *draft_launch_kernel(struct host_program *p, struct host_sizes *sizes,
                          const struct declaration *kernel,
                          const struct kernel_launch *launch);
