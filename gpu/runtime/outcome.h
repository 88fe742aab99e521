#pragma once
/* outcome: reports the program's launches and their findings, during the run and at the
 * end. */
#include "gpu/device/module.h"
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/host_site.h"

/* The caller of both has the queue's turn. */
void outcome_launch(const struct kernel *k, const struct launch_shape *shape,
                    const struct host_site *site);
/* A launch was skipped because it would have changed nothing. NULL: a fill. */
void outcome_skipped(const struct kernel *k);
/* Passes on its output and findings; returns CUDA's code for its end. */
cudart_error outcome_of(struct module *m, enum machine_end end, const struct err *err,
                        const struct host_site *site);
/* The findings of an operation of this call, a copy or a launch, since the last call. A
 * finding may be of an earlier launch, whose values the operation uses. */
void outcome_found(const struct host_site *site, const char *what);
/* The program is ended during this launch. */
void outcome_stopped(const struct host_site *launch);
void outcome_limit(const char *which, const char *message); /* a limit was reached */
/* Reports all findings of launches with their counts, and the end, once. */
void outcome_end(const char *how, int signal);
