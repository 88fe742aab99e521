#include "gpu/runtime/graph_memory.h"

#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/unseen.h"

struct memory_op {
    struct op op;
    struct allocation *in;
    struct host_site site;
};

static struct {
    pthread_mutex_t lock;
    struct living {
        struct living *next;
        const struct allocation *in;
    } * first;
    uint64_t bytes;
    struct graph_memory_use use;
} graphs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what lives, in the order of the calls ---- */

static struct living **place_of(const struct allocation *a) {
    struct living **at = &graphs.first;
    while (*at && (*at)->in != a) {
        at = &(*at)->next;
    }
    return at;
}

bool graph_memory_lives(const struct allocation *a) {
    pthread_mutex_lock(&graphs.lock);
    bool lives = *place_of(a) != NULL;
    pthread_mutex_unlock(&graphs.lock);
    return lives;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void graph_memory_begins(const struct allocation *a) {
    pthread_mutex_lock(&graphs.lock);
    struct living **at = place_of(a);
    if (!*at) {
        *at = xcalloc(1, sizeof **at);
        (*at)->in = a;
        graphs.bytes += a->bytes;
        graphs.use.kept = larger(graphs.use.kept, graphs.bytes);
        graphs.use.most = larger(graphs.use.most, graphs.use.kept);
    }
    pthread_mutex_unlock(&graphs.lock);
}

void graph_memory_ends(const struct allocation *a) {
    pthread_mutex_lock(&graphs.lock);
    struct living **at = place_of(a), *gone = *at;
    if (gone) {
        *at = gone->next;
        graphs.bytes -= a->bytes;
        free(gone);
    }
    pthread_mutex_unlock(&graphs.lock);
}

struct graph_memory_use graph_memory_use(void) {
    pthread_mutex_lock(&graphs.lock);
    struct graph_memory_use use = graphs.use;
    pthread_mutex_unlock(&graphs.lock);
    return use;
}

void graph_memory_trim(void) {
    pthread_mutex_lock(&graphs.lock);
    graphs.use.kept = graphs.bytes;
    pthread_mutex_unlock(&graphs.lock);
}

void graph_memory_forget_most(void) {
    pthread_mutex_lock(&graphs.lock);
    graphs.use.most = graphs.use.kept;
    pthread_mutex_unlock(&graphs.lock);
}

/* ---- operations ---- */

static struct memory_op *memory_op(struct op *op) {
    return container_of(op, struct memory_op, op);
}

static void memory_op_free(struct op *op) {
    free(memory_op(op));
}

static struct op *memory_op_copy(struct op *op) {
    struct memory_op *m = xmalloc(sizeof *m);
    *m = *memory_op(op);
    return &m->op;
}

static struct op *memory_op_new(int (*run)(struct op *), struct allocation *a) {
    struct memory_op *m = xcalloc(1, sizeof *m);
    m->op = (struct op){.run = run, .free = memory_op_free, .copy = memory_op_copy};
    m->in = a;
    host_site_take(&m->site);
    return &m->op;
}

/* Launches that wait use it as it was. */
static int allocate_run(struct op *op) {
    struct allocation *a = memory_op(op)->in;
    unseen_settle();
    return a->freed && memory_renew(&runtime.device.memory, a) ? CUDART_OUT_OF_MEMORY
                                                              : CUDART_SUCCESS;
}

static int free_run(struct op *op) {
    const struct memory_op *m = memory_op(op);
    unseen_settle();
    if (device_memory_free(&runtime.device, m->in->address)) {
        report_finding("invalid_free", &m->site,
                       "a node that frees(0x%llx): this allocation has been freed before, "
                       "or its node was never executed",
                       (unsigned long long)m->in->address);
        return CUDART_INVALID_VALUE;
    }
    return CUDART_SUCCESS;
}

void graph_memory_take(struct allocation *a) {
    (void)device_memory_free(&runtime.device, a->address);
}

struct op *graph_memory_allocates(struct allocation *a) {
    return memory_op_new(allocate_run, a);
}

struct op *graph_memory_frees(struct allocation *a) {
    return memory_op_new(free_run, a);
}

struct allocation *graph_memory_of(struct op *op) {
    return memory_op(op)->in;
}

cudart_error graph_memory_find(struct allocation **ret, const void *address) {
    struct memory *m = &runtime.device.memory;
    pthread_mutex_lock(&m->lock);
    struct allocation *a = memory_find(m, (uintptr_t)address);
    pthread_mutex_unlock(&m->lock);
    bool fits = a && a->flags & DEVICE_RETURNS && a->address == (uintptr_t)address;
    *ret = a;
    return fits ? CUDART_SUCCESS
                : explain(CUDART_INVALID_VALUE,
                          "a node frees only memory that a graph's node has allocated");
}
