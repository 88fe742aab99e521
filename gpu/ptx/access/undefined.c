#include "gpu/ptx/access/undefined.h"

#include "base/find.h"
#include "gpu/ptx/lower/byte_flow.h"
#include "gpu/ptx/lower/register_flow.h"
#include "gpu/ptx/lower/register_live.h"
#include "gpu/ptx/state/run.h"

#define SOURCES_MAX 32
#define VALUES_MAX 256
#define NO_INSTRUCTION UINT32_MAX
#define RESULT UINT32_MAX /* index of a value that an instruction's results will hold */

struct source { /* a step that gave such values: by lane, where they come from */
    const struct step *step;
    uint32_t lanes; /* not told yet */
    struct origin at[WARP_LANES];
};

struct undefined {
    uint32_t stopped; /* lanes whose turn a load has ended … */
    uint32_t last;    /* … which is this instruction */
    bool following;
    struct source sources[SOURCES_MAX];
    struct tracked_value { /* a register's, in these lanes: these of its eight bytes */
        const struct frame *frame;
        uint32_t index, lanes;
        uint8_t source, bytes;
        uint8_t part; /* of a RESULT: that of the operand it comes from */
    } values[VALUES_MAX];
    unsigned value_count;
    unsigned many; /* values at which those that are dead are dropped */
};

static const struct ptx_function *function_of(const struct warp *w) {
    return w->frame->code->function;
}

static const struct register_live *live_of(const struct frame *f) {
    return register_live_kept(f->code->live, f->code->function);
}

/* ---- telling ---- */

static void source_tell(struct warp *w, struct source *s, uint32_t lanes) {
    bits_each(lane, s->lanes & lanes) {
        origin_tell(w->processor->run->findings, &s->at[lane]);
    }
    s->lanes &= ~lanes;
}

/* ---- values ---- */

static bool is_of(const struct tracked_value *v, const struct frame *f, uint32_t index) {
    return v->index == index && v->frame == f;
}

/* Lanes of the register that hold such values; told as found if told. */
static uint32_t lanes_of(struct warp *w, uint32_t index, uint32_t lanes, bool tell) {
    struct undefined *u = w->undefined;
    uint32_t found = 0;
    list_each(k, v, u->values, u->value_count) {
        struct source *s = &u->sources[v->source];
        if (is_of(v, w->frame, index) && v->lanes & s->lanes & lanes) {
            found |= v->lanes & s->lanes & lanes;
            if (tell) {
                source_tell(w, s, v->lanes & lanes);
            }
        }
    }
    return found;
}

/* Lanes in which a value is gone: told, or the caller's to say. */
static void values_sweep(struct undefined *u,
                         uint32_t gone(const struct tracked_value *v, const void *data),
                         const void *data) {
    unsigned kept = 0;
    for (unsigned k = 0; k < u->value_count; k++) {
        struct tracked_value v = u->values[k];
        v.lanes &= u->sources[v.source].lanes & ~gone(&v, data);
        if (v.lanes) {
            u->values[kept++] = v;
        }
    }
    u->value_count = kept;
}

struct written {
    const struct frame *frame;
    uint32_t index, lanes;
};

static uint32_t gone_written(const struct tracked_value *v, const void *data) {
    const struct written *x = data;
    return is_of(v, x->frame, x->index) ? x->lanes : 0;
}

static void value_forget(struct undefined *u, const struct frame *f, uint32_t index,
                         uint32_t lanes) {
    values_sweep(u, gone_written, &(struct written){f, index, lanes});
}

struct reached {
    const struct warp *warp;
    const uint64_t *live;
};

static uint32_t gone_dead(const struct tracked_value *v, const void *data) {
    const struct reached *x = data;
    bool dead = v->frame == x->warp->frame && v->index != RESULT &&
                !register_live_in(x->live, v->index);
    return dead ? x->warp->active : 0;
}

/* Drops the values that the split which is followed no longer reads from the instruction
 * `at` on: long blocks have more than there is room for. */
static void values_drop(struct warp *w, uint32_t at) {
    autofree uint64_t *live = register_live_before(live_of(w->frame), at);
    values_sweep(w->undefined, gone_dead, &(struct reached){w, live});
}

static void value_add(struct warp *w, struct tracked_value v) {
    struct undefined *u = w->undefined;
    for (unsigned k = 0; k < u->value_count && v.lanes; k++) {
        struct tracked_value *one = &u->values[k];
        if (is_of(one, v.frame, v.index) && one->source == v.source &&
            one->bytes == v.bytes && one->part == v.part) {
            one->lanes |= v.lanes;
            return;
        }
    }
    if (u->value_count == VALUES_MAX) { /* too many to follow */
        source_tell(w, &u->sources[v.source], v.lanes);
    } else if (v.lanes) {
        u->values[u->value_count++] = v;
    }
}

