/* moves: vectors to registers and back, addresses between spaces, clocks. */
#include "gpu/ptx/machine/families.h"
#include "gpu/ptx/state/run.h"

/* ---- mov.b64 {a, b}, r and back ---- */

static inline __attribute__((always_inline)) void
copy_part(uint8_t *to, const uint8_t *from, size_t to_stride, size_t from_stride,
          size_t bytes, uint32_t mask) {
    if (mask == UINT32_MAX) {
        for (unsigned l = 0; l < WARP_LANES; l++) {
            memcpy(to + l * to_stride, from + l * from_stride, bytes);
        }
        return;
    }
    bits_each(l, mask) {
        memcpy(to + l * to_stride, from + l * from_stride, bytes);
    }
}

static inline __attribute__((always_inline)) void
split_register(struct warp *w, const struct step *s, uint32_t mask, unsigned bytes,
               unsigned count) {
    const struct vector_registers *v = &w->processor->run->program->vectors[s->extra];
    const uint8_t *from = LANES(uint8_t, w, s->src[0]);
    for (unsigned k = 0; k < count; k++) {
        if (v->registers[k] != STEP_NO_REGISTER) {
            copy_part(LANES(uint8_t, w, v->registers[k]), from + (size_t)k * bytes, bytes,
                      (size_t)bytes * count, bytes, mask);
        }
    }
}

static inline __attribute__((always_inline)) void
join_registers(struct warp *w, const struct step *s, uint32_t mask, unsigned bytes,
               unsigned count) {
    const struct vector_registers *v = &w->processor->run->program->vectors[s->extra];
    uint8_t *to = LANES(uint8_t, w, s->dst);
    for (unsigned k = 0; k < count; k++) {
        copy_part(to + (size_t)k * bytes, LANES(uint8_t, w, v->registers[k]),
                  (size_t)bytes * count, bytes, bytes, mask);
    }
}

#define MOVE_VECTOR(bytes, count)                                                        \
    static void step_split_##bytes##_##count(struct warp *w, const struct step *s,       \
                                             uint32_t mask) {                            \
        split_register(w, s, mask, bytes, count);                                        \
    }                                                                                    \
    static void step_join_##bytes##_##count(struct warp *w, const struct step *s,        \
                                            uint32_t mask) {                             \
        join_registers(w, s, mask, bytes, count);                                        \
    }
MOVE_VECTOR(1, 2)
MOVE_VECTOR(1, 4)
MOVE_VECTOR(2, 2)
MOVE_VECTOR(2, 4)
MOVE_VECTOR(4, 2)
MOVE_VECTOR(4, 4)
MOVE_VECTOR(8, 2)

static step_run *vector_handler(unsigned bytes, unsigned count, bool split) {
#define CASE(b, c)                                                                       \
    if (bytes == (b) && count == (c)) {                                                  \
        return split ? step_split_##b##_##c : step_join_##b##_##c;                       \
    }
    CASE(1, 2)
    CASE(1, 4)
    CASE(2, 2)
    CASE(2, 4)
    CASE(4, 2)
    CASE(4, 4)
    CASE(8, 2)
#undef CASE
    return NULL;
}

static enum lower_answer lower_vector_move(struct lowering *l,
                                           const struct ptx_instruction *i) {
    const struct ptx_operand *to = lower_operand(l, i, 0), *from = lower_operand(l, i, 1);
    bool split = to->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = split ? to : from;
    unsigned bytes = ptx_type_bytes(i->types[0]);
    step_run *run = NULL;
    if (vector->count > 0 && vector->count <= 4 && bytes % vector->count == 0 &&
        (split ? from : to)->kind != PTX_OPERAND_VECTOR) {
        run = vector_handler(bytes / vector->count, vector->count, split);
    }
    if (!run) {
        return LOWER_REFUSED;
    }
    unsigned part = bytes / vector->count;
    enum ptx_type type = part == 8 ? PTX_B64 : part == 4 ? PTX_B32 : PTX_B16;
    struct vector_registers v = {.count = (uint8_t)vector->count, .bytes = (uint8_t)part};
    uint32_t single = split ? lower_source(l, i, from, bytes, i->types[0])
                            : lower_result(l, to, bytes, false);
    for (unsigned k = 0; k < vector->count; k++) {
        const struct ptx_operand *e = lower_element(l, vector, k);
        if (!split) {
            v.registers[k] = lower_source(l, i, e, part, type);
        } else {
            v.registers[k] = e->kind == PTX_OPERAND_SINK
                                 ? STEP_NO_REGISTER
                                 : lower_result(l, e, part, false);
        }
    }
    uint32_t extra = lower_add_vector(l, &v);
    struct step *s = lower_step(l, i, run, true);
    s->extra = extra;
    if (split) {
        s->src[0] = single;
    } else {
        s->dst = single;
    }
    return LOWER_DONE;
}

/* ---- plain moves of 16 bytes ---- */

