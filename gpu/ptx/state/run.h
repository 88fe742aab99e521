#pragma once
/* run: one launch, and the threads of the host that its blocks are spread over. */
#include "base/buf.h"
#include "gpu/ptx/state/block.h"
#include "gpu/ptx/state/findings.h"
#include "gpu/ptx/state/launch.h"
#include "gpu/ptx/state/memory.h"
#include "gpu/ptx/state/shared_layout.h"

struct pattern;

struct emitted;

struct block_count {
    uint64_t runs, lanes;
};
struct access_count {
    uint64_t requests, cost, ideal; /* sectors, or wavefronts of shared memory */
};

struct run { /* one launch */
    const struct program *program;
    struct memory *memory;             /* the device's */
    const struct images *images;       /* likewise */
    struct findings *findings;         /* what is found goes there */
    const struct machine_space *space; /* or NULL */
    struct buf *printed;               /* what kernels print, under printed_lock */
    pthread_mutex_t *printed_lock;
    uint64_t *spent; /* atomic: lane-instructions, over launches */
    uint64_t budget; /* of them */
    const int *stop; /* atomic: not 0 once the launch shall be given up */
    /* Lanes of the warp have left for good: what waited for them may go on. */
    void (*lanes_left)(struct warp *w);
    const struct machine_launch *launch;
    uint64_t blocks, threads;            /* in the grid, in a block */
    uint32_t cluster[3], cluster_blocks; /* blocks of a cluster */
    bool explicit_cluster;               /* the launch or the kernel asks for clusters */
    uint64_t shared_bytes, shared_window;
    uint8_t *params; /* copy, padded */
    uint64_t param_bytes;
    uint64_t workspace;      /* address, cooperative */
    uint64_t next_cluster;   /* atomic */
    uint64_t *begun;         /* atomic, the machine's: for whoever watches */
    uint64_t resident_bytes; /* atomic: of all processors' blocks */
    uint64_t block_bytes;    /* of one */
    uint64_t local_bytes;    /* atomic: local memory and frames */
    bool check_initialized, check_memory, check_barrier, count;
    bool one_lane;
    uint32_t emit_after;   /* emit.h */
    uint64_t *native_runs; /* atomic, the machine's: entries of blocks that code ran */
    bool ideal_sums;       /* of matrix products; else an H100's (tensor_core.h) */
    struct race_run *race; /* NULL: nobody looks for races */
    int fault;             /* atomic: a finding that ends a launch */
    int stuck;             /* atomic: a deadlock was told */
    int quit;              /* atomic: all stop */
    int no_grid; /* atomic: the grid's workspace was asked for, and there is none:
                    the launch is not cooperative */
    uint32_t processors;
    uint32_t number;      /* of the launch */
    uint32_t map_changes; /* atomic: tensor maps that were changed */
    uint8_t poison;
    uint64_t seed; /* of the order in which a block's warps take turns */
};

/* A thread of the host, as a device's multiprocessor; what it writes stands on cache
 * lines of its own. */
struct processor {
    struct run *run;
    struct block_count *blocks;    /* by program->blocks */
    struct access_count *accesses; /* by program->accesses */
    struct allocation **last;      /* by access */
    struct shared_extent *extents; /* by access: in shared memory, the last one */
    struct pattern *patterns;      /* by access (access/pattern.h) */
    uint64_t divergent_count, branch_count;
    uint64_t guarded_off;    /* lanes that a guard left out */
    uint64_t spent;          /* lane-instructions not yet charged */
    uint64_t allowance;      /* so many may wait: run_charge sets it */
    struct block **resident; /* in the order they started */
    uint32_t resident_count, resident_room;
    struct block *spares[CLUSTER_MAX]; /* to be used again */
    uint32_t spare_count;
    uint32_t idle;               /* rounds in which nothing changed */
    uint32_t emit_after;         /* entries after which a block becomes code (emit.h) */
    struct emitted *emitted;     /* NULL: none does */
} __attribute__((aligned(128)));

/* What stands there is left alone, for other threads read the same cache line. */
static inline void note_once(uint32_t *at, uint32_t value) {
    if (__atomic_load_n(at, __ATOMIC_RELAXED) != value) {
        __atomic_store_n(at, value, __ATOMIC_RELAXED);
    }
}

/* Holds the address, freed ones too; NULL. What it is wanted for is noted there: to be
 * read, to be written. */
static inline struct allocation *run_find_for(const struct run *run, uint64_t address,
                                              bool reads, bool writes) {
    struct allocation *a = memory_find(run->memory, address);
    uint32_t launch = run->memory->launch;
    if (a && reads) {
        note_once(&a->read_in, launch);
    }
    if (a && writes) {
        note_once(&a->written_in, launch);
    }
    return a;
}
/* For whatever it is. */
static inline struct allocation *run_find(const struct run *run, uint64_t address) {
    return run_find_for(run, address, true, true);
}
/* The lanes of mask that the step's guard lets. */
static inline __attribute__((always_inline)) uint32_t
warp_guard(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t p = *(const uint32_t *)(const void *)(w->head.regs + s->guard);
    uint32_t on = mask & (s->guard_negated ? ~p : p);
    w->processor->guarded_off += lanes_in(mask & ~on);
    return on;
}
/* The step runs, for the active lanes that its guard lets; warp->next is behind it. */
static inline __attribute__((always_inline)) void warp_step(struct warp *w,
                                                            const struct step *s) {
    uint32_t mask = s->guard < 0 ? w->active : warp_guard(w, s, w->active);
    if (mask == 0) {
        return;
    }
    if (mask != UINT32_MAX && mask != w->masks_of) {
        warp_spell_mask(w, mask);
    }
    s->run(w, s, mask);
}
/* Zeros, on cache lines that nothing else is on: for what one of several threads writes
 * all the time. `count` is one of the program's; aborts when memory is out. */
void *run_lines(size_t count, size_t size);
struct buf *run_printf_lock(struct run *run); /* the machine's output; then unlock */
void run_printf_unlock(struct run *run);
/* A fault ends the launch when it is over (or at once without MACHINE_CHECK_MEMORY). */
void run_fault(struct run *run);
/* False when the launch is to end: the budget is used up, or somebody said stop. What
 * was spent since the last call is charged to all threads' account, which is one word
 * that each of them would write. So a turn only looks whether RUN_GATHERED
 * lane-instructions, or what was left of the budget, have gathered: one thread ends where
 * it did when every turn was charged, several threads less than RUN_GATHERED each behind
 * that. */
#define RUN_GATHERED 65536u
bool run_charge(struct processor *processor);
static inline bool run_charge_turn(struct processor *processor) {
    const struct run *run = processor->run;
    if (processor->spent > processor->allowance ||
        __atomic_load_n(run->stop, __ATOMIC_RELAXED)) {
        return run_charge(processor);
    }
    return !__atomic_load_n(&run->quit, __ATOMIC_RELAXED);
}
enum machine_end run_end(const struct run *run); /* of a launch that was made to quit */
