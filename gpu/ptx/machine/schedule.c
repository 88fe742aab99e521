#include "gpu/ptx/machine/schedule.h"

#include "base/err.h"
#include "base/find.h"
#include "gpu/ptx/access/pattern.h"
#include "gpu/ptx/copies/bulk_copies.h"
#include "gpu/ptx/copies/mbarrier.h"
#include "gpu/ptx/emit/emit.h"
#include "gpu/ptx/machine/barriers.h"
#include "gpu/ptx/machine/block_run.h"
#include "gpu/ptx/machine/cluster.h"
#include "gpu/ptx/machine/counters.h"
#include "gpu/ptx/machine/machine.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/state/origins.h"

#include <sched.h>

#define RESIDENT_MAX 4096
#define RESIDENT_BYTES (UINT64_C(2) << 30) /* of all resident blocks */
#define IDLE_ROUNDS 256                    /* nothing changes: nothing ever will */
#define LONG_ROUNDS 1024                   /* of a block that may wait for another */
#define THREADS_MAX 256
#define ALONE 8192u /* instructions of warps before others help the first */

/* ---- a processor's blocks ---- */

/* Spare blocks for a whole cluster. */
static bool resident_room(struct processor *w) {
    struct run *run = w->run;
    if (w->resident_count + run->cluster_blocks > RESIDENT_MAX) {
        return false;
    }
    while (w->spare_count < run->cluster_blocks) {
        uint64_t bytes =
            __atomic_add_fetch(&run->resident_bytes, run->block_bytes, __ATOMIC_RELAXED);
        struct block *b = NULL;
        if (bytes <= RESIDENT_BYTES || w->resident_count == 0) {
            b = block_new(w);
        }
        if (!b) {
            __atomic_sub_fetch(&run->resident_bytes, run->block_bytes, __ATOMIC_RELAXED);
            return false;
        }
        w->spares[w->spare_count++] = b;
    }
    return true;
}

/* Takes the next cluster of its part of the grid in (without clusters: the next block);
 * false when there is none or no room. */
static bool resident_add(struct processor *w) {
    struct run *run = w->run;
    bool is_left = w->taken.from < w->taken.to ||
                   grid_shares_take(&run->shares, w->number, &w->taken);
    if (!is_left || !resident_room(w)) {
        return false;
    }
    uint64_t number = w->taken.from++;
    w->begun += run->cluster_blocks;
    while (w->resident_count + run->cluster_blocks > w->resident_room) {
        w->resident_room = w->resident_room ? 2 * w->resident_room : 8;
        w->resident =
            xreallocarray(w->resident, w->resident_room, sizeof(struct block *));
    }
    struct block **added = &w->resident[w->resident_count];
    w->resident_count += run->cluster_blocks;
    w->spare_count -= run->cluster_blocks;
    memcpy(added, &w->spares[w->spare_count],
           run->cluster_blocks * sizeof(struct block *));
    block_start_cluster(added, number);
    added[0]->own.is_first = !w->has_begun;
    w->has_begun = true;
    return true;
}

/* The cluster whose first block is at index. */
static void resident_drop(struct processor *w, uint32_t index) {
    uint32_t count = w->run->cluster_blocks;
    struct block *blocks[CLUSTER_MAX];
    memcpy(blocks, &w->resident[index], count * sizeof(struct block *));
    w->resident_count -= count;
    memmove(&w->resident[index], &w->resident[index + count],
            (w->resident_count - index) * sizeof(struct block *));
    for (uint32_t k = 0; k < count; k++) {
        if (w->spare_count < count) {
            w->spares[w->spare_count++] = blocks[k];
        } else {
            __atomic_sub_fetch(&w->run->resident_bytes, w->run->block_bytes,
                               __ATOMIC_RELAXED);
            block_free(blocks[k]);
        }
    }
}

