/* Matrix instructions: how many registers of a thread hold its part of each matrix, by
 * the tables of the PTX ISA 9.0, section "Warp Level Matrix Instructions" and the one on
 * wgmma. */
#include "gpu/ptx/read/ptx_legality.h"

static unsigned bits_of(enum ptx_type t) {
    switch (t) {
    case PTX_B1:
        return 1;
    case PTX_U4:
    case PTX_S4:
        return 4;
    case PTX_F16:
    case PTX_BF16:
        return 16;
    case PTX_TF32:
    case PTX_F32:
    case PTX_S32:
        return 32;
    case PTX_F64:
        return 64;
    default:
        return ptx_type_bytes(t) == 1 ? 8 : 0; /* s8, u8, fp8, fp6, scales */
    }
}

/* Registers of one thread of `threads` for rows x columns elements, packed into 32 bits;
 * 0 when that is no whole number. */
static unsigned registers_for(unsigned rows, unsigned columns, enum ptx_type t,
                              unsigned threads) {
    unsigned bits = rows * columns * bits_of(t);
    unsigned width = t == PTX_F64 ? 64 : 32;
    return bits % (threads * width) == 0 ? bits / (threads * width) : 0;
}

/* Elements are in .b32 registers, except f32, s32 and f64, which have registers of their
 * type. */
static enum ptx_type register_type(enum ptx_type t) {
    return t == PTX_F32 || t == PTX_S32 || t == PTX_F64 ? t : PTX_B32;
}

static bool check_fragment(const struct ptx_check *c, int number, unsigned count,
                           enum ptx_type t, bool destination) {
    if (count == 0) {
        return ptx_refuse(c, -1, "has a shape that its types cannot have");
    }
    return ptx_check_vector(c, number, register_type(t), count, destination);
}

static bool check_rest(const struct ptx_check *c, int first, const char *letters) {
    for (int number = first; *letters; letters++, number++) {
        struct ptx_operand *o = &c->operands[number];
        bool ok = *letters == 'p'   ? ptx_check_source(c, number, o, PTX_PRED)
                  : *letters == 'u' ? ptx_check_source(c, number, o, PTX_B32)
                                    : o->kind == PTX_OPERAND_IMMEDIATE && !o->is_float;
        if (!ok) {
            return ptx_refuse(c, number, "must be a constant");
        }
    }
    return true;
}

static bool is_sparse(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_SP) || ptx_has(i, PTX_M_SP_ORDERED_METADATA);
}

/* d, a, b, c and, where a is sparse, metadata and a selector. m8n8k4 of f16 is four
 * multiplications of a quarter of a warp each. */
static bool check_mma(const struct ptx_check *c) {
    const struct ptx_instruction *i = c->i;
    const uint16_t *s = i->shape;
    bool sparse = is_sparse(i);
    if (i->type_count != 4 || s[2] == 0 || i->operand_count != (sparse ? 6 : 4)) {
        return ptx_refuse(c, -1, "needs a shape, four types and four operands");
    }
    enum ptx_type d = i->types[0], a = i->types[1], b = i->types[2], e = i->types[3];
    unsigned threads = s[0] == 8 && s[2] == 4 && a == PTX_F16 ? 8 : 32;
    return check_fragment(c, 0, registers_for(s[0], s[1], d, threads), d, true) &&
           check_fragment(c, 1, registers_for(s[0], s[2] / (sparse ? 2 : 1), a, threads),
                          a, false) &&
           check_fragment(c, 2, registers_for(s[2], s[1], b, threads), b, false) &&
           check_fragment(c, 3, registers_for(s[0], s[1], e, threads), e, false) &&
           (!sparse || check_rest(c, 4, "ui"));
}

/* wmma keeps a and b of f16 twice: eight registers for every shape. */
static unsigned wmma_registers(const struct ptx_instruction *i, char matrix,
                               enum ptx_type t) {
    const uint16_t *s = i->shape;
    if (matrix == 'c') {
        return registers_for(s[0], s[1], t, 32);
    }
    if (t == PTX_F16) {
        return 8;
    }
    return matrix == 'a' ? registers_for(s[0], s[2], t, 32)
                         : registers_for(s[2], s[1], t, 32);
}

