#include "gpu/ptx/state/memory.h"

#include "base/err.h"
#include "base/parts.h"
#include "gpu/ptx/state/launch.h"
#include "gpu/ptx/state/origins.h"

#include <sys/mman.h>

#define ALIGNMENT 256u
#define FILL_AT_ONCE ((uint64_t)16 << 20)

static const struct memory_bytes own_bytes;

int memory_init(struct memory *m, uint64_t limit, uint8_t poison, struct err *err) {
    *m = (struct memory){.next = MEMORY_FIRST,
                         .limit = limit,
                         .heap_limit = MEMORY_MAX_HEAP,
                         .align = ALIGNMENT,
                         .bytes = &own_bytes,
                         .poison = poison};
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
        m->bytes->take_back(m, a);
    }
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
    origins_free(m->origins);
    pthread_mutex_destroy(&m->lock);
}

static bool is_stopped(const struct memory *m) {
    return m->stop && __atomic_load_n(m->stop, __ATOMIC_RELAXED);
}

struct filling {
    const struct memory *memory;
    uint8_t *to, byte;
    uint64_t bytes;
};

static int fill_some(void *data, int64_t from, int64_t to) {
    const struct filling *f = data;
    for (uint64_t at = (uint64_t)from; at < (uint64_t)to; at++) {
        uint64_t begin = at * FILL_AT_ONCE, left = f->bytes - begin;
        if (is_stopped(f->memory)) {
            return -ECANCELED;
        }
        memset(f->to + begin, f->byte, left < FILL_AT_ONCE ? left : FILL_AT_ONCE);
    }
    return 0;
}

/* In pieces, on all cores: gigabytes that are touched for the first time take seconds. */
static void fill(const struct memory *m, uint8_t *to, uint8_t byte, uint64_t bytes) {
    struct filling f = {m, to, byte, bytes};
    memory_advise_huge(to, bytes);
    (void)parts_run((int64_t)((bytes + FILL_AT_ONCE - 1) / FILL_AT_ONCE), 1, fill_some,
                    &f, NULL);
}

void memory_advise(void *host, uint64_t bytes) {
    const uint64_t huge = UINT64_C(2) << 20, most = UINT64_C(1) << 30;
    uintptr_t first = ((uintptr_t)host + huge - 1) & ~(uintptr_t)(huge - 1);
    uintptr_t end = ((uintptr_t)host + bytes) & ~(uintptr_t)(huge - 1);
    if (first < end && bytes <= most) {
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    }
}