/* Reports the positions of a block's runnable threads. */
static void tell_runnable(struct block *b, enum finding_code code, const char *words) {
    list_each(n, x, b->warps, b->warp_count) {
        bool told = code == FINDING_DEADLOCK && mbarriers_tell_waits(x);
        list_each(p, s, x->pending, x->pending_count) {
            if (s->state != SPLIT_READY || told) {
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

static void tell_endless(struct processor *w) {
    for (uint32_t k = 0; k < w->resident_count; k++) {
        tell_runnable(
            w->resident[k], FINDING_DEADLOCK,
            "Deadlock: threads wait in a loop for memory that nothing changes any more");
        block_tell_stuck(w->resident[k]);
    }
}

/* The block has ended; of those that ended well nothing may be on its way. */
static void block_finish(struct block *b, bool well) {
    if (well) {
        bulk_end(b);
        life_end(b);
    }
    b->finished = true;
    b->cluster->left--;
}

/* Nobody of it can run any more. */
static void cluster_stop(struct cluster *c) {
    for (uint32_t r = 0; r < c->count; r++) {
        if (!c->blocks[r]->finished) {
            block_tell_stuck(c->blocks[r]);
        }
    }
    for (uint32_t r = 0; r < c->count; r++) {
        if (!c->blocks[r]->finished) {
            block_end(c->blocks[r]);
            block_finish(c->blocks[r], false);
        }
    }
}

/* Blocks that came to their end say that it is the grid that takes long. */
static void tell_unfinished(struct block *b) {
    const struct run *run = b->processor->run;
    run_charge(b->processor); /* counts its blocks */
    uint64_t begun = __atomic_load_n(run->begun, __ATOMIC_RELAXED);
    char words[160] = "Threads were still running here when the budget or the time ended "
                      "the launch: a loop that never ends looks like this";
    if (begun < run->blocks && b->processor->has_ended && !b->cluster->is_first) {
        snprintf(
            words, sizeof words,
            "The budget or the time ended the launch when %llu of its %llu blocks had "
            "begun; threads were running here",
            (unsigned long long)begun, (unsigned long long)run->blocks);
    }
    tell_runnable(b, FINDING_UNFINISHED, words);
}

/* ---- the host threads of all processors but the first ---- */

struct crew {
    struct processor *processors;
    pthread_t threads[THREADS_MAX];
    uint32_t started;
};

static void processor_loop(struct processor *w);

static void *processor_main(void *data) {
    processor_loop(data);
    run_charge(data); /* what has gathered */
    return NULL;
}

/* Called by the first, once: to start a thread takes as long as a launch of a few
 * blocks. */
static void crew_start(struct run *run) {
    struct crew *c = run->crew;
    run->crew = NULL;
    while (c->started + 1 < run->processors &&
           pthread_create(&c->threads[c->started], NULL, processor_main,
                          &c->processors[c->started + 1]) == 0) {
        c->started++;
    }
}

/* A block has had its turn. */
static void crew_expect(struct processor *w, uint64_t instructions) {
    w->steps += instructions;
    if (w->number == 0 && w->steps > ALONE && w->run->crew) {
        crew_start(w->run);
    }
}

/* ---- turns ---- */

/* false: the launch is to end. */
static bool block_round(struct block *b, bool *changed) {
    struct run *run = b->processor->run;
    uint64_t before = b->changes, clock = b->clock;
    enum block_state state = block_turn(b);
    crew_expect(b->processor, b->clock - clock);
    if (__atomic_load_n(&run->quit, __ATOMIC_RELAXED)) {
        if (!__atomic_load_n(&run->fault, __ATOMIC_RELAXED)) {
            tell_unfinished(b);
        }
        return false;
    }
    *changed = *changed || b->changes != before || state == BLOCK_DONE;
    if (state == BLOCK_DONE) {
        block_finish(b, !b->ended);
    } else if (state == BLOCK_WAITING && cluster_is_stuck(b->cluster)) {
        cluster_stop(b->cluster);
        *changed = true;
        __atomic_store_n(&run->stuck, 1, __ATOMIC_RELAXED);
    }
    return true;
}

/* One turn of every resident block. */
static bool processor_round(struct processor *w) {
    bool changed = false;
    for (uint32_t k = 0; k < w->resident_count;) {
        struct block *b = w->resident[k];
        if (!b->finished && !block_round(b, &changed)) {
            return false;
        }
        if (b->cluster->left > 0) {
            k++;
        } else {
            k -= b->rank;
            resident_drop(w, k);
            w->has_ended = true;
        }
    }
    return changed;
}

/* Every warp that can run read, in its last turn, what others may change. */
static bool all_poll(const struct processor *w) {
    for (uint32_t k = 0; k < w->resident_count; k++) {
        const struct block *b = w->resident[k];
        list_each(n, x, b->warps, b->warp_count) {
            for (uint32_t p = 0; p < x->pending_count; p++) {
                if (x->pending[p].state == SPLIT_READY && !x->polled) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool awaits_host(const struct run *run) {
    return run->space && run->space->awaits_host && run->space->awaits_host(run->space);
}

/* Threads that store in the loop in which they poll change something in each round. As
 * many blocks as there are begin beside them; on a device all that fit do. */
static void relieve(struct processor *w, uint32_t before) {
    w->polls = w->resident_count == before && all_poll(w) ? w->polls + 1 : 0;
    if (w->polls < IDLE_ROUNDS) {
        return;
    }
    w->polls = 0;
    for (uint32_t k = 0; k < before && resident_add(w); k += w->run->cluster_blocks) {}
}

/* A block that lasts may wait for what a later one stores without a sign of it, as loads
 * like ld.cg have none. The longer it lasts, the more run beside it. */
static void accompany(struct processor *w) {
    if (w->resident_count == 0 || w->oldest != w->resident[0]->number) {
        w->oldest = w->resident_count ? w->resident[0]->number : 0;
        w->lasted = 0;
    }
    uint32_t doublings = ++w->lasted / LONG_ROUNDS;
    uint32_t wanted = doublings < 12 ? 1u << doublings : RESIDENT_MAX;
    while (doublings && w->resident_count < wanted && resident_add(w)) {}
}

static void processor_loop(struct processor *w) {
    struct run *run = w->run;
    bool all = run->launch->cooperative;
    while (!__atomic_load_n(&run->quit, __ATOMIC_RELAXED)) {
        if (w->resident_count == 0 || all) {
            while (resident_add(w) && all) {}
        }
        if (w->resident_count == 0) {
            return;
        }
        uint32_t before = w->resident_count;
        bool changed = processor_round(w);
        accompany(w);
        if (changed) {
            w->idle = 0;
            relieve(w, before);
            continue;
        }
        w->idle++;
        if (!all_poll(w)) {
            w->idle = 0; /* they compute */
        } else if (w->idle >= 2 && resident_add(w)) {
            w->idle = 0;
        } else if (w->idle >= IDLE_ROUNDS && (w->timed || awaits_host(run))) {
            w->timed = false;
            w->idle = 2;
            (void)sched_yield();
        } else if (w->idle >= IDLE_ROUNDS) {
            tell_endless(w);
            __atomic_store_n(&run->stuck, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&run->quit, 1, __ATOMIC_RELAXED);
        }
    }
}

/* ---- processors ---- */

static void processor_init(struct processor *w, struct run *run, uint32_t number) {
    const struct program *p = run->program;
    *w = (struct processor){.run = run, .number = number};
    w->blocks = run_lines(p->block_count, sizeof *w->blocks);
    w->accesses = run_lines(p->access_count, sizeof *w->accesses);
    w->last = run_lines(p->access_count, sizeof *w->last);
    w->extents = run_lines(p->access_count, sizeof *w->extents);
    w->patterns = run_lines(p->access_count, sizeof *w->patterns);
    emit_start(w, run->emit_after);
}

static void processor_finish(struct processor *w) {
    for (uint32_t k = 0; k < w->resident_count; k++) {
        block_free(w->resident[k]);
    }
    for (uint32_t k = 0; k < w->spare_count; k++) {
        block_free(w->spares[k]);
    }
    free(w->resident);
    free(w->blocks);
    free(w->accesses);
    free(w->last);
    free(w->extents);
    free(w->patterns);
    origins_free(w->origins);
    frames_free(w);
}

/* The first block is made here, so that a launch that does not fit is refused. */
static int processors_prepare(struct processor *processors, struct run *run,
                              struct err *err) {
    for (uint32_t k = 0; k < run->processors; k++) {
        processor_init(&processors[k], run, k);
    }
    if (!resident_room(&processors[0])) {
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

/* The first takes over what the others could not, or need not. */
static void processors_run(struct processor *processors, struct run *run) {
    struct crew crew = {.processors = processors};
    run->crew = &crew;
    processor_main(&processors[0]);
    for (uint32_t k = 0; k < crew.started; k++) {
        pthread_join(crew.threads[k], NULL);
    }
}

enum machine_end schedule_run(struct run *run, struct program_counters *counters,
                              struct err *err) {
    if (run->processors > run->blocks / run->cluster_blocks) {
        run->processors = (uint32_t)(run->blocks / run->cluster_blocks);
    }
    run->processors = run->processors > THREADS_MAX ? THREADS_MAX : run->processors;
    if (run->processors == 0 || run->program->order_sensitive ||
        run->launch->cooperative || run->race) {
        run->processors = 1; /* or results would depend on who comes first */
    }
    struct processor *processors = run_lines(run->processors, sizeof *processors);
    grid_shares_init(&run->shares, run->blocks / run->cluster_blocks, run->processors);
    enum machine_end end = MACHINE_DONE;
    if (processors_prepare(processors, run, err)) {
        end = MACHINE_REFUSED;
    } else {
        processors_run(processors, run);
    }
    for (uint32_t k = 0; k < run->processors; k++) {
        if (processors[k].run) {
            emit_finish(&processors[k]);
            counters_add(counters, &processors[k]);
            processor_finish(&processors[k]);
        }
    }
    free(processors);
    grid_shares_finish(&run->shares);
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
