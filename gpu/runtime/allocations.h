#pragma once
/* allocations: making and freeing device memory, for calls in other files. */
#include "gpu/runtime/cuda_types.h"

#include <stdbool.h>

struct allocation;

cudart_error allocate_device(void **ret, size_t bytes);
/* Memory of a graph's node, which is not there until the node is executed. */
cudart_error allocate_of_graph(struct allocation **ret, size_t bytes);

struct freeing {
    uint64_t address;
    unsigned kinds; /* flags, one of which it must have; 0: of the device alone */
    const char *function;
    bool waits; /* for the device */
};
cudart_error release(struct freeing f);
/* What frees it, as words: "cudaFree frees it". */
const char *allocation_freer(const struct allocation *a);
