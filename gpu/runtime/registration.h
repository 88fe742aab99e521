#pragma once
/* registration: the kernels and variables that the program's parts told before main. */
#include "gpu/device/module.h"
#include "gpu/runtime/cuda_types.h"

/* A kernel by what the program names it with: its host function, or what
 * __cudaGetKernel gave. Its module is read at the first use. CUDART_INVALID_FUNCTION, or
 * why its module cannot run. */
cudart_error registered_kernel(const void *name, struct kernel **ret);
/* A variable by its host address, likewise. CUDART_INVALID_SYMBOL. */
cudart_error registered_variable(const void *host, struct allocation **ret);
/* A module that the program loads: PTX, or a fat binary with it. It is let go by
 * __cudaUnregisterFatBinary. */
struct part;
cudart_error registered_load(const void *image, struct part **ret);
/* What names its kernel of this name, as a host function names others; its variable.
 * CUDART_SYMBOL_NOT_FOUND. */
cudart_error registered_in(struct part *p, const char *name, const void **ret);
cudart_error registered_variable_in(struct part *p, const char *name,
                                    struct allocation **ret);
/* Is this a __managed__ variable's name? */
bool registered_is_managed(const char *name);
/* Each module that was read, with its number from 1. */
void registered_modules(void (*visit)(struct module *m, uint64_t number));
