/* graph_nodes: what nodes are and depend on, and changes of them. */
#include "gpu/runtime/api.h"
#include "gpu/runtime/arrays.h"
#include "gpu/runtime/events.h"
#include "gpu/runtime/graph_calls.h"
#include "gpu/runtime/launches.h"
#include "gpu/runtime/streams.h"
#include "gpu/runtime/transfers.h"

static cudart_error no_node(void) {
    return explain(CUDART_INVALID_VALUE, "the graph has no such node (any more)");
}

static struct graph *graph_known(struct graph *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_find(handle);
    pthread_mutex_unlock(&runtime.lock);
    return g;
}

static struct graph *graph_with(const struct node *n) {
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_holding(n);
    pthread_mutex_unlock(&runtime.lock);
    return g;
}

/* One of this type; NULL. */
static struct node *node_of(struct node *n, enum node_type type) {
    return graph_with(n) && n->type == type ? n : NULL;
}

static struct node *clone_in(struct graph *exec, const struct node *original) {
    struct graph *g = graph_known(exec);
    return g ? graph_clone_of(g, original) : NULL;
}

/* ---- dependencies ---- */

struct node_list { /* of the caller's room */
    struct node **nodes;
    uint64_t *edges; /* cudaGraphEdgeData: of plain dependencies it is 0 */
    size_t room, count;
};

static void list_put(struct node_list *l, struct node *n) {
    if (l->nodes && l->count < l->room) {
        l->nodes[l->count] = n;
        if (l->edges) {
            l->edges[l->count] = 0;
        }
    }
    l->count++;
}

/* What is left of the room is NULL. */
static void list_end(struct node_list *l, size_t *ret_count) {
    for (size_t k = l->count; l->nodes && k < l->room; k++) {
        l->nodes[k] = NULL;
    }
    *ret_count = l->nodes && l->count > l->room ? l->room : l->count;
}

EXPORT cudart_error cudaGraphNodeGetDependencies(struct node *n, struct node **ret,
                                                 void *edges, size_t *count) {
    NEED(count);
    struct node_list l = {ret, edges, *count, 0};
    bool known = graph_with(n) != NULL;
    for (size_t k = 0; known && k < n->need_count; k++) {
        list_put(&l, n->needs[k]);
    }
    list_end(&l, count);
    RETURN(known ? CUDART_SUCCESS : no_node());
}

EXPORT cudart_error cudaGraphNodeGetDependentNodes(struct node *n, struct node **ret,
                                                   void *edges, size_t *count) {
    NEED(count);
    struct node_list l = {ret, edges, *count, 0};
    const struct graph *g = graph_with(n);
    for (size_t k = 0; g && k < g->count; k++) {
        for (size_t d = 0; d < g->nodes[k]->need_count; d++) {
            if (g->nodes[k]->needs[d] == n) {
                list_put(&l, g->nodes[k]);
            }
        }
    }
    list_end(&l, count);
    RETURN(g ? CUDART_SUCCESS : no_node());
}

EXPORT cudart_error cudaGraphGetEdges(struct graph *handle, struct node **ret_from,
                                      struct node **ret_to, void *edges, size_t *count) {
    NEED(count);
    struct node_list from = {ret_from, edges, *count, 0}, to = {ret_to, NULL, *count, 0};
    const struct graph *g = graph_known(handle);
    for (size_t k = 0; g && k < g->count; k++) {
        for (size_t d = 0; d < g->nodes[k]->need_count; d++) {
            list_put(&from, g->nodes[k]->needs[d]);
            list_put(&to, g->nodes[k]);
        }
    }
    list_end(&to, count);
    list_end(&from, count);
    RETURN(g ? CUDART_SUCCESS : no_node());
}

EXPORT cudart_error cudaGraphAddDependencies(struct graph *g, struct node *const *from,
                                             struct node *const *to, const void *,
                                             size_t count) {
    for (size_t k = 0; k < count; k++) {
        node_need(to[k], from[k]);
    }
    RETURN(graph_known(g) ? CUDART_SUCCESS : no_node());
}

EXPORT cudart_error cudaGraphRemoveDependencies(struct graph *g, struct node *const *from,
                                                struct node *const *to, const void *,
                                                size_t count) {
    for (size_t k = 0; k < count; k++) {
        node_need_no_more(to[k], from[k]);
    }
    RETURN(graph_known(g) ? CUDART_SUCCESS : no_node());
}

