#pragma once
/* launch_limits: what no launch may exceed.
 *
 * Source: the table "Technical Specifications per Compute Capability" of the CUDA C++
 * Programming Guide, and gpu/facts/occupancy.h. */
#include "gpu/spec/spec_case.h"

/* What is known before anything is compiled: block, grid, cluster and dynamic shared
 * memory against the architecture. A cluster may have the 16 blocks of sm_90 that a
 * kernel must ask for. -EINVAL: "launch.block: 2048 threads, a block has at most 1024".
 */
int launch_limits_check(const struct case_launch *launch, const char *arch,
                        struct err *err);
/* What the compiled kernel adds: kernel is its entry of kernel/check's "kernels".
 * Launch bounds, shared memory in all, registers, and whether a cooperative grid can be
 * resident on `sms` multiprocessors (0 = an H100's). *ret_code is what CUDA would say.
 * -EINVAL. */
int launch_limits_check_kernel(const struct case_launch *launch, bool cooperative,
                               const json_t *kernel, const char *arch, unsigned sms,
                               const char **ret_code, struct err *err);
