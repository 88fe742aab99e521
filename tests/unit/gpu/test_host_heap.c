/* The heap of a program's host code: against a model of what the standard says, by many
 * threads, and told wrong frees. */
#include "base/mem.h"
#include "gpu/runtime/host_heap.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t draw(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* 0 bytes to 1 MiB, every power of two as often. */
static size_t draw_size(uint32_t *seed) {
    return draw(seed) & ((1u << draw(seed) % 21) - 1);
}

/* ---- a block, and what was written to it ---- */

struct held {
    uint8_t *at;
    size_t bytes;
    uint8_t first;
};

static uint8_t byte_of(const struct held *h, size_t k) {
    return (uint8_t)(h->first + k * 31);
}

static void held_fill(struct held *h, size_t from) {
    for (size_t k = from; k < h->bytes; k++) {
        h->at[k] = byte_of(h, k);
    }
}

static bool held_is_whole(const struct held *h, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) {
        if (h->at[k] != byte_of(h, k)) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const uint8_t *p, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) {
        if (p[k]) {
            return false;
        }
    }
    return true;
}

static struct held held_new(uint32_t *seed) {
    struct held h = {.bytes = draw_size(seed), .first = (uint8_t)draw(seed)};
    if (draw(seed) % 4) {
        h.at = host_heap_malloc(h.bytes);
    } else {
        h.at = host_heap_calloc(h.bytes, 1);
        cr_assert(is_zero(h.at, h.bytes), "calloc of %zu", h.bytes);
    }
    cr_assert_not_null(h.at);
    cr_assert_eq((uintptr_t)h.at % 16, 0);
    cr_assert_geq(host_heap_usable(h.at), h.bytes);
    held_fill(&h, 0);
    return h;
}

static void held_resize(struct held *h, uint32_t *seed) {
    size_t had = h->bytes, bytes = draw_size(seed) + 1;
    h->at = host_heap_realloc(h->at, bytes);
    cr_assert_not_null(h->at);
    cr_assert(held_is_whole(h, had < bytes ? had : bytes), "%zu to %zu", had, bytes);
    h->bytes = bytes;
    held_fill(h, 0);
}

static void held_free(struct held *h) {
    cr_assert(held_is_whole(h, h->bytes), "%zu bytes", h->bytes);
    host_heap_free(h->at);
    h->at = NULL;
}

Test(host_heap, keeps_what_is_written) {
    enum { HELD = 300, ROUNDS = 5000 };
    struct held held[HELD] = {0};
    uint32_t seed = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct held *h = &held[draw(&seed) % HELD];
        if (!h->at) {
            *h = held_new(&seed);
        } else if (draw(&seed) % 3 == 0) {
            held_resize(h, &seed);
        } else {
            held_free(h);
        }
    }
    for (unsigned k = 0; k < HELD; k++) {
        if (held[k].at) {
            held_free(&held[k]);
        }
    }
    host_heap_free(NULL);
    cr_assert_null(host_heap_calloc(SIZE_MAX / 2, 3));
    cr_assert_null(host_heap_realloc(host_heap_malloc(40), 0));
}

struct span {
    uintptr_t low, high;
};

static void span_add(struct span *s, const void *block, size_t bytes) {
    uintptr_t at = (uintptr_t)block;
    s->low = at < s->low ? at : s->low;
    s->high = at + bytes > s->high ? at + bytes : s->high;
}

static void span_fill(struct span *s, void **blocks, unsigned count, size_t bytes) {
    for (unsigned k = 0; k < count; k++) {
        blocks[k] = host_heap_malloc(bytes);
        span_add(s, blocks[k], bytes);
    }
}

enum { SLACK = 1 << 18 }; /* some slabs */

/* Nodes lie side by side; what is freed is lent again, also for another size. */
Test(host_heap, is_dense) {
    enum { COUNT = 1 << 20, PAGES = 4 << 20 /* huge ones, in part */ };
    static void *blocks[COUNT];
    struct span span = {UINTPTR_MAX, 0};
    for (unsigned round = 0; round < 8; round++) {
        size_t bytes = round % 2 ? 16 : 48;
        unsigned count = round % 2 ? COUNT : COUNT / 3;
        span_fill(&span, blocks, count, bytes);
        cr_assert_leq(span.high - span.low, COUNT * 16u + PAGES, "round %u", round);
        for (unsigned k = 0; k < count; k++) { /* in no order */
            host_heap_free(blocks[k * 7u % count]);
        }
    }
}

