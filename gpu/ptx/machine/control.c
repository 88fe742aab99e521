#include "gpu/ptx/machine/control.h"

#include "base/find.h"
#include "gpu/ptx/emit/emit.h"
#include "gpu/ptx/machine/bypass.h"
#include "gpu/ptx/machine/calls.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"

/* ---- the head of a basic block: counting, turns, meeting ---- */

/* Lanes of the running split, which is at s, merge and let other splits run first. */
static __attribute__((noinline)) void meet(struct warp *w, const struct step *s) {
    for (uint32_t k = 0; k < w->pending_count;) {
        struct split *p = &w->pending[k];
        if (p->state == SPLIT_READY && p->frame == w->frame && p->next == s) {
            w->active |= p->lanes;
            *p = w->pending[--w->pending_count];
        } else {
            k++;
        }
    }
    if (w->hold > 0) {
        w->hold--;
        return;
    }
    list_each(k, p, w->pending, w->pending_count) {
        if (p->state == SPLIT_READY && split_goes_first(p, w->frame, s)) {
            /* Both have to enter their blocks. */
            struct split out = {.frame = w->frame, .next = s, .lanes = w->active};
            w->pending[w->pending_count++] = out;
            w->active = 0;
            return;
        }
    }
}

void step_enter_block(struct warp *w, const struct step *s, uint32_t mask) {
    if (w->pending_count > 0) {
        meet(w, s);
        if (w->active == 0) {
            return;
        }
        mask = w->active;
    }
    struct processor *processor = w->processor;
    struct block_count *count = &processor->blocks[s->aux];
    uint32_t lanes = lanes_in(mask);
    count->runs++;
    count->lanes += lanes;
    processor->spent += (uint64_t)lanes * s->target;
    bool is_long_over = w->left < -4 * BLOCK_TURN;
    w->left -= (int32_t)s->extra;
    if (w->left < 0) {
        /* This block is run to its end, however long it is; the turn ends at the next
         * backward branch or barrier, or in front of a block when that was long ago. */
        w->yielded = true;
        if (is_long_over) {
            count->runs--;
            count->lanes -= lanes;
            processor->spent -= (uint64_t)lanes * s->target;
            w->pending[w->pending_count++] =
                (struct split){.frame = w->frame, .next = s, .lanes = w->active};
            w->active = 0;
            return;
        }
    }
    if (count->runs >= processor->emit_after) {
        emit_enter(w, s, mask == UINT32_MAX);
    }
}

/* ---- branches ---- */

#define SPINS_POLLING 8
#define SPINS_PLAIN 4096
#define HOLD_BLOCKS 256

/* A loop went round while other lanes of the warp wait: now and then it is their turn. */
static __attribute__((noinline)) void give_way(struct warp *w) {
    if (++w->spins < (w->polled ? SPINS_POLLING : SPINS_PLAIN)) {
        return;
    }
    w->spins = 0;
    uint32_t ready = UINT32_MAX;
    for (uint32_t k = 0; k < w->pending_count; k++) {
        if (w->pending[k].state == SPLIT_READY) {
            ready = k; /* the youngest is last: oldest first would be starved the same */
            break;
        }
    }
    if (ready == UINT32_MAX) {
        return;
    }
    struct split p = w->pending[ready];
    for (uint32_t k = ready; k + 1 < w->pending_count; k++) {
        w->pending[k] = w->pending[k + 1];
    }
    w->pending[w->pending_count - 1] =
        (struct split){.frame = w->frame, .next = w->next, .lanes = w->active};
    w->frame = p.frame;
    w->head.regs = p.frame->regs;
    w->next = p.next;
    w->active = p.lanes;
    w->hold = HOLD_BLOCKS;
}

static inline void went_back(struct warp *w) {
    if (w->pending_count > 0) {
        give_way(w);
    }
    if (w->yielded) {
        w->pending[w->pending_count++] =
            (struct split){.frame = w->frame, .next = w->next, .lanes = w->active};
        w->active = 0;
    }
}

void step_branch(struct warp *w, const struct step *s, uint32_t mask) {
    const struct step *target = w->frame->code->steps + s->target;
    uint32_t rest = w->active & ~mask;
    w->processor->branch_count++;
    if (rest == 0) {
        w->next = target;
        if (target <= s) {
            went_back(w);
        }
        return;
    }
    w->processor->divergent_count++;
    struct split other = {.frame = w->frame};
    if (target <= s) {
        other.next = w->next;
        other.lanes = rest;
        w->active = mask;
        w->next = target;
    } else {
        other.next = target;
        other.lanes = mask;
        w->active = rest;
    }
    w->pending[w->pending_count++] = other;
    if (target <= s) {
        went_back(w);
    }
}