/* ---- sources ---- */

static bool source_is_used(const struct undefined *u, unsigned number) {
    for (unsigned k = 0; k < u->value_count; k++) {
        if (u->values[k].source == number) {
            return true;
        }
    }
    return false;
}

/* The step's; SOURCES_MAX: too many. */
static unsigned source_of(struct undefined *u, const struct step *s) {
    unsigned spare = SOURCES_MAX;
    for (unsigned k = 0; k < SOURCES_MAX; k++) {
        if (u->sources[k].step == s) {
            return k;
        }
        spare = spare < SOURCES_MAX || source_is_used(u, k) ? spare : k;
    }
    if (spare < SOURCES_MAX) {
        u->sources[spare].step = s;
        u->sources[spare].lanes = 0;
    }
    return spare;
}

/* The step gives this lane such values; its source, or NULL: there are too many. */
static struct source *lane_source(struct warp *w, const struct step *s, unsigned lane,
                                  const struct origin *from) {
    unsigned number = source_of(w->undefined, s);
    if (number == SOURCES_MAX && w->undefined->following) {
        values_drop(w, w->next[-1].instruction + 1);
        number = source_of(w->undefined, s);
    }
    if (number == SOURCES_MAX) {
        origin_tell(w->processor->run->findings, from);
        return NULL;
    }
    struct source *source = &w->undefined->sources[number];
    source->lanes |= 1u << lane;
    source->at[lane] = *from;
    return source;
}

/* The register holds these bytes of them. */
static void lane_add(struct warp *w, const struct frame *f, struct source *source,
                     unsigned lane, uint32_t index, uint8_t bytes) {
    if (index == UINT32_MAX || !bytes) {
        return;
    }
    if (register_live_ever(live_of(f), index)) {
        value_add(
            w, (struct tracked_value){.frame = f,
                                      .index = index,
                                      .lanes = 1u << lane,
                                      .source = (uint8_t)(source - w->undefined->sources),
                                      .bytes = bytes});
    } else { /* a load that nobody uses is one that was asked for */
        source_tell(w, source, 1u << lane);
    }
}

/* Of element k of a load; a whole one is extended as it is. */
static uint8_t element_missing(const struct access *a, unsigned k, uint32_t missing) {
    uint64_t all = (UINT64_C(1) << a->bytes) - 1;
    uint64_t bytes = missing >> k * a->bytes & all;
    return bytes == all || a->bytes > 8 ? (bytes ? BYTE_FLOW_ALL : 0) : (uint8_t)bytes;
}

bool undefined_is_held(const struct warp *w) {
    return w->undefined && w->undefined->value_count > 0;
}

void undefined_loaded(const struct access_fault *f, const struct origin *from,
                      uint32_t missing) {
    struct warp *w = f->warp;
    if (!w->undefined) {
        w->undefined = xcalloc(1, sizeof *w->undefined);
        w->undefined->last = NO_INSTRUCTION;
        w->undefined->many = VALUES_MAX / 2;
    }
    struct undefined *u = w->undefined;
    const struct ptx_function *in = function_of(w);
    const struct access *a = &w->processor->run->program->accesses[f->step->extra];
    const struct ptx_operand *to = &in->operands[in->code[f->step->instruction].operands];
    struct source *source = lane_source(w, f->step, f->lane, from);
    for (unsigned k = 0; source && k < a->count; k++) {
        lane_add(w, w->frame, source, f->lane,
                 operand_register(in, to, k + (a->count > 1)),
                 element_missing(a, k, missing));
    }
    if (!u->following && u->value_count > 0 && w->active) {
        u->stopped = w->active;
        w->active = 0;
    }
}

void undefined_start(struct warp *w) {
    if (w->undefined) {
        w->undefined->value_count = w->undefined->stopped = 0;
    }
}

void undefined_free(struct undefined *u) {
    free(u);
}

/* ---- shuffles ---- */

struct met { /* what lanes bring to it */
    uint32_t lanes;
    struct origin at[WARP_LANES];
};

