#pragma once
/* launch_limits: limits of every launch. Source: the table "Technical Specifications per
 * Compute Capability" of the CUDA C++ Programming Guide, and gpu/facts/occupancy.h. */
#include "gpu/spec/spec_case.h"

/* Limits known before compiling: block, grid, cluster and dynamic shared memory for the
 * architecture. Allows clusters of 16 blocks on sm_90, for which a kernel must opt in.
 * -EINVAL: "launch.block: 2048 threads, a block has at most 1024". */
int launch_limits_check(const struct case_launch *launch, const char *arch,
                        struct err *err);
/* Limits of the compiled kernel: kernel is its entry in kernel/check's "kernels". Launch
 * bounds, total shared memory, registers, and whether a cooperative grid can be resident
 * on `sms` multiprocessors (0 = an H100's). *ret_code is CUDA's code. -EINVAL. */
int launch_limits_check_kernel(const struct case_launch *launch, bool cooperative,
                               const json_t *kernel, const char *arch, unsigned sms,
                               const char **ret_code, struct err *err);
