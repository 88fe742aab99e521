#pragma once
/* race_internal: the data of the race detector; private to race*.c.
 *
 * Time is one counter that advances with every synchronisation; a warp stamps its
 * accesses with the time of its last synchronisation. "Knows a warp up to t" means: all
 * of its accesses with stamps up to t happened before. Stamps only grow, also over
 * launches, so nothing has to be cleared between blocks and launches: accesses older than
 * the beginning are ignored. */
#include "gpu/ptx/race/race.h"
#include "gpu/ptx/state/run.h"

/* Who accesses: the warps of a block, and for each of them the copies that it issued. */
#define RACE_COPIES 32u
#define RACE_AGENTS 64u

/* ---- events and shadows ---- */

/* All accesses of an instruction by a warp between two synchronisations. */
struct race_event {
    const struct step *step;
    uint32_t stamp, block, function;
    uint8_t agent, kind; /* without RACE_BLIND */
    uint16_t size;       /* race_size */
    /* of a strong access: the place in the order of all events, and how far the block's
     * warps knew each other then */
    uint32_t order, synced;
};
/* The size of an access in 16 bits: from 32 KiB on, which only copies have, in units of
 * 16 bytes. */
#define RACE_SIXTEENS 0x8000u
static inline uint16_t race_size(unsigned bytes) {
    return (uint16_t)(bytes < RACE_SIXTEENS ? bytes : RACE_SIXTEENS | bytes >> 4);
}
static inline unsigned race_bytes(const struct race_event *e) {
    return e->size < RACE_SIXTEENS ? e->size : (e->size & (RACE_SIXTEENS - 1)) << 4;
}

#define RACE_LANE_BITS 6
#define RACE_APART 32u /* of a second reader: another warp's than the first */
#define RACE_MAX_ID (UINT32_C(1) << (32 - RACE_LANE_BITS))
#define RACE_CACHE 256

struct race_events {
    struct race_event *items; /* of the ids from first to next */
    uint32_t first, next, room, most;
    /* changes when ids restart: cells of an older generation mean nothing */
    uint32_t generation;
    uint32_t cache[RACE_CACHE];
};
#define RACE_EVENTS(limit) ((struct race_events){.first = 1, .next = 1, .most = (limit)})

/* A cell stands for 1 << grain bytes: event id << 6 | lane, 0 = none. Of the readers
 * since the last write two are kept, of different blocks or warps if there are such. */
struct race_shadow {
    uint32_t *write, *read[2]; /* NULL: nothing yet */
    uint32_t *other;           /* NULL: nothing yet. A strong write of another warp or
                                  block in front of the last one, which was blind to it */
    uint32_t *plain; /* NULL: nothing yet. The plain write in front of strong ones, which
                        hide it from others that are strong */
    uint64_t bytes;  /* that it stands for */
    uint64_t held;   /* bytes of the planes, counted in */
    struct race_run *run;
    uint32_t generation;
    uint32_t written; /* id of the last event that left a write, 0: none */
    uint8_t grain;    /* 2; less after accesses of fewer bytes */
};

/* ---- knowledge ---- */

struct race_clocks { /* of one block; never changed once others see it */
    uint32_t refs;
    uint32_t t[RACE_AGENTS];
};
#define RACE_FAN_BITS 4
#define RACE_FAN (1u << RACE_FAN_BITS)
/* By block, a tree of fan-out 16, shared between those with the same knowledge: children
 * are struct race_clocks on the lowest level. Never changed once it is shared. */
struct race_know {
    uint32_t refs;
    void *child[RACE_FAN];
};

/* An object that threads synchronise through. */
struct race_object {
    uint64_t address;
    struct race_know *all;   /* for everybody */
    struct race_know *block; /* for the block only */
    uint32_t of_block;
    bool used;
};
struct race_objects {
    struct race_object *items;
    uint32_t count, room; /* power of two */
};

/* The values that a plain store to global memory has stored in this launch. If it is
 * always the same value, such as the level of a search or `changed = 1`, the race is
 * mostly harmless for concurrent readers. */
struct race_store {
    uint64_t value;
    bool seen, varied;
    bool harmless; /* so far: more than once, and always the same */
};

/* race_quick.c, for a vector extension. */
struct access;
typedef bool race_quick(struct warp *w, const struct step *s, uint32_t mask);
extern race_quick race_quick_baseline, race_quick_avx2, race_quick_avx512,
    race_quick_neon;

struct race_run {
    struct findings *findings; /* borrowed */
    race_quick *quick;
    struct race_store *stores; /* by the program's accesses */
    uint32_t time;
    uint32_t levels;           /* of struct race_know */
    struct race_events events; /* global memory */
    struct race_objects objects;
    uint64_t shadow_bytes, know_bytes;
    bool coarse;    /* too many blocks to track: they count as ordered */
    bool forgotten; /* events were dropped */
    char limits[256];
};

