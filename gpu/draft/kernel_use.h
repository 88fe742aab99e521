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
/* The body multiplies by it, as y * width + x does with the length of a row. */
bool kernel_multiplies_by(const struct host_program *p, const struct declaration *kernel,
                          const char *parameter);