static cudart_error nodes_list(const struct graph *g, struct node **ret, size_t *count,
                               bool roots) {
    NEED(count);
    struct node_list l = {ret, NULL, *count, 0};
    for (size_t k = 0; g && k < g->count; k++) {
        if (!roots || !g->nodes[k]->need_count) {
            list_put(&l, g->nodes[k]);
        }
    }
    list_end(&l, count);
    return g ? CUDART_SUCCESS : no_node();
}

EXPORT cudart_error cudaGraphGetNodes(struct graph *g, struct node **ret, size_t *count) {
    RETURN(nodes_list(graph_known(g), ret, count, false));
}
EXPORT cudart_error cudaGraphGetRootNodes(struct graph *g, struct node **ret,
                                          size_t *count) {
    RETURN(nodes_list(graph_known(g), ret, count, true));
}

EXPORT cudart_error cudaGraphDestroyNode(struct node *n) {
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_holding(n);
    if (g) {
        graph_remove(g, n);
    }
    pthread_mutex_unlock(&runtime.lock);
    RETURN(g ? CUDART_SUCCESS : no_node());
}

/* ---- what they are ---- */

EXPORT cudart_error cudaGraphNodeGetType(const struct node *n, int *ret) {
    NEED(n && ret);
    *ret = (int)n->type;
    RETURN(CUDART_SUCCESS);
}

EXPORT cudart_error cudaGraphNodeFindInClone(struct node **ret,
                                             const struct node *original,
                                             struct graph *clone) {
    NEED(ret);
    *ret = clone_in(clone, original);
    RETURN(*ret ? CUDART_SUCCESS : no_node());
}

