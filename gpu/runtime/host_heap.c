/* host_heap: blocks of slabs, what stands behind them, and glibc's beside them. */
#include "gpu/ptx/state/memory.h"
#include "gpu/runtime/host_slabs.h"
#include "gpu/runtime/large_blocks.h"

#define OVERRUN SIZE_MAX
static atomic_bool alone;
static void (*watcher)(const struct host_free *);
static __thread __attribute__((tls_model("initial-exec"))) struct host_free freeing;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

/* ---- what stands behind a block ---- */

/* How many bytes the program did not ask for: in the first of them and in the last. */
static void *guard_set(void *block, unsigned kind, size_t bytes) {
    uint8_t *p = block;
    size_t size = host_kinds[kind].size;
    if (kind > TIGHT) {
        p[bytes] = p[size - 1] = (uint8_t)(size - bytes);
    }
    return p;
}

/* The bytes that the program asked for; OVERRUN: it wrote behind them. */
static size_t guard_bytes(const void *block, unsigned kind) {
    const uint8_t *p = block;
    size_t size = host_kinds[kind].size;
    if (kind <= TIGHT) {
        return size;
    }
    size_t left = p[size - 1];
    return left && left <= size && p[size - left] == left ? size - left : OVERRUN;
}

static void guard_check(const char *function, const void *block, unsigned kind) {
    if (guard_bytes(block, kind) == OVERRUN && watcher) {
        watcher(&(struct host_free){.function = function,
                                    .address = block,
                                    .most = host_kinds[kind].size - 1});
    }
}

/* ---- blocks ---- */

static void *block_take(uint32_t n) {
    struct slab *l = &host_tables->slabs[n];
    unsigned w = (unsigned)__builtin_ctzll(l->room);
    uint64_t bits = host_tables->bits[n][w], bit = ~bits & (bits + 1);
    unsigned block = w * 64 + (unsigned)__builtin_ctzll(bit);
    bits_set(n, w, bits | bit);
    if ((bits | bit) == UINT64_MAX) {
        l->room &= l->room - 1;
    }
    l->used++;
    return (void *)(slab_address(n) + (uintptr_t)block * host_kinds[l->kind].size);
}

static void *whole_take(size_t bytes) {
    size_t count = bytes / SLAB + 1;
    uint32_t n = host_tables && count < SLABS ? slabs_take((unsigned)count, 1) : 0;
    if (!n) {
        errno = ENOMEM;
        return NULL;
    }
    host_tables->slabs[n].kind = WHOLE;
    host_tables->slabs[n].next = (uint32_t)count;
    return (void *)slab_address(n);
}

/* NULL: glibc has it. */
static void *small_take(size_t bytes) {
    struct shelf *s = host_shelf ? host_shelf : shelf_take();
    if (bytes >= LARGE && s && s->emptied >= TRIMMED) {
        shelf_trim(s);
    }
    if (!s || bytes > HOST_HEAP_MOST) {
        return NULL;
    }
    unsigned kind = host_tables->kind_of[bytes];
    uint32_t n = s->current[kind];
    if (!host_tables->slabs[n].room) {
        n = slab_next(s, kind);
    }
    return n ? guard_set(block_take(n), kind, bytes) : NULL;
}

static void *large_note(void *p, size_t bytes) {
    if (p) {
        large_block_add(p, bytes);
    }
    return p;
}

void *host_heap_malloc(size_t bytes) {
    void *p = small_take(bytes);
    return p       ? p
           : alone ? whole_take(bytes)
                   : large_note(__libc_malloc(bytes), bytes);
}

void *host_heap_calloc(size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = small_take(all);
    return p       ? memset(p, 0, all)
           : alone ? whole_take(all)
                   : large_note(__libc_calloc(count, bytes), all);
}

/* ---- freeing ---- */

static _Noreturn void refuse(const char *function, const void *p, size_t inside,
                             const char *why) {
    const struct host_free f = {
        .function = function, .address = p, .why = why, .inside = inside};
    if (watcher) {
        watcher(&f);
    }
    freeing = f; /* what the watcher frees has taken its place */
    abort();
}

struct spot {
    uint32_t slab;
    unsigned word, kind;
    uint64_t bit;
    size_t rest; /* behind the block's start; NO_BLOCK: behind the last one */
};
#define NO_BLOCK SIZE_MAX

/* Where in the region p is. */
static inline struct spot spot_of(const void *p) {
    uintptr_t at = (uintptr_t)p - host_region;
    uint32_t n = (uint32_t)(at / SLAB), in = at % SLAB;
    unsigned kind = host_tables->slabs[n].kind;
    unsigned index = (unsigned)((uint64_t)in * host_kinds[kind].inverse >> 32);
    bool is = index < host_kinds[kind].count;
    return (struct spot){n, index / 64, kind, UINT64_C(1) << index % 64,
                         is ? in - index * host_kinds[kind].size : NO_BLOCK};
}

static inline bool block_in_use(const struct spot *b) {
    const struct heap *h = host_tables;
    uint64_t used = __atomic_load_n(&h->bits[b->slab][b->word], __ATOMIC_RELAXED);
    bool returned =
        h->slabs[b->slab].returned && h->returned[b->slab][b->word] & b->bit;
    return used & b->bit && !returned;
}

