#pragma once
/* run: one launch, and the host threads that execute its blocks. */
#include "base/buf.h"
#include "gpu/ptx/state/block.h"
#include "gpu/ptx/state/findings.h"
#include "gpu/ptx/state/grid_shares.h"
#include "gpu/ptx/state/launch.h"
#include "gpu/ptx/state/memory.h"
#include "gpu/ptx/state/shared_layout.h"

struct lane_pattern;

struct emitted;
struct crew;

#define EMIT_NEVER UINT32_MAX

struct block_count {
    uint64_t runs, lanes;
};
struct access_count {
    uint64_t requests, cost, ideal; /* sectors, or wavefronts of shared memory */
};

/* The thread that needs the most stack, of those that need more than the limit. */
struct deep_stack {
    uint64_t bytes; /* atomic; written under memory->lock */
    unsigned depth;
    struct finding_thread by; /* at its last call */
};

struct run { /* one launch */
    const struct program *program;
    struct memory *memory;             /* the device's */
    const struct images *images;       /* likewise */
    struct findings *findings;         /* collects findings */
    const struct machine_space *space; /* or NULL */
    struct buf *printed;               /* printf output, under printed_lock */
    pthread_mutex_t *printed_lock;
    uint64_t *spent; /* atomic: lane-instructions, over launches */
    uint64_t budget; /* of them */
    const int *stop; /* atomic: not 0 once the launch must stop */
    /* Lanes of the warp have exited: operations that waited for them may continue. */
    void (*lanes_left)(struct warp *w);
    const struct machine_launch *launch;
    uint64_t blocks, threads;            /* in the grid, in a block */
    uint32_t cluster[3], cluster_blocks; /* blocks of a cluster */
    bool explicit_cluster;               /* the launch or the kernel uses clusters */
    uint64_t shared_bytes, shared_window;
    uint8_t *params; /* copy, padded */
    uint64_t param_bytes;
    uint64_t workspace;      /* address, cooperative */
    struct grid_shares shares;
    uint64_t *begun;         /* atomic, the machine's: started blocks, as far as charged */
    uint64_t resident_bytes; /* atomic: of all processors' blocks */
    uint64_t block_bytes;    /* of one */
    uint64_t local_bytes;    /* atomic: local memory and frames */
    bool check_initialized, check_memory, check_barrier, count;
    bool one_lane;
    uint32_t emit_after;   /* emit.h; EMIT_NEVER: no shortcut of the race check either */
    uint64_t *native_runs; /* atomic, the machine's: entries of blocks that code ran */
    bool ideal_sums;       /* of matrix products; else an H100's (tensor_core.h) */
    struct race_run *race; /* NULL: no race check */
    uint64_t stack_limit; /* bytes of a thread; 0: none */
    struct deep_stack deepest;
    int fault;             /* atomic: there is a finding that ends a launch */
    int stuck;             /* atomic: a deadlock was reported */
    int quit;              /* atomic: all threads stop */
    int no_grid; /* atomic: the grid's workspace was requested although the launch is not
                    cooperative */
    uint32_t processors;
    struct crew *crew;    /* machine/schedule.c; NULL: it works */
    uint32_t number;      /* of the launch */
    uint32_t map_changes; /* atomic: number of changes of tensor maps */
    uint8_t poison;
    uint64_t seed; /* of the order of a block's warps */
};

/* After the launch: reports the deepest thread, if there is one. */
void stack_tell(const struct run *run);

/* A host thread, in the role of a multiprocessor. It occupies its own cache lines. */
struct processor {
    struct run *run;
    uint32_t number;               /* among the run's */
    struct grid_range taken;       /* clusters that it is to begin */
    bool has_begun, has_ended;     /* its first cluster; any */
    uint64_t steps;                /* of warps, in all turns */
    struct block_count *blocks;    /* by program->blocks */
    struct access_count *accesses; /* by program->accesses */
    struct allocation **last;      /* by access */
    struct shared_extent *extents; /* by access: in shared memory, the last one */
    struct lane_pattern *patterns; /* by access (access/pattern.h) */
    struct origins *origins;       /* of undefined values in its blocks' own memory */
    struct frame *frames;          /* that calls have left, for the next ones */
    uint32_t frame_count;
    uint64_t divergent_count, branch_count;
    uint64_t begun;          /* blocks, not yet added to run->begun */
    uint64_t spent;          /* lane-instructions not yet charged */
    uint64_t allowance;      /* their maximum, set by run_charge */
    struct block **resident; /* in the order they started */
    uint32_t resident_count, resident_room;
    struct block *spares[CLUSTER_MAX]; /* for reuse */
    uint32_t spare_count;
    uint32_t idle;           /* rounds in which nothing changed */
    uint32_t polls;          /* rounds in which all warps polled and no block ended */
    uint64_t oldest;         /* number of the block that has been resident longest */
    uint32_t lasted;         /* its rounds */
    bool timed;              /* somebody read a clock in them: a wait may end by time */
    uint32_t emit_after;     /* entries after which a block becomes code (emit.h) */
    struct emitted *emitted; /* NULL: none does */
} __attribute__((aligned(128)));

/* Writes only if the value changes, because other threads read the same cache line. */
static inline void note_once(uint32_t *at, uint32_t value) {
    if (__atomic_load_n(at, __ATOMIC_RELAXED) != value) {
        __atomic_store_n(at, value, __ATOMIC_RELAXED);
    }
}

/* The allocation that contains the address, possibly freed; NULL if none. Notes in it
 * that this launch reads or writes it. */
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
/* The same for any access. */
static inline struct allocation *run_find(const struct run *run, uint64_t address) {
    return run_find_for(run, address, true, true);
}
/* The lanes of mask that the step's guard enables. */
static inline __attribute__((always_inline)) uint32_t
warp_guard(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t p = *(const uint32_t *)(const void *)(w->head.regs + s->guard);
    return mask & (s->guard_negated ? ~p : p);
}
/* Runs the step for the active lanes that its guard enables; warp->next is the step after
 * it. */
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
/* Zeroed memory on separate cache lines, for data that one of several threads writes
 * frequently. `count` is one of the program's; aborts if memory runs out. */
void *run_lines(size_t count, size_t size);
struct buf *run_printf_lock(struct run *run); /* the machine's output; then unlock */
void run_printf_unlock(struct run *run);
/* Marks the launch as faulted: it ends as a fault (at once without
 * MACHINE_CHECK_MEMORY). */
void run_fault(struct run *run);
/* False if the launch must end: the budget is used up, or it was stopped. Charges the
 * lane-instructions since the last call to a counter shared by all threads. To avoid
 * contention, a turn charges only after RUN_GATHERED lane-instructions, or when the rest
 * of the budget is reached. A single thread therefore stops at the first turn that
 * exceeds the budget; each of several threads may exceed it by RUN_GATHERED more. */
#define RUN_GATHERED (1u << 20)
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
