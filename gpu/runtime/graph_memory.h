#pragma once
/* graph_memory: memory of graphs. A node that allocates has one address for all launches
 * of its graph. The address is known when the node is made; the memory is there from the
 * node's execution to that of a node, or a call, that frees it.
 *
 * Whether it lives is answered in the order of the calls, which is also that of the
 * execution, so it is known before an operation has been executed. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/graph.h"

/* Takes over an allocation that was just made and is not used (DEVICE_RETURNS): it is freed
 * until its node is executed. The queue's turn. */
void graph_memory_take(struct allocation *a);
/* The operations of its nodes. */
struct op *graph_memory_allocates(struct allocation *a);
struct op *graph_memory_frees(struct allocation *a);
/* What a node may free. CUDART_INVALID_VALUE: no node allocates at this address. */
cudart_error graph_memory_find(struct allocation **ret, const void *address);
struct allocation *graph_memory_of(struct op *op);
bool graph_memory_lives(const struct allocation *a);
/* A call, or the launch of a graph, asks for its beginning; for its end. */
void graph_memory_begins(const struct allocation *a);
void graph_memory_ends(const struct allocation *a);

/* Bytes that graphs keep: the most that lived at once since graph_memory_trim, and since
 * graph_memory_forget_most. */
struct graph_memory_use {
    uint64_t kept, most;
};
struct graph_memory_use graph_memory_use(void);
void graph_memory_trim(void);
void graph_memory_forget_most(void);