static _Noreturn __attribute__((noinline)) void
spot_refuse(const char *function, const void *p, size_t rest) {
    refuse(function, p, rest == NO_BLOCK ? 0 : rest,
           rest == NO_BLOCK ? "malloc gave no such block"
           : rest           ? "this pointer lies inside a block, not at its start"
                            : "this block is not in use: it has been freed before");
}

/* The block that p, in the region, may free. */
static inline struct spot block_check(const char *function, const void *p) {
    const struct spot b = spot_of(p);
    if (b.rest || !block_in_use(&b)) {
        spot_refuse(function, p, b.rest);
    }
    guard_check(function, p, b.kind);
    return b;
}

static void region_free(const char *function, const void *p) {
    const struct spot b = block_check(function, p);
    struct slab *l = &host_tables->slabs[b.slab];
    if (host_shelf == &host_tables->shelves[l->shelf]) {
        bits_set(b.slab, b.word, host_tables->bits[b.slab][b.word] & ~b.bit);
        l->room |= UINT64_C(1) << b.word;
        l->used--;
        slab_settle(host_shelf, b.slab);
    } else if (atomic_fetch_or(&host_tables->returned[b.slab][b.word], b.bit) & b.bit) {
        spot_refuse(function, p, 0);
    } else {
        slab_return(b.slab);
    }
}

/* The device's addresses; the system gives none of them to a process by itself. */
static bool is_device(const void *p) {
    return (uintptr_t)p >> 44 == MEMORY_FIRST >> 44;
}

static bool is_elsewhere(const char *function, const void *p) {
    bool is = (uintptr_t)p - host_region >= REGION;
    if (is && is_device(p)) {
        refuse(function, p, 0, "malloc did not give it");
    }
    return is;
}

void host_heap_free(void *p) {
    if (!is_elsewhere("free", p)) {
        if (!alone) {
            region_free("free", p);
        }
    } else if (p && !alone) {
        freeing = (struct host_free){.function = "free", .address = p};
        freeing.lent = large_block_drop(p) > 0;
        __libc_free(p);
        freeing.function = NULL;
    }
}

struct host_free host_heap_freeing(void) {
    return freeing;
}

void host_heap_watch(void (*tell)(const struct host_free *)) {
    watcher = tell;
}

void host_heap_leave(void) {
    alone = true;
}

/* ---- sizes ---- */

/* What glibc's malloc_usable_size says, whose name is ours: the word in front of a block
 * is the size with the headers, and has a bit for those that are a mapping. */
static size_t libc_usable(const void *p) {
    size_t word = ((const size_t *)p)[-1];
    return (word & ~(size_t)7) - (word & 2 ? 16 : 8);
}

size_t host_heap_usable(const void *p) {
    uintptr_t at = (uintptr_t)p - host_region;
    if (!p || at >= REGION) {
        size_t asked = large_block_bytes(p);
        return !p ? 0 : asked ? asked : libc_usable(p);
    }
    const struct slab *l = &host_tables->slabs[at / SLAB];
    size_t bytes = l->kind == WHOLE ? (size_t)l->next * SLAB : guard_bytes(p, l->kind);
    return bytes == OVERRUN ? host_kinds[l->kind].size - 1 : bytes;
}

struct host_block host_heap_find(const void *p) {
    if ((uintptr_t)p - host_region >= REGION) {
        size_t bytes = large_block_bytes(p);
        return (struct host_block){bytes ? p : NULL, bytes, true};
    }
    const struct spot b = spot_of(p);
    if (b.rest == NO_BLOCK) {
        return (struct host_block){0};
    }
    const char *start = (const char *)p - b.rest;
    bool in_use = block_in_use(&b);
    size_t bytes = in_use ? guard_bytes(start, b.kind) : host_kinds[b.kind].size;
    return (struct host_block){start, bytes == OVERRUN ? host_kinds[b.kind].size : bytes,
                               in_use};
}

static void *block_move(void *p, size_t bytes) {
    size_t had = host_heap_usable(p);
    void *to = host_heap_malloc(bytes);
    if (to) {
        memcpy(to, p, had < bytes ? had : bytes);
        host_heap_free(p);
    }
    return to;
}

static void *libc_realloc(void *p, size_t bytes) {
    freeing = (struct host_free){.function = "realloc", .address = p};
    size_t had = large_block_drop(p);
    freeing.lent = had > 0;
    void *to = __libc_realloc(p, bytes);
    freeing.function = NULL;
    if (!to && bytes && had) {
        large_block_add(p, had);
    }
    return large_note(to, bytes);
}

static void *region_realloc(void *p, size_t bytes) {
    unsigned kind = block_check("realloc", p).kind;
    bool fits = bytes <= HOST_HEAP_MOST && host_tables->kind_of[bytes] == kind;
    return fits ? guard_set(p, kind, bytes) : block_move(p, bytes);
}

void *host_heap_realloc(void *p, size_t bytes) {
    if (!p) {
        return host_heap_malloc(bytes);
    }
    bool elsewhere = is_elsewhere("realloc", p);
    if (elsewhere && !alone) {
        return libc_realloc(p, bytes);
    }
    if (!bytes) {
        host_heap_free(p);
        return NULL;
    }
    return alone ? block_move(p, bytes) : region_realloc(p, bytes);
}
