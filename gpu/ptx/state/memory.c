#include "gpu/ptx/state/memory.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/ptx/state/launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ALIGNMENT 256u
#define PADDING 64u /* vector loads may pass the end */
#define FILL_AT_ONCE ((uint64_t)16 << 20)

int memory_init(struct memory *m, uint64_t limit, uint8_t poison, struct err *err) {
    *m = (struct memory){.next = MEMORY_FIRST, .limit = limit, .poison = poison};
    m->table = calloc(MEMORY_MAX_ALLOCATIONS, sizeof *m->table);
    if (!m->table) {
        return err_set(err, -ENOMEM, "no memory for the table of allocations");
    }
    pthread_mutex_init(&m->lock, NULL);
    return 0;
}

static void allocation_drop(struct memory *m, struct allocation *a) {
    if (a->host) {
        m->used -= a->bytes;
    }
    free(a->host);
    free(a->shadow);
    if (a->race) {
        m->race_free(a->race);
        a->race = NULL;
    }
    a->host = a->shadow = NULL;
}

void memory_finish(struct memory *m) {
    if (!m->table) {
        return;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        allocation_drop(m, m->table[i]);
        free(m->table[i]);
    }
    free(m->table);
    m->table = NULL;
    pthread_mutex_destroy(&m->lock);
}

static uint8_t *host_bytes(uint64_t bytes) {
    uint64_t size = (bytes + PADDING + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    return aligned_alloc(ALIGNMENT, size);
}

static bool is_stopped(const struct memory *m) {
    return m->stop && __atomic_load_n(m->stop, __ATOMIC_RELAXED);
}

/* In pieces: gigabytes that are touched for the first time take seconds. */
static void fill(const struct memory *m, uint8_t *to, uint8_t byte, uint64_t bytes) {
    for (uint64_t at = 0, n; at < bytes && !is_stopped(m); at += n) {
        n = bytes - at < FILL_AT_ONCE ? bytes - at : FILL_AT_ONCE;
        memset(to + at, byte, n);
    }
}

/* Called with the lock held. */
static int allocation_new(struct memory *m, const char *name, uint64_t bytes,
                          enum memory_kind kind, unsigned flags,
                          struct allocation **ret) {
    if (kind == MEMORY_HEAP && bytes > MEMORY_MAX_HEAP - m->heap) {
        return -ENOMEM;
    }
    if (bytes > m->limit - m->used || m->count == MEMORY_MAX_ALLOCATIONS ||
        m->next + bytes + 2 * MEMORY_GUARD > MEMORY_SHARED) {
        return -ENOMEM;
    }
    struct allocation *a = calloc(1, sizeof *a);
    uint8_t *host = host_bytes(bytes);
    bool poisoned = (flags & MACHINE_UNINITIALIZED) != 0;
    bool shadowed = poisoned || (flags & MACHINE_OUTPUT) != 0;
    uint64_t words = (bytes + 3) / 4 + PADDING;
    uint8_t *shadow = shadowed ? malloc(words) : NULL;
    if (!a || !host || (shadowed && !shadow)) {
        free(a);
        free(host);
        free(shadow);
        return -ENOMEM;
    }
    fill(m, host, poisoned ? m->poison : 0, bytes + PADDING);
    if (shadow) {
        fill(m, shadow, poisoned ? 0 : 0x0f, words);
    }
    *a = (struct allocation){.address = m->next,
                             .bytes = bytes,
                             .host = host,
                             .shadow = shadow,
                             .kind = (uint8_t)kind,
                             .flags = flags,
                             .writable =
                                 !(flags & MACHINE_READ_ONLY) && kind != MEMORY_CONSTANT};
    snprintf(a->name, sizeof a->name, "%s", name);
    m->used += bytes;
    m->heap += kind == MEMORY_HEAP ? bytes : 0;
    m->next =
        (m->next + bytes + MEMORY_GUARD + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    m->table[m->count] = a;
    __atomic_store_n(&m->count, m->count + 1, __ATOMIC_RELEASE);
    *ret = a;
    return 0;
}

int memory_add(struct memory *m, const char *name, uint64_t bytes, enum memory_kind kind,
               unsigned flags, struct allocation **ret, struct err *err) {
    pthread_mutex_lock(&m->lock);
    uint64_t used = m->used;
    int rc = allocation_new(m, name, bytes, kind, flags, ret);
    pthread_mutex_unlock(&m->lock);
    if (rc) {
        return err_set(
            err, rc,
            "%s: %llu bytes of device memory are too many beside the %llu in use "
            "(limit %llu): use smaller sizes",
            name, (unsigned long long)bytes, (unsigned long long)used,
            (unsigned long long)m->limit);
    }
    return 0;
}

int memory_release(struct memory *m, uint64_t address) {
    pthread_mutex_lock(&m->lock);
    struct allocation *before, *after;
    memory_around(m, address, &before, &after);
    int rc = 0;
    if (!before || before->address != address) {
        rc = -EINVAL;
    } else if (before->freed) {
        rc = -EALREADY;
    } else {
        before->freed = true;
        /* Kernels free while others read: the heap's bytes stay, and stay counted, until
         * the launch is over (memory_sweep). */
        if (before->kind != MEMORY_HEAP) {
            allocation_drop(m, before);
        } else {
            m->heap -= before->bytes;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

void memory_sweep(struct memory *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->table[i]->freed) {
            allocation_drop(m, m->table[i]);
        }
    }
}

/* Number of allocations that begin at or before address. */
static uint32_t table_rank(const struct memory *m, uint64_t address) {
    uint32_t low = 0, high = __atomic_load_n(&m->count, __ATOMIC_ACQUIRE);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->table[middle]->address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct allocation *memory_find(const struct memory *m, uint64_t address) {
    uint32_t rank = table_rank(m, address);
    if (rank == 0) {
        return NULL;
    }
    struct allocation *a = m->table[rank - 1];
    return address - a->address < a->bytes ? a : NULL;
}

void memory_around(const struct memory *m, uint64_t address,
                   struct allocation **ret_before, struct allocation **ret_after) {
    uint32_t rank = table_rank(m, address);
    uint32_t count = __atomic_load_n(&m->count, __ATOMIC_ACQUIRE);
    *ret_before = rank > 0 ? m->table[rank - 1] : NULL;
    *ret_after = rank < count ? m->table[rank] : NULL;
}
