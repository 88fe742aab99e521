#pragma once
/* graph: operations that wait for each other, to be carried out many times.
 *
 * Handles are checked against lists of what exists. runtime.lock is not taken here: the
 * callers hold it. */
#include "gpu/device/queue.h"

#include <stdbool.h>
#include <stddef.h>

enum node_type { /* cudaGraphNodeType */
                 NODE_KERNEL,
                 NODE_COPY,
                 NODE_SET,
                 NODE_HOST,
                 NODE_CHILD,
                 NODE_EMPTY,
                 NODE_WAIT,
                 NODE_RECORD,
};

struct node {
    enum node_type type;
    struct op *op;       /* owned; NULL: it does nothing itself */
    struct graph *child; /* owned, of NODE_CHILD */
    struct node **needs;
    size_t need_count;
    struct node *original; /* of a clone */
    bool placed;           /* while an order is made */
};

struct graph {
    struct graph *next;
    bool is_known;       /* the program has it */
    struct node **nodes; /* as they were added */
    size_t count;
};

struct graph *graph_new(void);
void graph_free(struct graph *g);               /* NULL is fine */
struct graph *graph_find(struct graph *handle); /* a known one; NULL */
void graph_know(struct graph *g);               /* the program gets it */
void graph_forget(struct graph *g);
/* Takes op over. needs may hold NULLs. */
struct node *graph_add(struct graph *g, enum node_type type, struct op *op,
                       struct node *const *needs, size_t count);
void node_need(struct node *n, struct node *needed);
struct graph *graph_copy(const struct graph *g);
/* Nodes so that each comes behind what it needs, in place; false: they go round. */
bool graph_sort(struct graph *g);
