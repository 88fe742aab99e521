#pragma once
/* draft_kernels: the kernels of a program, by their names. */
#include "gpu/host/host_program.h"

enum { DRAFT_KERNELS_MAX = 256 };

/* Declarations with a body that the compiler sees. Returns their number; at most max are
 * in ret. */
size_t draft_kernels(const struct host_program *p, const struct declaration **ret,
                     size_t max);
/* Whether it has a main(), so that it can run. */
bool draft_has_main(const struct host_program *p);
/* Whether another kernel has the same name. */
bool draft_kernel_overloaded(const struct host_program *p,
                             const struct declaration *kernel);