static size_t resident_bytes(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    cr_assert(f && fscanf(f, "%*u %lu", &pages) == 1);
    (void)fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Memory of what was freed, where a large block may need it. */
Test(host_heap, gives_memory_back) {
    enum { COUNT = 1 << 20, BYTES = COUNT * 64 };
    static void *blocks[COUNT];
    struct span span = {UINTPTR_MAX, 0};
    char *kept = strcpy(host_heap_malloc(64), "kept");
    span_fill(&span, blocks, COUNT, 64);
    for (unsigned k = 0; k < COUNT; k++) {
        memset(blocks[k], 1, 64);
        host_heap_free(blocks[k]);
    }
    size_t before = resident_bytes();
    host_heap_free(host_heap_malloc(32 << 20));
    cr_assert_leq(resident_bytes() + BYTES / 2, before);
    cr_assert_str_eq(kept, "kept");
    cr_assert_not_null(memset(host_heap_calloc(64, 1), 1, 64));
}

/* Any byte of a small block leads to it, and the first one of a larger block. */
Test(host_heap, finds_blocks) {
    for (size_t bytes = 1; bytes < 3000; bytes += 1 + bytes / 16) {
        char *p = host_heap_malloc(bytes), *last = p + bytes - 1;
        bool small = bytes <= HOST_HEAP_MOST;
        struct host_block first = host_heap_find(p), end = host_heap_find(last);
        cr_assert(first.start == p && first.bytes == bytes && first.in_use, "%zu", bytes);
        cr_assert(end.start == (small || last == p ? p : NULL), "%zu", bytes);
        p = host_heap_realloc(p, bytes * 3);
        first = host_heap_find(p);
        cr_assert(first.start == p && first.bytes == bytes * 3, "%zu", bytes);
        host_heap_free(p);
        first = host_heap_find(p);
        bool gone = bytes * 3 <= HOST_HEAP_MOST ? !first.in_use : first.start == NULL;
        cr_assert(gone, "%zu", bytes);
    }
    cr_assert_null(host_heap_find(NULL).start);
    cr_assert_null(host_heap_find(&(int){0}).start);
}

/* ---- threads ---- */

enum { SLOTS = 64, THREADS = 4, TURNS = 8000, GENERATIONS = 3 };

struct shared {
    size_t bytes;
    uint8_t rest[];
};
static _Atomic(struct shared *) slots[SLOTS];
static atomic_uint wrong;

static void slot_empty(struct shared *s) {
    if (s) {
        const struct held h = {s->rest, s->bytes, (uint8_t)s->bytes};
        atomic_fetch_add(&wrong, !held_is_whole(&h, h.bytes));
        host_heap_free(s);
    }
}

/* Puts a block where another thread finds it, and frees what was there. */
static void *exchange(void *of) {
    uint32_t seed = (uint32_t)(uintptr_t)of;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        size_t bytes = draw(&seed) % 1200;
        struct shared *s = host_heap_malloc(sizeof *s + bytes);
        s->bytes = bytes;
        held_fill(&(struct held){s->rest, bytes, (uint8_t)bytes}, 0);
        slot_empty(atomic_exchange(&slots[draw(&seed) % SLOTS], s));
    }
    return NULL;
}

Test(host_heap, threads_free_each_others) {
    for (unsigned generation = 0; generation < GENERATIONS; generation++) {
        pthread_t threads[THREADS];
        for (uintptr_t t = 0; t < THREADS; t++) {
            cr_assert_eq(pthread_create(&threads[t], NULL, exchange, (void *)(t + 1)), 0);
        }
        for (unsigned t = 0; t < THREADS; t++) {
            cr_assert_eq(pthread_join(threads[t], NULL), 0);
        }
    }
    for (unsigned k = 0; k < SLOTS; k++) {
        slot_empty(atomic_exchange(&slots[k], NULL));
    }
    cr_assert_eq(wrong, 0);
}

static void *free_all(void *of) {
    void **blocks = of;
    for (unsigned k = 0; blocks[k]; k++) {
        host_heap_free(blocks[k]);
    }
    return NULL;
}

/* What another thread freed comes back to the one that made it. */
Test(host_heap, returned_blocks_are_lent_again) {
    enum { COUNT = 1 << 14 };
    static void *blocks[COUNT + 1];
    struct span span = {UINTPTR_MAX, 0};
    for (unsigned round = 0; round < 6; round++) {
        pthread_t thread;
        span_fill(&span, blocks, COUNT, 64);
        cr_assert_leq(span.high - span.low, COUNT * 64u + SLACK, "round %u", round);
        cr_assert_eq(pthread_create(&thread, NULL, free_all, blocks), 0);
        cr_assert_eq(pthread_join(thread, NULL), 0);
    }
}

static void *hold_one(void *) {
    return host_heap_malloc(100);
}

/* A later thread has an earlier one's memory. */
Test(host_heap, memory_outlives_its_thread) {
    struct span span = {UINTPTR_MAX, 0};
    for (unsigned k = 0; k < 300; k++) {
        pthread_t thread;
        void *block;
        cr_assert_eq(pthread_create(&thread, NULL, hold_one, NULL), 0);
        cr_assert_eq(pthread_join(thread, &block), 0);
        span_add(&span, block, 100);
    }
    cr_assert_leq(span.high - span.low, SLACK);
}

