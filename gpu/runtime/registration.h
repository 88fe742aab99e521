#pragma once
/* registration: the kernels and variables that the program's parts registered before
 * main. */
#include "gpu/device/module.h"
#include "gpu/runtime/cuda_types.h"

/* Finds a kernel by the program's handle: its host function, or the result of
 * __cudaGetKernel. Its module is read at first use. CUDART_INVALID_FUNCTION, or the
 * reason why its module cannot run. */
cudart_error registered_kernel(const void *name, struct kernel **ret);
/* Finds a variable by its host address in the same way. CUDART_INVALID_SYMBOL. */
cudart_error registered_variable(const void *host, struct allocation **ret);
/* A module that the program loads: PTX, or a fat binary with PTX. Released by
 * __cudaUnregisterFatBinary. */
struct fatbin_part;
cudart_error registered_load(const void *image, struct fatbin_part **ret);
/* The handle of its kernel with this name, equivalent to a host function; its variable.
 * CUDART_SYMBOL_NOT_FOUND. */
cudart_error registered_in(struct fatbin_part *p, const char *name, const void **ret);
cudart_error registered_variable_in(struct fatbin_part *p, const char *name,
                                    struct allocation **ret);
/* Whether this is the name of a __managed__ variable. */
bool registered_is_managed(const char *name);
/* Calls back for each module that was read, with its number from 1. */
void registered_modules(void (*visit)(struct module *m, uint64_t number));
