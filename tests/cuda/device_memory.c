#include "tests/cuda/device_memory.h"

#include "base/mem.h"
#include "gpu/ptx/image/images.h"
#include "gpu/ptx/machine/machine.h"
#include "gpu/ptx/state/findings.h"
#include "tests/cuda/conf.h"
#include "tests/cuda/queue.h"

#include <errno.h>
#include <string.h>

#define ALIGNMENT 256u
#define FRESH 0xcd /* what memory holds that nobody wrote */
#define LENDERS 64
#define FINDINGS 100

static struct {
    struct memory memory;
    struct images images;
    struct machine_space space;
    struct {
        uint8_t *host;
        uint64_t bytes;
    } lenders[LENDERS]; /* bytes of what was freed */
    unsigned oldest;
} device;

/* ---- bytes ---- */

static uint8_t *host_take(uint64_t bytes) {
    for (unsigned k = 0; k < LENDERS; k++) {
        if (device.lenders[k].host && device.lenders[k].bytes == bytes) {
            return take(device.lenders[k].host);
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
    unsigned slot = device.oldest++ % LENDERS;
    free(device.lenders[slot].host);
    device.lenders[slot].host = a->host;
    device.lenders[slot].bytes = a->bytes;
}

/* ---- the address space ---- */

const struct machine_space *device_space(void) {
    static const struct memory_bytes bytes = {bytes_lend, bytes_take_back};
    if (!device.space.memory) {
        uint64_t next = device.memory.next;
        if (memory_init(&device.memory, conf.room, 0, NULL)) {
            abort();
        }
        device.memory.next = next ? next : MEMORY_FIRST; /* no address is given twice */
        device.memory.bytes = &bytes;
        device.space = (struct machine_space){.memory = &device.memory,
                                              .images = &device.images,
                                              .findings = findings_new(FINDINGS)};
    }
    return &device.space;
}

/* ---- for the driver's functions ---- */

struct allocation *device_memory_new(uint64_t bytes) {
    struct allocation *a = NULL;
    return memory_add(device_space()->memory, "device memory", bytes, MEMORY_BUFFER, 0,
                      &a, NULL)
               ? NULL
               : a;
}

uint8_t *device_memory_at(uint64_t address, uint64_t len) {
    const struct allocation *a = memory_find(device_space()->memory, address);
    bool inside = a && !a->freed && len <= a->bytes - (address - a->address);
    return inside ? a->host + (address - a->address) : NULL;
}

uint64_t device_memory_used(void) {
    struct memory *m = device_space()->memory;
    pthread_mutex_lock(&m->lock);
    uint64_t used = m->used;
    pthread_mutex_unlock(&m->lock);
    return used;
}

int device_memory_free(uint64_t address) {
    struct memory *m = device_space()->memory;
    const struct allocation *a = memory_find(m, address);
    return a && a->kind == MEMORY_BUFFER && memory_release(m, address) == 0 ? 0 : -EINVAL;
}

void device_memory_finish(void) {
    if (!device.space.memory) {
        return;
    }
    images_finish(&device.images);
    memory_finish(&device.memory);
    findings_free(device.space.findings);
    device.space = (struct machine_space){0};
    for (unsigned k = 0; k < LENDERS; k++) {
        free(take(device.lenders[k].host));
    }
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
