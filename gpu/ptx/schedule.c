#include "gpu/ptx/schedule.h"

#include "base/err.h"
#include "base/mem.h"
#include "gpu/ptx/counters.h"

#include <errno.h>
#include <string.h>

#define RESIDENT_MAX 4096
#define RESIDENT_BYTES (UINT64_C(2) << 30) /* of all resident blocks */
#define IDLE_ROUNDS 256                    /* nothing changes: nothing ever will */
#define THREADS_MAX 256

/* ---- a worker's blocks ---- */

static bool resident_room(struct worker *w) {
    struct run *run = w->run;
    if (w->resident_count == RESIDENT_MAX) {
        return false;
    }
    if (w->spare) {
        return true;
    }
    uint64_t bytes =
        __atomic_add_fetch(&run->resident_bytes, run->block_bytes, __ATOMIC_RELAXED);
    if (bytes <= RESIDENT_BYTES || w->resident_count == 0) {
        w->spare = block_new(w);
    }
    if (!w->spare) {
        __atomic_sub_fetch(&run->resident_bytes, run->block_bytes, __ATOMIC_RELAXED);
    }
    return w->spare != NULL;
}

/* Takes the next block of the grid in; false when there is none or no room. */
static bool resident_add(struct worker *w) {
    struct run *run = w->run;
    if (__atomic_load_n(&run->next_block, __ATOMIC_RELAXED) >= run->blocks ||
        !resident_room(w)) {
        return false;
    }
    uint64_t number = __atomic_fetch_add(&run->next_block, 1, __ATOMIC_RELAXED);
    if (number >= run->blocks) {
        return false;
    }
    __atomic_store_n(run->begun, number + 1, __ATOMIC_RELAXED);
    if (w->resident_count == w->resident_room) {
        w->resident_room = w->resident_room ? 2 * w->resident_room : 8;
        w->resident =
            xreallocarray(w->resident, w->resident_room, sizeof(struct block *));
    }
    w->resident[w->resident_count++] = w->spare;
    block_start(w->spare, number);
    w->spare = NULL;
    return true;
}

static void resident_drop(struct worker *w, uint32_t index) {
    struct block *b = w->resident[index];
    w->resident_count--;
    memmove(&w->resident[index], &w->resident[index + 1],
            (w->resident_count - index) * sizeof(struct block *));
    if (!w->spare) {
        w->spare = b;
    } else {
        __atomic_sub_fetch(&w->run->resident_bytes, w->run->block_bytes,
                           __ATOMIC_RELAXED);
        block_free(b);
    }
}

/* Where the runnable threads of a block stand. */
static void tell_runnable(struct block *b, enum finding_code code, const char *words) {
    for (uint32_t n = 0; n < b->warp_count; n++) {
        struct warp *x = &b->warps[n];
        for (uint32_t p = 0; p < x->pending_count; p++) {
            const struct split *s = &x->pending[p];
            if (s->state != SPLIT_READY) {
                continue;
            }
            x->frame = s->frame;
            finding_add(&(struct finding_place){.warp = x,
                                                .step = s->next,
                                                .lane = (unsigned)__builtin_ctz(s->lanes),
                                                .warning = code == FINDING_UNFINISHED},
                        code, "%s", words);
        }
    }
}

static void tell_endless(struct worker *w) {
    for (uint32_t k = 0; k < w->resident_count; k++) {
        tell_runnable(
            w->resident[k], FINDING_DEADLOCK,
            "Deadlock: threads wait in a loop for memory that nobody changes any "
            "more");
        block_tell_stuck(w->resident[k]);
    }
}

/* One turn of every resident block. */
static bool worker_round(struct worker *w) {
    bool changed = false;
    struct run *run = w->run;
    for (uint32_t k = 0; k < w->resident_count;) {
        struct block *b = w->resident[k];
        uint64_t before = b->changes;
        enum block_state state = block_turn(b);
        if (__atomic_load_n(&run->quit, __ATOMIC_RELAXED)) {
            if (__atomic_load_n(&run->fault, __ATOMIC_RELAXED)) {
                return false;
            }
            tell_runnable(b, FINDING_UNFINISHED,
                          "Threads were still running here when the budget or the time "
                          "ended the launch: a loop that never ends looks like this");
            return false;
        }
        changed = changed || b->changes != before || state != BLOCK_RUNNING;
        if (state == BLOCK_STUCK) {
            block_tell_stuck(b);
            block_end(b);
            __atomic_store_n(&run->stuck, 1, __ATOMIC_RELAXED);
        }
        if (state == BLOCK_RUNNING) {
            k++;
        } else {
            resident_drop(w, k);
        }
    }
    return changed;
}

