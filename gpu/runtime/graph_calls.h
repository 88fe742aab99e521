#pragma once
/* graph_calls: the operations of nodes, of what the program says of them. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/graph.h"

cudart_error node_kernel_make(struct op **ret, const struct cudart_kernel_node *p);
cudart_error node_bytes_make(struct op **ret, void *to, const void *from, size_t bytes,
                             int kind);
cudart_error node_set_make(struct op **ret, const struct cudart_set_node *p);
