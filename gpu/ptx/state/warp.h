#pragma once
/* warp: 32 lanes, their positions, and how they diverge and reconverge.
 *
 * Lanes at the same step of the same call form a split; one split runs, the others are
 * pending. The split with the deepest call, and among those the lowest step, runs first,
 * so that lanes meet again where paths join; at the head of every basic block equal
 * splits merge. A split that spins while others wait yields after a number of turns, so
 * that another lane of the warp can release a lock (independent thread scheduling).
 *
 * A call creates a frame for the lanes that made it together: the callee's registers for
 * the whole warp, its local memory and its parameter areas. */
#include "gpu/ptx/state/mbarriers.h"

struct processor;

#define WARP_LANES 32
#define WARP_MAX_DEPTH 16384
#define LOCAL_MAX_BYTES (UINT64_C(512) << 10) /* of a thread */
#define LOCAL_MAX_TOTAL (UINT64_C(1) << 30)   /* with calls, of all resident blocks */

/* The number of lanes in a mask, by bit arithmetic, with a fast path for the usual mask:
 * this is compiled for any x86-64, where __builtin_popcount is a call that took 2 to 6 %
 * of a run. */
static inline uint32_t lanes_in(uint32_t mask) {
    if (mask == UINT32_MAX) {
        return WARP_LANES;
    }
    mask -= mask >> 1 & 0x55555555u;
    mask = (mask & 0x33333333u) + (mask >> 2 & 0x33333333u);
    return ((mask + (mask >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

struct frame {
    struct frame *parent;
    const struct step *return_to;
    const struct call_site *site; /* of the parent's code; NULL of the entry */
    const struct code *code;
    uint8_t *regs;
    uint32_t lanes; /* still in it */
    uint32_t depth;
    uint64_t local_base;
    uint64_t stack_bytes;       /* of it and its callers, at least; of a kernel not set */
    uint64_t local_top;         /* end of the local memory of it and its callers */
    uint64_t taken[WARP_LANES]; /* by alloca, per lane; local_top includes the largest */
};

enum split_state {
    SPLIT_READY,
    SPLIT_BARRIER, /* at a block barrier */
    SPLIT_CLUSTER, /* at the barrier of the cluster */
    SPLIT_MEET,    /* at a warp operation, waiting for its members */
    SPLIT_GROUP,   /* at a warpgroup operation, waiting for the other warps */
};
struct split;
/* For lanes that wait for others of their warp: if all have arrived, performs the
 * operation and makes their splits ready. */
typedef void split_meet(struct warp *w, const struct split *p);
struct split {
    struct frame *frame;
    const struct step *next; /* where it continues */
    const struct step *at;   /* the step it waits at */
    split_meet *meet;        /* MEET */
    uint32_t lanes;
    uint32_t members; /* MEET */
    uint8_t state;
    uint8_t barrier;
};

struct warp { /* the members of every turn come first, on few cache lines */
    struct warp_head head;
    uint32_t active;   /* lanes of the running split; 0 ends its turn */
    uint32_t masks_of; /* the mask that `masks` represents */
    const struct step *next;
    struct frame *frame;
    struct processor *processor;
    struct block *block;
    struct race_warp *race; /* its knowledge of others (race.h); NULL: no race check */
    int32_t left;           /* steps of this turn */
    uint32_t hold;          /* block heads that lower splits must let pass */
    uint32_t spins;
    bool polled; /* in this turn: read memory that others may change */
    bool yielded;
    uint32_t live;  /* lanes that have not exited */
    uint32_t index; /* in the block */
    /* cluster->time when it last learned from other warps, and when its lanes last met */
    uint32_t synced, met;
    uint32_t pending_count;
    struct split pending[WARP_LANES];
    uint8_t *local;        /* rows of 128 bytes: word w of lane l at 128 w + 4 l */
    uint8_t *local_shadow; /* rows of 32 bytes */
    uint64_t local_bytes;  /* per lane */
    struct frame root;
    struct async_copy *copies; /* issued, not arrived (async_copies.c), in order */
    uint32_t copy_count, copy_room;
    uint64_t copy_order;              /* issued so far */
    uint32_t bulk_groups[WARP_LANES]; /* committed, of bulk copies (bulk_copies.h) */
    uint32_t cluster_arrived;         /* lanes, in this phase of the cluster's barrier */
    uint32_t cluster_owed;            /* lanes that have arrived and not yet waited */
    struct mbarrier_wait waits[MBARRIER_WAITS];
    uint32_t mbarrier_lanes; /* that arrived at one and have not completed a wait */
    uint32_t copy_groups[WARP_LANES]; /* committed */
    struct wgmma_queue *wgmma;        /* wgmma.h; NULL: none was used */
    struct undefined *undefined;      /* access/undefined.h; NULL: none was loaded */
    uint32_t masks[WARP_LANES] __attribute__((aligned(64)));
};

/* Sets `masks`, the form that handlers use, for `mask`. */
void warp_spell_mask(struct warp *w, uint32_t mask);
/* Whether a split is ready. */
bool warp_can_run(const struct warp *w);
/* Makes the first split in running order the running one, merged with equal ones; false:
 * none is ready. */
bool warp_pick(struct warp *w);
/* The running order: the deepest call, then the lowest step. */
bool split_goes_first(const struct split *a, const struct frame *frame,
                      const struct step *next);
/* The running split stops; its lanes become a pending split in that state. */
void warp_park(struct warp *w, uint32_t lanes, const struct step *at,
               enum split_state state, uint8_t barrier);
/* The same for lanes that wait for `members` of their warp. */
void warp_park_to_meet(struct warp *w, uint32_t lanes, const struct step *at,
                       uint32_t members, split_meet *meet);
/* Continues warp operations that are complete after lanes have arrived or exited. */
void warp_check_meets(struct warp *w);
/* The lanes exit; calls run->lanes_left. */
void warp_exit_lanes(struct warp *w, uint32_t lanes);

/* Enters a call by `lanes`; NULL on failure: adds a finding and the lanes exit. */
struct frame *frame_enter(struct warp *w, const struct step *s, const struct code *code,
                          const struct call_site *site, uint32_t lanes);
void frame_leave(struct warp *w, struct frame *f, uint32_t lanes);
/* Those that a processor keeps. */
void frames_free(struct processor *p);
void frame_fill_specials(struct warp *w, const struct frame *f);
/* Only the special registers that differ between blocks. */
void frame_fill_block_specials(struct warp *w, const struct frame *f);
/* False: no local memory left; adds a finding. */
bool warp_local_reserve(struct warp *w, uint64_t bytes);
