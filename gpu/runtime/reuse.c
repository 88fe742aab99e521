#include "gpu/runtime/reuse.h"

#include "gpu/runtime/leaks.h"

#define BUCKETS 1024

/* Allocations of one line and size. */
struct alike {
    struct alike *next;
    struct host_site site;
    uint64_t bytes;
    unsigned flags;
    struct allocation **freed;
    size_t count, room;
};

static struct {
    pthread_mutex_t lock;
    struct alike *buckets[BUCKETS];
} reuse = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct alike **place_of(const struct host_site *site, uint64_t bytes,
                               unsigned flags) {
    uint64_t key = bytes;
    for (unsigned k = 0; k < site->count; k++) {
        key = (key ^ (uintptr_t)site->frames[k]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    struct alike **at = &reuse.buckets[(key >> 32) % BUCKETS];
    while (*at && ((*at)->bytes != bytes || (*at)->flags != flags ||
                   !host_site_same(&(*at)->site, site))) {
        at = &(*at)->next;
    }
    return at;
}

void reuse_freed(struct allocation *a) {
    const struct host_site site = allocation_site(a);
    pthread_mutex_lock(&reuse.lock);
    struct alike **at = place_of(&site, a->bytes, a->flags);
    if (!*at) {
        *at = xcalloc(1, sizeof **at);
        (*at)->site = site;
        (*at)->bytes = a->bytes;
        (*at)->flags = a->flags;
    }
    struct alike *list = *at;
    list_room(list->freed, list->count, list->room, 4);
    list->freed[list->count++] = a;
    pthread_mutex_unlock(&reuse.lock);
}

struct allocation *reuse_take(const struct host_site *site, uint64_t bytes,
                              unsigned flags) {
    pthread_mutex_lock(&reuse.lock);
    struct alike *list = *place_of(site, bytes, flags);
    struct allocation *a =
        list && list->count > REUSE_KEPT ? list->freed[--list->count] : NULL;
    pthread_mutex_unlock(&reuse.lock);
    return a;
}
