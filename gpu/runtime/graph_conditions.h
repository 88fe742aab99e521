#pragma once
/* graph_conditions: conditions, which kernels set (cudaGraphSetConditional) by the address
 * of a word, and the nodes whose bodies are executed as these say. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/graph.h"

/* The word; the other members are set. */
cudart_error condition_make(struct graph_condition *c);
/* The operation at the beginning of a launch, for all conditions of the graph; NULL: it has
 * none. */
struct op *conditions_begin(const struct graph *g);
/* A node's operation, and its empty bodies, which live as long as it and are known.
 * runtime.lock is held, also when it is freed. */
cudart_error conditional_make(struct op **ret, struct cudart_conditional_node *p);
