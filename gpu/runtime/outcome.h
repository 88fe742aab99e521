#pragma once
/* outcome: what the program's launches were and did, told as it happens and at the end.
 */
#include "gpu/device/module.h"
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/host_site.h"

/* Both of the queue's turn. */
void outcome_launch(const struct kernel *k, const struct launch_shape *shape,
                    const struct host_site *site);
/* One was skipped: it would have changed nothing. NULL: a fill. */
void outcome_skipped(const struct kernel *k);
/* What it printed and found goes where it belongs; CUDA's code for its end. */
cudart_error outcome_of(struct module *m, enum machine_end end, const struct err *err,
                        const struct host_site *site);
/* What was found since it was last asked, by an operation of this call. */
void outcome_found(const struct host_site *site);
void outcome_limit(const char *which, const char *message); /* one was reached */
/* Everything that launches found, said and counted, and the end, once. */
void outcome_end(const char *how, int signal);
