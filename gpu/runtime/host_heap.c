/* host_heap: slabs of blocks of one size.
 *
 * A slab is 64 KiB with blocks of one kind (size); a bit for each block says whether it is
 * in use. A thread has a shelf of slabs, and only it changes their bits; other threads
 * that free a block of it set a bit of a second table, and the first of them puts the slab
 * on the shelf's returns. A thread's shelf goes to a later thread. All is in one mapping,
 * and zeros are its first state. Slab 0 stands for none and never has room. */
#include "gpu/runtime/host_heap.h"

#include "gpu/ptx/state/memory.h"
#include "gpu/runtime/large_blocks.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define REGION ((uintptr_t)16 << 30)
#define HUGE_PAGE ((uintptr_t)2 << 20)
enum {
    SLAB = 1 << 16, /* bytes */
    SLABS = (int)(REGION / SLAB),
    TIGHT = 4, /* kinds of blocks without a byte behind them: small nodes */
    KINDS = TIGHT + 20,
    WHOLE = KINDS + 1, /* one block over several slabs */
    SHELVES = 8192,
    WORDS = 64,       /* of bits of a slab */
    HUGE_FROM = 64,   /* slabs of a shelf, before huge pages are worth their room */
    PAGE_SLABS = 32,  /* of a huge page */
    BITS_SLABS = 4096 /* whose bits fill one */
};

enum list { NO_LIST, OPEN, EMPTY };

struct slab { /* alone in its line of the cache, and so is a shelf */
    alignas(64) uint64_t room; /* words of its bits that are not full */
    uint32_t next, before;     /* in a list; next of a whole one: its bytes / SLAB */
    _Atomic uint32_t next_returned;
    uint16_t used, shelf;
    uint8_t kind; /* 1 … KINDS; 0: never used */
    uint8_t list; /* enum list */
    atomic_bool returned;
};

struct shelf {
    alignas(64) atomic_bool taken;
    _Atomic uint32_t returns;
    uint32_t current[KINDS + 1], open[KINDS + 1], empty;
    uint32_t slabs, spare; /* of its huge page the next, unless a page ends there */
};

struct heap {
    struct slab slabs[SLABS];
    uint64_t bits[SLABS][WORDS];
    _Atomic uint64_t returned[SLABS][WORDS];
    struct shelf shelves[SHELVES];
    uint8_t kind_of[HOST_HEAP_MOST + 1];
};
#define TABLES ((sizeof(struct heap) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1))

#define KIND(size) {size, SLAB / (size), UINT32_MAX / (size) + 1}
static const struct {
    uint32_t size, count, inverse; /* 2³² / size, rounded up */
} kinds[WHOLE + 1] = {
    {0, 0, 0}, KIND(16),  KIND(32),  KIND(48),  KIND(64), /* the tight ones */
    KIND(16),  KIND(32),  KIND(48),  KIND(64),  KIND(80),  KIND(96),  KIND(112),
    KIND(128), KIND(160), KIND(192), KIND(224), KIND(256), KIND(320), KIND(384),
    KIND(448), KIND(512), KIND(640), KIND(768), KIND(896), KIND(1024)};

#define OVERRUN SIZE_MAX
#define NOWHERE ((uintptr_t)1 << 63)
static struct heap *heap;
static uintptr_t region = NOWHERE;
static _Atomic uint32_t fresh = 1;
static atomic_bool alone;
static pthread_key_t at_exit;
static void (*watcher)(const struct host_free *);
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
OF_THREAD struct shelf *own;
OF_THREAD struct host_free freeing;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static unsigned kind_find(size_t bytes) {
    if (bytes % 16 == 0 && bytes - 1 < TIGHT * 16) {
        return (unsigned)bytes / 16;
    }
    if (bytes < 128) {
        return TIGHT + 1 + (unsigned)bytes / 16;
    }
    unsigned n = (unsigned)bytes, top = 31u - (unsigned)__builtin_clz(n);
    return TIGHT + 9 + (top - 7) * 4 + (n >> (top - 2) & 3);
}

/* ---- what stands behind a block ---- */

