#pragma once
/* device: one emulated GPU for a whole process: memory, images, modules, a queue.
 *
 * It lends all modules one address space (gpu/ptx, struct machine_space). Addresses in it
 * mean the same to the host where the host may look: such allocations are mapped at their
 * device address. All others are mapped nowhere, so host code that follows such a pointer
 * faults. What is called "of the queue's turn" runs inside an operation, or while none
 * can run. */
#include "gpu/device/queue.h"
#include "gpu/ptx/image/images.h"
#include "gpu/ptx/machine/machine.h"
#include "gpu/ptx/state/memory.h"

enum device_memory { /* bits of allocation.flags, beside enum machine_memory */
                     DEVICE_MAPPED = 1 << 8,      /* the host sees it at its address */
                     DEVICE_MANAGED = 1 << 9,     /* … and cudaMallocManaged made it */
                     DEVICE_PINNED = 1 << 10,     /* … cudaMallocHost and its like */
                     DEVICE_REGISTERED = 1 << 11, /* … the host's own memory */
                     DEVICE_ASKED = 1 << 12,      /* by the program: to be freed by it */
};

struct device_settings {
    unsigned checks; /* enum machine_check */
    unsigned threads;
    uint64_t memory;       /* bytes */
    uint64_t instructions; /* of all launches */
    /* Shall the variable of this name be mapped for the host? Or NULL. */
    bool (*is_managed)(const char *name);
};

struct device {
    struct device_settings settings;
    struct memory memory;
    struct images images;
    struct machine_space space;
    struct queue queue;
};

/* It lives as long as its process. */
int device_init(struct device *d, const struct device_settings *settings,
                struct err *err);

/* ---- memory ---- */

/* flags: bits of both enums. Any time. NULL: no room. */
struct allocation *device_memory_new(struct device *d, const char *name, uint64_t bytes,
                                     unsigned flags);
/* The host's own [host, host + bytes), at this address. NULL: something is there already.
 * The queue's turn. */
struct allocation *device_memory_register(struct device *d, void *host, uint64_t bytes);
/* By its first address; -EINVAL, -EALREADY. The queue's turn. */
int device_memory_free(struct device *d, uint64_t address);
/* The allocation that holds [address, address + bytes) and is not freed; NULL. */
struct allocation *device_memory_at(struct device *d, uint64_t address, uint64_t bytes);
/* Does the host see it without a call? */
bool device_is_mapped(const struct device *d, const struct allocation *a);
/* Has the host a mapping of its own, beside the one that kernels use? */
bool device_host_is_apart(const struct allocation *a);
/* The host's bytes of an address in an allocation. */
static inline uint8_t *device_bytes(const struct allocation *a, uint64_t address) {
    return a->host + (address - a->address);
}
/* Bytes that were written from outside of kernels. */
void device_memory_wrote(struct allocation *a, uint64_t address, uint64_t bytes);
/* What copying from one place to another does to what is known of initialised bytes. */
void device_memory_copied(struct allocation *to, uint64_t to_address,
                          const struct allocation *from, uint64_t from_address,
                          uint64_t bytes);
