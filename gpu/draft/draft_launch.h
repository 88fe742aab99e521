#pragma once
/* draft_launch: finds the launch of a kernel on which a draft is based: the first
 * kernel<<<…>>>(…) whose grid and block are known. */
#include "gpu/host/kernel_launch.h"

/* False: other launches have another grid, block or template arguments, and it is not
 * clear which of them the program makes. */
bool draft_launch_find(struct host_program *p, const struct declaration *kernel,
                       struct kernel_launch *ret);
/* "ns::k<256, float>" if the text gives all arguments; otherwise the name. Malloc'ed. */
char *draft_launch_kernel(struct host_program *p, struct host_sizes *sizes,
                          const struct declaration *kernel,
                          const struct kernel_launch *launch);
