#pragma once
/* device: one emulated GPU for a whole process: memory, images, modules, a queue.
 *
 * All modules share one address space (gpu/ptx, struct machine_space). Memory that the
 * host may access is mapped at its device address, so pointers are valid on both sides.
 * Other memory is not mapped, so host code that dereferences such a pointer faults. "The
 * queue's turn" means: call only from inside an operation, or while none can run. */
#include "gpu/device/queue.h"
#include "gpu/ptx/image/images.h"
#include "gpu/ptx/machine/machine.h"

enum device_memory { /* bits of allocation.flags, beside enum machine_memory */
                     DEVICE_MAPPED = 1 << 8,      /* mapped for the host */
                     DEVICE_MANAGED = 1 << 9,     /* … made by cudaMallocManaged */
                     DEVICE_PINNED = 1 << 10,     /* … by cudaMallocHost and the like */
                     DEVICE_REGISTERED = 1 << 11, /* … the host's own memory */
                     DEVICE_ASKED = 1 << 12,      /* the program must free it */
                     DEVICE_RETURNS = 1 << 13,    /* it is made again at its address */
                     DEVICE_DOUBLE = 1 << 14,     /* another allocation has its bytes, too */
};

struct device_settings {
    unsigned checks; /* enum machine_check */
    unsigned threads;
    uint64_t memory;       /* bytes */
    uint64_t instructions; /* of all launches */
    /* Whether to map the variable of this name for the host; may be NULL. */
    bool (*is_managed)(const char *name);
};

struct device {
    struct device_settings settings;
    struct memory memory;
    struct images images;
    struct machine_space space;
    uint64_t stack_bytes; /* space.stack_bytes; the queue's turn */
    struct queue queue;
};

#define DEVICE_STACK 1024u /* CUDA's default of cudaLimitStackSize */

/* It lives as long as its process. */
int device_init(struct device *d, const struct device_settings *settings,
                struct err *err);

/* ---- memory ---- */

/* flags: bits of both enums. Call at any time. NULL: out of device memory. */
struct allocation *device_memory_new(struct device *d, const char *name, uint64_t bytes,
                                     unsigned flags);
/* Registers the host's memory [host, host + bytes) at its own address. NULL: the range is
 * in use. The queue's turn. */
struct allocation *device_memory_register(struct device *d, void *host, uint64_t bytes);
/* Frees an allocation by its first address. -EINVAL: there is none; -EALREADY: it was
 * freed before. The queue's turn. */
int device_memory_free(struct device *d, uint64_t address);
/* The allocation that holds [address, address + bytes) and is not freed; NULL. */
struct allocation *device_memory_at(struct device *d, uint64_t address, uint64_t bytes);
/* Whether the host can access it without a call. */
bool device_is_mapped(const struct device *d, const struct allocation *a);
/* Whether the host has a separate mapping from the kernels'. */
bool device_host_is_apart(const struct allocation *a);
/* The host's bytes of an address in an allocation. */
static inline uint8_t *device_bytes(const struct allocation *a, uint64_t address) {
    return a->host + (address - a->address);
}
/* Notes that bytes were written by something other than a kernel. */
void device_memory_wrote(struct allocation *a, uint64_t address, uint64_t bytes);
/* How many of these bytes nothing has written, and the offset of the first in the
 * allocation. The queue's turn. */
uint64_t device_memory_unwritten(const struct allocation *a, uint64_t address,
                                 uint64_t bytes, uint64_t *ret_first);
/* Copies the initialised state of bytes from one allocation to another. */
void device_memory_copied(struct allocation *to, uint64_t to_address,
                          const struct allocation *from, uint64_t from_address,
                          uint64_t bytes);
