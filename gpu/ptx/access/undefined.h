#pragma once
/* undefined: follows values that were loaded from uninitialised bytes.
 *
 * Compilers hoist a load above a condition though only one side uses it, and libraries
 * copy padding: a load alone is no error. Its value is followed through registers,
 * shuffles and memory (state/origins.h). Following ends at a selection that takes the
 * other value, at a logical operation that the other side decides, and at a register that
 * is not read any more. A finding, placed at the load, is made when one of these depends
 * on the value: an address, a branch, a call, an operation of several lanes or of an
 * engine, an atomic, a store that the host sees, a copy to the host.
 *
 * Only warps that hold such values become slower: they leave the plain loop of warp_run,
 * and undefined_run runs their steps until the last such value is gone. For one
 * thread. */
#include "gpu/ptx/access/access_fault.h"

struct undefined;

/* A lane's load has read such bytes (bits of `missing`); call while its step runs. from:
 * reported if something depends on them. */
void undefined_loaded(const struct access_fault *f, const struct origin *from,
                      uint32_t missing);

/* A load has stopped the running split in order to be followed: continues after it. */
bool undefined_resume(struct warp *w);
/* Whether the warp holds such values. */
bool undefined_is_held(const struct warp *w);
/* Runs the split as long as it holds such values. head: the step at the head of a
 * block. */
void undefined_run(struct warp *w, step_run *head);

/* Lanes, of one split or of several, that meet at a shuffle. */
struct shuffled {
    struct shuffled_part {
        const struct frame *frame;
        const struct step *step;
        uint32_t lanes;
    } part[WARP_LANES];
    unsigned parts;
    uint8_t from[WARP_LANES]; /* the lane that provides each one's value */
};
void undefined_shuffle(struct warp *w, const struct shuffled *s);

void undefined_start(struct warp *w); /* a block begins, without such values */
void undefined_free(struct undefined *u);
