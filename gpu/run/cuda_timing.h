#pragma once
/* cuda_timing: times launches on a CUDA device while no other timing runs on it, and
 * records the clocks from NVML. */
#include "gpu/driver/cuda_module.h"
#include "gpu/run/backend.h"

/* Like cuda_benchmark; -ENODEV if the driver failed rather than the kernels. *ret_code is
 * CUDA's code, or unchanged. Records in the context which parts of it are lost. */
int cuda_timing(struct cuda_context *c, const struct backend_timing *what,
                struct cuda_prepared *list, size_t count, json_t **ret, int *ret_code,
                struct err *err);