/* Every warp that can run read, in its last turn, what others may change. */
static bool all_poll(const struct worker *w) {
    for (uint32_t k = 0; k < w->resident_count; k++) {
        const struct block *b = w->resident[k];
        for (uint32_t n = 0; n < b->warp_count; n++) {
            const struct warp *x = &b->warps[n];
            for (uint32_t p = 0; p < x->pending_count; p++) {
                if (x->pending[p].state == SPLIT_READY && !x->polled) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void worker_loop(struct worker *w) {
    struct run *run = w->run;
    bool all = run->launch->cooperative;
    while (!__atomic_load_n(&run->quit, __ATOMIC_RELAXED)) {
        if (w->resident_count == 0 || all) {
            while (resident_add(w) && all) {}
        }
        if (w->resident_count == 0) {
            return;
        }
        if (worker_round(w)) {
            w->idle = 0;
            continue;
        }
        w->idle++;
        if (!all_poll(w)) {
            w->idle = 0; /* they compute */
        } else if (w->idle >= 2 && resident_add(w)) {
            w->idle = 0;
        } else if (w->idle >= IDLE_ROUNDS) {
            tell_endless(w);
            __atomic_store_n(&run->stuck, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&run->quit, 1, __ATOMIC_RELAXED);
        }
    }
}

static void *worker_main(void *data) {
    worker_loop(data);
    return NULL;
}

/* ---- workers ---- */

static void worker_init(struct worker *w, struct run *run) {
    const struct program *p = run->program;
    *w = (struct worker){.run = run};
    w->blocks = xcalloc(p->block_count + 1u, sizeof *w->blocks);
    w->accesses = xcalloc(p->access_count + 1u, sizeof *w->accesses);
    w->last = xcalloc(p->access_count + 1u, sizeof *w->last);
    size_t bytes = (p->access_count + 1u) * sizeof *w->patterns;
    w->patterns = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (w->patterns) {
        memset(w->patterns, 0, bytes);
    }
}

static void worker_finish(struct worker *w) {
    for (uint32_t k = 0; k < w->resident_count; k++) {
        block_free(w->resident[k]);
    }
    block_free(w->spare);
    free(w->resident);
    free(w->blocks);
    free(w->accesses);
    free(w->last);
    free(w->patterns);
}

/* The first block is made here, so that a launch that does not fit is refused. */
static int workers_prepare(struct worker *workers, struct run *run, struct err *err) {
    for (uint32_t k = 0; k < run->workers; k++) {
        worker_init(&workers[k], run);
        if (!workers[k].patterns) {
            return err_set(err, -ENOMEM, "no memory for a thread of the emulator");
        }
    }
    if (!resident_room(&workers[0])) {
        return err_set(
            err, -ENOMEM,
            "a block of %llu threads with %llu bytes of shared memory does not "
            "fit into the emulator's memory",
            (unsigned long long)run->threads, (unsigned long long)run->shared_bytes);
    }
    if (run->launch->cooperative &&
        (run->blocks > RESIDENT_MAX || run->blocks > RESIDENT_BYTES / run->block_bytes)) {
        return err_set(
            err, -E2BIG,
            "%llu blocks of a cooperative launch cannot all be resident: use a "
            "smaller grid",
            (unsigned long long)run->blocks);
    }
    return 0;
}

static void workers_run(struct worker *workers, uint32_t count) {
    pthread_t threads[THREADS_MAX];
    uint32_t started = 0;
    while (started + 1 < count && pthread_create(&threads[started], NULL, worker_main,
                                                 &workers[started + 1]) == 0) {
        started++;
    }
    worker_main(&workers[0]); /* takes over what the others could not */
    for (uint32_t k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
    }
}

enum machine_end schedule_run(struct run *run, struct program_counters *counters,
                              struct err *err) {
    if (run->workers > run->blocks) {
        run->workers = (uint32_t)run->blocks;
    }
    run->workers = run->workers > THREADS_MAX ? THREADS_MAX : run->workers;
    if (run->workers == 0 || run->program->order_sensitive || run->launch->cooperative) {
        run->workers = 1; /* or results would depend on who comes first */
    }
    struct worker *workers = xcalloc(run->workers, sizeof *workers);
    enum machine_end end = MACHINE_DONE;
    if (workers_prepare(workers, run, err)) {
        end = MACHINE_REFUSED;
    } else {
        workers_run(workers, run->workers);
    }
    for (uint32_t k = 0; k < run->workers; k++) {
        if (workers[k].run) {
            counters_add(counters, &workers[k]);
            worker_finish(&workers[k]);
        }
    }
    free(workers);
    if (end == MACHINE_REFUSED) {
        return end;
    }
    if (run->fault) {
        return MACHINE_FAULT;
    }
    if (run->stuck) {
        return MACHINE_DEADLOCK;
    }
    return run->quit ? run_end(run) : MACHINE_DONE;
}