EXPORT cudart_error cudaGraphKernelNodeGetParams(struct node *n,
                                                 struct cudart_kernel_node *ret) {
    NEED(ret && node_of(n, NODE_KERNEL));
    launch_describe(n->op, ret);
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaGraphMemsetNodeGetParams(struct node *n,
                                                 struct cudart_set_node *ret) {
    NEED(ret && node_of(n, NODE_SET));
    fill_describe(n->op, ret);
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaGraphHostNodeGetParams(struct node *n,
                                               struct cudart_host_node *ret) {
    NEED(ret && node_of(n, NODE_HOST));
    host_call_describe(n->op, ret);
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaGraphChildGraphNodeGetGraph(struct node *n, struct graph **ret) {
    NEED(ret && node_of(n, NODE_CHILD));
    *ret = n->child;
    RETURN(CUDART_SUCCESS);
}

/* ---- changes ---- */

/* n: a node of this type, or NULL. */
static cudart_error replace(struct node *n, cudart_error code, struct op *op) {
    if (code) {
        return code;
    }
    if (!n) {
        op->free(op);
        return no_node();
    }
    if (n->type == NODE_KERNEL) {
        launch_like(op, n->op);
    }
    n->op->free(n->op);
    n->op = op;
    return CUDART_SUCCESS;
}

static cudart_error kernel_set(struct node *n, const struct cudart_kernel_node *p) {
    struct op *op = NULL;
    NEED(p);
    cudart_error code = node_kernel_make(&op, p);
    return replace(n, code, op);
}
static cudart_error copy_set(struct node *n, const struct cudart_copy_3d *p) {
    struct op *op = NULL;
    NEED(p);
    cudart_error code = copy_3d_make(&op, p);
    return replace(n, code, op);
}
static cudart_error bytes_set(struct node *n, void *to, const void *from, size_t bytes,
                              int kind) {
    struct op *op = NULL;
    cudart_error code = node_bytes_make(&op, to, from, bytes, kind);
    return replace(n, code, op);
}
static cudart_error fill_set(struct node *n, const struct cudart_set_node *p) {
    struct op *op = NULL;
    NEED(p);
    cudart_error code = node_set_make(&op, p);
    return replace(n, code, op);
}
static cudart_error host_set(struct node *n, const struct cudart_host_node *p) {
    NEED(p);
    return replace(n, CUDART_SUCCESS, host_call_make(p->function, p->data));
}

static cudart_error event_set(struct node *n, struct event *event) {
    struct op *op = NULL;
    cudart_error code = event_mark_make(&op, event);
    return replace(n, code, op);
}

/* What a node's description of its type changes. */
static cudart_error any_set(struct node *n, const struct cudart_node *p) {
    NEED(p);
    struct node *fits = n && (int)n->type == p->type ? n : NULL;
    switch ((enum node_type)p->type) {
    case NODE_KERNEL:
        return kernel_set(fits, &p->of.kernel);
    case NODE_COPY:
        return copy_set(fits, &p->of.copy.copy);
    case NODE_SET:
        return fill_set(fits, &p->of.set);
    case NODE_HOST:
        return host_set(fits, &p->of.host);
    case NODE_WAIT:
    case NODE_RECORD:
        return event_set(fits, p->of.event);
    default:
        return explain(CUDART_NOT_SUPPORTED, "a change of a node of type %d", p->type);
    }
}

EXPORT cudart_error cudaGraphKernelNodeSetParams(struct node *n,
                                                 const struct cudart_kernel_node *p) {
    RETURN(kernel_set(node_of(n, NODE_KERNEL), p));
}
EXPORT cudart_error cudaGraphExecKernelNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_kernel_node *p) {
    RETURN(kernel_set(clone_in(exec, node_of(n, NODE_KERNEL)), p));
}
EXPORT cudart_error cudaGraphMemcpyNodeSetParams(struct node *n,
                                                 const struct cudart_copy_3d *p) {
    RETURN(copy_set(node_of(n, NODE_COPY), p));
}
EXPORT cudart_error cudaGraphExecMemcpyNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_copy_3d *p) {
    RETURN(copy_set(clone_in(exec, node_of(n, NODE_COPY)), p));
}
EXPORT cudart_error cudaGraphMemcpyNodeSetParams1D(struct node *n, void *to,
                                                   const void *from, size_t bytes,
                                                   int kind) {
    RETURN(bytes_set(node_of(n, NODE_COPY), to, from, bytes, kind));
}
EXPORT cudart_error cudaGraphExecMemcpyNodeSetParams1D(struct graph *exec, struct node *n,
                                                       void *to, const void *from,
                                                       size_t bytes, int kind) {
    RETURN(bytes_set(clone_in(exec, node_of(n, NODE_COPY)), to, from, bytes, kind));
}
EXPORT cudart_error cudaGraphMemsetNodeSetParams(struct node *n,
                                                 const struct cudart_set_node *p) {
    RETURN(fill_set(node_of(n, NODE_SET), p));
}
EXPORT cudart_error cudaGraphExecMemsetNodeSetParams(struct graph *exec, struct node *n,
                                                     const struct cudart_set_node *p) {
    RETURN(fill_set(clone_in(exec, node_of(n, NODE_SET)), p));
}
EXPORT cudart_error cudaGraphHostNodeSetParams(struct node *n,
                                               const struct cudart_host_node *p) {
    RETURN(host_set(node_of(n, NODE_HOST), p));
}
EXPORT cudart_error cudaGraphExecHostNodeSetParams(struct graph *exec, struct node *n,
                                                   const struct cudart_host_node *p) {
    RETURN(host_set(clone_in(exec, node_of(n, NODE_HOST)), p));
}
/* Nodes that record an event, and such that wait for one. */
#define EVENT_NODES(kind, type)                                                          \
    EXPORT cudart_error cudaGraphEvent##kind##NodeGetEvent(struct node *n,               \
                                                           struct event **ret) {         \
        NEED(ret && node_of(n, type));                                                   \
        *ret = event_of_mark(n->op);                                                     \
        RETURN(CUDART_SUCCESS);                                                          \
    }                                                                                    \
    EXPORT cudart_error cudaGraphEvent##kind##NodeSetEvent(struct node *n,               \
                                                           struct event *e) {            \
        RETURN(event_set(node_of(n, type), e));                                          \
    }                                                                                    \
    EXPORT cudart_error cudaGraphExecEvent##kind##NodeSetEvent(                          \
        struct graph *exec, struct node *n, struct event *e) {                           \
        RETURN(event_set(clone_in(exec, node_of(n, type)), e));                          \
    }
EVENT_NODES(Record, NODE_RECORD)
EVENT_NODES(Wait, NODE_WAIT)

EXPORT cudart_error cudaGraphNodeSetParams(struct node *n, const struct cudart_node *p) {
    RETURN(any_set(graph_with(n) ? n : NULL, p));
}
EXPORT cudart_error cudaGraphExecNodeSetParams(struct graph *exec, struct node *n,
                                               const struct cudart_node *p) {
    RETURN(any_set(clone_in(exec, n), p));
}

/* CUDA does so with kernels, copies and fills. */
EXPORT cudart_error cudaGraphNodeSetEnabled(struct graph *exec, struct node *original,
                                            unsigned enabled) {
    struct node *n = clone_in(exec, original);
    NEED(n && n->type <= NODE_SET);
    n->disabled = !enabled;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaGraphNodeGetEnabled(struct graph *exec, struct node *original,
                                            unsigned *ret) {
    const struct node *n = clone_in(exec, original);
    NEED(ret && n);
    *ret = !n->disabled;
    RETURN(CUDART_SUCCESS);
}
