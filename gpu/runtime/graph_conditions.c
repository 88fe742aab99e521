#include "gpu/runtime/graph_conditions.h"

#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/unseen.h"

#define CONDITION_BYTES sizeof(uint32_t)
#define BODIES_MAX 4096

/* ---- conditions ---- */

static unsigned condition_flags(void) {
    return runtime.device.settings.checks & MACHINE_CHECK_INITIALIZED
               ? MACHINE_UNINITIALIZED
               : 0;
}

static int allocate_run(void *of) {
    struct graph_condition *c = of;
    c->in = device_memory_new(&runtime.device, "a graph's condition", CONDITION_BYTES,
                              condition_flags());
    return c->in ? CUDART_SUCCESS : CUDART_OUT_OF_MEMORY;
}

cudart_error condition_make(struct graph_condition *c) {
    return queue_do(&runtime.device.queue, allocate_run, c);
}

static void condition_set(const struct graph_condition *c) {
    memcpy(c->in->host, &c->first, CONDITION_BYTES);
    device_memory_wrote(c->in, c->in->address, CONDITION_BYTES);
    c->in->version++;
}

/* What the last launch set does not count. */
static int condition_clear(const struct graph_condition *c) {
    struct memory *m = &runtime.device.memory;
    (void)memory_release(m, c->in->address);
    return memory_renew(m, c->in) ? CUDART_OUT_OF_MEMORY : CUDART_SUCCESS;
}

struct beginning {
    struct op op;
    size_t count;
    struct graph_condition conditions[];
};

static int beginning_run(struct op *op) {
    const struct beginning *b = container_of(op, struct beginning, op);
    int code = CUDART_SUCCESS;
    unseen_settle();
    for (size_t k = 0; k < b->count && !code; k++) {
        if (b->conditions[k].has_first) {
            condition_set(&b->conditions[k]);
        } else {
            code = condition_clear(&b->conditions[k]);
        }
    }
    return code;
}

static void beginning_free(struct op *op) {
    free(container_of(op, struct beginning, op));
}

struct op *conditions_begin(const struct graph *g) {
    size_t bytes = g->condition_count * sizeof *g->conditions;
    if (!bytes) {
        return NULL;
    }
    struct beginning *b = xmalloc(sizeof *b + bytes);
    b->op = (struct op){.run = beginning_run, .free = beginning_free};
    b->count = g->condition_count;
    memcpy(b->conditions, g->conditions, bytes);
    return &b->op;
}

/* ---- nodes ---- */

struct conditional_node {
    struct op op;
    struct allocation *in;
    struct host_site site;
    enum { KIND_IF, KIND_WHILE, KIND_SWITCH } kind;
    bool is_node;  /* of a graph that the program has: its bodies are known */
    bool circular; /* a body's nodes wait for each other */
    unsigned count;
    struct graph *bodies[];
};

static int body_node_run(struct node *n, const struct op *outer) {
    struct moment at, in_body;
    if (outer->moment) {
        pthread_mutex_lock(&runtime.lock);
        order_in_body(&n->branch, outer->moment, &in_body, &at);
        pthread_mutex_unlock(&runtime.lock);
        n->op->moment = &at;
    }
    n->op->number = outer->number;
    int code = n->op->run(n->op);
    n->op->moment = NULL;
    return code;
}

/* clock: when its nodes begin; then, when they have ended. */
static int nodes_run(struct graph_course *l, const struct graph *g,
                     const struct op *outer, struct order_clock *clock) {
    const struct order_clock begin = *clock;
    int code = CUDART_SUCCESS;
    for (size_t k = 0; k < g->condition_count; k++) {
        if (g->conditions[k].has_first) {
            condition_set(&g->conditions[k]);
        }
    }
    for (size_t k = 0; k < g->count && !code; k++) {
        struct node *n = g->nodes[k];
        node_begin(l, n, &begin);
        if (n->child) {
            code = nodes_run(l, n->child, outer, &n->branch.clock);
        } else if (n->op) {
            code = body_node_run(n, outer);
        }
        order_join(clock, &n->branch.clock);
    }
    return code;
}