static void step_copy_16(struct warp *w, const struct step *s, uint32_t mask) {
    copy_part(LANES(uint8_t, w, s->dst), LANES(uint8_t, w, s->src[0]), 16, 16, 16, mask);
}

/* ---- addresses ---- */

static bool space_base(enum ptx_space space, uint64_t *ret) {
    switch (space) {
    case PTX_GLOBAL:
    case PTX_CONST:
        *ret = 0;
        return true;
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        *ret = MEMORY_SHARED;
        return true;
    case PTX_LOCAL:
        *ret = MEMORY_LOCAL;
        return true;
    case PTX_PARAM:
        *ret = MEMORY_PARAM;
        return true;
    default:
        return false;
    }
}

static enum lower_answer lower_cvta(struct lowering *l, const struct ptx_instruction *i) {
    uint64_t base;
    if (i->space_count != 1 || i->type_count != 1 || ptx_type_bytes(i->types[0]) != 8 ||
        i->operand_count != 2 || !space_base(i->spaces[0], &base)) {
        return LOWER_REFUSED;
    }
    uint32_t from = lower_source(l, i, lower_operand(l, i, 1), 8, PTX_U64);
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 8, false);
    struct step *s = lower_step(l, i, step_add_offset, true);
    s->src[0] = from;
    s->dst = to;
    s->offset = (int64_t)(ptx_has(i, PTX_M_TO) ? 0 - base : base);
    return LOWER_DONE;
}

static bool address_is_in(const struct warp *w, uint64_t a, enum ptx_space space) {
    uint64_t base = 0;
    if (space == PTX_CONST || space == PTX_GLOBAL) {
        if (a >= MEMORY_SHARED && a < MEMORY_CODE) {
            return false;
        }
        const struct allocation *at = memory_find(w->processor->run->memory, a);
        bool constant = at && at->kind == MEMORY_CONSTANT;
        return constant == (space == PTX_CONST);
    }
    space_base(space, &base);
    uint64_t tag =
        (a - base) >> CLUSTER_TAG_SHIFT; /* another block's is no shared::cta */
    return a - base < MEMORY_WINDOW_BYTES &&
           (space != PTX_SHARED || tag == 0 || tag == w->block->rank + 1u);
}

static void step_isspacep(struct warp *w, const struct step *s, uint32_t mask) {
    const uint64_t *a = LANES(const uint64_t, w, s->src[0]);
    uint32_t bits = 0;
    bits_each(l, mask) {
        bits |= (uint32_t)address_is_in(w, a[l], (enum ptx_space)s->aux) << l;
    }
    uint32_t *p = LANES(uint32_t, w, s->dst);
    *p = (*p & ~mask) | bits;
}

static enum lower_answer lower_isspacep(struct lowering *l,
                                        const struct ptx_instruction *i) {
    uint64_t base;
    if (i->space_count != 1 || i->operand_count != 2 ||
        !space_base(i->spaces[0], &base)) {
        return LOWER_REFUSED;
    }
    uint32_t from = lower_source(l, i, lower_operand(l, i, 1), 8, PTX_U64);
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 0, false);
    struct step *s = lower_step(l, i, step_isspacep, true);
    s->src[0] = from;
    s->dst = to;
    s->aux = i->spaces[0];
    return LOWER_DONE;
}

/* ---- the family ---- */

/* A policy is a number that nothing here looks into. */
static enum lower_answer lower_createpolicy(struct lowering *l,
                                            const struct ptx_instruction *i) {
    uint32_t from = lower_constant(l, 0, 8);
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 8, false);
    struct step *s = lower_step(l, i, step_add_offset, true);
    s->src[0] = from;
    s->dst = to;
    return LOWER_DONE;
}

enum lower_answer lower_move(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode == PTX_OP_CVTA) {
        return lower_cvta(l, i);
    }
    if (i->opcode == PTX_OP_ISSPACEP) {
        return lower_isspacep(l, i);
    }
    if (i->opcode == PTX_OP_CREATEPOLICY && i->operand_count > 0) {
        return lower_createpolicy(l, i);
    }
    if (i->opcode != PTX_OP_MOV || i->operand_count != 2 || i->type_count != 1) {
        return LOWER_NOT_MINE;
    }
    if (lower_operand(l, i, 0)->kind == PTX_OPERAND_VECTOR ||
        lower_operand(l, i, 1)->kind == PTX_OPERAND_VECTOR) {
        return lower_vector_move(l, i);
    }
    if (i->types[0] == PTX_B128) {
        uint32_t from = lower_source(l, i, lower_operand(l, i, 1), 16, PTX_B128);
        uint32_t to = lower_result(l, lower_operand(l, i, 0), 16, false);
        struct step *s = lower_step(l, i, step_copy_16, true);
        s->src[0] = from;
        s->dst = to;
        return LOWER_DONE;
    }
    return LOWER_NOT_MINE;
}
