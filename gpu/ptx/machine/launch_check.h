#pragma once
/* launch_check: checks that a launch fits the kernel and the device. */
#include "gpu/ptx/machine/machine.h"
#include "gpu/ptx/state/program.h"

/* -EINVAL with the reason. */
int launch_check(const struct machine_launch *l, const struct program *p,
                 struct err *err);
/* Blocks of a cluster in each dimension; false: without clusters. */
bool launch_cluster_shape(const struct machine_launch *l, const struct ptx_function *f,
                          uint32_t ret[3]);
