#pragma once
/* cluster_life: whether a block may exit while others of its cluster still access its
 * shared memory.
 *
 * A block's shared memory disappears with the block: before its last thread exits, some
 * thread of it must know of every access by another block. Also, an mbarrier
 * must be initialised before another block uses it. Knowledge is kept per warp on the
 * accessing side and per block on the knowing side, and passed on by barriers, mbarriers,
 * fences and strong reads. The approximation assumes too much knowledge rather than too
 * little: an error may be missed, but none is invented.
 *
 * In blocks that are alone in their cluster every hook costs one comparison. */
#include "gpu/ptx/state/block.h"

struct cluster_life;

/* Call when a cluster starts; NULL for a single block. The first block owns it. */
struct cluster_life *life_start(struct block *const *blocks, uint32_t count);
void life_free(struct cluster_life *l);

/* The lane reads or writes shared memory of another block at an offset. */
void life_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
               uint64_t offset);
static inline void life_touch(struct warp *w, const struct step *s, unsigned lane,
                              struct block *owner, uint64_t offset) {
    if (owner != w->block) {
        life_note(w, s, lane, owner, offset);
    }
}
/* A copy will read the shared memory of the block that issues it, for another one. */
void life_copy(struct warp *w, const struct step *s, unsigned lane);

/* The warp passes its knowledge on: at the cluster's barrier, at an mbarrier, and by a
 * fence to strong readers. */
void life_arrive(struct warp *w);
void life_arrive_at(struct warp *w, struct mbarrier *m);
void life_fence(struct warp *w);
/* Call after strong accesses of the lanes. A strong read of another block's strong write
 * learns of that write. */
void life_synchronise(struct warp *w, const struct step *s, const struct access *a,
                      uint32_t mask);
static inline void life_strong(struct warp *w, const struct step *s,
                               const struct access *a, uint32_t mask) {
    if (w->block->cluster->life) {
        life_synchronise(w, s, a, mask);
    }
}
void life_pass(struct block *b);
void life_pass_at(struct block *b, const struct mbarrier *m);
/* All warps of the block know each other's accesses. */
void life_block_barrier(struct block *b);
/* A copy that this warp issued at `time` completes at the mbarrier. */
void life_complete_at(const struct warp *w, uint32_t time, struct mbarrier *m);
/* The copy was already reported as pending at the end of `b`; do not report it again. */
void life_told(struct block *b, const struct warp *w, uint32_t time);

/* Checks that another block's mbarrier was initialised before this use. */
void life_check_init(struct warp *w, const struct step *s, unsigned lane,
                     struct block *owner, const struct mbarrier *m);
/* The last thread exits, by this step. */
void life_exit(struct warp *w, const struct step *s);
/* Where it exited, for a finding about this block; false: unknown. */
struct finding_other;
bool life_exit_place(const struct block *b, struct finding_other *ret);
/* The block ended normally: adds findings. */
void life_end(struct block *b);