static void part_comes(struct undefined *u, const struct shuffled_part *p,
                       struct met *met) {
    const struct ptx_function *f = p->frame->code->function;
    const struct ptx_instruction *i = &f->code[p->step->instruction];
    const struct ptx_operand *o = &f->operands[i->operands + (i->has_pair ? 2 : 1)];
    uint32_t index = operand_register(f, o, 0);
    for (unsigned k = 0; k < u->value_count && index != UINT32_MAX; k++) {
        const struct tracked_value *v = &u->values[k];
        const struct source *from = &u->sources[v->source];
        uint32_t lanes =
            is_of(v, p->frame, index) ? v->lanes & from->lanes & p->lanes : 0;
        met->lanes |= lanes;
        for (; lanes; lanes &= lanes - 1) {
            unsigned lane = (unsigned)__builtin_ctz(lanes);
            met->at[lane] = from->at[lane];
        }
    }
}

static void part_goes(struct warp *w, const struct shuffled_part *p, const uint8_t *from,
                      const struct met *met) {
    const struct ptx_function *f = p->frame->code->function;
    const struct ptx_operand *to = &f->operands[f->code[p->step->instruction].operands];
    uint32_t index = operand_register(f, to, 0);
    if (index != UINT32_MAX) {
        value_forget(w->undefined, p->frame, index, p->lanes);
    }
    bits_each(lane, p->lanes) {
        if (met->lanes >> from[lane] & 1) {
            struct source *source = lane_source(w, p->step, lane, &met->at[from[lane]]);
            if (source) {
                lane_add(w, p->frame, source, lane, index, BYTE_FLOW_ALL);
            }
        }
    }
}

void undefined_shuffle(struct warp *w, const struct shuffled *s) {
    if (undefined_is_held(w)) {
        struct met met = {.lanes = 0};
        for (unsigned k = 0; k < s->parts; k++) {
            part_comes(w->undefined, &s->part[k], &met);
        }
        for (unsigned k = 0; k < s->parts; k++) {
            part_goes(w, &s->part[k], s->from, &met);
        }
    }
}

/* ---- stores ---- */

/* Byte k of what is stored, and the shadow of its word; false: where the host sees it, or
 * nobody knows. */
struct stored {
    uint8_t *word, *shadow;
    unsigned byte;
    bool own; /* in the block's own memory */
};

static bool stored_global(const struct run *run, uint64_t address, struct stored *ret) {
    const struct allocation *a = memory_find(run->memory, address);
    uint64_t at = a ? address - a->address : 0;
    if (!a || a->freed || at >= a->bytes || !a->shadow || a->flags & MACHINE_OUTPUT) {
        return false;
    }
    *ret = (struct stored){a->host + at / 4 * 4, a->shadow + at / 4, at & 3, false};
    return true;
}

static bool stored_find(const struct warp *w, unsigned lane, enum ptx_space space,
                        uint64_t address, struct stored *ret) {
    const struct block *b = w->block;
    if (space == PTX_GENERIC && address - MEMORY_LOCAL < MEMORY_WINDOW_BYTES) {
        space = PTX_LOCAL;
        address -= MEMORY_LOCAL;
    } else if (space == PTX_GENERIC && address - MEMORY_SHARED < MEMORY_WINDOW_BYTES) {
        space = PTX_SHARED;
        address -= MEMORY_SHARED;
    }
    if (space == PTX_LOCAL) {
        if (address >= w->local_bytes) {
            return false;
        }
        size_t word = address / 4 * WARP_LANES + lane;
        *ret = (struct stored){w->local + word * 4, w->local_shadow + word, address & 3,
                               true};
        return true;
    }
    if (space == PTX_SHARED || space == PTX_SHARED_CLUSTER) {
        if (!b->shared_shadow || address >= b->processor->run->shared_bytes) {
            return false;
        }
        *ret = (struct stored){b->shared + address / 4 * 4,
                               b->shared_shadow + address / 4, address & 3, true};
        return true;
    }
    return stored_global(w->processor->run, address, ret);
}

static bool stored_put(const struct warp *w, const struct stored *to,
                       const struct origin *from) {
    struct processor *p = w->processor;
    return to->own ? origins_put_own(&p->origins, to->word, from)
                   : origins_put(p->run->memory, to->word, from);
}

/* A value of the source was stored at the address. */
static void store_mark(struct warp *w, const struct access *a, unsigned lane,
                       uint64_t address, const struct tracked_value *v) {
    struct source *source = &w->undefined->sources[v->source];
    const uint8_t *known = NULL; /* the word whose origin is noted */
    for (unsigned k = 0; k < a->bytes; k++) {
        struct stored to;
        if (a->bytes <= 8 && !(v->bytes >> k & 1)) {
            continue;
        }
        if (!stored_find(w, lane, (enum ptx_space)a->space, address + k, &to) ||
            (to.word != known && !stored_put(w, &to, &source->at[lane]))) {
            source_tell(w, source, 1u << lane);
            return;
        }
        known = to.word;
        __atomic_fetch_and(to.shadow, (uint8_t) ~(1u << to.byte), __ATOMIC_RELAXED);
    }
}

