/* stack: alloca, stacksave and stackrestore.
 *
 * A frame's local memory begins with what the function declares; what a lane takes beyond
 * it is counted per lane. Lanes own different bytes at the same offset, so the blocks of
 * one never lie in those of another; a callee's memory begins above the most that any
 * lane of its caller has taken. */
#include "gpu/ptx/machine/families.h"
#include "gpu/ptx/state/run.h"

#define STACK_ALIGN 16u /* at least; a multiple of whole words keeps shadows apart */

static uint64_t own_top(const struct frame *f) {
    return f->local_base + f->code->local_bytes;
}

static void set_top(struct frame *f) {
    uint64_t most = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        most = f->taken[l] > most ? f->taken[l] : most;
    }
    f->local_top = own_top(f) + most;
}

/* Nobody has written the new words. */
static void make_fresh(struct warp *w, unsigned lane, uint64_t from, uint64_t to) {
    for (uint64_t at = from; at < to; at += 4) {
        size_t word = at / 4 * WARP_LANES + lane;
        memset(w->local + 4 * word, w->processor->run->poison, 4);
        w->local_shadow[word] = 0;
    }
}

static void overflow(struct warp *w, const struct step *s, unsigned lane, uint64_t size) {
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                FINDING_STACK_OVERFLOW,
                "Stack overflow: alloca of %llu bytes with %llu bytes of local memory a "
                "thread; the thread stops",
                (unsigned long long)size, (unsigned long long)w->frame->local_top);
    run_fault(w->processor->run);
}

/* false: there is no room. */
static bool lane_take(struct warp *w, const struct step *s, unsigned lane) {
    struct frame *f = w->frame;
    uint64_t align = s->aux > STACK_ALIGN ? s->aux : STACK_ALIGN;
    uint64_t size = LANES(const uint64_t, w, s->src[0])[lane];
    uint64_t from = own_top(f) + f->taken[lane];
    from = (from + align - 1) & ~(align - 1);
    uint64_t to =
        (from + (size > LOCAL_MAX_BYTES ? LOCAL_MAX_BYTES : size) + STACK_ALIGN - 1) &
        ~(uint64_t)(STACK_ALIGN - 1);
    if (size > LOCAL_MAX_BYTES || !warp_local_reserve(w, to)) {
        overflow(w, s, lane, size);
        return false;
    }
    make_fresh(w, lane, from, to);
    f->taken[lane] = to - own_top(f);
    LANES(uint64_t, w, s->dst)[lane] = from;
    return true;
}

static void step_alloca(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t gone = 0;
    bits_each(lane, mask) {
        gone |= (uint32_t)!lane_take(w, s, lane) << lane;
    }
    set_top(w->frame);
    if (gone) {
        warp_exit_lanes(w, gone);
    }
}

static void step_stacksave(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t *to = LANES(uint64_t, w, s->dst);
    bits_each(lane, mask) {
        to[lane] = own_top(w->frame) + w->frame->taken[lane];
    }
}

/* Only what this frame has taken can be given back. */
static void step_stackrestore(struct warp *w, const struct step *s, uint32_t mask) {
    struct frame *f = w->frame;
    const uint64_t *from = LANES(const uint64_t, w, s->src[0]);
    uint32_t gone = 0;
    bits_each(lane, mask) {
        uint64_t taken = from[lane] - own_top(f);
        if (taken <= f->taken[lane]) {
            f->taken[lane] = taken;
            continue;
        }
        finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                    FINDING_LAUNCH_ERROR,
                    "stackrestore to 0x%llx, which no stacksave of this call gave; the "
                    "thread stops",
                    (unsigned long long)from[lane]);
        run_fault(w->processor->run);
        gone |= 1u << lane;
    }
    set_top(f);
    if (gone) {
        warp_exit_lanes(w, gone);
    }
}

/* ---- lowering ---- */

static enum lower_answer lower_alloca(struct lowering *l,
                                      const struct ptx_instruction *i) {
    uint64_t align = i->operand_count > 2 ? lower_operand(l, i, 2)->bits : STACK_ALIGN;
    if (align == 0 || (align & (align - 1)) || align > LOCAL_MAX_BYTES) {
        return LOWER_REFUSED;
    }
    uint32_t size = lower_source(l, i, lower_operand(l, i, 1), 8, PTX_U64);
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 8, false);
    struct step *s = lower_step(l, i, step_alloca, false);
    s->src[0] = size;
    s->dst = to;
    s->aux = (uint32_t)align;
    return LOWER_DONE;
}

enum lower_answer lower_stack(struct lowering *l, const struct ptx_instruction *i) {
    bool wide = i->type_count == 1 && ptx_type_bytes(i->types[0]) == 8;
    if (i->opcode == PTX_OP_ALLOCA) {
        return wide ? lower_alloca(l, i) : LOWER_REFUSED;
    }
    if (i->opcode == PTX_OP_STACKSAVE && wide) {
        uint32_t to = lower_result(l, lower_operand(l, i, 0), 8, false);
        lower_step(l, i, step_stacksave, false)->dst = to;
        return LOWER_DONE;
    }
    if (i->opcode == PTX_OP_STACKRESTORE && wide) {
        uint32_t from = lower_source(l, i, lower_operand(l, i, 0), 8, PTX_U64);
        lower_step(l, i, step_stackrestore, false)->src[0] = from;
        return LOWER_DONE;
    }
    return LOWER_NOT_MINE;
}
