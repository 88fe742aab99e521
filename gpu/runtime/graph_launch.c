#include "gpu/runtime/graph_launch.h"

#include "gpu/runtime/events.h"
#include "gpu/runtime/graph_conditions.h"
#include "gpu/runtime/graph_memory.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/streams.h"

struct launching {
    struct stream *stream;
    struct graph_course course;
};

/* Memory that the last launch has allocated. */
static cudart_error check_memory(const struct graph *g) {
    for (size_t k = 0; k < g->count && !g->frees_first; k++) {
        const struct node *n = g->nodes[k];
        if (n->type == NODE_ALLOCATE && graph_memory_lives(graph_memory_of(n->op))) {
            return explain(CUDART_INVALID_VALUE,
                           "the graph is launched again, and %llu bytes that its last "
                           "launch allocated are not freed "
                           "(cudaGraphInstantiateFlagAutoFreeOnLaunch frees them)",
                           (unsigned long long)graph_memory_of(n->op)->bytes);
        }
    }
    return CUDART_SUCCESS;
}

static cudart_error nodes_launch(struct launching *l, const struct graph *g,
                                 struct order_clock *clock);

static cudart_error node_launch(struct launching *l, struct node *n) {
    struct allocation *a = n->type == NODE_ALLOCATE || n->type == NODE_FREE
                               ? graph_memory_of(n->op)
                               : NULL;
    cudart_error code = CUDART_SUCCESS;
    uint64_t number = 0;
    if (n->type == NODE_WAIT) { /* the queue's order has it wait anyway */
        const struct order_clock c = event_clock(n->op);
        order_join(&n->branch.clock, &c);
        return CUDART_SUCCESS;
    }
    if (n->disabled) {
        return CUDART_SUCCESS;
    }
    if (n->child || !n->op) {
        return n->child ? nodes_launch(l, n->child, &n->branch.clock) : CUDART_SUCCESS;
    }
    if (n->type == NODE_ALLOCATE && graph_memory_lives(a)) {
        code = stream_put_branch(l->stream, NODE_FREE, graph_memory_frees(a), &n->branch,
                                 &number);
    }
    code = code ? code
                : stream_put_branch(l->stream, n->type, n->op->copy(n->op), &n->branch,
                                    &number);
    if (number && n->type == NODE_RECORD) {
        event_recorded(n->op, number, &n->branch.clock);
    }
    if (!code && n->type == NODE_ALLOCATE) {
        graph_memory_begins(a);
    } else if (!code && n->type == NODE_FREE) {
        graph_memory_ends(a);
    }
    return code;
}

/* clock: when they begin; then, when they have ended. */
static cudart_error nodes_launch(struct launching *l, const struct graph *g,
                                 struct order_clock *clock) {
    const struct order_clock begin = *clock;
    cudart_error code = check_memory(g);
    struct op *first = code ? NULL : conditions_begin(g);
    code = first ? stream_put(l->stream, NODE_EMPTY, first) : code;
    for (size_t k = 0; k < g->count && !code; k++) {
        node_begin(&l->course, g->nodes[k], &begin);
        code = node_launch(l, g->nodes[k]);
        order_join(clock, &g->nodes[k]->branch.clock);
    }
    return code;
}

/* One graph's launches wait for each other, in whatever stream they are. */
cudart_error graph_launch(struct graph *g, struct stream *s) {
    static unsigned branches; /* atomic */
    unsigned first = g->first_branch ? g->first_branch - 1 : branches;
    struct launching l = {s, {graph_course_number(), first}};
    struct order_clock clock = stream_clock(s);
    order_join(&clock, &g->ended);
    cudart_error code = nodes_launch(&l, g, &clock);
    if (!g->first_branch) {
        g->first_branch = first + 1;
        __atomic_add_fetch(&branches, l.course.branches - first, __ATOMIC_RELAXED);
    }
    g->ended = clock;
    stream_put_graph(s, &clock);
    return code;
}
