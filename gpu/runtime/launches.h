#pragma once
/* launches: launches kernels. */
#include "gpu/device/module.h"
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/host_site.h"

/* An operation that launches the kernel; params as in a launch (copied). */
cudart_error launch_make(struct op **ret, const void *name,
                         const struct launch_shape *shape, void **params,
                         const struct host_site *site);
/* What such an operation launches; what it points to stays until the operation is freed. */
void launch_describe(struct op *op, struct cudart_kernel_node *ret);
/* Takes over how another one's blocks stand together (cooperative, in clusters). */
void launch_like(struct op *op, struct op *other);