static int body_run(const struct graph *g, const struct op *outer) {
    struct graph_course l = {.number = graph_course_number()};
    struct order_clock clock = {{0}};
    return nodes_run(&l, g, outer, &clock);
}

static uint32_t condition_value(const struct conditional_node *c) {
    uint64_t first;
    uint32_t value;
    unseen_use(c->in, false);
    if (device_memory_unwritten(c->in, c->in->address, CONDITION_BYTES, &first)) {
        report_finding("uninitialized", &c->site,
                       "the conditional node looks at a condition that nothing has set "
                       "since the graph was launched: give the handle a default with "
                       "cudaGraphCondAssignDefault, or let a kernel in front of the node "
                       "call cudaGraphSetConditional");
    }
    memcpy(&value, c->in->host, sizeof value);
    return value;
}

static int while_run(const struct conditional_node *c) {
    int code = CUDART_SUCCESS;
    while (!code && condition_value(c)) {
        code = body_run(c->bodies[0], &c->op);
    }
    return code;
}

static int conditional_run(struct op *op) {
    const struct conditional_node *c = container_of(op, struct conditional_node, op);
    if (c->circular) {
        return CUDART_INVALID_VALUE;
    }
    if (c->kind == KIND_WHILE) {
        return while_run(c);
    }
    uint32_t value = condition_value(c);
    uint32_t body = c->kind == KIND_IF ? !value : value;
    return body < c->count ? body_run(c->bodies[body], op) : CUDART_SUCCESS;
}

static void conditional_free(struct op *op) {
    struct conditional_node *c = container_of(op, struct conditional_node, op);
    for (unsigned k = 0; k < c->count; k++) {
        if (c->is_node) {
            graph_forget(c->bodies[k]);
        }
        graph_free(c->bodies[k]);
    }
    free(c);
}

static struct op *conditional_copy(struct op *op);

static struct conditional_node *conditional_new(unsigned count) {
    struct conditional_node *c = xcalloc(1, sizeof *c + count * sizeof *c->bodies);
    c->op = (struct op){
        .run = conditional_run, .free = conditional_free, .copy = conditional_copy};
    c->count = count;
    return c;
}

static struct op *conditional_copy(struct op *op) {
    const struct conditional_node *from = container_of(op, struct conditional_node, op);
    struct conditional_node *c = conditional_new(from->count);
    c->in = from->in;
    c->site = from->site;
    c->kind = from->kind;
    for (unsigned k = 0; k < c->count; k++) {
        c->bodies[k] = graph_copy(from->bodies[k]);
        c->circular = !graph_sort(c->bodies[k]) || c->circular;
    }
    return &c->op;
}

static cudart_error check(const struct cudart_conditional_node *p) {
    unsigned most = p->kind == KIND_IF      ? 2
                    : p->kind == KIND_WHILE ? 1
                                            : BODIES_MAX;
    if (p->kind < KIND_IF || p->kind > KIND_SWITCH || !p->count || p->count > most) {
        return explain(CUDART_INVALID_VALUE,
                       "a conditional node of type %d has 1 to %u bodies, not %u", p->kind,
                       most, p->count);
    }
    return CUDART_SUCCESS;
}

cudart_error conditional_make(struct op **ret, struct cudart_conditional_node *p) {
    struct allocation *in =
        device_memory_at(&runtime.device, p->handle, CONDITION_BYTES);
    cudart_error code =
        in ? check(p)
           : explain(CUDART_INVALID_VALUE,
                     "the handle is not one of cudaGraphConditionalHandleCreate");
    if (code) {
        return code;
    }
    struct conditional_node *c = conditional_new(p->count);
    host_site_take(&c->site);
    c->in = in;
    c->kind = p->kind;
    c->is_node = true;
    for (unsigned k = 0; k < c->count; k++) {
        c->bodies[k] = graph_new();
        graph_know(c->bodies[k]);
    }
    p->bodies = c->bodies;
    *ret = &c->op;
    return CUDART_SUCCESS;
}
