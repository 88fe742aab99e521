#include "gpu/ptx/access/undefined.h"

#include "base/mem.h"
#include "gpu/ptx/lower/register_flow.h"
#include "gpu/ptx/state/run.h"

#include <string.h>

#define LOADS_MAX 16
#define VALUES_MAX 64

struct undefined {
    bool open, following;
    uint32_t active; /* lanes whose turn it was */
    struct load {
        const struct step *step;
        uint32_t lanes; /* not told yet */
        struct access_undefined at[WARP_LANES];
    } loads[LOADS_MAX];
    struct value { /* a register's, in these lanes */
        uint32_t index, since, lanes;
        uint8_t load;
    } values[VALUES_MAX];
    unsigned load_count, value_count;
};

static const struct ptx_function *function_of(const struct warp *w) {
    return w->frame->code->function;
}

/* ---- telling ---- */

static void load_tell(struct warp *w, struct load *l, uint32_t lanes) {
    for (uint32_t m = l->lanes & lanes; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        access_fault_undefined(w, l->step, lane, &l->at[lane]);
    }
    l->lanes &= ~lanes;
}

/* Lanes of the register that hold such values; told as found if told. */
static uint32_t lanes_of(struct warp *w, uint32_t index, uint32_t lanes, bool tell) {
    struct undefined *u = w->processor->undefined;
    uint32_t found = 0;
    for (unsigned k = 0; k < u->value_count; k++) {
        struct value *v = &u->values[k];
        if (v->index == index) {
            found |= v->lanes & lanes;
            if (tell) {
                load_tell(w, &u->loads[v->load], v->lanes & lanes);
            }
        }
    }
    return found;
}

/* ---- values ---- */

/* Written anew, or told: nothing of it is left to follow. */
static void values_sweep(struct undefined *u, uint32_t index, uint32_t lanes) {
    unsigned kept = 0;
    for (unsigned k = 0; k < u->value_count; k++) {
        struct value v = u->values[k];
        v.lanes &= u->loads[v.load].lanes & (v.index == index ? ~lanes : UINT32_MAX);
        if (v.lanes) {
            u->values[kept++] = v;
        }
    }
    u->value_count = kept;
}

static void value_add(struct warp *w, struct value v) {
    struct undefined *u = w->processor->undefined;
    for (unsigned k = 0; k < u->value_count && v.lanes; k++) {
        struct value *one = &u->values[k];
        if (one->index == v.index && one->since == v.since && one->load == v.load) {
            one->lanes |= v.lanes;
            return;
        }
    }
    if (u->value_count == VALUES_MAX) { /* too many to follow */
        load_tell(w, &u->loads[v.load], v.lanes);
    } else if (v.lanes) {
        u->values[u->value_count++] = v;
    }
}

/* ---- loads ---- */

static struct load *load_of(struct undefined *u, const struct step *s) {
    for (unsigned k = 0; k < u->load_count; k++) {
        if (u->loads[k].step == s) {
            return &u->loads[k];
        }
    }
    if (u->load_count == LOADS_MAX) {
        return NULL;
    }
    u->loads[u->load_count] = (struct load){.step = s};
    return &u->loads[u->load_count++];
}

static void results_add(struct warp *w, const struct step *s, struct value v) {
    const struct ptx_function *f = function_of(w);
    const struct ptx_operand *to = &f->operands[f->code[s->instruction].operands];
    for (uint32_t k = 0; k < operand_parts(to); k++) {
        v.index = operand_register(f, to, k);
        if (v.index != UINT32_MAX) {
            value_add(w, v);
        }
    }
}

void undefined_loaded(const struct access_fault *f, const struct block *b,
                      const char *buffer, uint64_t offset) {
    struct warp *w = f->warp;
    struct processor *p = w->processor;
    if (!p->undefined) {
        p->undefined = xcalloc(1, sizeof *p->undefined);
    }
    struct undefined *u = p->undefined;
    const struct access_undefined what = access_undefined_of(f, b, buffer, offset);
    struct load *l = load_of(u, f->step);
    if (!l) {
        access_fault_undefined(w, f->step, f->lane, &what);
        return;
    }
    l->lanes |= 1u << f->lane;
    l->at[f->lane] = what;
    results_add(w, f->step,
                (struct value){.since = f->step->instruction,
                               .lanes = 1u << f->lane,
                               .load = (uint8_t)(l - u->loads)});
    if (!u->open) {
        u->open = true;
        u->active = w->active;
        w->active = 0;
    }
}

void undefined_free(struct undefined *u) {
    free(u);
}

/* ---- following ---- */

static uint32_t predicate_of(struct warp *w, const struct ptx_operand *o) {
    if (o->kind != PTX_OPERAND_REGISTER) {
        return o->bits & 1 ? UINT32_MAX : 0;
    }
    uint32_t p = *LANES(const uint32_t, w, w->frame->code->registers[o->index]);
    return o->negated ? ~p : p;
}

/* Lanes in which the result depends on source k. Of a selection it is one of two values,
 * of `and` and `or` of predicates neither where the other one decides. */
