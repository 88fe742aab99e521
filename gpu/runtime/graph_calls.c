/* graph_calls: graphs built by hand or captured, made ready, changed and launched. */
#include "gpu/runtime/allocations.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/arrays.h"
#include "gpu/runtime/events.h"
#include "gpu/runtime/graph_calls.h"
#include "gpu/runtime/graph_conditions.h"
#include "gpu/runtime/graph_launch.h"
#include "gpu/runtime/graph_memory.h"
#include "gpu/runtime/launches.h"
#include "gpu/runtime/streams.h"
#include "gpu/runtime/transfers.h"
#include "gpu/runtime/user_objects.h"

static cudart_error no_graph(void) {
    return explain(CUDART_INVALID_VALUE, "the graph does not exist (any more)");
}

static struct graph *find(struct graph *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_find(handle);
    pthread_mutex_unlock(&runtime.lock);
    return g;
}

static void know(struct graph *g) {
    order_begin();
    pthread_mutex_lock(&runtime.lock);
    graph_know(g);
    pthread_mutex_unlock(&runtime.lock);
}

/* ---- life ---- */

EXPORT cudart_error cudaGraphCreate(struct graph **ret, unsigned) {
    *ret = graph_new();
    know(*ret);
    RETURN(CUDART_SUCCESS);
}

static cudart_error copy_known(struct graph **ret, struct graph *handle, bool sorted) {
    struct graph *g = find(handle);
    if (!g) {
        return no_graph();
    }
    struct graph *copy = graph_copy(g);
    if (sorted && !graph_sort(copy)) {
        graph_free(copy);
        return explain(CUDART_INVALID_VALUE,
                       "the graph's nodes wait for each other in a circle");
    }
    know(copy);
    *ret = copy;
    return CUDART_SUCCESS;
}