static void step_branch_table(struct warp *w, const struct step *s, uint32_t mask) {
    const struct branch_table *t = &w->processor->run->program->tables[s->extra];
    const struct step *steps = w->frame->code->steps;
    const uint32_t *index = LANES(const uint32_t, w, s->src[0]);
    uint32_t rest = w->active & ~mask;
    w->processor->branch_count++;
    if (rest) {
        w->pending[w->pending_count++] =
            (struct split){.frame = w->frame, .next = w->next, .lanes = rest};
    }
    uint32_t left = mask, groups = 0, wild = 0;
    while (left) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t same = 0;
        bits_each(k, left) {
            same |= (uint32_t)(index[k] == index[lane]) << k;
        }
        left &= ~same;
        if (index[lane] >= t->count) {
            finding_add(
                &(struct finding_place){.warp = w, .step = s, .lane = lane},
                FINDING_LAUNCH_ERROR,
                "Branch table has %u targets, index %u was asked for; the threads "
                "stop",
                t->count, index[lane]);
            wild |= same;
            continue;
        }
        w->pending[w->pending_count++] = (struct split){
            .frame = w->frame, .next = steps + t->targets[index[lane]], .lanes = same};
        groups++;
    }
    w->processor->divergent_count += groups + (rest != 0) > 1;
    if (wild) {
        run_fault(w->processor->run);
        warp_exit_lanes(w, wild);
    }
    w->active = 0;
}

void step_exit(struct warp *w, const struct step *s, uint32_t mask) {
    if (w->pending_count > 0) {
        bypass_tell(w, s, mask);
    }
    life_exit(w, s);
    warp_exit_lanes(w, mask);
}

static void step_trap(struct warp *w, const struct step *s, uint32_t mask) {
    bool no_grid = __atomic_load_n(&w->processor->run->no_grid, __ATOMIC_RELAXED);
    bits_each(l, mask) {
        struct finding_place at = {.warp = w, .step = s, .lane = l};
        finding_add(&at, FINDING_TRAP, "The kernel executed %s%s",
                    s->aux ? "a breakpoint" : "a trap instruction",
                    no_grid
                        ? ": grid.sync() needs a cooperative launch (\"cooperative\": "
                          "true)"
                        : "");
    }
    run_fault(w->processor->run);
    w->block->ended = true;
    warp_exit_lanes(w, mask);
}

static void step_fence(struct warp *w, const struct step *s, uint32_t) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    race_fence(w, s->aux != 0);
    life_fence(w);
}

static void step_sleep(struct warp *w, const struct step *s, uint32_t mask) {
    unsigned lane = (unsigned)__builtin_ctz(mask);
    uint32_t time = LANES(const uint32_t, w, s->src[0])[lane];
    w->block->clock += time > 1000000 ? 1000000 : time; /* as the ISA bounds it */
    w->polled = true;
}

/* ---- lowering ---- */

static enum lower_answer lower_branch(struct lowering *l,
                                      const struct ptx_instruction *i) {
    const struct ptx_operand *o = i->operand_count ? lower_operand(l, i, 0) : NULL;
    if (!o || o->kind != PTX_OPERAND_LABEL) {
        return LOWER_REFUSED;
    }
    struct step *s = lower_step(l, i, step_branch, false);
    s->target = o->index;
    return LOWER_DONE;
}

static enum lower_answer lower_branch_table(struct lowering *l,
                                            const struct ptx_instruction *i) {
    if (i->operand_count != 2 || lower_operand(l, i, 1)->kind != PTX_OPERAND_TABLE) {
        return LOWER_REFUSED;
    }
    const struct ptx_table *from = &l->function->tables[lower_operand(l, i, 1)->index];
    struct branch_table t = {.count = from->count};
    uint32_t index = lower_source(l, i, lower_operand(l, i, 0), 4, PTX_U32);
    if (from->calls || l->failed) {
        return LOWER_REFUSED;
    }
    t.targets = xreallocarray(NULL, t.count + 1u, sizeof *t.targets);
    for (uint32_t k = 0; k < t.count; k++) {
        t.targets[k] = from->targets[k];
    }
    uint32_t extra = lower_add_table(l, &t);
    struct step *s = lower_step(l, i, step_branch_table, false);
    s->extra = extra;
    s->src[0] = index;
    return LOWER_DONE;
}

static enum lower_answer lower_simple(struct lowering *l, const struct ptx_instruction *i,
                                      step_run *run) {
    lower_step(l, i, run, false);
    return LOWER_DONE;
}

enum lower_answer lower_control(struct lowering *l, const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_BRA:
        return lower_branch(l, i);
    case PTX_OP_BRX:
        return lower_branch_table(l, i);
    case PTX_OP_RET:
        return lower_simple(l, i, l->function->is_entry ? step_exit : step_return);
    case PTX_OP_EXIT:
        return lower_simple(l, i, step_exit);
    case PTX_OP_TRAP:
        return lower_simple(l, i, step_trap);
    case PTX_OP_BRKPT:
        lower_step(l, i, step_trap, false)->aux = 1;
        return LOWER_DONE;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
        lower_step(l, i, step_fence, false)->aux = ptx_has(i, PTX_M_CTA);
        return LOWER_DONE;
    case PTX_OP_NANOSLEEP: {
        uint32_t time = lower_source(l, i, lower_operand(l, i, 0), 4, PTX_U32);
        lower_step(l, i, step_sleep, false)->src[0] = time;
        return LOWER_DONE;
    }
    /* Hints, and what only matters to hardware. */
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_PMEVENT:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_GRIDDEPCONTROL:
        return lower_simple(l, i, step_nothing);
    default:
        return LOWER_NOT_MINE;
    }
}
