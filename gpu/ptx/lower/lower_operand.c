/* Operands become places in the arena: registers, constants, addresses, specials. */
#include "base/find.h"
#include "gpu/ptx/alu/half_bits.h"
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/state/run.h"

/* ---- the arena ---- */

uint32_t lower_arena(struct lowering *l, uint64_t bytes) {
    uint32_t at = l->top;
    uint64_t room = (bytes + 63) & ~UINT64_C(63);
    if (room > ARENA_MAX - at) { /* lower_function refuses it */
        l->top = ARENA_MAX;
        l->failed = true;
        return 0;
    }
    l->top = at + (uint32_t)room;
    return at;
}

unsigned lower_register_bytes(const struct lowering *l, uint32_t index) {
    return ptx_type_bytes(l->function->registers[index].type);
}

static uint32_t constant_hash(uint64_t value, unsigned bytes) {
    uint64_t h = (value ^ ((uint64_t)bytes << 56)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

static struct lower_constant *constant_slot(struct lowering *l, uint64_t value,
                                            unsigned bytes) {
    uint32_t k = constant_hash(value, bytes) & (l->constant_room - 1);
    while (l->constants[k].bytes != UINT32_MAX &&
           (l->constants[k].bytes != bytes || l->constants[k].value != value)) {
        k = (k + 1) & (l->constant_room - 1);
    }
    return &l->constants[k];
}

static void constants_grow(struct lowering *l) {
    uint32_t old_room = l->constant_room;
    struct lower_constant *old = l->constants;
    l->constant_room = old_room ? old_room * 2 : 64;
    l->constants = xmalloc(l->constant_room * sizeof *l->constants);
    memset(l->constants, 0xff, l->constant_room * sizeof *l->constants);
    for (uint32_t k = 0; k < old_room; k++) {
        if (old[k].bytes != UINT32_MAX) {
            *constant_slot(l, old[k].value, old[k].bytes) = old[k];
        }
    }
    free(old);
}

uint32_t lower_constant(struct lowering *l, uint64_t value, unsigned bytes) {
    if (2 * (l->constant_count + 1) > l->constant_room) {
        constants_grow(l);
    }
    if (bytes == 0) {
        value = value != 0;
    } else if (bytes < 8) {
        value &= (UINT64_C(1) << (8 * bytes)) - 1;
    }
    struct lower_constant *c = constant_slot(l, value, bytes);
    if (c->bytes == UINT32_MAX) {
        uint32_t at = lower_arena(l, bytes ? (uint64_t)bytes * WARP_LANES : 4);
        *c = (struct lower_constant){.value = value, .bytes = bytes, .offset = at};
        l->constant_count++;
    }
    return c->offset;
}

uint32_t lower_temporary(struct lowering *l, unsigned bytes) {
    unsigned size = bytes > 1 ? (unsigned)__builtin_ctz(bytes) : 0;
    if (size > 4 || l->temporary_used[size] >= 16) {
        l->failed = true;
        return 0;
    }
    uint32_t *slot = &l->temporaries[size][l->temporary_used[size]++];
    if (*slot == 0) {
        *slot = lower_arena(l, (uint64_t)bytes * WARP_LANES) + 1;
    }
    return *slot - 1;
}

static uint32_t lower_special(struct lowering *l, unsigned special) {
    if (l->specials[special] == 0) {
        l->specials[special] = lower_arena(l, 4 * WARP_LANES) + 1;
    }
    return l->specials[special] - 1;
}

/* ---- steps ---- */

struct step *lower_step(struct lowering *l, const struct ptx_instruction *i,
                        step_run *run, bool lane_wise) {
    struct code *c = l->code;
    if (c->step_count == l->step_room) {
        l->step_room = l->step_room ? l->step_room * 2 : 64;
        c->steps = xreallocarray(c->steps, l->step_room, sizeof *c->steps);
        c->lane_wise = xreallocarray(c->lane_wise, l->step_room, sizeof *c->lane_wise);
    }
    struct step *s = &c->steps[c->step_count];
    *s = (struct step){
        .run = run,
        .dst = STEP_NO_REGISTER,
        .dst2 = STEP_NO_REGISTER,
        .src = {STEP_NO_REGISTER, STEP_NO_REGISTER, STEP_NO_REGISTER, STEP_NO_REGISTER},
        .guard = -1,
        .vector = 1,
        .instruction = l->index};
    if (i && i->guard >= 0) {
        s->guard = (int32_t)l->registers[i->guard];
        s->guard_negated = i->guard_negated;
    }
    c->lane_wise[c->step_count++] = lane_wise;
    return s;
}

void step_nothing(struct warp *, const struct step *, uint32_t) {}

/* ---- between widths ---- */

#define COPY_WIDTH(name, to_type, from_type)                                             \
    static void name(struct warp *warp, const struct step *s, uint32_t mask) {           \
        to_type *to = LANES(to_type, warp, s->dst);                                      \
        const from_type *from = LANES(const from_type, warp, s->src[0]);                 \
        if (mask == UINT32_MAX) {                                                        \
            for (unsigned l = 0; l < WARP_LANES; l++) {                                  \
                to[l] = (to_type)from[l];                                                \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        bits_each(l, mask) {                                                             \
            to[l] = (to_type)from[l];                                                    \
        }                                                                                \
    }
#define COPY_WIDTHS(row, to_type)                                                        \
    COPY_WIDTH(copy_##row##_u8, to_type, uint8_t)                                        \
    COPY_WIDTH(copy_##row##_u16, to_type, uint16_t)                                      \
    COPY_WIDTH(copy_##row##_u32, to_type, uint32_t)                                      \
    COPY_WIDTH(copy_##row##_u64, to_type, uint64_t)                                      \
    COPY_WIDTH(copy_##row##_s8, to_type, int8_t)                                         \
    COPY_WIDTH(copy_##row##_s16, to_type, int16_t)                                       \
    COPY_WIDTH(copy_##row##_s32, to_type, int32_t)
COPY_WIDTHS(8, uint8_t)
COPY_WIDTHS(16, uint16_t)
COPY_WIDTHS(32, uint32_t)
COPY_WIDTHS(64, uint64_t)
#define COPY_ROW(row)                                                                    \
    {                                                                                    \
        {copy_##row##_u8, copy_##row##_u16, copy_##row##_u32, copy_##row##_u64}, {       \
            copy_##row##_s8, copy_##row##_s16, copy_##row##_s32, copy_##row##_u64        \
        }                                                                                \
    }
static step_run *const copies[4][2][4] = {COPY_ROW(8), COPY_ROW(16), COPY_ROW(32),
                                          COPY_ROW(64)};

static void step_narrow_bind(struct step *s, unsigned from, unsigned to, bool is_signed) {
    s->run = copies[__builtin_ctz(to)][is_signed][__builtin_ctz(from)];
}

bool lower_is_copy(const struct step *s, unsigned *ret_from, unsigned *ret_to,
                   bool *ret_signed) {
    for (unsigned to = 0; to < 4; to++) {
        for (unsigned k = 0; k < 8; k++) {
            if (copies[to][k / 4][k % 4] == s->run) {
                *ret_from = 1u << (k % 4);
                *ret_to = 1u << to;
                *ret_signed = k / 4;
                return true;
            }
        }
    }
    return false;
}

static uint32_t copy_width(struct lowering *l, const struct ptx_instruction *i,
                           uint32_t from, unsigned from_bytes, unsigned to_bytes,
                           bool is_signed) {
    if (from_bytes > 8 || to_bytes > 8 || from_bytes == 0 || to_bytes == 0) {
        l->failed = true;
        return from;
    }
    uint32_t to = lower_temporary(l, to_bytes);
    struct step *s = lower_step(l, i, step_nothing, true);
    step_narrow_bind(s, from_bytes, to_bytes, is_signed);
    s->src[0] = from;
    s->dst = to;
    return to;
}

/* ---- operands ---- */

bool lower_variable_address(const struct lowering *l, uint32_t variable, uint64_t *ret) {
    const struct ptx_variable *v = &l->module->variables[variable];
    switch (v->space) {
    case PTX_SHARED:
        *ret = l->program->shared_offsets[variable];
        return *ret != UINT64_MAX;
    case PTX_GLOBAL:
    case PTX_CONST:
        if (!l->variables[variable]) {
            return false;
        }
        *ret = l->variables[variable]->address;
        return true;
    case PTX_PARAM:
        *ret = v->offset; /* of an entry: in the launch's parameters */
        return l->function->is_entry && v->function == (int32_t)l->code->index &&
               l->areas[variable] == STEP_NO_REGISTER;
    default:
        return false;
    }
}

/* local memory's addresses depend on the call. */
static void step_local_address(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t *to = LANES(uint64_t, w, s->dst);
    uint64_t address = w->frame->local_base + (uint64_t)s->offset;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        to[l] = mask >> l & 1 ? address : to[l];
    }
}

static uint32_t source_symbol(struct lowering *l, const struct ptx_instruction *i,
                              const struct ptx_operand *o, unsigned bytes) {
    const struct ptx_variable *v = &l->module->variables[o->index];
    if (v->space == PTX_LOCAL) {
        uint32_t to = lower_temporary(l, 8);
        struct step *s = lower_step(l, i, step_local_address, true);
        s->dst = to;
        s->offset = (int64_t)v->offset + o->offset;
        return bytes == 8 ? to : copy_width(l, i, to, 8, bytes, false);
    }
    uint64_t address;
    if (!lower_variable_address(l, o->index, &address)) {
        l->failed = true;
        return 0;
    }
    return lower_constant(l, address + (uint64_t)o->offset, bytes);
}

static bool special_is_clock(unsigned special) {
    switch (special) {
    case PTX_SR_CLOCK:
    case PTX_SR_CLOCK_HI:
    case PTX_SR_CLOCK64:
    case PTX_SR_GLOBALTIMER:
    case PTX_SR_GLOBALTIMER_LO:
    case PTX_SR_GLOBALTIMER_HI:
        return true;
    default:
        return false;
    }
}

/* Clocks: a nanosecond and 1.755 cycles' worth of instructions are the same here:
 * one per warp instruction of the block, so that runs repeat. */

static void step_read_clock(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t now = ++w->block->clock;
    w->processor->timed = true;
    if (s->aux == PTX_SR_CLOCK_HI || s->aux == PTX_SR_GLOBALTIMER_HI) {
        now >>= 32;
    } else if (s->aux == PTX_SR_CLOCK || s->aux == PTX_SR_GLOBALTIMER_LO) {
        now &= UINT32_MAX;
    }
    uint64_t *to = LANES(uint64_t, w, s->dst);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        to[l] = mask >> l & 1 ? now : to[l];
    }
}

/* Those of 64 bits say nothing about this machine. */
static uint32_t source_special(struct lowering *l, const struct ptx_instruction *i,
                               const struct ptx_operand *o, unsigned bytes) {
    if (o->index == PTX_SR_GRIDID || o->index == PTX_SR_CURRENT_GRAPH_EXEC) {
        return lower_constant(l, o->index == PTX_SR_GRIDID, bytes);
    }
    bool clock = special_is_clock(o->index);
    unsigned have = clock ? 8 : 4;
    uint32_t at;
    if (clock) {
        at = lower_temporary(l, 8);
        struct step *s = lower_step(l, i, step_read_clock, true);
        s->dst = at;
        s->aux = o->index;
    } else {
        at = lower_special(l, o->index);
        if (bytes == 0 && o->index == PTX_SR_IS_EXPLICIT_CLUSTER) {
            return at; /* all ones or zeros: its first word is the predicate */
        }
    }
    return bytes == have ? at : copy_width(l, i, at, have, bytes, false);
}

static uint64_t immediate_bits(const struct ptx_operand *o, enum ptx_type type) {
    double value;
    if (!o->is_double) {
        return o->bits;
    }
    memcpy(&value, &o->bits, sizeof value);
    if (type == PTX_F16) {
        return half_of_double(value);
    }
    if (type == PTX_BF16) { /* twice rounded: immediates are short decimals */
        float wide = (float)value;
        uint32_t bits;
        memcpy(&bits, &wide, sizeof bits);
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    if (ptx_type_bytes(type) == 4) {
        float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    return o->bits;
}

static uint32_t source_register(struct lowering *l, const struct ptx_instruction *i,
                                const struct ptx_operand *o, unsigned bytes,
                                enum ptx_type type) {
    unsigned have = lower_register_bytes(l, o->index);
    uint32_t at = l->registers[o->index];
    if (have == bytes) {
        return at;
    }
    return copy_width(l, i, at, have, bytes, ptx_type_signed(type));
}

uint32_t lower_source(struct lowering *l, const struct ptx_instruction *i,
                      const struct ptx_operand *o, unsigned bytes, enum ptx_type type) {
    switch (o->kind) {
    case PTX_OPERAND_REGISTER:
        return source_register(l, i, o, bytes, type);
    case PTX_OPERAND_IMMEDIATE:
        return lower_constant(l, immediate_bits(o, type), bytes);
    case PTX_OPERAND_SPECIAL:
        return source_special(l, i, o, bytes);
    case PTX_OPERAND_SYMBOL:
        return source_symbol(l, i, o, bytes);
    case PTX_OPERAND_FUNCTION:
        return lower_constant(
            l, MEMORY_CODE + (uint64_t)(o->index + 1) * MEMORY_CODE_STRIDE, bytes);
    default:
        l->failed = true;
        return 0;
    }
}

uint32_t lower_low_half(struct lowering *l, const struct ptx_instruction *i,
                        const struct ptx_operand *o) {
    return copy_width(l, i, lower_source(l, i, o, 4, PTX_U32), 4, 8, true);
}

uint32_t lower_result(struct lowering *l, const struct ptx_operand *o, unsigned bytes,
                      bool is_signed) {
    if (o->kind == PTX_OPERAND_SINK) {
        return bytes ? lower_temporary(l, bytes) : STEP_NO_REGISTER;
    }
    if (o->kind != PTX_OPERAND_REGISTER) {
        l->failed = true;
        return 0;
    }
    unsigned have = lower_register_bytes(l, o->index);
    uint32_t at = l->registers[o->index];
    if (have == bytes) {
        return at;
    }
    if (have < bytes || bytes == 0 || have > 8 || l->widen_count == ARRAY_LEN(l->widen)) {
        l->failed = true;
        return 0;
    }
    uint32_t from = lower_temporary(l, bytes);
    l->widen[l->widen_count].from = from;
    l->widen[l->widen_count].to = at;
    l->widen[l->widen_count].from_bytes = (uint8_t)bytes;
    l->widen[l->widen_count].to_bytes = (uint8_t)have;
    l->widen[l->widen_count++].is_signed = is_signed;
    return from;
}

void lower_finish(struct lowering *l, const struct ptx_instruction *i) {
    for (unsigned k = 0; k < l->widen_count; k++) {
        struct step *s = lower_step(l, i, step_nothing, true);
        step_narrow_bind(s, l->widen[k].from_bytes, l->widen[k].to_bytes,
                         l->widen[k].is_signed);
        s->src[0] = l->widen[k].from;
        s->dst = l->widen[k].to;
    }
    l->widen_count = 0;
}

bool lower_is_register_read(const struct lowering *l, const struct ptx_operand *o) {
    if (o->kind != PTX_OPERAND_REGISTER) {
        return false;
    }
    const struct ptx_function *f = l->function;
    for (uint32_t k = 0; k < f->operand_count; k++) {
        const struct ptx_operand *x = &f->operands[k];
        bool named = (x->kind == PTX_OPERAND_REGISTER ||
                      (x->kind == PTX_OPERAND_ADDRESS && x->base == PTX_BASE_REGISTER)) &&
                     x->index == o->index;
        if (named && x != o) {
            return true;
        }
    }
    return list_any(one, f->elements, f->element_count,
                    one->kind == PTX_OPERAND_REGISTER && one->index == o->index);
}
