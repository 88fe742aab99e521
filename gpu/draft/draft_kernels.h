#pragma once
/* draft_kernels: the kernels of a program, by their names. */
#include "gpu/host/host_program.h"

enum { DRAFT_KERNELS_MAX = 256 };

/* Declarations with a body that the compiler sees. How many there are; at most max in
 * ret. */
size_t draft_kernels(const struct host_program *p, const struct declaration **ret,
                     size_t max);
/* Another kernel has its name. */
bool draft_kernel_overloaded(const struct host_program *p,
                             const struct declaration *kernel);