static uint64_t store_address(struct warp *w, const struct step *s,
                              const struct ptx_operand *at, unsigned lane) {
    bool own = at->base == PTX_BASE_SYMBOL &&
               w->processor->run->program->accesses[s->extra].space == PTX_LOCAL;
    return (uint64_t)s->offset +
           (own ? w->frame->local_base : LANES(const uint64_t, w, s->src[0])[lane]);
}

/* Behind the store. */
static void store_follow(struct warp *w, const struct step *s, uint32_t mask) {
    struct undefined *u = w->undefined;
    const struct ptx_function *f = function_of(w);
    const struct ptx_operand *o = &f->operands[f->code[s->instruction].operands];
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    for (uint32_t part = 0; part < operand_parts(&o[1]); part++) {
        uint32_t index = operand_register(f, &o[1], part);
        for (unsigned k = 0; k < u->value_count && index != UINT32_MAX; k++) {
            const struct tracked_value *v = &u->values[k];
            uint32_t lanes = u->sources[v->source].lanes & mask;
            for (lanes &= is_of(v, w->frame, index) ? v->lanes : 0; lanes;
                 lanes &= lanes - 1) {
                unsigned lane = (unsigned)__builtin_ctz(lanes);
                uint64_t element = part ? (part - 1) * a->bytes : 0;
                store_mark(w, a, lane, store_address(w, s, &o[0], lane) + element, v);
            }
        }
    }
}

/* ---- following ---- */

static uint32_t predicate_of(struct warp *w, const struct ptx_operand *o) {
    if (o->kind != PTX_OPERAND_REGISTER) {
        return o->bits & 1 ? UINT32_MAX : 0;
    }
    uint32_t p = *LANES(const uint32_t, w, w->frame->code->registers[o->index]);
    return o->negated ? ~p : p;
}

static uint32_t undefined_lanes(struct warp *w, const struct ptx_operand *o) {
    return o->kind == PTX_OPERAND_REGISTER ? lanes_of(w, o->index, UINT32_MAX, false) : 0;
}

/* Lanes in which the result depends on source k. Of a selection it is one of two values,
 * of `and` and `or` of predicates neither where the other one decides. */
static uint32_t lanes_used(struct warp *w, const struct ptx_instruction *i,
                           const struct ptx_operand *sources, unsigned k) {
    bool logical = (i->opcode == PTX_OP_AND || i->opcode == PTX_OP_OR) &&
                   i->types[0] == PTX_PRED && k < 2;
    if (i->opcode == PTX_OP_SELP && k < 2) {
        uint32_t first = predicate_of(w, &sources[2]);
        return undefined_lanes(w, &sources[2]) | (k ? ~first : first);
    }
    if (logical) {
        const struct ptx_operand *other = &sources[1 - k];
        uint32_t p = predicate_of(w, other);
        return undefined_lanes(w, other) | (i->opcode == PTX_OP_AND ? p : ~p);
    }
    return UINT32_MAX;
}

static void source_follow(struct warp *w, const struct ptx_instruction *i,
                          unsigned results, unsigned k, uint32_t mask, bool takes_over) {
    struct undefined *u = w->undefined;
    const struct ptx_function *f = function_of(w);
    const struct ptx_operand *o = &f->operands[i->operands];
    for (uint32_t part = 0; part < operand_parts(&o[k]); part++) {
        uint32_t index = operand_register(f, &o[k], part);
        uint32_t lanes = index == UINT32_MAX ? 0 : lanes_of(w, index, mask, !takes_over);
        if (lanes && takes_over) {
            lanes &= lanes_used(w, i, o + results, k - results);
            for (unsigned n = 0, count = u->value_count; n < count; n++) {
                struct tracked_value v = u->values[n];
                if (is_of(&v, w->frame, index)) {
                    v.lanes &= lanes & u->sources[v.source].lanes;
                    v.index = RESULT;
                    v.part = (uint8_t)part;
                    v.bytes = byte_flow_kept(i, o + results, k - results, v.bytes);
                    if (v.bytes) {
                        value_add(w, v);
                    }
                }
            }
        }
    }
}