/* How many bytes the program did not ask for: in the first of them and in the last. */
static void *guard_set(void *block, unsigned kind, size_t bytes) {
    uint8_t *p = block;
    size_t size = kinds[kind].size;
    if (kind > TIGHT) {
        p[bytes] = p[size - 1] = (uint8_t)(size - bytes);
    }
    return p;
}

/* The bytes that the program asked for; OVERRUN: it wrote behind them. */
static size_t guard_bytes(const void *block, unsigned kind) {
    const uint8_t *p = block;
    size_t size = kinds[kind].size;
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
                                    .most = kinds[kind].size - 1});
    }
}

/* ---- shelves ---- */

static void shelf_release(void *of) {
    struct shelf *s = of;
    own = NULL;
    atomic_store_explicit(&s->taken, false, memory_order_release);
}

static void heap_make(void) {
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&begun)) {
        return;
    }
    char *at = mmap(NULL, TABLES + REGION + HUGE_PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED && !pthread_key_create(&at_exit, shelf_release)) {
        uintptr_t aligned = ((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
        region = aligned + TABLES;
        for (size_t bytes = 0; bytes <= HOST_HEAP_MOST; bytes++) {
            ((struct heap *)aligned)->kind_of[bytes] = (uint8_t)kind_find(bytes);
        }
        __atomic_store_n(&heap, (struct heap *)aligned, __ATOMIC_RELEASE);
    }
}

static struct shelf *shelf_take(void) {
    int error = errno;
    if (!__atomic_load_n(&heap, __ATOMIC_ACQUIRE)) {
        heap_make();
    }
    struct heap *h = __atomic_load_n(&heap, __ATOMIC_ACQUIRE);
    for (unsigned k = 0; h && !own && k < SHELVES; k++) {
        struct shelf *s = &h->shelves[k];
        own = s->taken || atomic_exchange(&s->taken, true) ? NULL : s;
    }
    if (own) {
        (void)pthread_setspecific(at_exit, own);
    }
    errno = error;
    return own;
}

/* ---- lists of a shelf ---- */

static void list_add(uint32_t *head, uint32_t n) {
    struct slab *l = &heap->slabs[n];
    l->next = *head;
    l->before = 0;
    if (*head) {
        heap->slabs[*head].before = n;
    }
    *head = n;
}

static uint32_t list_drop(uint32_t *head, uint32_t n) {
    const struct slab *l = &heap->slabs[n];
    if (n && l->next) {
        heap->slabs[l->next].before = l->before;
    }
    if (n) {
        *(l->before ? &heap->slabs[l->before].next : head) = l->next;
    }
    return n;
}

/* Other threads look at them. */
static void bits_set(uint32_t n, unsigned word, uint64_t bits) {
    __atomic_store_n(&heap->bits[n][word], bits, __ATOMIC_RELAXED);
}

static uint32_t *list_of(struct shelf *s, const struct slab *l) {
    return l->list == OPEN ? &s->open[l->kind] : &s->empty;
}

/* After blocks of it were freed. */
static void slab_settle(struct shelf *s, uint32_t n) {
    struct slab *l = &heap->slabs[n];
    enum list list = l->used ? OPEN : EMPTY;
    if (n == s->current[l->kind] || l->list == list) {
        return;
    }
    if (l->list != NO_LIST) {
        list_drop(list_of(s, l), n);
    }
    l->list = (uint8_t)list;
    list_add(list_of(s, l), n);
}

/* What other threads freed. */
static void slab_collect(struct shelf *s, uint32_t n) {
    struct slab *l = &heap->slabs[n];
    (void)atomic_exchange(&l->returned, false);
    for (unsigned w = 0; w < WORDS; w++) {
        uint64_t back = atomic_load(&heap->returned[n][w]);
        if (back) { /* at no moment it looks as if they were in use */
            bits_set(n, w, heap->bits[n][w] & ~back);
            (void)atomic_fetch_and(&heap->returned[n][w], ~back);
            l->room |= UINT64_C(1) << w;
            l->used = (uint16_t)(l->used - __builtin_popcountll(back));
        }
    }
    if (l->room) {
        slab_settle(s, n);
    }
}

static void shelf_collect(struct shelf *s) {
    if (!atomic_load_explicit(&s->returns, memory_order_relaxed)) {
        return;
    }
    for (uint32_t n = atomic_exchange(&s->returns, 0), next; n; n = next) {
        next = atomic_load(&heap->slabs[n].next_returned);
        slab_collect(s, n);
    }
}

/* ---- slabs ---- */

static uintptr_t slab_address(uint32_t n) {
    return region + (uintptr_t)n * SLAB;
}

/* 0: there are none. */
static uint32_t slabs_take(unsigned count, unsigned align) {
    uint32_t next = atomic_load(&fresh), n;
    do {
        n = (next + align - 1) / align * align;
    } while (n + count <= SLABS &&
             !atomic_compare_exchange_weak(&fresh, &next, n + count));
    return n + count <= SLABS ? n : 0;
}

/* One that was never used. A shelf with many takes whole huge pages. */
static uint32_t slab_fresh(struct shelf *s) {
    if (s->spare % PAGE_SLABS) {
        return s->spare++;
    }
    if (s->slabs < HUGE_FROM) {
        s->slabs++;
        return slabs_take(1, 1);
    }
    uint32_t n = slabs_take(PAGE_SLABS, PAGE_SLABS);
    int error = errno;
    if (n) {
        (void)madvise((void *)slab_address(n), HUGE_PAGE, MADV_HUGEPAGE);
        s->spare = n + 1;
    }
    if (n && n % BITS_SLABS == 0) {
        (void)madvise(heap->bits[n], HUGE_PAGE, MADV_HUGEPAGE);
    }
    errno = error;
    return n;
}

static void slab_begin(const struct shelf *s, uint32_t n, unsigned kind) {
    struct slab *l = &heap->slabs[n];
    unsigned count = kinds[kind].count, words = (count + 63) / 64;
    l->kind = (uint8_t)kind;
    l->shelf = (uint16_t)(s - heap->shelves);
    l->room = words == WORDS ? UINT64_MAX : (UINT64_C(1) << words) - 1;
    memset(heap->bits[n], 0, sizeof heap->bits[n]);
    if (count % 64) { /* behind the last block */
        heap->bits[n][words - 1] = UINT64_MAX << count % 64;
    }
}

/* Another current slab; 0: there is none. */
static uint32_t slab_next(struct shelf *s, unsigned kind) {
    shelf_collect(s);
    uint32_t n = s->current[kind];
    if (heap->slabs[n].room) {
        return n;
    }
    n = list_drop(&s->open[kind], s->open[kind]);
    if (!n) {
        n = list_drop(&s->empty, s->empty);
        n = n ? n : slab_fresh(s);
        if (n) {
            slab_begin(s, n, kind);
        }
    }
    heap->slabs[n].list = NO_LIST;
    s->current[kind] = n;
    return n;
}

/* ---- blocks ---- */

static void *block_take(uint32_t n) {
    struct slab *l = &heap->slabs[n];
    unsigned w = (unsigned)__builtin_ctzll(l->room);
    uint64_t bits = heap->bits[n][w], bit = ~bits & (bits + 1);
    unsigned block = w * 64 + (unsigned)__builtin_ctzll(bit);
    bits_set(n, w, bits | bit);
    if ((bits | bit) == UINT64_MAX) {
        l->room &= l->room - 1;
    }
    l->used++;
    return (void *)(slab_address(n) + (uintptr_t)block * kinds[l->kind].size);
}

static void *whole_take(size_t bytes) {
    size_t count = bytes / SLAB + 1;
    uint32_t n = heap && count < SLABS ? slabs_take((unsigned)count, 1) : 0;
    if (!n) {
        errno = ENOMEM;
        return NULL;
    }
    heap->slabs[n].kind = WHOLE;
    heap->slabs[n].next = (uint32_t)count;
    return (void *)slab_address(n);
}

/* NULL: glibc has it. */
static void *small_take(size_t bytes) {
    struct shelf *s = bytes <= HOST_HEAP_MOST ? own ? own : shelf_take() : NULL;
    if (!s) {
        return NULL;
    }
    unsigned kind = heap->kind_of[bytes];
    uint32_t n = s->current[kind];
    if (!heap->slabs[n].room) {
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
    freeing = (struct host_free){function, p, why, inside, 0};
    if (watcher) {
        watcher(&freeing);
    }
    abort();
}

static void block_return(struct slab *l, uint32_t n) {
    struct shelf *s = &heap->shelves[l->shelf];
    if (atomic_exchange(&l->returned, true)) {
        return;
    }
    uint32_t first = atomic_load(&s->returns);
    do {
        atomic_store(&l->next_returned, first);
    } while (!atomic_compare_exchange_weak(&s->returns, &first, n));
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
    uintptr_t at = (uintptr_t)p - region;
    uint32_t n = (uint32_t)(at / SLAB), in = at % SLAB;
    unsigned kind = heap->slabs[n].kind;
    unsigned index = (unsigned)((uint64_t)in * kinds[kind].inverse >> 32);
    bool is = index < kinds[kind].count;
    return (struct spot){n, index / 64, kind, UINT64_C(1) << index % 64,
                         is ? in - index * kinds[kind].size : NO_BLOCK};
}

static inline bool block_in_use(const struct spot *b) {
    uint64_t used = __atomic_load_n(&heap->bits[b->slab][b->word], __ATOMIC_RELAXED);
    bool returned = heap->slabs[b->slab].returned &&
                    heap->returned[b->slab][b->word] & b->bit;
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
    struct slab *l = &heap->slabs[b.slab];
    if (own == &heap->shelves[l->shelf]) {
        bits_set(b.slab, b.word, heap->bits[b.slab][b.word] & ~b.bit);
        l->room |= UINT64_C(1) << b.word;
        l->used--;
        slab_settle(own, b.slab);
    } else if (atomic_fetch_or(&heap->returned[b.slab][b.word], b.bit) & b.bit) {
        spot_refuse(function, p, 0);
    } else {
        block_return(l, b.slab);
    }
}

/* The device's addresses; the system gives none of them to a process by itself. */
static bool is_device(const void *p) {
    return (uintptr_t)p >> 44 == MEMORY_FIRST >> 44;
}

static bool is_elsewhere(const char *function, const void *p) {
    bool is = (uintptr_t)p - region >= REGION;
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
        freeing = (struct host_free){"free", p, NULL, 0, 0};
        (void)large_block_drop(p);
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
    uintptr_t at = (uintptr_t)p - region;
    if (!p || at >= REGION) {
        size_t asked = large_block_bytes(p);
        return !p ? 0 : asked ? asked : libc_usable(p);
    }
    const struct slab *l = &heap->slabs[at / SLAB];
    size_t bytes = l->kind == WHOLE ? (size_t)l->next * SLAB : guard_bytes(p, l->kind);
    return bytes == OVERRUN ? kinds[l->kind].size - 1 : bytes;
}

struct host_block host_heap_find(const void *p) {
    if ((uintptr_t)p - region >= REGION) {
        size_t bytes = large_block_bytes(p);
        return (struct host_block){bytes ? p : NULL, bytes, true};
    }
    const struct spot b = spot_of(p);
    if (b.rest == NO_BLOCK) {
        return (struct host_block){0};
    }
    const char *start = (const char *)p - b.rest;
    bool in_use = block_in_use(&b);
    size_t bytes = in_use ? guard_bytes(start, b.kind) : kinds[b.kind].size;
    return (struct host_block){start, bytes == OVERRUN ? kinds[b.kind].size : bytes,
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
    freeing = (struct host_free){"realloc", p, NULL, 0, 0};
    size_t had = large_block_drop(p);
    void *to = __libc_realloc(p, bytes);
    freeing.function = NULL;
    if (!to && bytes && had) {
        large_block_add(p, had);
    }
    return large_note(to, bytes);
}

static void *region_realloc(void *p, size_t bytes) {
    unsigned kind = block_check("realloc", p).kind;
    bool fits = bytes <= HOST_HEAP_MOST && heap->kind_of[bytes] == kind;
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
