#include "gpu/runtime/leaks.h"

#include "gpu/runtime/runtime.h"

static struct {
    pthread_mutex_t lock;
    struct made {
        uint64_t address;
        struct host_site site, freed; /* freed: the last time */
    } * items;                        /* by address */
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
    const struct made item = {a->address, *site, {0}};
    pthread_mutex_lock(&made.lock);
    list_room(made.items, made.count, made.room, 64);
    size_t at = rank_of(a->address);
    memmove(&made.items[at + 1], &made.items[at], (made.count - at) * sizeof *made.items);
    made.items[at] = item;
    made.count++;
    pthread_mutex_unlock(&made.lock);
}

/* The lock is held. NULL: not known. */
static struct made *made_find(const struct allocation *a) {
    size_t rank = rank_of(a->address);
    bool known = rank && made.items[rank - 1].address == a->address;
    return known ? &made.items[rank - 1] : NULL;
}

void allocation_note_free(const struct allocation *a, const struct host_site *site) {
    pthread_mutex_lock(&made.lock);
    struct made *m = made_find(a);
    if (m) {
        m->freed = *site;
    }
    pthread_mutex_unlock(&made.lock);
}

static struct made made_get(const struct allocation *a) {
    pthread_mutex_lock(&made.lock);
    const struct made *m = made_find(a);
    const struct made copy = m ? *m : (struct made){0};
    pthread_mutex_unlock(&made.lock);
    return copy;
}

struct host_site allocation_site(const struct allocation *a) {
    return made_get(a).site;
}

const struct report_other *allocation_others(const struct allocation *a,
                                             struct allocation_life *ret) {
    const struct made m = made_get(a);
    ret->made = m.site;
    ret->freed = m.freed;
    ret->others[0] = (struct report_other){&ret->made, "the allocation", NULL};
    ret->others[1] = (struct report_other){&ret->freed, "where it was freed", NULL};
    bool freed = a->freed && m.freed.count;
    ret->others[0].more = freed ? &ret->others[1] : NULL;
    return m.site.count ? &ret->others[0] : NULL;
}

/* ---- handles ---- */

static struct {
    struct held {
        const void *handle;
        uint64_t bytes;
        struct host_site site;
    } * items;
    size_t count, room;
} held;

void handle_note(const void *handle, uint64_t bytes, const struct host_site *site) {
    list_room(held.items, held.count, held.room, 16);
    held.items[held.count++] = (struct held){handle, bytes, *site};
}

void handle_forget(const void *handle) {
    size_t k = 0;
    while (k < held.count && held.items[k].handle != handle) {
        k++;
    }
    if (k < held.count) {
        held.items[k] = held.items[--held.count];
    }
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

static struct leak leaks[LEAKS_MAX];
static size_t leak_count;

static void leak_add(const struct host_site *site, const char *kind, uint64_t bytes) {
    struct leak *l = leaks;
    while (l < leaks + leak_count &&
           (l->kind != kind || !host_site_same(&l->site, site))) {
        l++;
    }
    if (l == leaks + LEAKS_MAX) {
        return;
    }
    if (l == leaks + leak_count) {
        *l = (struct leak){*site, kind, 0, 0};
        leak_count++;
    }
    l->bytes += bytes;
    l->count++;
}

/* After a kernel's fault nothing can be freed. */
void leaks_tell(void) {
    if (queue_error(&runtime.device.queue)) {
        return;
    }
    const struct memory *m = &runtime.device.memory;
    for (uint32_t k = 0; k < m->count; k++) {
        if (!m->table[k]->freed && m->table[k]->flags & DEVICE_ASKED) {
            const struct host_site site = allocation_site(m->table[k]);
            leak_add(&site, kind_of(m->table[k]), m->table[k]->bytes);
        }
    }
    for (size_t k = 0; k < held.count; k++) {
        leak_add(&held.items[k].site, "device", held.items[k].bytes);
    }
    for (size_t k = 0; k < leak_count; k++) {
        json_t *event = report_event("leak", k + 1, leaks[k].site.count ? &leaks[k].site : NULL);
        json_object_set_new(event, "kind", json_string(leaks[k].kind));
        json_object_set_new(event, "bytes", json_integer((json_int_t)leaks[k].bytes));
        json_object_set_new(event, "count", json_integer((json_int_t)leaks[k].count));
        report_line(event);
    }
}