/* Results inherit the undefined bytes of the sources. */
static void results_follow(struct warp *w, const struct ptx_instruction *i,
                           unsigned results, uint32_t mask) {
    struct undefined *u = w->undefined;
    const struct ptx_function *f = function_of(w);
    const struct ptx_operand *o = &f->operands[i->operands];
    for (unsigned k = 0; k < results; k++) {
        for (uint32_t part = 0; part < operand_parts(&o[k]); part++) {
            uint32_t index = operand_register(f, &o[k], part);
            if (index == UINT32_MAX) {
                continue;
            }
            value_forget(u, w->frame, index, mask);
            for (unsigned n = 0, count = u->value_count; n < count; n++) {
                struct tracked_value v = u->values[n];
                if (is_of(&v, w->frame, RESULT)) {
                    v.index = index;
                    v.bytes = byte_flow_moved(i, &o[k], v.part, part, v.bytes);
                    v.part = 0;
                    if (v.bytes) {
                        value_add(w, v);
                    }
                }
            }
        }
    }
    value_forget(u, w->frame, RESULT, UINT32_MAX);
}

static bool is_store(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_ST && !(i->space_count && i->spaces[0] == PTX_PARAM) &&
           !ptx_has(i, PTX_M_ASYNC) && !ptx_has(i, PTX_M_BULK);
}

/* An operand that a store or a shuffle carries on. */
static bool is_carried(const struct ptx_instruction *i, unsigned k) {
    return is_store(i) ? k == 1 : i->opcode == PTX_OP_SHFL && k <= (i->has_pair ? 2 : 1);
}

/* In front of the first step of an instruction; the lanes that it runs for. */
static uint32_t instruction_follow(struct warp *w, const struct ptx_instruction *i) {
    struct undefined *u = w->undefined;
    uint32_t mask = w->active;
    if (u->value_count > u->many) {
        values_drop(w, (uint32_t)(i - function_of(w)->code));
        u->many = VALUES_MAX / 2 + u->value_count / 2;
    }
    unsigned results = register_live_results(
        live_of(w->frame), (uint32_t)(i - function_of(w)->code));
    if (i->guard >= 0) {
        (void)lanes_of(w, (uint32_t)i->guard, mask, true);
        uint32_t p = *LANES(const uint32_t, w, w->frame->code->registers[i->guard]);
        mask &= i->guard_negated ? ~p : p;
    }
    bool pure = results && !instruction_is_load(i) && !ptx_has(i, PTX_M_CC);
    for (unsigned k = results; k < i->operand_count; k++) {
        if (!is_carried(i, k)) {
            source_follow(w, i, results, k, mask, pure);
        }
    }
    results_follow(w, i, results, mask);
    return mask;
}

struct entered {
    const struct warp *warp;
    const struct register_live *live;
    uint32_t at;
    bool fresh; /* a call: the frame's previous contents are invalid */
};

static uint32_t gone_entered(const struct tracked_value *v, const void *data) {
    const struct entered *x = data;
    bool dead = v->frame == x->warp->frame &&
                (x->fresh || !register_live_at(x->live, x->at, v->index));
    return ~x->warp->live | (dead ? x->warp->active : 0);
}

/* The split is in a block: keeps only those of its values that may still be read. */
static void block_follow(struct warp *w, const struct step *head) {
    const struct ptx_function *f = function_of(w);
    if (w->active && head->instruction < f->code_count) {
        struct entered x = {.warp = w,
                            .live = live_of(w->frame),
                            .at = head->instruction,
                            .fresh = head->instruction == 0 && !f->is_entry};
        values_sweep(w->undefined, gone_entered, &x);
    }
}

bool undefined_resume(struct warp *w) {
    struct undefined *u = w->undefined;
    if (!u || !u->stopped) {
        return false;
    }
    w->active = u->stopped;
    u->stopped = 0;
    u->last = w->next[-1].instruction;
    return true;
}

/* The last one of the steps that an instruction became. */
static bool ends_instruction(const struct step *s, step_run *head) {
    return s[1].run == head || s[1].instruction != s->instruction;
}

void undefined_run(struct warp *w, step_run *head) {
    struct undefined *u = w->undefined;
    uint32_t last = u->last, mask = 0;
    u->last = NO_INSTRUCTION;
    u->following = true;
    while (w->active && u->value_count) {
        const struct step *s = w->next++;
        if (s->run == head) {
            warp_step(w, s);
            block_follow(w, s);
            last = NO_INSTRUCTION;
            continue;
        }
        const struct ptx_function *f = function_of(w);
        const struct ptx_instruction *i =
            s->instruction < f->code_count ? &f->code[s->instruction] : NULL;
        if (i && s->instruction != last) {
            mask = instruction_follow(w, i);
        }
        last = s->instruction;
        warp_step(w, s);
        if (i && is_store(i) && ends_instruction(s, head)) {
            store_follow(w, s, mask);
        }
    }
    u->following = false;
}
