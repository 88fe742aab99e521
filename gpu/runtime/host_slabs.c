#include "gpu/runtime/host_slabs.h"

#include <pthread.h>
#include <sys/mman.h>

#define KIND(size) {size, SLAB / (size), UINT32_MAX / (size) + 1}
const struct host_kind host_kinds[WHOLE + 1] = {
    {0, 0, 0}, KIND(16),  KIND(32),  KIND(48),  KIND(64), /* the tight ones */
    KIND(16),  KIND(32),  KIND(48),  KIND(64),  KIND(80),  KIND(96),  KIND(112),
    KIND(128), KIND(160), KIND(192), KIND(224), KIND(256), KIND(320), KIND(384),
    KIND(448), KIND(512), KIND(640), KIND(768), KIND(896), KIND(1024)};

#define NOWHERE ((uintptr_t)1 << 63)
struct heap *host_tables;
uintptr_t host_region = NOWHERE;
__thread struct shelf *host_shelf;
static _Atomic uint32_t fresh = 1;
static pthread_key_t at_exit;

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

/* ---- shelves ---- */

static void shelf_release(void *of) {
    struct shelf *s = of;
    host_shelf = NULL;
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
        host_region = aligned + TABLES;
        for (size_t bytes = 0; bytes <= HOST_HEAP_MOST; bytes++) {
            ((struct heap *)aligned)->kind_of[bytes] = (uint8_t)kind_find(bytes);
        }
        __atomic_store_n(&host_tables, (struct heap *)aligned, __ATOMIC_RELEASE);
    }
}

struct shelf *shelf_take(void) {
    int error = errno;
    if (!__atomic_load_n(&host_tables, __ATOMIC_ACQUIRE)) {
        heap_make();
    }
    struct heap *h = __atomic_load_n(&host_tables, __ATOMIC_ACQUIRE);
    for (unsigned k = 0; h && !host_shelf && k < SHELVES; k++) {
        struct shelf *s = &h->shelves[k];
        host_shelf = s->taken || atomic_exchange(&s->taken, true) ? NULL : s;
    }
    if (host_shelf) {
        (void)pthread_setspecific(at_exit, host_shelf);
    }
    errno = error;
    return host_shelf;
}

/* ---- lists of a shelf ---- */

static void list_add(uint32_t *head, uint32_t n) {
    struct slab *l = &host_tables->slabs[n];
    l->next = *head;
    l->before = 0;
    if (*head) {
        host_tables->slabs[*head].before = n;
    }
    *head = n;
}

static uint32_t list_drop(uint32_t *head, uint32_t n) {
    const struct slab *l = &host_tables->slabs[n];
    if (n && l->next) {
        host_tables->slabs[l->next].before = l->before;
    }
    if (n) {
        *(l->before ? &host_tables->slabs[l->before].next : head) = l->next;
    }
    return n;
}

static uint32_t *list_of(struct shelf *s, const struct slab *l) {
    return l->list == OPEN ? &s->open[l->kind] : &s->empty;
}

void slab_settle(struct shelf *s, uint32_t n) {
    struct slab *l = &host_tables->slabs[n];
    enum list list = l->used ? OPEN : EMPTY;
    if (n == s->current[l->kind] || l->list == list) {
        return;
    }
    if (l->list != NO_LIST) {
        list_drop(list_of(s, l), n);
    }
    l->list = (uint8_t)list;
    s->emptied += list == EMPTY;
    list_add(list_of(s, l), n);
}

/* What other threads freed. */
static void slab_collect(struct shelf *s, uint32_t n) {
    struct slab *l = &host_tables->slabs[n];
    (void)atomic_exchange(&l->returned, false);
    for (unsigned w = 0; w < WORDS; w++) {
        uint64_t back = atomic_load(&host_tables->returned[n][w]);
        if (back) { /* at no moment it looks as if they were in use */
            bits_set(n, w, host_tables->bits[n][w] & ~back);
            (void)atomic_fetch_and(&host_tables->returned[n][w], ~back);
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
        next = atomic_load(&host_tables->slabs[n].next_returned);
        slab_collect(s, n);
    }
}

/* ---- slabs ---- */

uint32_t slabs_take(unsigned count, unsigned align) {
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
        (void)madvise(host_tables->bits[n], HUGE_PAGE, MADV_HUGEPAGE);
    }
    errno = error;
    return n;
}

static void slab_begin(const struct shelf *s, uint32_t n, unsigned kind) {
    struct slab *l = &host_tables->slabs[n];
    unsigned count = host_kinds[kind].count, words = (count + 63) / 64;
    l->kind = (uint8_t)kind;
    l->shelf = (uint16_t)(s - host_tables->shelves);
    l->room = words == WORDS ? UINT64_MAX : (UINT64_C(1) << words) - 1;
    memset(host_tables->bits[n], 0, sizeof host_tables->bits[n]);
    if (count % 64) { /* behind the last block */
        host_tables->bits[n][words - 1] = UINT64_MAX << count % 64;
    }
}

uint32_t slab_next(struct shelf *s, unsigned kind) {
    shelf_collect(s);
    uint32_t n = s->current[kind];
    if (host_tables->slabs[n].room) {
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
    host_tables->slabs[n].list = NO_LIST;
    s->current[kind] = n;
    return n;
}

static bool is_empty_of(const struct shelf *s, uint32_t n) {
    const struct slab *l = &host_tables->slabs[n];
    return l->shelf == s - host_tables->shelves && l->list == EMPTY;
}

/* Those side by side at once, to keep huge pages whole. */
void shelf_trim(struct shelf *s) {
    uint32_t end = atomic_load(&fresh);
    for (uint32_t n = 1, first; n < end; n++) {
        for (first = n; n < end && is_empty_of(s, n); n++) {
        }
        if (n > first) {
            (void)madvise((void *)slab_address(first), (uintptr_t)(n - first) * SLAB,
                          MADV_DONTNEED);
        }
    }
    s->emptied = 0;
}

/* ---- what another thread freed ---- */

void slab_return(uint32_t n) {
    struct slab *l = &host_tables->slabs[n];
    struct shelf *s = &host_tables->shelves[l->shelf];
    if (atomic_exchange(&l->returned, true)) {
        return;
    }
    uint32_t first = atomic_load(&s->returns);
    do {
        atomic_store(&l->next_returned, first);
    } while (!atomic_compare_exchange_weak(&s->returns, &first, n));
}
