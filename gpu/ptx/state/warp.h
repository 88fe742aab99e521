#pragma once
/* warp: 32 lanes, where each of them stands, and how they part and meet.
 *
 * Lanes that stand at the same step of the same call form a split; one split runs, the
 * others are pending. The deepest call and in it the lowest step goes first, so that
 * lanes meet again where paths join; at the head of every basic block equal splits merge.
 * A split that spins while others wait gives way after a number of turns, so that a lock
 * held by another lane of the warp is released (independent thread scheduling).
 *
 * A call is a frame for the lanes that made it together: the callee's registers for the
 * whole warp, its local memory and its parameter areas. */
#include "gpu/ptx/state/mbarriers.h"

struct block;
struct processor;
struct warp;

#define WARP_LANES 32
#define WARP_MAX_DEPTH 1024
#define LOCAL_MAX_BYTES (UINT64_C(512) << 10) /* of a thread */
#define LOCAL_MAX_TOTAL (UINT64_C(1) << 30)   /* with calls, of all resident blocks */

/* Lanes of a mask. By bit arithmetic, and the usual one at once: this is built for every
 * CPU of its family, where __builtin_popcount is a call that took 2 to 6 % of a run. */
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
    uint64_t local_top;         /* first byte behind what it and its callers own */
    uint64_t taken[WARP_LANES]; /* by alloca: local_top is above the most of them */
};

enum split_state {
    SPLIT_READY,
    SPLIT_BARRIER, /* at a block barrier */
    SPLIT_CLUSTER, /* at the barrier of the cluster */
    SPLIT_MEET,    /* at a warp operation, until its members are there */
    SPLIT_GROUP,   /* at an operation of a warpgroup, until its other warps are there */
};
struct split;
/* Lanes that wait for others of their warp: if all are there now, does what they wait for
 * and makes their splits ready. */
typedef void split_meet(struct warp *w, const struct split *p);
struct split {
    struct frame *frame;
    const struct step *next; /* where it goes on */
    const struct step *at;   /* the step it waits at */
    split_meet *meet;        /* MEET */
    uint32_t lanes;
    uint32_t members; /* MEET */
    uint8_t state;
    uint8_t barrier;
};

struct warp { /* what each turn touches comes first, on as few cache lines as will do */
    struct warp_head head;
    uint32_t active;   /* lanes of the running split; 0 ends its turn */
    uint32_t masks_of; /* the mask that `masks` spells out */
    const struct step *next;
    struct frame *frame;
    struct processor *processor;
    struct block *block;
    struct race_warp *race; /* what it knows of others (race.h); NULL: nobody looks */
    int32_t left;           /* steps of this turn */
    uint32_t hold;          /* heads of blocks for which lower splits have to wait */
    uint32_t spins;
    bool polled; /* in this turn: read what others may change */
    bool yielded;
    uint32_t live;  /* lanes that have not exited */
    uint32_t index; /* in the block */
    /* cluster->time when it took over what other warps know, when its lanes last met */
    uint32_t synced, met;
    uint32_t pending_count;
    struct split pending[WARP_LANES];
    uint8_t *local;        /* rows of 128 bytes: word w of lane l at 128 w + 4 l */
    uint8_t *local_shadow; /* rows of 32 bytes */
    uint64_t local_bytes;  /* per lane */
    uint64_t frame_bytes;  /* of all frames but the entry's */
    struct frame root;
    uint32_t frame_count;
    struct async_copy *copies; /* issued, not arrived (async_copies.c), in order */
    uint32_t copy_count, copy_room;
    uint64_t copy_order;              /* issued so far */
    uint32_t bulk_groups[WARP_LANES]; /* committed, of bulk copies (bulk_copies.h) */
    uint32_t cluster_arrived;         /* lanes, in this phase of the cluster's barrier */
    uint32_t cluster_owed;            /* lanes that have arrived and not yet waited */
    struct mbarrier_wait waits[MBARRIER_WAITS];
    uint32_t mbarrier_lanes; /* that arrived at one and have not gone on from a wait */
    uint32_t copy_groups[WARP_LANES]; /* committed */
    struct wgmma_queue *wgmma;        /* wgmma.h; NULL: none was used */
    struct undefined *undefined;      /* access/undefined.h; NULL: none was loaded */
    uint32_t masks[WARP_LANES] __attribute__((aligned(64)));
};

/* The masks that handlers want for `mask`. */
void warp_spell_mask(struct warp *w, uint32_t mask);
/* A split of it is ready. */
bool warp_can_run(const struct warp *w);
/* The split that goes first becomes the running one, with those that stand with it;
 * false: none is ready. */
bool warp_pick(struct warp *w);
/* Order of running: the deepest call, then the lowest step. */
bool split_goes_first(const struct split *a, const struct frame *frame,
                      const struct step *next);
/* The running split stops; its lanes become a pending split in that state. */
void warp_park(struct warp *w, uint32_t lanes, const struct step *at,
               enum split_state state, uint8_t barrier);
/* The same for lanes that wait for `members` of their warp. */
void warp_park_to_meet(struct warp *w, uint32_t lanes, const struct step *at,
                       uint32_t members, split_meet *meet);
/* Warp operations that can go on after lanes have come or left. */
void warp_check_meets(struct warp *w);
/* The lanes leave for good; run->lanes_left hears of it. */
void warp_exit_lanes(struct warp *w, uint32_t lanes);

/* A call by `lanes`, or NULL (a finding is made, the lanes are gone). */
struct frame *frame_enter(struct warp *w, const struct step *s, const struct code *code,
                          const struct call_site *site, uint32_t lanes);
void frame_leave(struct warp *w, struct frame *f, uint32_t lanes);
void frame_fill_specials(struct warp *w, const struct frame *f);
/* Only those that differ between blocks. */
void frame_fill_block_specials(struct warp *w, const struct frame *f);
/* false: no local memory for it (a finding is made). */
bool warp_local_reserve(struct warp *w, uint64_t bytes);
