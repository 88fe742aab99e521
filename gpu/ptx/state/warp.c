#include "gpu/ptx/state/warp.h"
#include "base/find.h"

#include "gpu/ptx/state/run.h"

bool split_goes_first(const struct split *a, const struct frame *frame,
                      const struct step *next) {
    if (a->frame == frame) {
        return a->next < next;
    }
    if (a->frame->depth != frame->depth) {
        return a->frame->depth > frame->depth;
    }
    if (a->frame->code != frame->code) {
        return a->frame->code->index < frame->code->index;
    }
    return a->next < next;
}

typedef uint32_t four_words __attribute__((vector_size(16), may_alias));

/* Where lanes part this is done for most steps. */
void warp_spell_mask(struct warp *w, uint32_t mask) {
    four_words *to = (four_words *)(void *)w->masks;
    four_words all = {mask, mask, mask, mask}, bits = {1, 2, 4, 8};
    w->masks_of = mask;
    for (unsigned k = 0; k < WARP_LANES / 4; k++, bits <<= 4) {
        to[k] = (four_words)((all & bits) == bits);
    }
}

bool warp_can_run(const struct warp *w) {
    return any_of(k, 0, w->pending_count, w->pending[k].state == SPLIT_READY);
}

static void split_remove(struct warp *w, uint32_t k) {
    w->pending_count--;
    for (; k < w->pending_count; k++) {
        w->pending[k] = w->pending[k + 1];
    }
}

static void split_resume(struct warp *w, const struct split *p) {
    w->frame = p->frame;
    w->head.regs = p->frame->regs;
    w->next = p->next;
    w->active = p->lanes;
}

/* Of several. */
static __attribute__((noinline)) bool pick_first(struct warp *w) {
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < w->pending_count; k++) {
        const struct split *p = &w->pending[k];
        if (p->state == SPLIT_READY &&
            (best == UINT32_MAX ||
             split_goes_first(p, w->pending[best].frame, w->pending[best].next))) {
            best = k;
        }
    }
    if (best == UINT32_MAX) {
        return false;
    }
    struct split p = w->pending[best];
    split_remove(w, best);
    for (uint32_t k = 0; k < w->pending_count;) { /* those that stand with it */
        struct split *q = &w->pending[k];
        if (q->state == SPLIT_READY && q->frame == p.frame && q->next == p.next) {
            p.lanes |= q->lanes;
            split_remove(w, k);
        } else {
            k++;
        }
    }
    split_resume(w, &p);
    return true;
}

bool warp_pick(struct warp *w) {
    if (w->pending_count != 1) {
        return w->pending_count > 0 && pick_first(w);
    }
    if (w->pending[0].state != SPLIT_READY) {
        return false;
    }
    w->pending_count = 0;
    split_resume(w, &w->pending[0]);
    return true;
}

void warp_park(struct warp *w, uint32_t lanes, const struct step *at,
               enum split_state state, uint8_t barrier) {
    w->active &= ~lanes;
    w->pending[w->pending_count++] = (struct split){.frame = w->frame,
                                                    .next = w->next,
                                                    .at = at,
                                                    .lanes = lanes,
                                                    .state = (uint8_t)state,
                                                    .barrier = barrier};
}

void warp_park_to_meet(struct warp *w, uint32_t lanes, const struct step *at,
                       uint32_t members, split_meet *meet) {
    warp_park(w, lanes, at, SPLIT_MEET, 0);
    struct split *p = &w->pending[w->pending_count - 1];
    p->members = members;
    p->meet = meet;
}

void warp_check_meets(struct warp *w) {
    for (uint32_t k = 0; k < w->pending_count; k++) {
        if (w->pending[k].state == SPLIT_MEET) {
            w->pending[k].meet(w, &w->pending[k]);
        }
    }
}

static void leave_calls(struct warp *w, struct frame *f, uint32_t lanes) {
    while (f && lanes) {
        struct frame *parent = f->parent;
        frame_leave(w, f, lanes);
        f = parent;
    }
}

void warp_exit_lanes(struct warp *w, uint32_t lanes) {
    struct block *b = w->block;
    leave_calls(w, w->frame, w->active & lanes);
    b->live_threads -= lanes_in(w->live & lanes);
    w->live &= ~lanes;
    b->live_warps &= ~((uint32_t)(w->live == 0) << w->index);
    w->active &= ~lanes;
    for (uint32_t k = 0; k < w->pending_count;) {
        leave_calls(w, w->pending[k].frame, w->pending[k].lanes & lanes);
        w->pending[k].lanes &= ~lanes;
        if (w->pending[k].lanes == 0) {
            split_remove(w, k);
        } else {
            k++;
        }
    }
    w->processor->run->lanes_left(w);
}