/* ---- wrong frees ---- */

static const char *expected;
static size_t expected_inside;

static void on_abort(int) {
    struct host_free f = host_heap_freeing();
    const char *why = f.why ? f.why : "glibc";
    _exit(f.function && strstr(why, expected) && f.inside == expected_inside ? 0 : 1);
}

static void free_twice(void) {
    void *p = host_heap_malloc(40), *q = host_heap_malloc(40);
    host_heap_free(p);
    host_heap_free(q);
    host_heap_free(p);
}

static void *free_block(void *p) {
    host_heap_free(p);
    return NULL;
}

static void free_in_thread(void *p) {
    pthread_t thread;
    pthread_create(&thread, NULL, free_block, p);
    pthread_join(thread, NULL);
}

static void free_twice_elsewhere(void) {
    void *p = host_heap_malloc(40);
    free_in_thread(p);
    free_in_thread(p);
}

static void free_here_and_elsewhere(void) {
    void *p = host_heap_malloc(40);
    free_in_thread(p);
    host_heap_free(p);
}

static void free_elsewhere_after_here(void) {
    void *p = host_heap_malloc(40);
    host_heap_free(p);
    free_in_thread(p);
}

static void free_inside(void) {
    host_heap_free((char *)host_heap_malloc(500) + 17);
}

static void free_nothing(void) { /* of a part of the heap that it has not lent */
    host_heap_free((char *)host_heap_malloc(16) + (64 << 20));
}

static void resize_freed(void) {
    void *p = host_heap_malloc(40);
    host_heap_free(p);
    host_heap_free(host_heap_realloc(p, 41));
}

static void resize_inside(void) {
    host_heap_free(host_heap_realloc((char *)host_heap_malloc(40) + 17, 41));
}

static void free_device(void) {
    host_heap_free((void *)UINT64_C(0x200000000000));
}

static void free_stack(void) {
    char room[64];
    void *volatile p = room;
    host_heap_free(p);
}

static int end_of(void (*run)(void)) {
    int status = -1, pid = fork();
    if (pid == 0) {
        (void)signal(SIGABRT, on_abort);
        run();
        _exit(2);
    }
    cr_assert_gt(pid, 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return status;
}

Test(host_heap, tells_wrong_frees) {
    static const struct {
        void (*run)(void);
        const char *why;
        size_t inside;
    } cases[] = {{free_twice, "freed before", 0},
                 {free_twice_elsewhere, "freed before", 0},
                 {free_here_and_elsewhere, "freed before", 0},
                 {free_elsewhere_after_here, "freed before", 0},
                 {free_inside, "inside a block", 17},
                 {free_nothing, "no such block", 0},
                 {resize_freed, "freed before", 0},
                 {resize_inside, "inside a block", 17},
                 {free_device, "malloc did not give", 0},
                 {free_stack, "glibc", 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        expected = cases[k].why;
        expected_inside = cases[k].inside;
        cr_expect_eq(end_of(cases[k].run), 0, "%zu: %s", k, cases[k].why);
    }
}

/* ---- writes past the end ---- */

static unsigned overruns;

static void on_overrun(const struct host_free *f) {
    overruns += f->most != 0;
}

Test(host_heap, tells_writes_past_the_end) {
    host_heap_watch(on_overrun);
    for (size_t bytes = 0; bytes <= HOST_HEAP_MOST; bytes++) {
        uint8_t *p = host_heap_malloc(bytes);
        bool tight = bytes && bytes <= 64 && bytes % 16 == 0;
        memset(p, (int)bytes, bytes);
        p = host_heap_realloc(p, bytes);
        cr_assert_eq(overruns, 0, "%zu", bytes);
        if (bytes) {
            cr_assert_eq(host_heap_usable(p), bytes, "%zu", bytes);
        }
        if (bytes && !tight) {
            p[bytes] = 0;
            host_heap_free(p);
            cr_assert_eq(overruns, 1, "%zu", bytes);
            overruns = 0;
        } else {
            host_heap_free(p);
        }
    }
}

/* ---- a process that ends ---- */

static void leave(void) {
    char *small = host_heap_malloc(100), *large = host_heap_malloc(5000);
    strcpy(small, "small");
    strcpy(large, "large");
    host_heap_leave();
    small = host_heap_realloc(small, 200000);
    large = host_heap_realloc(large, 200000);
    char *more = host_heap_calloc(300000, 1);
    bool good = !strcmp(small, "small") && !strcmp(large, "large") && !more[299999] &&
                host_heap_usable(more) >= 300000;
    more = host_heap_realloc(more, 10);
    host_heap_free(more);
    host_heap_free(more); /* whatever state it is in: no more aborts */
    _exit(good ? 0 : 3);
}

Test(host_heap, serves_a_process_that_ends) {
    cr_assert_eq(end_of(leave), 0);
}
