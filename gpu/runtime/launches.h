#pragma once
/* launches: kernels are launched, and what they did is told. */
#include "gpu/device/module.h"
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/host_site.h"

/* What the program asked for: params as launches have them. */
cudart_error launch_kernel(const void *name, const struct launch_shape *shape,
                           void **params, struct stream *stream,
                           const struct host_site *site);
/* Everything that launches found, said and counted, and the end, once. */
void runtime_end(const char *how, int signal);
