#pragma once
/* foresight: what a case needs, known before anything runs. */
#include "gpu/spec/spec_case.h"

struct err;

/* Bytes that a run may take here: three quarters of the machine's memory, or of what this
 * process's control groups (a container, a job of Slurm's) may have. Before it is
 * confined, for the first time. */
uint64_t memory_here(void);
/* The least limit of the control groups that a file like /proc/self/cgroup names,
 * versions 1 and 2, beneath a folder like /sys/fs/cgroup; UINT64_MAX without one. */
uint64_t memory_limit(const char *groups, const char *root);
/* -EINVAL: what is expected has shapes that do not fit; -ETIME: the time that the spec
 * gives the run is too short for it in any case; -ENOMEM: buffers, their copies and what
 * is expected take more than `memory` bytes. on_device: the launches' buffers are
 * elsewhere. ret_by_rows: they take less, if what is expected is made by rows. */
int foresee(const struct spec_case *c, uint64_t memory, bool on_device, bool *ret_by_rows,
            struct err *err);
