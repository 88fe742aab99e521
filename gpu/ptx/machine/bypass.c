#include "gpu/ptx/machine/bypass.h"

#include "gpu/ptx/state/run.h"

static bool leaves(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_BRX ||
           i->opcode == PTX_OP_TRAP || i->opcode == PTX_OP_RET ||
           i->opcode == PTX_OP_EXIT;
}

/* A walk over the instructions of a function, each at most once. */
struct ways {
    const struct ptx_function *function;
    uint8_t *seen;
    uint32_t *todo; /* that it has still to go on from */
    uint32_t count;
};

static void ways_add(struct ways *k, uint32_t at) {
    if (!k->seen[at]) {
        k->seen[at] = 1;
        k->todo[k->count++] = at;
    }
}

static void ways_add_targets(struct ways *k, const struct ptx_instruction *i) {
    const struct ptx_function *f = k->function;
    const struct ptx_operand *o = &f->operands[i->operands];
    if (i->opcode == PTX_OP_BRA) {
        ways_add(k, o[0].index);
    } else if (i->opcode == PTX_OP_BRX) {
        const struct ptx_table *t = &f->tables[o[1].index];
        for (uint32_t n = 0; n < t->count; n++) {
            ways_add(k, t->targets[n]);
        }
    }
}

/* Adds what may come behind the instruction; false: the function's end may. */
static bool ways_go_on(struct ways *k, uint32_t at) {
    const struct ptx_function *f = k->function;
    const struct ptx_instruction *i = &f->code[at];
    if (at == f->code_count || i->opcode == PTX_OP_RET || i->opcode == PTX_OP_EXIT) {
        return false;
    }
    ways_add_targets(k, i);
    if (i->guard >= 0 || !leaves(i)) {
        ways_add(k, at + 1);
    }
    return true;
}

/* Whether each way from an instruction to an end of the function leads through another. */
static bool all_ways_lead(const struct ptx_function *f, uint32_t from, uint32_t through) {
    struct ways k = {f, xcalloc(f->code_count + 1u, 1),
                     xcalloc(f->code_count + 1u, sizeof(uint32_t)), 0};
    bool all = true;
    k.seen[through] = 1;
    ways_add(&k, from);
    while (k.count > 0 && all) {
        all = ways_go_on(&k, k.todo[--k.count]);
    }
    free(k.seen);
    free(k.todo);
    return all;
}

static uint32_t block_head(const struct ptx_function *f, uint32_t at) {
    while (at > 0 && !f->leader[at] && !leaves(&f->code[at - 1])) {
        at--;
    }
    return at;
}

/* The step of the frame in which the split waits, in a call or by itself; NULL: it is not
 * in that frame. */
static const struct step *waits_at(const struct split *p, const struct frame *in) {
    const struct step *at = p->at;
    const struct frame *f = p->frame;
    while (f && f != in) {
        at = f->parent ? f->return_to - 1 : NULL;
        f = f->parent;
    }
    return f ? at : NULL;
}

static void tell(struct warp *w, const struct split *p, uint32_t lanes) {
    struct frame *running = w->frame;
    w->frame = p->frame;
    finding_add(&(struct finding_place){.warp = w,
                                        .step = p->at,
                                        .lane = (unsigned)__builtin_ctz(p->lanes),
                                        .warning = true},
                FINDING_INVALID_MASK,
                "Lanes 0x%08x wait for lanes 0x%08x of the mask 0x%08x, which pass by: "
                "they run on behind this and exit without coming here. The result is "
                "undefined unless they have exited before, and a GPU may hang: right only "
                "where the source has them return first",
                p->lanes, p->members & lanes, p->members);
    w->frame = running;
}

void bypass_tell(struct warp *w, const struct step *s, uint32_t lanes) {
    const struct ptx_function *f = w->frame->code->function;
    uint32_t head = block_head(f, s->instruction);
    if (head == s->instruction) { /* as an early return has it: nothing but the exit */
        return;
    }
    for (uint32_t k = 0; k < w->pending_count; k++) {
        const struct split *p = &w->pending[k];
        bool named = p->state == SPLIT_MEET && p->members & lanes;
        const struct step *at = named ? waits_at(p, w->frame) : NULL;
        if (at && all_ways_lead(f, at->instruction + 1, head)) {
            tell(w, p, lanes);
        }
    }
}