static uint8_t *own_lend(struct memory *m, const struct allocation *a) {
    uint64_t size =
        (a->bytes + MEMORY_PADDING + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    uint8_t *host = aligned_alloc(ALIGNMENT, size);
    if (host) {
        memory_advise(host, size);
        bool poisoned = (a->flags & MACHINE_UNINITIALIZED) != 0;
        fill(m, host, poisoned ? m->poison : 0, a->bytes + MEMORY_PADDING);
    }
    return host;
}

static void own_take_back(struct memory *, const struct allocation *a) {
    free(a->host);
}

static const struct memory_bytes own_bytes = {own_lend, own_take_back};

/* Zeros that are touched when they are needed, or all initialised. NULL: no room, or none
 * is wanted. */
static uint8_t *shadow_new(const struct memory *m, uint64_t bytes, unsigned flags) {
    uint64_t words = (bytes + 3) / 4 + MEMORY_PADDING;
    if (flags & MACHINE_UNINITIALIZED) {
        uint8_t *zeros = calloc(words, 1);
        memory_advise_huge(zeros, zeros ? words : 0);
        return zeros;
    }
    uint8_t *shadow = flags & MACHINE_OUTPUT ? malloc(words) : NULL;
    if (shadow) {
        fill(m, shadow, 0x0f, words);
    }
    return shadow;
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

/* What is behind it moves up: nothing, but of the host's own memory (memory_insert). */
static void table_add(struct memory *m, struct allocation *a) {
    uint32_t at = table_rank(m, a->address);
    memmove(&m->table[at + 1], &m->table[at], (m->count - at) * sizeof *m->table);
    m->table[at] = a;
    __atomic_store_n(&m->count, m->count + 1, __ATOMIC_RELEASE);
}

/* Its bytes and their shadow. */
static bool bytes_get(struct memory *m, struct allocation *a) {
    bool shadowed = (a->flags & (MACHINE_UNINITIALIZED | MACHINE_OUTPUT)) != 0;
    a->shadow = shadow_new(m, a->bytes, a->flags);
    a->host = shadowed && !a->shadow ? NULL : m->bytes->lend(m, a);
    if (!a->host) {
        free(a->shadow);
        a->shadow = NULL;
        return false;
    }
    m->used += a->bytes;
    return true;
}

/* Called with the lock held. */
static int allocation_new(struct memory *m, const char *name, uint64_t bytes,
                          enum memory_kind kind, unsigned flags,
                          struct allocation **ret) {
    if (kind == MEMORY_HEAP && bytes > m->heap_limit - m->heap) {
        return -ENOMEM;
    }
    if (bytes > m->limit - m->used || m->count == MEMORY_MAX_ALLOCATIONS ||
        m->next + bytes + 2 * MEMORY_GUARD > MEMORY_SHARED) {
        return -ENOMEM;
    }
    struct allocation *a = xcalloc(1, sizeof *a);
    *a = (struct allocation){.address = m->next,
                             .bytes = bytes,
                             .kind = (uint8_t)kind,
                             .flags = flags,
                             .is_padded = true,
                             .writable =
                                 !(flags & MACHINE_READ_ONLY) && kind != MEMORY_CONSTANT};
    snprintf(a->name, sizeof a->name, "%s", name);
    if (!bytes_get(m, a)) {
        free(a);
        return -ENOMEM;
    }
    m->heap += kind == MEMORY_HEAP ? bytes : 0;
    m->next = (m->next + bytes + MEMORY_GUARD + m->align - 1) & ~(m->align - 1);
    table_add(m, a);
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

int memory_renew(struct memory *m, struct allocation *a) {
    pthread_mutex_lock(&m->lock);
    int rc = a->bytes > m->limit - m->used || !bytes_get(m, a) ? -ENOMEM : 0;
    if (rc == 0) {
        a->freed = false;
        a->version++;
        a->read_in = a->written_in = 0;
        memset(a->sample, 0, sizeof a->sample);
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

int memory_insert(struct memory *m, const char *name, uint64_t address, uint64_t bytes,
                  unsigned flags, uint8_t *host, struct allocation **ret) {
    pthread_mutex_lock(&m->lock);
    struct allocation *before, *after;
    memory_around(m, address, &before, &after);
    bool taken =
        (before && !before->freed && address - before->address < before->bytes) ||
        (after && !after->freed && after->address - address < bytes);
    int rc = taken ? -EEXIST : m->count == MEMORY_MAX_ALLOCATIONS ? -ENOMEM : 0;
    if (rc == 0) {
        struct allocation *a = xcalloc(1, sizeof *a);
        *a = (struct allocation){.address = address,
                                 .bytes = bytes,
                                 .host = host,
                                 .flags = flags,
                                 .writable = true};
        snprintf(a->name, sizeof a->name, "%s", name);
        m->used += bytes;
        table_add(m, a);
        *ret = a;
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
}

uint64_t memory_reserve(struct memory *m, uint64_t bytes, uint64_t align) {
    pthread_mutex_lock(&m->lock);
    uint64_t at = (m->next + align - 1) / align * align;
    bool fits = align < MEMORY_SHARED && bytes < MEMORY_SHARED &&
                at + bytes + 2 * MEMORY_GUARD < MEMORY_SHARED;
    if (fits) {
        m->next = (at + bytes + MEMORY_GUARD + m->align - 1) & ~(m->align - 1);
    }
    pthread_mutex_unlock(&m->lock);
    return fits ? at : 0;
}

static void allocation_retire(struct memory *m, struct allocation *a) {
    if (a->race) {
        m->race_free(a->race);
    }
    a->freed = true;
    a->race = NULL;
    a->host = a->shadow = NULL;
}

static bool is_among(const struct allocation *a, struct allocation *const *list,
                     uint32_t count) {
    bool found = false;
    for (uint32_t k = 0; k < count && !found; k++) {
        found = list[k] == a;
    }
    return found;
}

int memory_replace(struct memory *m, uint64_t address, uint64_t end,
                   struct allocation *const *with, uint32_t count) {
    pthread_mutex_lock(&m->lock);
    uint32_t from = table_rank(m, address - 1), to = table_rank(m, end - 1);
    int rc = m->count - (to - from) + count > MEMORY_MAX_ALLOCATIONS ? -ENOMEM : 0;
    for (uint32_t k = from; k < to && rc == 0; k++) {
        if (!is_among(m->table[k], with, count)) {
            allocation_retire(m, m->table[k]);
        }
    }
    if (rc == 0) {
        memmove(&m->table[from + count], &m->table[to], (m->count - to) * sizeof *with);
        memcpy(&m->table[from], with, count * sizeof *with);
        __atomic_store_n(&m->count, m->count - (to - from) + count, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&m->lock);
    return rc;
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
