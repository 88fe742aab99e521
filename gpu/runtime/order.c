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

static void join(struct order_clock *to, const struct order_clock *from) {
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
    join(&c, &order.host);
    join(&c, &order.fence);
    if (s == legacy) {
        join(&c, &order.blocking);
    } else if (is_blocking(s)) {
        join(&c, &legacy->clock);
    }
    return c;
}

void order_put(struct stream *s, struct stream *legacy, struct op *op) {
    op->moment = NULL;
    if (!order_is_on()) {
        return;
    }
    struct moment *m = xmalloc(sizeof *m);
    *m = (struct moment){order_of_stream(s, legacy), ++order.count,
                         s == legacy ? 0 : 1 + (unsigned)(s->id % (ORDER_SLOTS - 1))};
    op->moment = m;
    latest = *m;
    s->clock = m->seen;
    s->clock.seen[m->slot] = m->number;
    join(&order.all, &s->clock);
    if (s != legacy && is_blocking(s)) {
        join(&order.blocking, &s->clock);
    }
}

void order_stream_waits(struct stream *s, const struct order_clock *c) {
    join(&s->clock, c);
}

void order_host_knows_of(const struct order_clock *c) {
    pthread_mutex_lock(&runtime.lock);
    join(&order.host, c ? c : &order.all);
    pthread_mutex_unlock(&runtime.lock);
}

void order_fence(void) {
    if (order_is_on()) {
        pthread_mutex_lock(&runtime.lock);
        join(&order.fence, &order.all);
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
    uint64_t number;
    unsigned slot;
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

static void tell(const struct allocation *a, const struct kept *earlier,
                 const struct order_use *use) {
    autofree char *now = kernel_name_new(use->what);
    autofree char *then = kernel_name_new(earlier->use.what);
    uint64_t at = earlier->use.low > use->low ? earlier->use.low : use->low;
    struct report_other other = {&earlier->site, "the other stream's call"};
    report_finding_between(
        "missing_sync", use->site, &other,
        "%s %s byte %llu of %s of %llu bytes, which %s %s in another stream, and nothing "
        "orders the two: let the stream wait for an event that is recorded after the "
        "first (cudaEventRecord, cudaStreamWaitEvent), or wait for it in the host's code",
        now, use->writes ? "writes" : "reads", (unsigned long long)at, a->name,
        (unsigned long long)a->bytes, then, earlier->use.writes ? "writes" : "reads");
}

static bool overlap(const struct order_use *a, const struct order_use *b) {
    return a->low < b->low + b->bytes && b->low < a->low + a->bytes;
}

void order_used(const struct moment *m, const struct allocation *a,
                const struct order_use *use) {
    if (!m) {
        return;
    }
    struct history *h = history_of(a);
    for (unsigned k = 0; k < USES; k++) {
        const struct kept *e = &h->kept[k];
        bool conflict = e->number && (e->use.writes || use->writes) &&
                        overlap(&e->use, use) && m->seen.seen[e->slot] < e->number &&
                        e->slot != m->slot;
        if (conflict) {
            tell(a, e, use);
        }
    }
    h->kept[h->next++ % USES] = (struct kept){*use, *use->site, m->number, m->slot};
}
