#pragma once
/* alu: what the arithmetic files share with the selection of their compilation
 * (alu_dispatch.c), and helpers with which a family finds its handler. */
#include "gpu/ptx/alu/bind.h"

/* The families in the order in which they are asked for an instruction. Each has a
 * function bind_FAMILY_EXTENSION in every compilation of alu_*.c. */
#define ALU_FAMILIES(F, extension)                                                       \
    F(integer, extension)                                                                \
    F(carry, extension)                                                                  \
    F(bits, extension)                                                                   \
    F(float, extension)                                                                  \
    F(select, extension)                                                                 \
    F(convert, extension)                                                                \
    F(convert_small, extension)                                                          \
    F(special_function, extension)                                                       \
    F(half, extension)
#define ALU_DECLARE(family, extension)                                                   \
    step_run *bind_##family##_##extension(const struct ptx_instruction *i,               \
                                          struct step *step);
ALU_FAMILIES(ALU_DECLARE, baseline)
ALU_FAMILIES(ALU_DECLARE, avx2)
ALU_FAMILIES(ALU_DECLARE, avx512)
ALU_FAMILIES(ALU_DECLARE, neon)

/* A row of a family's table: an instruction matches when its opcode, types, number of
 * sources and modifiers are exactly the row's. */
struct alu_row {
    uint16_t opcode;
    uint8_t types[3];
    uint8_t type_count;
    uint8_t sources;
    uint16_t modifiers[4];
    uint8_t modifier_count;
    step_run *run;
};
#define ALU_ROW(op, source_count, handler, type, ...)                                    \
    {                                                                                    \
        .opcode = PTX_OP_##op, .types = {PTX_##type}, .type_count = 1,                   \
        .sources = (source_count), .modifiers = {__VA_ARGS__},                           \
        .modifier_count = sizeof((uint16_t[]){0, ##__VA_ARGS__}) / 2 - 1,                \
        .run = (handler)                                                                 \
    }
#define ALU_ROW2(op, source_count, handler, type0, type1, ...)                           \
    {                                                                                    \
        .opcode = PTX_OP_##op, .types = {PTX_##type0, PTX_##type1}, .type_count = 2,     \
        .sources = (source_count), .modifiers = {__VA_ARGS__},                           \
        .modifier_count = sizeof((uint16_t[]){0, ##__VA_ARGS__}) / 2 - 1,                \
        .run = (handler)                                                                 \
    }

/* The number of sources: all operands except the result and its pair. */
static inline unsigned alu_sources(const struct ptx_instruction *i) {
    unsigned results = i->has_pair ? 2 : 1;
    return i->operand_count > results ? i->operand_count - results : 0;
}

static inline unsigned alu_modifier_count(const struct ptx_instruction *i) {
    unsigned n = 0;
    for (unsigned k = 0; k < PTX_MODIFIER_WORDS; k++) {
        n += (unsigned)__builtin_popcountll(i->modifiers[k]);
    }
    return n;
}

static inline bool alu_row_fits(const struct alu_row *row,
                                const struct ptx_instruction *i, unsigned modifiers) {
    if (row->opcode != i->opcode || row->type_count != i->type_count ||
        row->modifier_count != modifiers || row->sources != alu_sources(i)) {
        return false;
    }
    for (unsigned k = 0; k < row->type_count; k++) {
        if (row->types[k] != i->types[k]) {
            return false;
        }
    }
    for (unsigned k = 0; k < row->modifier_count; k++) {
        if (!ptx_has(i, row->modifiers[k])) {
            return false;
        }
    }
    return true;
}

static inline step_run *alu_find(const struct alu_row *rows, size_t count,
                                 const struct ptx_instruction *i) {
    unsigned modifiers = alu_modifier_count(i);
    for (size_t k = 0; k < count; k++) {
        if (alu_row_fits(&rows[k], i, modifiers)) {
            return rows[k].run;
        }
    }
    return NULL;
}

/* The modifiers of an instruction, crossed off one by one: if one is left, it was not
 * understood, and the instruction is refused. */
struct alu_modifiers {
    uint64_t left[PTX_MODIFIER_WORDS];
};
static inline struct alu_modifiers alu_modifiers_of(const struct ptx_instruction *i) {
    struct alu_modifiers m;
    for (unsigned k = 0; k < PTX_MODIFIER_WORDS; k++) {
        m.left[k] = i->modifiers[k];
    }
    return m;
}
static inline bool alu_take(struct alu_modifiers *m, enum ptx_modifier which) {
    uint64_t bit = UINT64_C(1) << (which % 64);
    bool had = (m->left[which / 64] & bit) != 0;
    m->left[which / 64] &= ~bit;
    return had;
}
static inline bool alu_nothing_left(const struct alu_modifiers *m) {
    uint64_t left = 0;
    for (unsigned k = 0; k < PTX_MODIFIER_WORDS; k++) {
        left |= m->left[k];
    }
    return left == 0;
}

/* The rounding that an instruction names; ALU_ROUND_NONE if none. */
enum alu_rounding { ALU_RN, ALU_RZ, ALU_RM, ALU_RP, ALU_ROUND_NONE };
static inline enum alu_rounding alu_take_rounding(struct alu_modifiers *m) {
    enum alu_rounding r = ALU_ROUND_NONE;
    r = alu_take(m, PTX_M_RN) ? ALU_RN : r;
    r = alu_take(m, PTX_M_RZ) ? ALU_RZ : r;
    r = alu_take(m, PTX_M_RM) ? ALU_RM : r;
    r = alu_take(m, PTX_M_RP) ? ALU_RP : r;
    return r;
}
/* The same for .rni .rzi .rmi .rpi. */
static inline enum alu_rounding alu_take_integral(struct alu_modifiers *m) {
    enum alu_rounding r = ALU_ROUND_NONE;
    r = alu_take(m, PTX_M_RNI) ? ALU_RN : r;
    r = alu_take(m, PTX_M_RZI) ? ALU_RZ : r;
    r = alu_take(m, PTX_M_RMI) ? ALU_RM : r;
    r = alu_take(m, PTX_M_RPI) ? ALU_RP : r;
    return r;
}