/* wmma.mma….d.c of f16 leaves the types of a and b out. */
static bool check_wmma_mma(const struct ptx_check *c) {
    const struct ptx_instruction *i = c->i;
    enum ptx_type d = i->types[0], a = PTX_F16, b = PTX_F16, e = i->types[1];
    if (i->type_count == 4) {
        a = i->types[1], b = i->types[2], e = i->types[3];
    } else if (i->type_count != 2) {
        return ptx_refuse(c, -1, "needs two or four types");
    }
    if (i->operand_count != 4 || i->shape[2] == 0) {
        return ptx_refuse(c, -1, "needs a shape and four operands");
    }
    return check_fragment(c, 0, wmma_registers(i, 'c', d), d, true) &&
           check_fragment(c, 1, wmma_registers(i, 'a', a), a, false) &&
           check_fragment(c, 2, wmma_registers(i, 'b', b), b, false) &&
           check_fragment(c, 3, wmma_registers(i, 'c', e), e, false);
}

static bool check_wmma_memory(const struct ptx_check *c, bool load) {
    const struct ptx_instruction *i = c->i;
    if (i->type_count != 1 || i->shape[2] == 0) {
        return ptx_refuse(c, -1, "needs a shape and a type");
    }
    char matrix = ptx_has(i, PTX_M_A) ? 'a' : ptx_has(i, PTX_M_B) ? 'b' : 'c';
    return check_fragment(c, load ? 0 : 1, wmma_registers(i, matrix, i->types[0]),
                          i->types[0], load);
}

/* d, a or its descriptor, b's descriptor, [metadata, selector,] scale-d and the
 * immediates: scale-a, scale-b and, for 16-bit types, trans-b with trans-a where a is a
 * descriptor. */
static bool check_wgmma(const struct ptx_check *c) {
    const struct ptx_instruction *i = c->i;
    const uint16_t *s = i->shape;
    bool sparse = is_sparse(i);
    int tail = sparse ? 5 : 3;
    if (i->type_count != 3 || s[2] == 0 || i->operand_count <= tail ||
        i->operand_count > tail + 5) {
        return ptx_refuse(c, -1, "needs a shape, three types, operands and scale-d");
    }
    enum ptx_type d = i->types[0], a = i->types[1];
    if (!check_fragment(c, 0, registers_for(s[0], s[1], d, 128), d, true)) {
        return false;
    }
    unsigned a_count = registers_for(s[0], s[2] / (sparse ? 2 : 1), a, 128);
    bool ok = c->operands[1].kind == PTX_OPERAND_VECTOR
                  ? check_fragment(c, 1, a_count, a, false)
                  : ptx_check_source(c, 1, &c->operands[1], PTX_B64);
    if (!ok || !ptx_check_source(c, 2, &c->operands[2], PTX_B64) ||
        (sparse && !check_rest(c, 3, "ui"))) {
        return false;
    }
    static const char *const rest[] = {"", "p", "pi", "pii", "piii", "piiii"};
    return check_rest(c, tail, rest[i->operand_count - tail]);
}

bool ptx_check_matrix(const struct ptx_check *c) {
    const struct ptx_instruction *i = c->i;
    if (ptx_has(i, PTX_M_BLOCK_SCALE)) {
        return true; /* sm_120: read, nothing promised */
    }
    switch (i->opcode) {
    case PTX_OP_MMA:
        return check_mma(c);
    case PTX_OP_WGMMA:
        return check_wgmma(c);
    default:
        return ptx_has(i, PTX_M_LOAD) || ptx_has(i, PTX_M_STORE)
                   ? check_wmma_memory(c, ptx_has(i, PTX_M_LOAD))
                   : check_wmma_mma(c);
    }
}