struct race_warp {
    uint32_t stamp;
    uint32_t known[RACE_AGENTS]; /* of its own block */
    struct race_know *foreign;
    struct race_know *fenced, *fenced_block; /* at the last fence; .cta ones too */
    /* By lane: knows all of the warp up to all, the lanes of mask up to part; took part
     * in a warp operation at meet. */
    uint32_t all[WARP_LANES], part[WARP_LANES], mask[WARP_LANES], meet[WARP_LANES];
};

struct race_barrier { /* of those who arrived and did not wait */
    uint32_t known[RACE_AGENTS];
    struct race_know *foreign, *fenced, *fenced_block;
};

/* A signal: a strong write of another warp that a RACE_SIGNAL read of this block saw. */
struct race_seen {
    struct race_event write, read;
    unsigned write_lane;
    uint32_t lanes; /* that read it */
};
#define RACE_SEEN 32u

struct race_block {
    uint32_t synced; /* all of the block's warps know each other up to here */
    bool copies;     /* some were issued */
    bool clustered;
    struct race_shadow shadow;
    struct race_events events;
    struct race_objects objects;
    struct race_barrier barriers[BLOCK_BARRIERS];
    struct race_seen seen[RACE_SEEN]; /* the latest ones */
    uint32_t seen_count;              /* of all so far */
    struct race_warp *warps;
};

static inline uint32_t race_tick(struct race_run *r) {
    r->time += r->time < UINT32_MAX - 1;
    return r->time;
}

/* race_shadow.c */
/* Ignores all accesses so far. */
void race_events_void(struct race_events *e);
/* The id of an event like this; *ret_forgot is set when older ones had to be dropped.
 * alone: no earlier one will do, because its place in the order counts. */
uint32_t race_events_add(struct race_events *e, const struct race_event *event,
                         bool alone, bool *ret_forgot);
void race_shadow_finish(struct race_shadow *s);
/* Cells of at most 1 << grain bytes in the requested planes; false: no memory. */
bool race_shadow_prepare(struct race_run *r, struct race_shadow *s,
                         const struct race_events *e, unsigned grain, bool reads);
/* Allocates a plane of the shadow, `other` or `plain`; false: no memory. */
bool race_shadow_plane(struct race_run *r, struct race_shadow *s, uint32_t **plane);

/* race_know.c: references are counted; NULL knows nothing. */
struct race_know *race_know_ref(struct race_know *k);
void race_know_unref(struct race_run *r, struct race_know **k);
/* Adds the knowledge of `more` to *to. */
void race_know_join(struct race_run *r, struct race_know **to, struct race_know *more);
/* Of one block. */
void race_know_add(struct race_run *r, struct race_know **to, uint32_t block,
                   const uint32_t t[RACE_AGENTS]);
const struct race_clocks *race_know_find(const struct race_run *r,
                                         const struct race_know *k, uint32_t block);
struct race_object *race_object_find(const struct race_objects *o, uint64_t address);
/* NULL: there are too many. */
struct race_object *race_object_add(struct race_objects *o, uint64_t address);
void race_objects_clear(struct race_run *r, struct race_objects *o);

/* race_order.c */
static inline struct race_run *race_of(const struct warp *w) {
    return w->processor->run->race;
}
/* What strong accesses of the lanes do besides reading and writing. */
void race_synchronise(struct warp *w, uint32_t lanes, struct block *owner,
                      const uint64_t addresses[WARP_LANES], unsigned kind);

/* race_look.c: in front of an access's own handler */
void race_step(struct warp *w, const struct step *s, uint32_t mask);
/* A plain store of these lanes to global memory. */
void race_store_note(struct warp *w, const struct step *s, uint32_t mask);
/* Stores of one instruction to one place, after they were recorded: addresses by lane. */
struct look;
void race_check_lanes(const struct look *k, const struct access *a,
                      const uint64_t addresses[WARP_LANES], uint32_t mask);

/* race_tell.c */
struct race_conflict {
    struct warp *warp;
    const struct step *step;
    unsigned lane, bytes, kind;
    struct block *owner; /* NULL: global */
    uint64_t address;
    const struct race_event *other;
    unsigned other_lane;
    bool same_value, same_instruction, met;
};
void race_tell(const struct race_conflict *c);
/* Both are strong, and the read relies on a signal that came after the write. */
void race_tell_signal(const struct race_conflict *c, const struct race_seen *signal);
/* Both are volatile, of lanes that only lock step would keep in order. */
void race_tell_lock_step(const struct race_conflict *c);
