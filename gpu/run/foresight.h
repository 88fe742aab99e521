#pragma once
/* foresight: estimates a case's needs before anything runs. */
#include "gpu/spec/spec_case.h"

/* Bytes that a run may use here: three quarters of the machine's memory, or of the limit
 * of this process's control groups (a container, a Slurm job). The first call must come
 * before confinement. */
uint64_t memory_here(void);
/* The smallest limit of the control groups (versions 1 and 2) named in a file like
 * /proc/self/cgroup, beneath a folder like /sys/fs/cgroup; UINT64_MAX without one. */
uint64_t memory_limit(const char *groups, const char *root);
/* -EINVAL: shapes of expected outputs do not fit; -ETIME: the spec's time limit is too
 * short in any case; -ENOMEM: buffers, their copies and expected outputs need more than
 * `memory` bytes; -E2BIG: just starting a launch's blocks takes longer than the time
 * limit. on_device: the launches and their buffers are not on this CPU.
 * *ret_by_rows: it fits only if expected outputs are computed by rows. */
int foresee(const struct spec_case *c, uint64_t memory, bool on_device, bool *ret_by_rows,
            struct err *err);
