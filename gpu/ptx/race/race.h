#pragma once
/* race: two accesses to one place, one of them a write, that nothing puts in an order.
 *
 * Happens-before as in the PTX memory model (PTX ISA 9.0, "Memory Consistency Model"), by
 * vector clocks. Every access leaves an event (who, when, which instruction) in the
 * shadow of its bytes; one that comes later and does not know of it, races with it. What
 * a thread knows spreads by barriers, by __syncwarp, and from a release to the acquire
 * that reads it. Knowledge between warps is kept by warp, inside a warp by lane; where it
 * is not kept exactly, more is taken as ordered than is: a race may be missed, none is
 * made up.
 *
 * The hooks below are for every family of instructions that touches memory or
 * synchronises. Each of them is one comparison when no races are looked for (w->race is
 * NULL), and may be called for any lanes of the running split. With the check on, a
 * launch runs on one thread of the host, so nothing here locks.
 *
 * An instruction that only touches memory:     race_touch, for each of its lanes
 * one that synchronises through an object:     race_release_at when it arrives or
 * signals, race_acquire_at when it has seen that a copy that arrives later on its own:
 * race_copy_begin and race_copy_touch when it is issued; when it is complete
 *                                              race_copy_done_at its barrier, or
 *                                              race_copy_seen by who waited for it
 * all threads of a cluster meet:               race_release_at by each that arrives and
 *                                              race_acquire_at by each that goes on, at
 * one address of no memory */
#include "gpu/ptx/state/race_copy.h"
#include "gpu/ptx/state/warp.h"

enum race_kind { /* bits */
                 RACE_READ = 1,
                 RACE_WRITE = 2,
                 RACE_STRONG = 4, /* volatile, relaxed, acquire, release, atomic: two such
                                     never race */
                 RACE_ATOMIC = 8, /* for the words of a finding */
                 RACE_BLOCK_SCOPE =
                     16, /* .cta: strong among the threads of one block only */
                 RACE_ACQUIRE = 32,
                 RACE_RELEASE = 64,
                 RACE_FENCED =
                     128, /* a plain store, with a fence somewhere in front of it */
                 RACE_BLIND = 256, /* an atomic whose old value nobody reads: it does
                                      not tell what came before */
};

/* ---- accesses ---- */

/* The lane reads or writes these bytes: of the shared memory of `owner` at an offset, or,
 * owner NULL, of global memory at an address. In bounds or not; in front of the access
 * itself. */
void race_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
               uint64_t address, unsigned bytes, unsigned kind);
static inline void race_touch(struct warp *w, const struct step *s, unsigned lane,
                              struct block *owner, uint64_t address, unsigned bytes,
                              unsigned kind) {
    if (w->race) {
        race_note(w, s, lane, owner, address, bytes, kind);
    }
}

/* The same at an address of a space that instructions name: generic, global, shared. */
void race_note_at(struct warp *w, const struct step *s, unsigned lane,
                  enum ptx_space space, uint64_t address, unsigned bytes, unsigned kind);
static inline void race_touch_at(struct warp *w, const struct step *s, unsigned lane,
                                 enum ptx_space space, uint64_t address, unsigned bytes,
                                 unsigned kind) {
    if (w->race) {
        race_note_at(w, s, lane, space, address, bytes, kind);
    }
}

/* The same for a whole step of program->accesses, whose kind says how it synchronises;
 * the handler that machine_new puts in front of them (race_watch). */
void race_watch(struct program *p);
/* `kind` (RACE_READ, RACE_WRITE, RACE_ATOMIC) with what the instruction's words add. */
unsigned race_kind_of(const struct ptx_instruction *i, unsigned kind);

/* ---- synchronising ---- */

/* Objects are told apart by owner and address as above. A release adds all that the warp
 * has done and knows to the object; an acquire of the lanes takes all that is there. */
void race_publish(struct warp *w, struct block *owner, uint64_t address);
void race_learn(struct warp *w, uint32_t lanes, struct block *owner, uint64_t address);
/* A relaxed arrival hands on what was known at the last fence. */
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
/* As race_touch, done by the copy: nobody knows of it before it is complete, not even the
 * thread that issued it. */
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
/* It is complete: the warp, which waited and is of the same block, knows of it. */
void race_copy_told(struct warp *w, struct race_copy copy);
static inline void race_copy_seen(struct warp *w, struct race_copy copy) {
    if (copy.stamp) {
        race_copy_told(w, copy);
    }
}
/* It is complete: who acquires at this object, in the shared memory of `owner`, knows. */
void race_copy_publish(struct block *owner, uint64_t address, struct race_copy copy);
static inline void race_copy_done_at(struct block *owner, uint64_t address,
                                     struct race_copy copy) {
    if (copy.stamp) {
        race_copy_publish(owner, address, copy);
    }
}

/* ---- what the machine itself tells ---- */

struct race_run;
struct run;
struct race_run *race_run_new(void); /* of a machine: shadows outlive launches */
void race_run_free(struct race_run *r);
void race_run_begin(struct race_run *r, struct run *run);
void race_run_end(struct race_run *r);
/* What was left out in any launch, in words, or NULL. */
const char *race_run_limits(const struct race_run *r);
bool race_block_new(struct block *b); /* false: no memory */
void race_block_start(struct block *b);
void race_block_free(struct block *b);
struct race_shadow;
void race_shadow_free(struct race_shadow *s);

/* The waiting warps (a bit each) pass the barrier; a warp arrives and does not wait. */
void race_barrier_pass(struct block *b, unsigned id, uint32_t warps);
void race_barrier_arrive(struct warp *w, unsigned id);
/* A warp operation of these lanes has been done: orders = bar.warp.sync, which alone
 * orders memory. */
void race_meet(struct warp *w, uint32_t lanes, bool orders);
void race_fence(struct warp *w, bool block_scope);
