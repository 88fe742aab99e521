#pragma once
/* cuda_timing: launches timed on a CUDA device that nobody else times on, with the clocks
 * that NVML tells. */
#include "gpu/driver/cuda_module.h"
#include "gpu/run/backend.h"

/* As cuda_benchmark; -ENODEV for what is the driver's trouble and not the kernels'.
 * *ret_code is CUDA's, or stays. Notes in the context what of it is lost. */
int cuda_timing(struct cuda_context *c, const struct backend_timing *what,
                struct cuda_prepared *list, size_t count, json_t **ret, int *ret_code,
                struct err *err);
