#include "tests/cuda/device_memory.h"

#include "base/mem.h"
#include "gpu/ptx/state/findings.h"
#include "tests/cuda/conf.h"
#include "tests/cuda/tasks.h"

#include <string.h>

#define ALIGNMENT 256u
#define FRESH 0xcd /* what memory holds that nobody wrote */
#define LENDERS 64

static struct {
    struct device of;
    struct {
        uint8_t *host;
        uint64_t bytes;
    } lenders[LENDERS]; /* bytes of what was freed */
    unsigned oldest;
    bool made;
} own;

/* ---- bytes ---- */

static uint8_t *host_take(uint64_t bytes) {
    for (unsigned k = 0; k < LENDERS; k++) {
        if (own.lenders[k].host && own.lenders[k].bytes == bytes) {
            return take(own.lenders[k].host);
        }
    }
    uint64_t size = (bytes + MEMORY_PADDING + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    uint8_t *host = aligned_alloc(ALIGNMENT, size);
    if (host) {
        memset(host, FRESH, size);
    }
    return host;
}

static uint8_t *bytes_lend(struct memory *m, const struct allocation *a) {
    (void)m;
    uint8_t *host = host_take(a->bytes);
    if (host && (a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT)) {
        memset(host, 0, a->bytes + MEMORY_PADDING);
    }
    return host;
}

static void bytes_take_back(struct memory *m, const struct allocation *a) {
    (void)m;
    unsigned slot = own.oldest++ % LENDERS;
    free(own.lenders[slot].host);
    own.lenders[slot].host = a->host;
    own.lenders[slot].bytes = a->bytes;
}

/* ---- the device ---- */

struct device *device(void) {
    static const struct memory_bytes bytes = {bytes_lend, bytes_take_back};
    if (!own.made) {
        const struct device_settings settings = {
            .threads = 1, .memory = conf.room, .instructions = UINT64_MAX / 4};
        uint64_t next = own.of.memory.next;
        if (device_init(&own.of, &settings, NULL)) {
            abort();
        }
        own.of.memory.next = next ? next : MEMORY_FIRST; /* no address is given twice */
        own.of.memory.bytes = &bytes;
        own.of.memory.align = ALIGNMENT;
        own.made = true;
    }
    return &own.of;
}

struct allocation *device_buffer_new(uint64_t bytes) {
    return device_memory_new(device(), "device memory", bytes, 0);
}

uint8_t *device_bytes_at(uint64_t address, uint64_t len) {
    const struct allocation *a = device_memory_at(device(), address, len);
    return a ? device_bytes(a, address) : NULL;
}

void device_memory_finish(void) {
    if (!own.made) {
        return;
    }
    images_finish(&own.of.images);
    memory_finish(&own.of.memory);
    findings_free(own.of.space.findings);
    own.made = false;
    for (unsigned k = 0; k < LENDERS; k++) {
        free(take(own.lenders[k].host));
    }
}

/* ---- cuMem… ---- */

int cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total) {
    ENTER(cuMemGetInfo_v2, NEED_CONTEXT);
    if (!ret_free || !ret_total) {
        return CUDA_INVALID_VALUE;
    }
    struct memory *m = &device()->memory;
    pthread_mutex_lock(&m->lock);
    uint64_t used = m->used;
    pthread_mutex_unlock(&m->lock);
    *ret_total = conf.memory;
    *ret_free = used < conf.memory ? conf.memory - used : 0;
    return CUDA_OK;
}

int cuMemAlloc_v2(cuda_address *ret, size_t bytes) {
    ENTER(cuMemAlloc_v2, NEED_CONTEXT);
    if (!ret || bytes == 0) {
        return CUDA_INVALID_VALUE;
    }
    const struct allocation *a = device_buffer_new(bytes);
    if (!a) {
        return CUDA_OUT_OF_MEMORY;
    }
    *ret = a->address;
    return CUDA_OK;
}

/* Waits for all that was asked before, as a driver does. */
int cuMemFree_v2(cuda_address address) {
    ENTER(cuMemFree_v2, NEED_CONTEXT);
    int code = tasks_wait(tasks.submitted);
    if (code || address == 0) {
        return code;
    }
    const struct allocation *a = memory_find(&device()->memory, address);
    return a && a->kind == MEMORY_BUFFER && !device_memory_free(device(), address)
               ? CUDA_OK
               : CUDA_INVALID_VALUE;
}
