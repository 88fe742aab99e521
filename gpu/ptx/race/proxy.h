#pragma once
/* proxy: the threads' writes to shared memory that an engine may not have seen.
 *
 * Bulk copies and wgmma read shared memory through the async proxy: between a thread's
 * store and such a read a fence.proxy.async is owed, by the thread itself or by one that
 * the store happened before. Bits 4-7 of shared memory's shadow say "written by a thread,
 * no fence since"; here stands who wrote. Of the order between threads only so much is
 * known: a warp that passed a barrier, a wait or a strong read (warp->synced) knows all
 * that was done until then. So fences that are missing may go unseen, none is made up.
 *
 * Kept only for programs in which an engine reads shared memory, and with the check for
 * uninitialised reads: without either a block's `proxy` is NULL and stores are as fast as
 * ever. */
#include "gpu/ptx/state/block.h"

struct run;

bool proxy_new(struct block *b); /* false: no memory */
void proxy_start(struct block *b);
void proxy_free(struct block *b);
/* Bytes of it, for a block of the run. */
uint64_t proxy_bytes(const struct run *run);
/* Stores of such a program leave a note. In front of race_watch. */
void proxy_watch(struct program *p);

void proxy_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
                uint64_t offset, uint64_t bytes);
/* The lane has written bytes that are inside; a cp.async of it has: step NULL. */
static inline void proxy_wrote(struct warp *w, const struct step *s, unsigned lane,
                               struct block *owner, uint64_t offset, uint64_t bytes) {
    if (owner->proxy) {
        proxy_note(w, s, lane, owner, offset, bytes);
    }
}

/* fence.proxy.async by these lanes. */
void proxy_fence(struct warp *w, uint32_t lanes);

/* What reads, in a finding's words. */
struct proxy_reader {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    const char *words;  /* "The copy" */
    bool passes_copies; /* bytes that cp.async brought are taken as they are */
};
/* true: a finding for the range, which is inside, was made. */
bool proxy_check(const struct proxy_reader *r, const struct block *b, uint64_t offset,
                 uint64_t bytes);
