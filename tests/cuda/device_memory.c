#include "tests/cuda/device_memory.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/ptx/machine/machine.h"
#include "tests/cuda/conf.h"
#include "tests/cuda/queue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ALIGNMENT 256u
#define PADDING 64u /* vector loads may pass the end */
#define FRESH 0xcd  /* what memory holds that nobody wrote */
#define LENDERS 64

struct owned { /* an allocation and the machine whose variable it is; NULL: cuMemAlloc's
                */
    struct allocation allocation;
    const struct memory *owner;
};

static struct {
    struct allocation *table[MEMORY_MAX_ALLOCATIONS]; /* by address */
    uint32_t count;                                   /* atomic */
    uint64_t next, used, heap;
    struct {
        uint8_t *host;
        uint64_t bytes;
    } lenders[LENDERS]; /* bytes of what was freed */
    unsigned oldest;
    pthread_mutex_t lock; /* a leaf: nothing is called under it */
} device = {.next = MEMORY_FIRST, .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- bytes ---- */

static uint8_t *host_take(uint64_t bytes) {
    for (unsigned k = 0; k < LENDERS; k++) {
        if (device.lenders[k].host && device.lenders[k].bytes == bytes) {
            return take(device.lenders[k].host);
        }
    }
    uint64_t size = (bytes + PADDING + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    uint8_t *host = aligned_alloc(ALIGNMENT, size);
    if (host) {
        memset(host, FRESH, size);
    }
    return host;
}

static void host_lend(uint8_t *host, uint64_t bytes) {
    unsigned slot = device.oldest++ % LENDERS;
    free(device.lenders[slot].host);
    device.lenders[slot].host = host;
    device.lenders[slot].bytes = bytes;
}

static struct allocation *add(const struct memory *owner, const char *name,
                              uint64_t bytes, enum memory_kind kind) {
    if ((kind == MEMORY_HEAP && bytes > MEMORY_MAX_HEAP - device.heap) ||
        bytes > conf.room - device.used || device.count == MEMORY_MAX_ALLOCATIONS) {
        return NULL;
    }
    struct owned *o = calloc(1, sizeof *o);
    uint8_t *host = host_take(bytes);
    if (!o || !host) {
        free(o);
        free(host);
        return NULL;
    }
    if (owner && kind != MEMORY_HEAP) {
        memset(host, 0, bytes + PADDING);
    }
    o->owner = owner;
    o->allocation = (struct allocation){.address = device.next,
                                        .bytes = bytes,
                                        .host = host,
                                        .kind = (uint8_t)kind,
                                        .writable = kind != MEMORY_CONSTANT};
    (void)snprintf(o->allocation.name, sizeof o->allocation.name, "%s", name);
    device.used += bytes;
    device.heap += kind == MEMORY_HEAP ? bytes : 0;
    device.next =
        (device.next + bytes + MEMORY_GUARD + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    device.table[device.count] = &o->allocation;
    __atomic_store_n(&device.count, device.count + 1, __ATOMIC_RELEASE);
    return &o->allocation;
}

static void drop(struct allocation *a) {
    a->freed = true;
    if (a->host) {
        device.used -= a->bytes;
        host_lend(take(a->host), a->bytes);
    }
}

/* Number of allocations that begin at or before address. */
static uint32_t table_rank(uint64_t address) {
    uint32_t low = 0, high = __atomic_load_n(&device.count, __ATOMIC_ACQUIRE);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (device.table[middle]->address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct allocation *find(uint64_t address) {
    uint32_t rank = table_rank(address);
    struct allocation *a = rank ? device.table[rank - 1] : NULL;
    return a && address - a->address < a->bytes ? a : NULL;
}

/* ---- for the driver's functions ---- */

struct allocation *device_memory_new(uint64_t bytes) {
    pthread_mutex_lock(&device.lock);
    struct allocation *a = add(NULL, "device memory", bytes, MEMORY_BUFFER);
    pthread_mutex_unlock(&device.lock);
    return a;
}

uint8_t *device_memory_at(uint64_t address, uint64_t len) {
    const struct allocation *a = find(address);
    bool inside = a && !a->freed && len <= a->bytes - (address - a->address);
    return inside ? a->host + (address - a->address) : NULL;
}

uint64_t device_memory_used(void) {
    pthread_mutex_lock(&device.lock);
    uint64_t used = device.used;
    pthread_mutex_unlock(&device.lock);
    return used;
}

int device_memory_free(uint64_t address) {
    pthread_mutex_lock(&device.lock);
    struct allocation *a = find(address);
    bool fine = a && a->address == address && !a->freed && a->kind == MEMORY_BUFFER;
    if (fine) {
        drop(a);
    }
    pthread_mutex_unlock(&device.lock);
    return fine ? 0 : -EINVAL;
}

void device_memory_finish(void) {
    pthread_mutex_lock(&device.lock);
    for (uint32_t k = 0; k < device.count; k++) {
        free(device.table[k]->host);
        free(container_of(device.table[k], struct owned, allocation));
        device.table[k] = NULL;
    }
    for (unsigned k = 0; k < LENDERS; k++) {
        free(take(device.lenders[k].host));
    }
    device.count = 0; /* next stays: no address is given twice */
    device.used = device.heap = 0;
    pthread_mutex_unlock(&device.lock);
}

/* ---- memory.h, for the machines ---- */

int memory_init(struct memory *m, uint64_t limit, uint8_t poison, struct err *err) {
    (void)err;
    *m = (struct memory){.limit = limit, .poison = poison};
    return 0;
}

void memory_finish(struct memory *m) {
    pthread_mutex_lock(&device.lock);
    for (uint32_t k = 0; k < device.count; k++) {
        struct allocation *a = device.table[k];
        if (container_of(a, struct owned, allocation)->owner == m) {
            drop(a);
        }
    }
    pthread_mutex_unlock(&device.lock);
}

int memory_add(struct memory *m, const char *name, uint64_t bytes, enum memory_kind kind,
               unsigned flags, struct allocation **ret, struct err *err) {
    (void)flags;
    pthread_mutex_lock(&device.lock);
    *ret = add(m, name, bytes, kind);
    pthread_mutex_unlock(&device.lock);
    return *ret ? 0 : err_set(err, -ENOMEM, "no room on the device for %s", name);
}

int memory_release(struct memory *m, uint64_t address) {
    (void)m;
    pthread_mutex_lock(&device.lock);
    struct allocation *a = find(address);
    int rc = !a || a->address != address ? -EINVAL : a->freed ? -EALREADY : 0;
    if (rc == 0 && a->kind == MEMORY_HEAP) {
        a->freed = true; /* others may read: its bytes go when the launch is over */
        device.heap -= a->bytes;
    } else if (rc == 0) {
        drop(a);
    }
    pthread_mutex_unlock(&device.lock);
    return rc;
}

void memory_sweep(struct memory *m) {
    (void)m;
    pthread_mutex_lock(&device.lock);
    for (uint32_t k = 0; k < device.count; k++) {
        if (device.table[k]->freed && device.table[k]->host) {
            drop(device.table[k]);
        }
    }
    pthread_mutex_unlock(&device.lock);
}

struct allocation *memory_find(const struct memory *m, uint64_t address) {
    (void)m;
    return find(address);
}

void memory_around(const struct memory *m, uint64_t address,
                   struct allocation **ret_before, struct allocation **ret_after) {
    (void)m;
    uint32_t rank = table_rank(address);
    uint32_t count = __atomic_load_n(&device.count, __ATOMIC_ACQUIRE);
    *ret_before = rank > 0 ? device.table[rank - 1] : NULL;
    *ret_after = rank < count ? device.table[rank] : NULL;
}

/* ---- cuMem… ---- */

int cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total) {
    ENTER(cuMemGetInfo_v2, NEED_CONTEXT);
    if (!ret_free || !ret_total) {
        return CUDA_INVALID_VALUE;
    }
    uint64_t used = device_memory_used();
    *ret_total = conf.memory;
    *ret_free = used < conf.memory ? conf.memory - used : 0;
    return CUDA_OK;
}

int cuMemAlloc_v2(cuda_address *ret, size_t bytes) {
    ENTER(cuMemAlloc_v2, NEED_CONTEXT);
    if (!ret || bytes == 0) {
        return CUDA_INVALID_VALUE;
    }
    const struct allocation *a = device_memory_new(bytes);
    if (!a) {
        return CUDA_OUT_OF_MEMORY;
    }
    *ret = a->address;
    return CUDA_OK;
}

/* Waits for all that was asked before, as a driver does. */
int cuMemFree_v2(cuda_address address) {
    ENTER(cuMemFree_v2, NEED_CONTEXT);
    int code = queue_wait(queue.submitted);
    if (code || address == 0) {
        return code;
    }
    return device_memory_free(address) ? CUDA_INVALID_VALUE : CUDA_OK;
}
