#include "gpu/runtime/order.h"

#include "gpu/facts/kernel_index.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/streams.h"

static struct {
    bool on;
    uint64_t count; /* operations so far */
    struct order_clock host, fence, blocking, all;
} order;

static __thread struct moment latest;

/* ---- clocks ---- */

const struct moment *order_latest(void) {
    return latest.number ? &latest : NULL;
}

void order_join(struct order_clock *to, const struct order_clock *from) {
    for (unsigned k = 0; k < ORDER_SLOTS; k++) {
        to->seen[k] = from->seen[k] > to->seen[k] ? from->seen[k] : to->seen[k];
    }
}

void order_begin(void) {
    __atomic_store_n(&order.on, true, __ATOMIC_RELAXED);
}

bool order_is_on(void) {
    return __atomic_load_n(&order.on, __ATOMIC_RELAXED);
}

static bool is_blocking(const struct stream *s) {
    return !(s->flags & 1);
}

struct order_clock order_of_stream(const struct stream *s, const struct stream *legacy) {
    struct order_clock c = s->clock;
    order_join(&c, &order.host);
    order_join(&c, &order.fence);
    if (s == legacy) {
        order_join(&c, &order.blocking);
    } else if (is_blocking(s)) {
        order_join(&c, &legacy->clock);
    }
    return c;
}

static void moment_give(struct op *op, struct order_clock *clock, unsigned slot,
                        uint64_t launch) {
    struct moment *m = xmalloc(sizeof *m);
    *m = (struct moment){*clock, ++order.count, slot, launch, NULL};
    op->moment = m;
    latest = *m;
    clock->seen[slot] = m->number;
}

static void stream_ends(struct stream *s, const struct stream *legacy) {
    order_join(&order.all, &s->clock);
    if (s != legacy && is_blocking(s)) {
        order_join(&order.blocking, &s->clock);
    }
}

void order_put(struct stream *s, struct stream *legacy, struct op *op) {
    op->moment = NULL;
    if (order_is_on()) {
        s->clock = order_of_stream(s, legacy);
        moment_give(op, &s->clock,
                    s == legacy ? 0 : 1 + (unsigned)(s->id % (ORDER_SLOTS - 1)), 0);
        stream_ends(s, legacy);
    }
}

void order_put_branch(struct order_branch *b, struct op *op) {
    op->moment = NULL;
    if (order_is_on()) {
        moment_give(op, &b->clock, b->slot, b->launch);
    }
}

void order_in_body(struct order_branch *b, const struct moment *outer,
                   struct moment *ret_in_body, struct moment *ret) {
    *ret_in_body = (struct moment){b->clock, ++order.count, b->slot, b->launch, NULL};
    b->clock.seen[b->slot] = ret_in_body->number;
    *ret = *outer;
    ret->in_body = ret_in_body;
}

void order_put_graph(struct stream *s, const struct stream *legacy,
                     const struct order_clock *end) {
    order_join(&s->clock, end);
    stream_ends(s, legacy);
}

void order_stream_waits(struct stream *s, const struct order_clock *c) {
    order_join(&s->clock, c);
}

void order_host_knows_of(const struct order_clock *c) {
    pthread_mutex_lock(&runtime.lock);
    order_join(&order.host, c ? c : &order.all);
    pthread_mutex_unlock(&runtime.lock);
}

void order_fence(void) {
    if (order_is_on()) {
        pthread_mutex_lock(&runtime.lock);
        order_join(&order.fence, &order.all);
        pthread_mutex_unlock(&runtime.lock);
    }
}

bool order_host_knows(const struct moment *m) {
    pthread_mutex_lock(&runtime.lock);
    bool known = order.host.seen[m->slot] >= m->number;
    pthread_mutex_unlock(&runtime.lock);
    return known;
}

/* ---- uses of memory that nothing orders ---- */

#define ALLOCATIONS 512 /* that are remembered at a time */
#define USES 8          /* of each, the latest */

struct kept {
    struct order_use use;
    struct host_site site;
    struct kept_moment {
        uint64_t number;
        unsigned slot;
        uint64_t launch;
    } at, in_body; /* in_body.launch: 0: in none */
};
static struct history {
    uint64_t address;
    struct kept kept[USES];
    unsigned next;
} histories[ALLOCATIONS];

static struct history *history_of(const struct allocation *a) {
    struct history *h =
        &histories[(a->address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % ALLOCATIONS];
    if (h->address != a->address) {
        *h = (struct history){.address = a->address};
    }
    return h;
}

#define IN_GRAPH                                                                         \
    "in another node of the graph, and no path of dependencies leads from one to the "   \
    "other: add a dependency (cudaGraphAddDependencies), or let the captured stream "    \
    "wait for an event that is recorded after the first (cudaStreamWaitEvent)"
#define IN_STREAM                                                                        \
    "in another stream, and nothing orders the two: let the stream wait for an event "   \
    "that is recorded after the first (cudaEventRecord, cudaStreamWaitEvent), or wait "  \
    "for it in the host's code"

static void tell(const struct moment *m, const struct allocation *a,
                 const struct kept *earlier, const struct order_use *use) {
    autofree char *now = kernel_name_new(use->what);
    autofree char *then = kernel_name_new(earlier->use.what);
    uint64_t at = earlier->use.low > use->low ? earlier->use.low : use->low;
    bool nodes = m->launch && m->launch == earlier->at.launch;
    struct report_other other = {&earlier->site, nodes ? "the other node's call"
                                                       : "the other stream's call"};
    report_finding_between("missing_sync", use->site, &other,
                           "Byte %llu of %s of %llu bytes: %s %s it, and %s %s it %s",
                           (unsigned long long)at, a->name, (unsigned long long)a->bytes,
                           now, use->writes ? "writes" : "reads", then,
                           earlier->use.writes ? "writes" : "reads",
                           nodes ? IN_GRAPH : IN_STREAM);
}

static bool overlap(const struct order_use *a, const struct order_use *b) {
    return a->low < b->low + b->bytes && b->low < a->low + a->bytes;
}

static bool is_behind(const struct moment *m, const struct kept_moment *e) {
    return m->seen.seen[e->slot] >= e->number || e->slot == m->slot;
}

/* Whether the earlier one has certainly ended when the other begins. */
static bool is_ordered(const struct moment *m, const struct kept *e) {
    bool same_body = m->in_body && m->in_body->launch == e->in_body.launch;
    return same_body ? is_behind(m->in_body, &e->in_body) : is_behind(m, &e->at);
}

static struct kept_moment kept_moment(const struct moment *m) {
    return m ? (struct kept_moment){m->number, m->slot, m->launch}
             : (struct kept_moment){0};
}

void order_used(const struct moment *m, const struct allocation *a,
                const struct order_use *use) {
    if (!m) {
        return;
    }
    struct history *h = history_of(a);
    for (unsigned k = 0; k < USES; k++) {
        const struct kept *e = &h->kept[k];
        bool conflict = e->at.number && (e->use.writes || use->writes) &&
                        overlap(&e->use, use) && !is_ordered(m, e);
        if (conflict) {
            tell(m, a, e, use);
        }
    }
    h->kept[h->next++ % USES] =
        (struct kept){*use, *use->site, kept_moment(m), kept_moment(m->in_body)};
}
