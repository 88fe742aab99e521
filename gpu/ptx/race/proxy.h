#pragma once
/* proxy: threads' writes to shared memory that an asynchronous engine may not see.
 *
 * Bulk copies and wgmma read shared memory through the async proxy. Between a thread's
 * store and such a read, a fence.proxy.async is required, by the thread itself or by one
 * that the store happened before. Bits 4-7 of shared memory's shadow mean "written by a
 * thread, no fence since"; this module records the writer. The order between threads is
 * approximate: a warp that passed a barrier, a wait or a strong read (warp->synced)
 * counts as knowing everything up to then. So missing fences may be missed, but none is
 * invented.
 *
 * Kept only for programs in which an engine reads shared memory, and with the check for
 * uninitialised reads; otherwise a block's `proxy` is NULL and stores cost nothing more.
 */
#include "gpu/ptx/state/block.h"

struct run;

bool proxy_new(struct block *b); /* false: no memory */
void proxy_start(struct block *b);
void proxy_free(struct block *b);
/* The memory that it needs per block of the run. */
uint64_t proxy_bytes(const struct run *run);
/* Wraps the stores of such a program to record writers. Call before race_watch. */
void proxy_watch(struct program *p);

void proxy_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
                uint64_t offset, uint64_t bytes);
/* The lane has written these bytes, which are in bounds; step NULL: its cp.async did. */
static inline void proxy_wrote(struct warp *w, const struct step *s, unsigned lane,
                               struct block *owner, uint64_t offset, uint64_t bytes) {
    if (owner->proxy) {
        proxy_note(w, s, lane, owner, offset, bytes);
    }
}

/* fence.proxy.async by these lanes. */
void proxy_fence(struct warp *w, uint32_t lanes);

/* The reader, for a finding. */
struct proxy_reader {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    const char *words;  /* "The copy" */
    bool passes_copies; /* bytes written by cp.async need no fence */
};
/* Checks a range that is in bounds; true: a finding was added. */
bool proxy_check(const struct proxy_reader *r, const struct block *b, uint64_t offset,
                 uint64_t bytes);
