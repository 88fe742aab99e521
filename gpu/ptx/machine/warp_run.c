#include "gpu/ptx/machine/warp_run.h"

#include "gpu/ptx/access/undefined.h"
#include "gpu/ptx/emit/emit.h"
#include "gpu/ptx/machine/control.h"

static void run_split(struct warp *w) {
    while (w->active != 0) {
        const struct step *s = w->next;
        w->next = s + 1;
        warp_step(w, s);
    }
}

/* Lane after lane, as far as the lanes do not know of each other. */
static void run_split_lanes(struct warp *w) {
    uint32_t mask;
    while ((mask = w->active) != 0) {
        const struct step *s = w->next;
        w->next = s + 1;
        if (s->guard >= 0) {
            mask = warp_guard(w, s, mask);
            if (mask == 0) {
                continue;
            }
        }
        const struct code *code = w->frame->code;
        if (code->lane_wise[s - code->steps]) {
            for (uint32_t m = mask; m; m &= m - 1) {
                uint32_t lane = m & -m;
                warp_spell_mask(w, lane);
                s->run(w, s, lane);
            }
            continue;
        }
        warp_spell_mask(w, mask);
        s->run(w, s, mask);
    }
}

/* Step by step: code for the host knows nothing of undefined values. */
static void run_split_undefined(struct warp *w) {
    struct processor *p = w->processor;
    uint32_t emit_after = p->emit_after;
    p->emit_after = EMIT_NEVER;
    undefined_run(w, step_enter_block);
    p->emit_after = emit_after;
}

void warp_run(struct warp *w, int32_t steps) {
    w->left = steps;
    w->yielded = false;
    w->polled = false;
    bool lanes = w->processor->run->one_lane;
    while (!w->yielded && warp_pick(w)) {
        do {
            if (w->undefined && undefined_is_held(w)) {
                run_split_undefined(w);
            }
            if (lanes) {
                run_split_lanes(w);
            } else {
                run_split(w);
            }
        } while (w->undefined && undefined_resume(w));
    }
    w->block->clock += (uint64_t)(steps - w->left);
}
