#pragma once
/* undefined: values that were loaded from bytes that nobody had written.
 *
 * Compilers load in front of a condition what only one of its sides uses, and libraries
 * copy padding: a load alone is no mistake. What it gave is followed through registers,
 * shuffles and memory (state/origins.h). A selection that takes the other value, a
 * logical operation that the other side decides, and a register that nobody reads any
 * more end it. What depends on it makes the finding, which stands at the load: an
 * address, a branch, a call, an operation of several lanes or of an engine, an atomic, a
 * store where the host sees it, a copy to the host.
 *
 * Only warps that hold such values pay: they leave the plain loop of warp_run, and
 * undefined_run runs their steps until the last one is gone. Of one thread. */
#include "gpu/ptx/access/access_fault.h"

struct undefined;

/* A lane's load has read such bytes (bits of `missing`); called while its step runs.
 * from: what is told if something depends on them. */
void undefined_loaded(const struct access_fault *f, const struct origin *from,
                      uint32_t missing);

/* A load has stopped the running split, to be followed: goes on behind it. */
bool undefined_resume(struct warp *w);
/* Does the warp hold such values? */
bool undefined_is_held(const struct warp *w);
/* Runs the split while it does. head: the step at the head of a block. */
void undefined_run(struct warp *w, step_run *head);

/* Lanes, of one split or of several, that have met at a shuffle. */
struct shuffled {
    struct shuffled_part {
        const struct frame *frame;
        const struct step *step;
        uint32_t lanes;
    } part[WARP_LANES];
    unsigned parts;
    uint8_t from[WARP_LANES]; /* the lane that each one's value comes from */
};
void undefined_shuffle(struct warp *w, const struct shuffled *s);

void undefined_start(struct warp *w); /* of a block: holds none */
void undefined_free(struct undefined *u);