static uint32_t lanes_used(struct warp *w, const struct ptx_instruction *i,
                           const struct ptx_operand *sources, unsigned k) {
    bool logical = (i->opcode == PTX_OP_AND || i->opcode == PTX_OP_OR) &&
                   i->types[0] == PTX_PRED && k < 2;
    if (i->opcode == PTX_OP_SELP && k < 2) {
        uint32_t first = predicate_of(w, &sources[2]);
        return k ? ~first : first;
    }
    if (logical) {
        const struct ptx_operand *other = &sources[1 - k];
        uint32_t held = other->kind == PTX_OPERAND_REGISTER
                            ? lanes_of(w, other->index, UINT32_MAX, false)
                            : 0;
        uint32_t p = predicate_of(w, other);
        return held | (i->opcode == PTX_OP_AND ? p : ~p);
    }
    return UINT32_MAX;
}

/* A value that the result takes over. One that chooses between others is used. */
static bool takes_over(const struct ptx_instruction *i, unsigned k) {
    return !ptx_has(i, PTX_M_CC) && !(i->opcode == PTX_OP_SELP && k == 2);
}

static void source_follow(struct warp *w, const struct ptx_instruction *i, unsigned k,
                          uint32_t mask, bool pure) {
    struct undefined *u = w->processor->undefined;
    const struct ptx_function *f = function_of(w);
    const struct ptx_operand *o = &f->operands[i->operands];
    unsigned results = instruction_results(i);
    for (uint32_t part = 0; part < operand_parts(&o[k]); part++) {
        uint32_t index = operand_register(f, &o[k], part);
        uint32_t lanes = index == UINT32_MAX ? 0 : lanes_of(w, index, mask, false);
        if (lanes && !(pure && takes_over(i, k - results))) {
            (void)lanes_of(w, index, lanes, true);
        } else if (lanes) {
            lanes &= lanes_used(w, i, o + results, k - results);
            for (unsigned n = 0, count = u->value_count; n < count; n++) {
                struct value v = u->values[n];
                if (v.index == index) {
                    v.lanes &= lanes;
                    v.index = v.since = UINT32_MAX; /* until results_follow */
                    value_add(w, v);
                }
            }
        }
    }
}

/* What the sources gave becomes the results'. */
static void results_follow(struct warp *w, const struct step *s, uint32_t mask) {
    struct undefined *u = w->processor->undefined;
    const struct ptx_function *f = function_of(w);
    const struct ptx_instruction *i = &f->code[s->instruction];
    const struct ptx_operand *o = &f->operands[i->operands];
    for (unsigned k = 0; k < instruction_results(i); k++) {
        for (uint32_t part = 0; part < operand_parts(&o[k]); part++) {
            uint32_t index = operand_register(f, &o[k], part);
            if (index == UINT32_MAX) {
                continue;
            }
            values_sweep(u, index, mask);
            for (unsigned n = 0, count = u->value_count; n < count; n++) {
                struct value v = u->values[n];
                if (v.index == UINT32_MAX) {
                    v.index = index;
                    v.since = s->instruction;
                    value_add(w, v);
                }
            }
        }
    }
    values_sweep(u, UINT32_MAX, UINT32_MAX);
}

/* In front of the first step of an instruction. */
static void instruction_follow(struct warp *w, const struct step *s) {
    const struct ptx_instruction *i = &function_of(w)->code[s->instruction];
    uint32_t mask = w->active;
    unsigned results = instruction_results(i);
    if (i->guard >= 0) {
        (void)lanes_of(w, (uint32_t)i->guard, mask, true);
        uint32_t p = *LANES(const uint32_t, w, w->frame->code->registers[i->guard]);
        mask &= i->guard_negated ? ~p : p;
    }
    for (unsigned k = results; k < i->operand_count; k++) {
        source_follow(w, i, k, mask, results && !instruction_is_load(i));
    }
    results_follow(w, s, mask);
}

static bool reads(const struct ptx_function *f, const struct ptx_instruction *i,
                  uint32_t index) {
    for (unsigned k = instruction_results(i); k < i->operand_count; k++) {
        const struct ptx_operand *o = &f->operands[i->operands + k];
        for (uint32_t part = 0; part < operand_parts(o); part++) {
            if (operand_register(f, o, part) == index) {
                return true;
            }
        }
    }
    return i->guard >= 0 && (uint32_t)i->guard == index;
}

/* Only what was followed, between `since` and `end`, reads it, and something does: a load
 * that nobody uses is one that was asked for. */
static bool is_discarded(const struct ptx_function *f, uint32_t index, uint32_t since,
                         uint32_t end) {
    bool followed = false;
    for (uint32_t at = 0; at < f->code_count; at++) {
        bool within = at > since && at < end;
        if (reads(f, &f->code[at], index)) {
            if (!within) {
                return false;
            }
            followed = true;
        }
    }
    return followed;
}

static void follow_end(struct warp *w, uint32_t end) {
    struct undefined *u = w->processor->undefined;
    for (unsigned k = 0; k < u->value_count; k++) {
        const struct value *v = &u->values[k];
        if (u->loads[v->load].lanes & v->lanes &&
            !is_discarded(function_of(w), v->index, v->since, end)) {
            load_tell(w, &u->loads[v->load], v->lanes);
        }
    }
    u->load_count = u->value_count = 0;
    u->open = false;
}

bool undefined_follow(struct warp *w) {
    struct undefined *u = w->processor->undefined;
    if (!u || !u->open) {
        return false;
    }
    w->active = u->active;
    const struct code *code = w->frame->code;
    uint32_t last = w->next[-1].instruction;
    while (u->value_count && code->lane_wise[w->next - code->steps]) {
        const struct step *s = w->next++;
        if (s->instruction != last) {
            last = s->instruction;
            instruction_follow(w, s);
        }
        warp_step(w, s);
    }
    follow_end(w, w->next->instruction);
    return true;
}