static cudart_error destroy(struct graph *handle) {
    struct graph *g = find(handle);
    if (!g) {
        return no_graph();
    }
    pthread_mutex_lock(&runtime.lock);
    graph_forget(g);
    graph_free(g);
    pthread_mutex_unlock(&runtime.lock);
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaGraphClone(struct graph **ret, struct graph *g) {
    RETURN(copy_known(ret, g, false));
}

#define AUTO_FREE 1u /* cudaGraphInstantiateFlagAutoFreeOnLaunch */

static cudart_error instantiate(struct graph **ret, struct graph *g,
                                unsigned long long flags) {
    cudart_error code = copy_known(ret, g, true);
    if (!code) {
        (*ret)->frees_first = flags & AUTO_FREE;
    }
    return code;
}

EXPORT cudart_error cudaGraphInstantiate(struct graph **ret, struct graph *g,
                                         unsigned long long flags) {
    RETURN(instantiate(ret, g, flags));
}
EXPORT cudart_error cudaGraphInstantiateWithFlags(struct graph **ret, struct graph *g,
                                                  unsigned long long flags) {
    RETURN(instantiate(ret, g, flags));
}
EXPORT cudart_error cudaGraphInstantiateWithParams(struct graph **ret, struct graph *g,
                                                   struct cudart_instantiation *p) {
    cudart_error code = instantiate(ret, g, p->flags);
    p->wrong = NULL;
    p->result = code != CUDART_SUCCESS;
    RETURN(code);
}
EXPORT cudart_error cudaGraphDestroy(struct graph *g) {
    RETURN(destroy(g));
}
EXPORT cudart_error cudaGraphExecDestroy(struct graph *g) {
    RETURN(destroy(g));
}
EXPORT cudart_error cudaGraphUpload(struct graph *g, struct stream *) {
    RETURN(find(g) ? CUDART_SUCCESS : no_graph());
}

EXPORT cudart_error cudaGraphLaunch(struct graph *handle, struct stream *s) {
    struct graph *g = find(handle);
    RETURN(g ? graph_launch(g, s) : no_graph());
}

static cudart_error update(struct graph *exec, struct graph *from) {
    struct graph *copy = from ? graph_copy(from) : NULL;
    bool same = copy && exec && copy->count == exec->count && graph_sort(copy);
    for (size_t k = 0; same && k < copy->count; k++) {
        same = copy->nodes[k]->type == exec->nodes[k]->type;
    }
    if (!same) {
        graph_free(copy);
        return from && exec ? CUDART_GRAPH_UPDATE : no_graph();
    }
    const struct graph old = *exec;
    exec->nodes = copy->nodes;
    exec->conditions = copy->conditions;
    exec->condition_count = copy->condition_count;
    exec->objects = copy->objects;
    exec->object_count = copy->object_count;
    copy->nodes = old.nodes;
    copy->conditions = old.conditions;
    copy->objects = old.objects;
    copy->object_count = old.object_count;
    graph_free(copy);
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaGraphExecUpdate(struct graph *exec, struct graph *from,
                                        struct cudart_graph_update *ret) {
    cudart_error code = update(find(exec), find(from));
    if (ret) {
        *ret = (struct cudart_graph_update){.result = code ? 2 : 0};
    }
    RETURN(code);
}

/* ---- the host's objects ---- */

#define MOVED 1u /* cudaGraphUserObjectMove: the caller's uses become the graph's */

EXPORT cudart_error cudaGraphRetainUserObject(struct graph *handle, struct user_object *o,
                                              unsigned count, unsigned flags) {
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_find(handle);
    bool fine = g && count && user_object_is_known(o);
    if (fine) {
        user_object_retain(o, flags & MOVED ? 0 : count);
        graph_add_object(g, o, count);
    }
    pthread_mutex_unlock(&runtime.lock);
    RETURN(fine ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}
EXPORT cudart_error cudaGraphReleaseUserObject(struct graph *handle,
                                               struct user_object *o, unsigned count) {
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_find(handle);
    bool fine = g && graph_drop_object(g, o, count);
    pthread_mutex_unlock(&runtime.lock);
    RETURN(fine ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}

/* ---- nodes ---- */

static cudart_error add(struct node **ret, struct graph *handle, enum node_type type,
                        struct op *op, struct node *const *needs, size_t count) {
    struct graph *g = find(handle);
    if (!g || !ret || (count && !needs)) {
        if (op) {
            op->free(op);
        }
        return g ? explain(CUDART_INVALID_VALUE, "an argument is a null pointer")
                 : no_graph();
    }
    *ret = graph_add(g, type, op, needs, count);
    return CUDART_SUCCESS;
}

cudart_error node_kernel_make(struct op **ret, const struct cudart_kernel_node *p) {
    struct host_site site;
    host_site_take(&site);
    const struct launch_shape shape = {.grid = {p->grid.x, p->grid.y, p->grid.z},
                                       .block = {p->block.x, p->block.y, p->block.z},
                                       .shared_bytes = p->shared};
    return p->params || !p->extra
               ? launch_make(ret, p->function, &shape, p->params, &site)
               : explain(CUDART_NOT_SUPPORTED, "a kernel's node without kernelParams");
}

EXPORT cudart_error cudaGraphAddKernelNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_kernel_node *p) {
    struct op *op = NULL;
    cudart_error code = node_kernel_make(&op, p);
    RETURN(code ? code : add(ret, g, NODE_KERNEL, op, needs, count));
}

EXPORT cudart_error cudaGraphAddMemcpyNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_copy_3d *p) {
    struct op *op = NULL;
    cudart_error code = copy_3d_make(&op, p);
    RETURN(code ? code : add(ret, g, NODE_COPY, op, needs, count));
}

cudart_error node_bytes_make(struct op **ret, void *to, const void *from, size_t bytes,
                             int kind) {
    struct rows t = {.address = to}, f = {.address = (uint8_t *)(uintptr_t)from};
    return copy_make(ret, t, f, (struct copy_shape){bytes, 1, 1}, kind);
}

EXPORT cudart_error cudaGraphAddMemcpyNode1D(struct node **ret, struct graph *g,
                                             struct node *const *needs, size_t count,
                                             void *to, const void *from, size_t bytes,
                                             int kind) {
    struct op *op = NULL;
    cudart_error code = node_bytes_make(&op, to, from, bytes, kind);
    RETURN(code ? code : add(ret, g, NODE_COPY, op, needs, count));
}
cudart_error node_set_make(struct op **ret, const struct cudart_set_node *p) {
    struct rows to = {.address = p->to, .pitch = p->pitch};
    struct copy_shape shape = {p->width * p->element_bytes, p->height, 1};
    return fill_make(ret, to, shape, p->value, p->element_bytes);
}

EXPORT cudart_error cudaGraphAddMemsetNode(struct node **ret, struct graph *g,
                                           struct node *const *needs, size_t count,
                                           const struct cudart_set_node *p) {
    struct op *op = NULL;
    cudart_error code = node_set_make(&op, p);
    RETURN(code ? code : add(ret, g, NODE_SET, op, needs, count));
}
EXPORT cudart_error cudaGraphAddHostNode(struct node **ret, struct graph *g,
                                         struct node *const *needs, size_t count,
                                         const struct cudart_host_node *p) {
    RETURN(add(ret, g, NODE_HOST, host_call_make(p->function, p->data), needs, count));
}
EXPORT cudart_error cudaGraphAddEmptyNode(struct node **ret, struct graph *g,
                                          struct node *const *needs, size_t count) {
    RETURN(add(ret, g, NODE_EMPTY, NULL, needs, count));
}
EXPORT cudart_error cudaGraphAddChildGraphNode(struct node **ret, struct graph *g,
                                               struct node *const *needs, size_t count,
                                               struct graph *child) {
    cudart_error code = add(ret, g, NODE_CHILD, NULL, needs, count);
    if (!code && find(child)) {
        (*ret)->child = graph_copy(child);
        code = graph_sort((*ret)->child) ? CUDART_SUCCESS : CUDART_INVALID_VALUE;
    }
    RETURN(code);
}

static cudart_error add_event(struct node **ret, struct graph *g,
                              struct node *const *needs, size_t count,
                              enum node_type type, struct event *event) {
    struct op *op = NULL;
    cudart_error code = event_mark_make(&op, event);
    return code ? code : add(ret, g, type, op, needs, count);
}

EXPORT cudart_error cudaGraphAddEventRecordNode(struct node **ret, struct graph *g,
                                                struct node *const *needs, size_t count,
                                                struct event *event) {
    RETURN(add_event(ret, g, needs, count, NODE_RECORD, event));
}
EXPORT cudart_error cudaGraphAddEventWaitNode(struct node **ret, struct graph *g,
                                              struct node *const *needs, size_t count,
                                              struct event *event) {
    RETURN(add_event(ret, g, needs, count, NODE_WAIT, event));
}

/* ---- nodes of memory and conditions ---- */

static cudart_error add_allocation(struct node **ret, struct graph *g,
                                   struct node *const *needs, size_t count,
                                   struct cudart_allocation_node *p) {
    struct allocation *a;
    cudart_error code = allocate_of_graph(&a, p->bytes);
    if (code) {
        return code;
    }
    p->address = (void *)(uintptr_t)a->address;
    return add(ret, g, NODE_ALLOCATE, graph_memory_allocates(a), needs, count);
}

static cudart_error add_free(struct node **ret, struct graph *g,
                             struct node *const *needs, size_t count, void *address) {
    struct allocation *a;
    cudart_error code = graph_memory_find(&a, address);
    return code ? code : add(ret, g, NODE_FREE, graph_memory_frees(a), needs, count);
}

static cudart_error add_conditional(struct node **ret, struct graph *handle,
                                    struct node *const *needs, size_t count,
                                    struct cudart_conditional_node *p) {
    struct op *op = NULL;
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_find(handle);
    cudart_error code = !g                             ? no_graph()
                        : !ret || (count && !needs) ? CUDART_INVALID_VALUE
                                                    : conditional_make(&op, p);
    if (!code) {
        *ret = graph_add(g, NODE_CONDITIONAL, op, needs, count);
    }
    pthread_mutex_unlock(&runtime.lock);
    return code;
}

EXPORT cudart_error cudaGraphAddMemAllocNode(struct node **ret, struct graph *g,
                                             struct node *const *needs, size_t count,
                                             struct cudart_allocation_node *p) {
    RETURN(add_allocation(ret, g, needs, count, p));
}
EXPORT cudart_error cudaGraphAddMemFreeNode(struct node **ret, struct graph *g,
                                            struct node *const *needs, size_t count,
                                            void *address) {
    RETURN(add_free(ret, g, needs, count, address));
}
EXPORT cudart_error cudaGraphConditionalHandleCreate(uint64_t *ret, struct graph *handle,
                                                     unsigned first, unsigned flags) {
    struct graph_condition c = {.has_first = flags & 1, .first = first};
    cudart_error code = condition_make(&c);
    pthread_mutex_lock(&runtime.lock);
    struct graph *g = graph_find(handle);
    if (!code && g) {
        graph_add_condition(g, &c);
        *ret = c.in->address;
    }
    pthread_mutex_unlock(&runtime.lock);
    RETURN(code || g ? code : no_graph());
}

/* What cudaGraphAddNode shares with the functions for one type each. */
EXPORT cudart_error cudaGraphAddNode(struct node **ret, struct graph *g,
                                     struct node *const *needs, const void *,
                                     size_t count, struct cudart_node *p) {
    switch ((enum node_type)p->type) {
    case NODE_KERNEL:
        return cudaGraphAddKernelNode(ret, g, needs, count, &p->of.kernel);
    case NODE_COPY:
        return cudaGraphAddMemcpyNode(ret, g, needs, count, &p->of.copy.copy);
    case NODE_SET:
        return cudaGraphAddMemsetNode(ret, g, needs, count, &p->of.set);
    case NODE_HOST:
        return cudaGraphAddHostNode(ret, g, needs, count, &p->of.host);
    case NODE_CHILD:
        return cudaGraphAddChildGraphNode(ret, g, needs, count, p->of.child);
    case NODE_EMPTY:
        return cudaGraphAddEmptyNode(ret, g, needs, count);
    case NODE_ALLOCATE:
        RETURN(add_allocation(ret, g, needs, count, &p->of.allocation));
    case NODE_FREE:
        RETURN(add_free(ret, g, needs, count, p->of.freed));
    case NODE_CONDITIONAL:
        RETURN(add_conditional(ret, g, needs, count, &p->of.conditional));
    case NODE_WAIT:
    case NODE_RECORD:
        RETURN(add_event(ret, g, needs, count, (enum node_type)p->type, p->of.event));
    }
    RETURN(explain(CUDART_NOT_SUPPORTED, "a node of type %d in a graph", p->type));
}
