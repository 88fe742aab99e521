#pragma once
/* cluster_life: may a block exit while others of its cluster still reach into its shared
 * memory?
 *
 * A block's shared memory is gone with the block: before its last thread exits, some
 * thread of it must know of every access that another block made there. And an mbarrier
 * must be initialised before another block uses it. What is known is kept by warp on the
 * side that accesses and by block on the side that knows, as far as barriers, mbarriers,
 * fences and strong reads hand it on; more is taken as known than is, never less: an
 * error may be missed, none is made up.
 *
 * Every hook is one comparison in blocks that are alone in their cluster. */
#include "gpu/ptx/state/block.h"

struct cluster_life;

/* A cluster begins; NULL for one block alone. The first block keeps it. */
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

/* What the warp knows goes to who waits at the cluster's barrier, at an mbarrier, to who
 * reads strongly after a fence. */
void life_arrive(struct warp *w);
void life_arrive_at(struct warp *w, struct mbarrier *m);
void life_fence(struct warp *w);
/* Strong accesses of the lanes, when they are done. Who reads what another block wrote
 * strongly knows of that write. */
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
/* The same copy was told to be on its way at the end of `b`: once is enough. */
void life_told(struct block *b, const struct warp *w, uint32_t time);

/* An mbarrier of another block is used: was its mbarrier.init before? */
void life_check_init(struct warp *w, const struct step *s, unsigned lane,
                     struct block *owner, const struct mbarrier *m);
/* The last thread leaves, by this step. */
void life_exit(struct warp *w, const struct step *s);
/* Where it did, for a finding about this block; false: it is not known. */
struct finding_other;
bool life_exit_place(const struct block *b, struct finding_other *ret);
/* The block has ended well: findings. */
void life_end(struct block *b);
