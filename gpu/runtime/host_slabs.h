#pragma once
/* host_slabs: the tables of the host's heap (host_heap.h), and which slab a thread takes
 * blocks of.
 *
 * A slab is 64 KiB with blocks of one kind (size); a bit for each block says whether it
 * is in use. A thread has a shelf of slabs, and only it changes their bits; other threads
 * that free a block of it set a bit of a second table, and the first of them puts the
 * slab on the shelf's returns. A thread's shelf goes to a later thread. All is in one
 * mapping, and zeros are its first state. Slab 0 stands for none and never has room. */
#include "gpu/runtime/host_heap.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdatomic.h>

#define REGION ((uintptr_t)16 << 30)
#define HUGE_PAGE ((uintptr_t)2 << 20)
#define LARGE ((size_t)32 << 20) /* for such a block memory is given back first */
enum {
    SLAB = 1 << 16, /* bytes */
    SLABS = (int)(REGION / SLAB),
    TIGHT = 4, /* kinds of blocks without a byte behind them: small nodes */
    KINDS = TIGHT + 20,
    WHOLE = KINDS + 1, /* one block over several slabs */
    SHELVES = 8192,
    WORDS = 64,        /* of bits of a slab */
    HUGE_FROM = 64,    /* slabs of a shelf, before huge pages are worth their room */
    PAGE_SLABS = 32,   /* of a huge page */
    BITS_SLABS = 4096, /* whose bits fill one */
    TRIMMED = 512      /* slabs, for whose memory the system is asked */
};

enum list { NO_LIST, OPEN, EMPTY };

struct slab { /* alone in its line of the cache, and so is a shelf */
    alignas(64) uint64_t room; /* words of its bits that are not full */
    uint32_t next, before;     /* in a list; next of a whole one: its bytes / SLAB */
    _Atomic uint32_t next_returned;
    uint16_t used;
    _Atomic uint16_t shelf;
    uint8_t kind; /* 1 … KINDS; 0: never used */
    uint8_t list; /* enum list */
    atomic_bool returned;
};

struct shelf {
    alignas(64) atomic_bool taken;
    _Atomic uint32_t returns;
    uint32_t current[KINDS + 1], open[KINDS + 1], empty;
    uint32_t slabs, spare; /* of its huge page the next, unless a page ends there */
    uint32_t emptied;      /* slabs, since memory was given back */
};

struct heap {
    struct slab slabs[SLABS];
    uint64_t bits[SLABS][WORDS];
    _Atomic uint64_t returned[SLABS][WORDS];
    struct shelf shelves[SHELVES];
    uint8_t kind_of[HOST_HEAP_MOST + 1];
};
#define TABLES ((sizeof(struct heap) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1))

struct host_kind {
    uint32_t size, count, inverse; /* 2³² / size, rounded up */
};
/* Reached without the linker's table: each block is looked up by them. */
#define NEAR extern __attribute__((visibility("hidden")))
NEAR const struct host_kind host_kinds[WHOLE + 1];
NEAR struct heap *host_tables; /* NULL: there are none */
NEAR uintptr_t host_region;    /* where slab 0 would be */
NEAR __thread __attribute__((tls_model("initial-exec"))) struct shelf *host_shelf;

static inline uintptr_t slab_address(uint32_t n) {
    return host_region + (uintptr_t)n * SLAB;
}

/* Other threads look at them. */
static inline void bits_set(uint32_t n, unsigned word, uint64_t bits) {
    __atomic_store_n(&host_tables->bits[n][word], bits, __ATOMIC_RELAXED);
}

/* The calling thread's, which had none; NULL: no memory. */
struct shelf *shelf_take(void);
/* Gives the memory of its empty slabs back to the system. */
void shelf_trim(struct shelf *s);
/* Another current slab; 0: there is none. */
uint32_t slab_next(struct shelf *s, unsigned kind);
/* After blocks of it were freed. */
void slab_settle(struct shelf *s, uint32_t n);
/* So many side by side that were never used, the first at a multiple of `align`; 0: there
 * are none. */
uint32_t slabs_take(unsigned count, unsigned align);
/* For another thread's slab, after the first of its blocks was freed here. */
void slab_return(uint32_t n);
