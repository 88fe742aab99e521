#pragma once
/* kernel_use: how a kernel's body uses its parameters, as far as its text shows. */
#include "gpu/host/host_program.h"

enum { /* can be combined */
       USE_READS = 1,
       USE_WRITES = 2,  /* x[i] = …; x[i]++ and atomicAdd(&x[i], …) also read */
       USE_UNCLEAR = 4, /* it is passed on, or aliased in a way that is not followed */
};
/* parameter: the hash of its name. */
unsigned kernel_use_of(const struct host_program *p, const struct declaration *kernel,
                       uint64_t parameter);
/* Which of the names is the length of the buffer's rows, as width is in
 * x[row * width + column]; -1: the body does not tell. Decided by the buffer's own
 * indices, else by what the body multiplies by anywhere. */
int kernel_row_of(const struct host_program *p, const struct declaration *kernel,
                  const char *buffer, const char *const *names, size_t count);
