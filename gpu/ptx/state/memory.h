#pragma once
/* memory: the device's address space.
 *
 * Addresses exist only in the emulator: allocations have increasing addresses with guard
 * gaps between them, and no address is reused, so that a use after free can be
 * recognised. Shared, local and parameter memory and functions have windows of 4 GiB in
 * the generic space. The table only grows while a launch runs (the device's heap, under
 * a lock), so lookups need no lock.
 *
 * A shadow byte describes an aligned word of four bytes: bits 0-3 say which bytes have
 * ever been written, bits 4-7 which ones a kernel has written. Allocations that are
 * fully initialised and no outputs have no shadow. */
#include "base/mem.h"

#include <pthread.h>

struct memory;
struct origins;

#define MEMORY_FIRST UINT64_C(0x200000000000)
#define MEMORY_GUARD (UINT64_C(16) << 20)
#define MEMORY_MAX_ALLOCATIONS 65536u
#define MEMORY_WINDOW_BYTES (UINT64_C(1) << 32)
#define MEMORY_SHARED UINT64_C(0x700000000000)
#define MEMORY_LOCAL UINT64_C(0x700100000000)
#define MEMORY_PARAM UINT64_C(0x700200000000)
#define MEMORY_CODE UINT64_C(0x700300000000)
#define MEMORY_CODE_STRIDE 16u

/* The default of heap_limit, for malloc in kernels: CUDA's default of
 * cudaLimitMallocHeapSize. */
#define MEMORY_MAX_HEAP (8ull << 20)

enum memory_kind { MEMORY_BUFFER, MEMORY_VARIABLE, MEMORY_CONSTANT, MEMORY_HEAP };

struct memory_sample { /* a byte that a launch certainly touched */
    uint32_t launch;
    uint64_t offset;
};

struct allocation {
    uint64_t address, bytes;
    uint8_t *host;   /* NULL once freed */
    uint8_t *shadow; /* (bytes + 3) / 4, or NULL: all initialised, writes not recorded */
    struct race_shadow *race; /* access history (race.h); NULL: no accesses yet */
    char name[256];           /* a variable's is a symbol */
    uint8_t kind;
    unsigned flags; /* enum machine_memory */
    bool freed, writable;
    const char *gone; /* why it may not be used, "which …"; NULL: it has been freed */
    /* Atomic: memory.launch of the last launch that may have read, or written, a byte. */
    uint32_t read_in, written_in;
    struct memory_sample sample[2]; /* of a plain load, of a plain store */
    uint64_t version;               /* for users that count changes of the bytes */
    bool is_padded;                 /* MEMORY_PADDING bytes after it are readable */
};

/* An allocator for the bytes of allocations. */
struct memory_bytes {
    /* Returns at least a->bytes + MEMORY_PADDING bytes, aligned to 256, with any
     * contents, for an allocation whose address, kind, flags and name are set. NULL: no
     * memory. */
    uint8_t *(*lend)(struct memory *m, const struct allocation *a);
    void (*take_back)(struct memory *m, const struct allocation *a);
    /* Whether the process has memory of its own there; NULL: nobody asks. */
    bool (*is_hosts)(uint64_t address);
};
#define MEMORY_PADDING 64u /* vector loads may pass the end */
/* Asks for huge pages for memory that will be accessed everywhere, because the rows of a
 * matrix span more 4 KiB pages than a processor's TLB holds. */
void memory_advise(void *host, uint64_t bytes);

struct memory {
    struct allocation **table;        /* MEMORY_MAX_ALLOCATIONS slots, by address */
    uint32_t count;                   /* atomic: grows after the slot is filled */
    uint64_t next, used, limit, heap; /* heap: bytes that kernels allocated, not freed */
    uint64_t heap_limit;
    uint64_t align;                   /* of addresses: 256 unless set otherwise */
    const struct memory_bytes *bytes; /* default: malloc, filled with zeros or poison */
    uint32_t
        launch; /* number of the last launch; machines that share it go on counting */
    uint8_t poison;
    void (*race_free)(struct race_shadow *); /* frees an allocation's; NULL is fine */
    struct origins *origins; /* origins.h, under lock; NULL: no undefined values stored */
    const int *stop;         /* atomic: once not 0, allocations are not filled; or NULL */
    pthread_mutex_t lock;
};

int memory_init(struct memory *m, uint64_t limit, uint8_t poison, struct err *err);
void memory_finish(struct memory *m);
/* -ENOMEM over the limit or with too many allocations. */
int memory_add(struct memory *m, const char *name, uint64_t bytes, enum memory_kind kind,
               unsigned flags, struct allocation **ret, struct err *err);
/* Makes a new allocation of a freed one, with new bytes at the same address. -ENOMEM over
 * the limit. Between launches. */
int memory_renew(struct memory *m, struct allocation *a);
/* Adds the caller's bytes at a given device address. -EEXIST if it overlaps an
 * allocation. Between launches. */
int memory_insert(struct memory *m, const char *name, uint64_t address, uint64_t bytes,
                  unsigned flags, uint8_t *host, struct allocation **ret);
/* Takes addresses for bytes that may come and go (memory_replace). 0: none are left. */
uint64_t memory_reserve(struct memory *m, uint64_t bytes, uint64_t align);
/* Puts allocations, which the caller has made, by address, in the place of all that begin
 * in [address, end), but for those that are in both. The old ones count as freed. They stay
 * where they are, because a kernel's notes may name them; their bytes and shadows are the
 * caller's. -ENOMEM: too many. Between launches. */
int memory_replace(struct memory *m, uint64_t address, uint64_t end,
                   struct allocation *const *with, uint32_t count);
/* Frees by first address; -EINVAL: there is no such allocation, -EALREADY: freed before.
 */
int memory_release(struct memory *m, uint64_t address);
void memory_sweep(struct memory *m); /* between launches: releases what kernels freed */
/* The allocation that contains address, possibly freed; NULL if none. */
struct allocation *memory_find(const struct memory *m, uint64_t address);
/* The one at or before address and the one after it; either may be NULL. */
void memory_around(const struct memory *m, uint64_t address,
                   struct allocation **ret_before, struct allocation **ret_after);
