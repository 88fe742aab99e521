#pragma once
/* race: detects two accesses to one place, one of them a write, that nothing orders.
 *
 * Uses happens-before of the PTX memory model (PTX ISA 9.0, "Memory Consistency Model")
 * with vector clocks. Every access leaves an event (who, when, which instruction) in the
 * shadow of its bytes; a later access that does not know of the event races with it. A
 * thread's knowledge spreads through barriers, __syncwarp, and from a release to the
 * acquire that reads it. Knowledge between warps is kept per warp, inside a warp per
 * lane. Where it is not exact, accesses count as ordered: races may be missed, but none
 * is invented.
 *
 * All families of instructions that access memory or synchronise call the hooks below.
 * Without the check (w->race is NULL) each costs one comparison. They may be called for
 * any lanes of the running split. With the check, a launch runs on one host thread, so
 * there are no locks here. Which hooks to call:
 *
 * - an access: race_touch, for each of its lanes;
 * - synchronisation by an object: race_release_at when it arrives or signals,
 *   race_acquire_at when it has seen that;
 * - an asynchronous copy: race_copy_begin and race_copy_touch when it is issued; on
 *   completion race_copy_done_at its barrier, or race_copy_seen by the waiting thread;
 * - a barrier of a cluster: race_release_at by each thread that arrives, race_acquire_at
 *   by each that continues, at one address that is no memory. */
#include "gpu/ptx/state/program.h"
#include "gpu/ptx/state/race_copy.h"
#include "gpu/ptx/state/warp.h"

enum race_kind { /* bits */
                 RACE_READ = 1,
                 RACE_WRITE = 2,
                 RACE_STRONG = 4, /* volatile, relaxed, acquire, release, atomic: two such
                                     never race */
                 RACE_ATOMIC = 8, /* for the message of a finding */
                 RACE_BLOCK_SCOPE =
                     16, /* .cta: strong among the threads of one block only */
                 RACE_ACQUIRE = 32,
                 RACE_RELEASE = 64,
                 RACE_FENCED = 128, /* a plain store, with a fence somewhere before it */
                 RACE_BLIND = 256,  /* an atomic whose old value nobody reads: it learns
                                       nothing about earlier accesses */
    RACE_SIGNAL = 512, /* what it reads says how far others have come (race_signal.c) */
    RACE_GUESS = 1024, /* correct whatever it reads */
    RACE_UNLOCK = 2048, /* gives back a lock that a compare-and-swap takes: RACE_SIGNAL in
                           the same function, RACE_TRIED in another */
    RACE_TRIED = 4096,  /* takes a lock if such a write is what it reads */
};

/* ---- accesses ---- */

/* The lane reads or writes these bytes: in the shared memory of `owner` at an offset,
 * or, if owner is NULL, in global memory at an address, in bounds or not. Call before
 * the access itself. */
void race_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
               uint64_t address, unsigned bytes, unsigned kind);
static inline void race_touch(struct warp *w, const struct step *s, unsigned lane,
                              struct block *owner, uint64_t address, unsigned bytes,
                              unsigned kind) {
    if (w->race) {
        race_note(w, s, lane, owner, address, bytes, kind);
    }
}

/* The same for an address in a space: generic, global or shared. */
void race_note_at(struct warp *w, const struct step *s, unsigned lane,
                  enum ptx_space space, uint64_t address, unsigned bytes, unsigned kind);
static inline void race_touch_at(struct warp *w, const struct step *s, unsigned lane,
                                 enum ptx_space space, uint64_t address, unsigned bytes,
                                 unsigned kind) {
    if (w->race) {
        race_note_at(w, s, lane, space, address, bytes, kind);
    }
}

/* Wraps the handlers of program->accesses so that they call these hooks. */
void race_watch(struct program *p);
/* The step's handler without the wrapper, and what the wrapper does before it. */
step_run *race_handler(const struct access *a, const struct step *s);
void race_note_lanes(struct warp *w, const struct step *s, uint32_t mask);
/* `kind` (RACE_READ, RACE_WRITE, RACE_ATOMIC) plus the bits of the instruction's
 * modifiers. */
unsigned race_kind_of(const struct ptx_instruction *i, unsigned kind);

/* ---- synchronising ---- */

/* Owner and address, as above, identify objects. A release adds everything that the warp
 * has done and knows to the object; an acquire gives the lanes everything in it. */
void race_publish(struct warp *w, struct block *owner, uint64_t address);
void race_learn(struct warp *w, uint32_t lanes, struct block *owner, uint64_t address);
/* A relaxed arrival passes on what was known at the last fence. */
void race_publish_fenced(struct warp *w, struct block *owner, uint64_t address);
static inline void race_release_at(struct warp *w, struct block *owner,
                                   uint64_t address) {
    if (w->race) {
        race_publish(w, owner, address);
    }
}
static inline void race_acquire_at(struct warp *w, uint32_t lanes, struct block *owner,
                                   uint64_t address) {
    if (w->race) {
        race_learn(w, lanes, owner, address);
    }
}

/* ---- copies that arrive on their own ---- */

struct race_copy race_copy_new(struct warp *w);
static inline struct race_copy race_copy_begin(struct warp *w) {
    return w->race ? race_copy_new(w) : (struct race_copy){.stamp = 0};
}
/* As race_touch, by the copy: no thread knows of it before it is complete, not even the
 * one that issued it. */
void race_copy_note(struct warp *w, const struct step *s, unsigned lane,
                    struct block *owner, uint64_t address, unsigned bytes, unsigned kind,
                    struct race_copy copy);
static inline void race_copy_touch(struct warp *w, const struct step *s, unsigned lane,
                                   struct block *owner, uint64_t address, unsigned bytes,
                                   unsigned kind, struct race_copy copy) {
    if (copy.stamp) {
        race_copy_note(w, s, lane, owner, address, bytes, kind, copy);
    }
}
/* It is complete: the warp, which waited and belongs to the same block, knows of it. */
void race_copy_told(struct warp *w, struct race_copy copy);
static inline void race_copy_seen(struct warp *w, struct race_copy copy) {
    if (copy.stamp) {
        race_copy_told(w, copy);
    }
}
/* It is complete: threads that acquire at this object, in the shared memory of `owner`,
 * know of it. */
void race_copy_publish(struct block *owner, uint64_t address, struct race_copy copy);
static inline void race_copy_done_at(struct block *owner, uint64_t address,
                                     struct race_copy copy) {
    if (copy.stamp) {
        race_copy_publish(owner, address, copy);
    }
}

/* ---- calls by the machine itself ---- */

struct race_run;
struct run;
struct race_run *race_run_new(void); /* of a machine: shadows outlive launches */
void race_run_free(struct race_run *r);
void race_run_begin(struct race_run *r, struct run *run);
void race_run_end(struct race_run *r);
/* A text on what was left out in any launch, or NULL. */
const char *race_run_limits(const struct race_run *r);
bool race_block_new(struct block *b); /* false: no memory */
void race_block_start(struct block *b);
void race_block_free(struct block *b);
struct race_shadow;
void race_shadow_free(struct race_shadow *s);

/* The waiting warps (a bit each) pass the barrier; a warp arrives without waiting. */
void race_barrier_pass(struct block *b, unsigned id, uint32_t warps);
void race_barrier_arrive(struct warp *w, unsigned id);
/* A warp operation of these lanes is complete. orders: it is bar.warp.sync, the only one
 * that orders memory. */
void race_meet(struct warp *w, uint32_t lanes, bool orders);
void race_fence(struct warp *w, bool block_scope);
