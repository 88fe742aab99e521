#include "gpu/runtime/leaks.h"

#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"

static struct {
    pthread_mutex_t lock;
    struct made {
        uint64_t address;
        struct host_site site;
    } * items; /* by address */
    size_t count, room;
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t rank_of(uint64_t address) {
    size_t low = 0, high = made.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (made.items[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void allocation_note(const struct allocation *a, const struct host_site *site) {
    const struct made item = {a->address, *site};
    pthread_mutex_lock(&made.lock);
    list_room(made.items, made.count, made.room, 64);
    size_t at = rank_of(a->address);
    memmove(&made.items[at + 1], &made.items[at], (made.count - at) * sizeof *made.items);
    made.items[at] = item;
    made.count++;
    pthread_mutex_unlock(&made.lock);
}

struct host_site allocation_site(const struct allocation *a) {
    pthread_mutex_lock(&made.lock);
    size_t rank = rank_of(a->address);
    bool known = rank && made.items[rank - 1].address == a->address;
    struct host_site site = known ? made.items[rank - 1].site : (struct host_site){0};
    pthread_mutex_unlock(&made.lock);
    return site;
}

/* ---- at the end ---- */

struct leak {
    struct host_site site;
    const char *kind;
    uint64_t bytes, count;
};

static const char *kind_of(const struct allocation *a) {
    return a->flags & DEVICE_MANAGED      ? "managed"
           : a->flags & DEVICE_PINNED     ? "pinned"
           : a->flags & DEVICE_REGISTERED ? "registered"
                                          : "device";
}

#define LEAKS_MAX 200

static size_t leak_add(struct leak *leaks, size_t count, const struct allocation *a) {
    const struct host_site site = allocation_site(a);
    struct leak *l = leaks;
    while (l < leaks + count &&
           (l->kind != kind_of(a) || !host_site_same(&l->site, &site))) {
        l++;
    }
    if (l == leaks + LEAKS_MAX) {
        return count;
    }
    if (l == leaks + count) {
        *l = (struct leak){site, kind_of(a), 0, 0};
        count++;
    }
    l->bytes += a->bytes;
    l->count++;
    return count;
}

/* After a kernel's fault nothing can be freed. */
void leaks_tell(void) {
    if (queue_error(&runtime.device.queue)) {
        return;
    }
    static struct leak leaks[LEAKS_MAX];
    size_t count = 0;
    const struct memory *m = &runtime.device.memory;
    for (uint32_t k = 0; k < m->count; k++) {
        if (!m->table[k]->freed && m->table[k]->flags & DEVICE_ASKED) {
            count = leak_add(leaks, count, m->table[k]);
        }
    }
    for (size_t k = 0; k < count; k++) {
        json_t *event = report_event("leak", k + 1, leaks[k].site.count ? &leaks[k].site : NULL);
        json_object_set_new(event, "kind", json_string(leaks[k].kind));
        json_object_set_new(event, "bytes", json_integer((json_int_t)leaks[k].bytes));
        json_object_set_new(event, "count", json_integer((json_int_t)leaks[k].count));
        report_line(event);
    }
}
