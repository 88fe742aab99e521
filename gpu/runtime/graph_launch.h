#pragma once
/* graph_launch: puts a graph's nodes into a stream, one after the other. Each has the
 * order of its dependencies (order.h), not that of the stream. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/graph.h"

struct stream;
cudart_error graph_launch(struct graph *g, struct stream *s);
