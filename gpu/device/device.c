#include "gpu/device/device.h"

#include "gpu/ptx/race/race.h"
#include "gpu/ptx/state/findings.h"

#include <sys/mman.h>

#define PAGE UINT64_C(4096)
#define MAX_FINDINGS 200
#define SMALL (UINT64_C(64) << 10) /* bytes for which malloc is quicker than mmap */

/* ---- bytes ---- */

static uint64_t whole_pages(uint64_t bytes) {
    return (bytes + MEMORY_PADDING + PAGE - 1) & ~(PAGE - 1);
}

static uint8_t *bytes_map(void *at, uint64_t bytes, int flags) {
    void *p = mmap(at, whole_pages(bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    memory_advise(p, bytes);
    return p;
}

bool device_is_mapped(const struct device *d, const struct allocation *a) {
    return a->flags & DEVICE_MAPPED ||
           (a->kind == MEMORY_VARIABLE && d->settings.is_managed &&
            d->settings.is_managed(a->name));
}

bool device_host_is_apart(const struct allocation *a) {
    return a->flags & (DEVICE_MANAGED | DEVICE_PINNED) &&
           (uintptr_t)a->host != a->address;
}

/* The same pages twice: for the host at the device's address, and for kernels. */
static uint8_t *bytes_share(const struct allocation *a) {
    void *at = (void *)(uintptr_t)a->address;
    uint64_t bytes = whole_pages(a->bytes);
    void *view =
        mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (view == MAP_FAILED) {
        return NULL;
    }
    void *second = mremap(view, 0, bytes, MREMAP_MAYMOVE);
    return second == MAP_FAILED ? view : second;
}

static uint8_t *bytes_lend(struct memory *m, const struct allocation *a) {
    const struct device *d = container_of(m, struct device, memory);
    if (a->flags & (DEVICE_MANAGED | DEVICE_PINNED)) {
        return bytes_share(a);
    }
    if (device_is_mapped(d, a)) {
        return bytes_map((void *)(uintptr_t)a->address, a->bytes, MAP_FIXED_NOREPLACE);
    }
    if (a->bytes >= SMALL) {
        return bytes_map(NULL, a->bytes, 0);
    }
    uint8_t *host =
        aligned_alloc(256, (a->bytes + MEMORY_PADDING + 255) & ~UINT64_C(255));
    if (host) {
        memset(host, 0, a->bytes + MEMORY_PADDING);
    }
    return host;
}

static void bytes_take_back(struct memory *m, const struct allocation *a) {
    const struct device *d = container_of(m, struct device, memory);
    if (a->flags & DEVICE_REGISTERED) {
        return;
    }
    if (device_is_mapped(d, a) || a->bytes >= SMALL) {
        (void)munmap(a->host, whole_pages(a->bytes));
        if (device_host_is_apart(a)) {
            (void)munmap((void *)(uintptr_t)a->address, whole_pages(a->bytes));
        }
    } else {
        free(a->host);
    }
}

static bool is_hosts(uint64_t address) {
    uint64_t page = address & ~(uint64_t)4095;
    unsigned char in_memory;
    return page && !mincore((void *)(uintptr_t)page, 1, &in_memory);
}

static const struct memory_bytes device_bytes_of = {bytes_lend, bytes_take_back, is_hosts};

/* ---- life ---- */

/* The host has a thread that is not waiting, and memory that it shares with kernels. */
static bool awaits_host(const struct machine_space *space) {
    const struct device *d =
        (const struct device *)((const char *)space - offsetof(struct device, space));
    bool shares = false;
    for (uint32_t k = 0; k < d->memory.count && !shares; k++) {
        const struct allocation *a = d->memory.table[k];
        shares = !a->freed && device_is_mapped(d, a);
    }
    bool awaits = shares && queue_host_runs(&d->queue);
    if (awaits) {
        queue_polls((struct queue *)(uintptr_t)&d->queue);
    }
    return awaits;
}

int device_init(struct device *d, const struct device_settings *settings,
                struct err *err) {
    *d = (struct device){.settings = *settings, .stack_bytes = DEVICE_STACK};
    int rc = memory_init(&d->memory, settings->memory, 0, err);
    if (rc) {
        return rc;
    }
    d->memory.bytes = &device_bytes_of;
    d->memory.align = PAGE;
    d->memory.race_free = race_shadow_free;
    d->space = (struct machine_space){
        .awaits_host = awaits_host,
        .memory = &d->memory,
        .stack_bytes = &d->stack_bytes,
        .images = &d->images,
        .findings = findings_new(MAX_FINDINGS),
        .race = settings->checks & MACHINE_CHECK_RACE ? race_run_new() : NULL};
    queue_init(&d->queue);
    return 0;
}

/* ---- memory ---- */

struct allocation *device_memory_new(struct device *d, const char *name, uint64_t bytes,
                                     unsigned flags) {
    struct allocation *a = NULL;
    return memory_add(&d->memory, name, bytes, MEMORY_BUFFER, flags, &a, NULL) ? NULL : a;
}

struct allocation *device_memory_register(struct device *d, void *host, uint64_t bytes) {
    struct allocation *a = NULL;
    return memory_insert(&d->memory, "registered host memory", (uintptr_t)host, bytes,
                         DEVICE_MAPPED | DEVICE_REGISTERED, host, &a)
               ? NULL
               : a;
}

int device_memory_free(struct device *d, uint64_t address) {
    return memory_release(&d->memory, address);
}

struct allocation *device_memory_at(struct device *d, uint64_t address, uint64_t bytes) {
    struct allocation *a = memory_find(&d->memory, address);
    bool inside = a && !a->freed && bytes <= a->bytes - (address - a->address);
    return inside ? a : NULL;
}

static void shadow_set(struct allocation *a, uint64_t at, bool initialised) {
    uint8_t bit = (uint8_t)(1u << (at % 4));
    a->shadow[at / 4] = initialised ? (uint8_t)(a->shadow[at / 4] | bit)
                                    : (uint8_t)(a->shadow[at / 4] & ~(bit | bit << 4));
}

void device_memory_wrote(struct allocation *a, uint64_t address, uint64_t bytes) {
    uint64_t at = address - a->address, end = at + bytes;
    if (!a->shadow) {
        return;
    }
    for (; at < end && at % 4; at++) {
        shadow_set(a, at, true);
    }
    if (at < end) {
        memset(a->shadow + at / 4, 0x0f, (end - at) / 4);
        at = end - end % 4 > at ? end - end % 4 : at;
    }
    for (; at < end; at++) {
        shadow_set(a, at, true);
    }
}

static bool shadow_get(const struct allocation *a, uint64_t at) {
    return !a->shadow || a->shadow[at / 4] >> (at % 4) & 1;
}

/* Bits 0-3: the bytes of a word that were written, also with an undefined value. */
static unsigned shadow_written(uint8_t shadow) {
    return (shadow | shadow >> 4) & 15u;
}

static bool eight_words_written(const uint8_t *shadow) {
    const uint64_t all = UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t s;
    memcpy(&s, shadow, sizeof s);
    return ((s | s >> 4) & all) == all;
}

uint64_t device_memory_unwritten(const struct allocation *a, uint64_t address,
                                 uint64_t bytes, uint64_t *ret_first) {
    uint64_t at = address - a->address, end = at + bytes, count = 0;
    while (a->shadow && at < end) {
        const uint8_t *shadow = &a->shadow[at / 4];
        if (at % 4 == 0 && end - at >= 32 && eight_words_written(shadow)) {
            at += 32;
            continue;
        }
        if (!(shadow_written(*shadow) >> at % 4 & 1)) {
            *ret_first = count ? *ret_first : at;
            count++;
        }
        at++;
    }
    return count;
}

void device_memory_copied(struct allocation *to, uint64_t to_address,
                          const struct allocation *from, uint64_t from_address,
                          uint64_t bytes) {
    uint64_t t = to_address - to->address, f = from_address - from->address;
    if (!to->shadow || !from->shadow) {
        device_memory_wrote(to, to_address, bytes);
    } else if (t % 4 == 0 && f % 4 == 0 && bytes % 4 == 0) {
        memmove(to->shadow + t / 4, from->shadow + f / 4, bytes / 4);
    } else {
        for (uint64_t k = 0; k < bytes; k++) {
            shadow_set(to, t + k, shadow_get(from, f + k));
        }
    }
}
