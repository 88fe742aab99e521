/* Matrix instructions become steps: which shapes and types exist (PTX ISA 9.0, sm_90a),
 * and where their fragments lie. */
#include "gpu/ptx/matrix/matrix_lower.h"
#include "base/find.h"
#include "gpu/ptx/alu/alu.h"

/* ---- shapes ---- */

enum factor_kind { F16, BF16, TF32, F8, F64, I8, I4, B1, NO_FACTOR };

static enum factor_kind factor_of(enum ptx_type t) {
    switch (t) {
    case PTX_F16:
        return F16;
    case PTX_BF16:
        return BF16;
    case PTX_TF32:
        return TF32;
    case PTX_E4M3:
    case PTX_E5M2:
        return F8;
    case PTX_F64:
        return F64;
    case PTX_S8:
    case PTX_U8:
        return I8;
    case PTX_S4:
    case PTX_U4:
        return I4;
    case PTX_B1:
        return B1;
    default:
        return NO_FACTOR;
    }
}

struct matrix_shape {
    uint8_t kind;
    uint16_t m, n, k;
};
static const struct matrix_shape mma_shapes[] = {
    {F16, 8, 8, 4},    {F16, 16, 8, 8},  {F16, 16, 8, 16}, {BF16, 16, 8, 8},
    {BF16, 16, 8, 16}, {TF32, 16, 8, 4}, {TF32, 16, 8, 8}, {F8, 16, 8, 16},
    {F8, 16, 8, 32},   {F64, 8, 8, 4},   {F64, 16, 8, 4},  {F64, 16, 8, 8},
    {F64, 16, 8, 16},  {I8, 8, 8, 16},   {I8, 16, 8, 16},  {I8, 16, 8, 32},
    {I4, 8, 8, 32},    {I4, 16, 8, 32},  {I4, 16, 8, 64},  {B1, 8, 8, 128},
    {B1, 16, 8, 128},  {B1, 16, 8, 256},
};
static const struct matrix_shape wmma_shapes[] = {
    {F16, 16, 16, 16}, {F16, 32, 8, 16},  {F16, 8, 32, 16},  {BF16, 16, 16, 16},
    {BF16, 32, 8, 16}, {BF16, 8, 32, 16}, {TF32, 16, 16, 8}, {F64, 8, 8, 4},
    {I8, 16, 16, 16},  {I8, 32, 8, 16},   {I8, 8, 32, 16},   {I4, 8, 8, 32},
    {B1, 8, 8, 128},
};

static bool shape_exists(const struct matrix_shape *shapes, size_t count,
                         enum factor_kind kind, const uint16_t s[3]) {
    return list_any(x, shapes, count,
                    x->kind == kind && x->m == s[0] && x->n == s[1] && x->k == s[2]);
}

/* ---- parts ---- */

static uint32_t lower_add_matrix(struct lowering *l, const struct matrix *m) {
    struct program *p = l->program;
    if ((p->matrix_count & (p->matrix_count - 1)) == 0) {
        uint32_t room = p->matrix_count ? p->matrix_count * 2 : 1;
        p->matrices = xreallocarray(p->matrices, room, sizeof *p->matrices);
    }
    p->matrices[p->matrix_count] = *m;
    return p->matrix_count++;
}

struct matrix_registers lower_fragment(struct lowering *l,
                                       const struct ptx_instruction *i, struct matrix *m,
                                       const struct ptx_operand *o, unsigned bytes,
                                       bool result) {
    unsigned count = o->kind == PTX_OPERAND_VECTOR ? o->count : 1;
    struct matrix_registers r = {.first = (uint16_t)m->register_count,
                                 .count = (uint16_t)count};
    m->registers =
        xreallocarray(m->registers, m->register_count + count, sizeof *m->registers);
    for (unsigned k = 0; k < count; k++) {
        const struct ptx_operand *e =
            o->kind == PTX_OPERAND_VECTOR ? lower_element(l, o, k) : o;
        m->registers[m->register_count++] =
            result ? lower_result(l, e, bytes, false)
                   : lower_source(l, i, e, bytes, bytes == 8 ? PTX_B64 : PTX_B32);
    }
    return r;
}

struct step *lower_matrix_step(struct lowering *l, const struct ptx_instruction *i,
                               struct matrix *m) {
    m->arithmetic = bind_matrix();
    m->function = l->code->index;
    m->instruction = l->index;
    uint32_t extra = lower_add_matrix(l, m); /* the program's from now on */
    *m = (struct matrix){.run = NULL};
    struct step *s = lower_step(l, i, step_matrix, false);
    s->extra = extra;
    return s;
}

/* ---- mma, wmma.mma ---- */

/* The layouts as written: modifiers are a set, that of .row.col and .col.row is one. */
static bool layout_is_column(const struct lowering *l, const struct ptx_instruction *i,
                             unsigned which) {
    const char *text = l->module->text + i->spelling;
    for (uint32_t k = 0; k + 3 < i->spelling_len; k++) {
        bool row = strncmp(text + k, ".row", 4) == 0;
        bool column = strncmp(text + k, ".col", 4) == 0;
        if ((row || column) && which-- == 0) {
            return column;
        }
    }
    return false;
}

static bool real_results(enum ptx_type t) {
    return t == PTX_F16 || t == PTX_F32;
}

/* Which d and c go with factors of a kind. */
static bool results_exist(enum factor_kind kind, enum ptx_type d, enum ptx_type c) {
    switch (kind) {
    case F16:
    case F8:
        return real_results(d) && real_results(c);
    case BF16:
    case TF32:
        return d == PTX_F32 && c == PTX_F32;
    case F64:
        return d == PTX_F64 && c == PTX_F64;
    default:
        return d == PTX_S32 && c == PTX_S32;
    }
}

static bool modifiers_understood(const struct ptx_instruction *i, enum factor_kind kind,
                                 struct matrix *m) {
    struct alu_modifiers left = alu_modifiers_of(i);
    static const enum ptx_modifier plain[] = {PTX_M_SYNC, PTX_M_ALIGNED, PTX_M_ROW,
                                              PTX_M_COL, PTX_M_MMA};
    for (size_t k = 0; k < ARRAY_LEN(plain); k++) {
        alu_take(&left, plain[k]);
    }
    if (kind == I8 || kind == I4) {
        m->saturate = alu_take(&left, PTX_M_SATFINITE);
    } else if (kind == B1) {
        bool exclusive = alu_take(&left, PTX_M_XOR), both = alu_take(&left, PTX_M_AND);
        m->product.is_and = both;
        if (exclusive == both || !alu_take(&left, PTX_M_POPC)) {
            return false;
        }
    } else if (kind == F64) {
        alu_take(&left, PTX_M_RN);
    }
    return alu_nothing_left(&left) && ptx_has(i, PTX_M_SYNC);
}

static enum tensor_course course_of(enum factor_kind kind, const uint16_t shape[3],
                                    bool wmma) {
    return kind > F8                      ? TENSOR_NONE
           : kind == F8                   ? TENSOR_UNPACKED
           : kind == F16 && shape[2] == 4 ? TENSOR_CHAIN
           : wmma && kind == TF32         ? TENSOR_TWO_STEPS
                                          : TENSOR_ONE_STEP;
}

/* wmma.mma….d.c of f16 leaves the types of a and b out. */
static void types_of(const struct ptx_instruction *i, struct matrix *m) {
    bool two = i->type_count == 2;
    m->type_d = i->types[0];
    m->product.a = two ? PTX_F16 : i->types[1];
    m->product.b = two ? PTX_F16 : i->types[2];
    m->type_c = i->types[two ? 1 : 3];
}

/* mma.sp: 32 or 64 bytes of k. */
static const struct matrix_shape sparse_shapes[] = {
    {F16, 16, 8, 16}, {F16, 16, 8, 32},  {BF16, 16, 8, 16}, {BF16, 16, 8, 32},
    {TF32, 16, 8, 8}, {TF32, 16, 8, 16}, {F8, 16, 8, 64},   {I8, 16, 8, 32},
    {I8, 16, 8, 64},  {I4, 16, 8, 64},   {I4, 16, 8, 128},
};

static bool sparse_modifiers(const struct ptx_instruction *i, enum factor_kind kind,
                             struct matrix *m) {
    struct alu_modifiers left = alu_modifiers_of(i);
    bool ordered = alu_take(&left, PTX_M_SP_ORDERED_METADATA);
    bool known = (alu_take(&left, PTX_M_SP) || ordered) && alu_take(&left, PTX_M_SYNC) &&
                 alu_take(&left, PTX_M_ALIGNED) && alu_take(&left, PTX_M_ROW) &&
                 alu_take(&left, PTX_M_COL);
    m->sparse = true;
    m->ordered = ordered;
    m->saturate = (kind == I8 || kind == I4) && alu_take(&left, PTX_M_SATFINITE);
    return known && alu_nothing_left(&left);
}

/* The highest selector: of four lanes or of two pairs; 0 where all four take part. */
static unsigned selector_most(const struct matrix *m) {
    bool bytes = matrix_bits((enum ptx_type)m->product.a) <= 8;
    bool half = sparse_row_bytes(m) < SPARSE_ROW_BYTES;
    return half ? (bytes ? 1 : 3) : !bytes;
}

bool lower_metadata(struct lowering *l, const struct ptx_instruction *i, struct matrix *m,
                    unsigned operand) {
    const struct ptx_operand *selector = lower_operand(l, i, operand + 1);
    if (selector->kind != PTX_OPERAND_IMMEDIATE || selector->bits > selector_most(m)) {
        return false;
    }
    m->selector = (uint8_t)selector->bits;
    m->metadata = lower_fragment(l, i, m, lower_operand(l, i, operand), 4, false);
    return !l->failed;
}

static enum lower_answer lower_sparse(struct lowering *l,
                                      const struct ptx_instruction *i) {
    struct matrix m = {.run = matrix_run_sparse};
    if (i->operand_count != 6 || i->type_count != 4) {
        return LOWER_REFUSED;
    }
    types_of(i, &m);
    enum factor_kind kind = factor_of((enum ptx_type)m.product.a);
    const uint16_t *s = i->shape;
    if (!shape_exists(sparse_shapes, ARRAY_LEN(sparse_shapes), kind, s) ||
        factor_of((enum ptx_type)m.product.b) != kind ||
        (kind != F8 && kind != I8 && kind != I4 && m.product.a != m.product.b) ||
        !results_exist(kind, (enum ptx_type)m.type_d, (enum ptx_type)m.type_c) ||
        !sparse_modifiers(i, kind, &m)) {
        return LOWER_REFUSED;
    }
    m.product.m = s[0], m.product.n = s[1], m.product.k = s[2] / 2;
    m.course = course_of(kind, s, false);
    m.a = lower_fragment(l, i, &m, lower_operand(l, i, 1), 4, false);
    m.b = lower_fragment(l, i, &m, lower_operand(l, i, 2), 4, false);
    m.c = lower_fragment(l, i, &m, lower_operand(l, i, 3), 4, false);
    if (!lower_metadata(l, i, &m, 4)) {
        free(m.registers);
        return LOWER_REFUSED;
    }
    m.d = lower_fragment(l, i, &m, lower_operand(l, i, 0), 4, true);
    lower_matrix_step(l, i, &m);
    return LOWER_DONE;
}

static enum lower_answer lower_product(struct lowering *l,
                                       const struct ptx_instruction *i) {
    bool wmma = i->opcode == PTX_OP_WMMA;
    struct matrix m = {.run = matrix_run_mma};
    if (i->operand_count != 4 || (i->type_count != 4 && i->type_count != 2)) {
        return LOWER_REFUSED;
    }
    types_of(i, &m);
    enum factor_kind kind = factor_of((enum ptx_type)m.product.a);
    const uint16_t *s = i->shape;
    bool known = wmma ? shape_exists(wmma_shapes, ARRAY_LEN(wmma_shapes), kind, s)
                      : shape_exists(mma_shapes, ARRAY_LEN(mma_shapes), kind, s);
    bool mixed = kind == F8 || ((kind == I8 || kind == I4) && !wmma);
    if (!known || factor_of((enum ptx_type)m.product.b) != kind ||
        (!mixed && m.product.a != m.product.b) ||
        !results_exist(kind, (enum ptx_type)m.type_d, (enum ptx_type)m.type_c) ||
        !modifiers_understood(i, kind, &m)) {
        return LOWER_REFUSED;
    }
    m.product.m = s[0], m.product.n = s[1], m.product.k = s[2];
    m.course = course_of(kind, s, wmma);
    bool quads = kind == F16 && s[2] == 4;
    bool first = layout_is_column(l, i, 0), second = layout_is_column(l, i, 1);
    if (quads) {
        m.run = matrix_run_quads;
        m.a_columns = first;
        m.b_rows = !second;
    } else if (!wmma && (first || !second)) {
        return LOWER_REFUSED;
    }
    unsigned bytes = kind == F64 ? 8 : 4;
    m.a = lower_fragment(l, i, &m, lower_operand(l, i, 1), bytes, false);
    m.b = lower_fragment(l, i, &m, lower_operand(l, i, 2), bytes, false);
    m.c = lower_fragment(l, i, &m, lower_operand(l, i, 3), bytes, false);
    m.d = lower_fragment(l, i, &m, lower_operand(l, i, 0), bytes, true);
    lower_matrix_step(l, i, &m);
    return LOWER_DONE;
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* Where the rows lie: a word of a state space, as it is spelt, and what it stands for. */
static bool take_space(const struct ptx_instruction *i, struct alu_modifiers *left,
                       uint8_t *ret) {
    alu_take(left, PTX_M_SHARED);
    alu_take(left, PTX_M_SHARED_CTA);
    if (i->opcode == PTX_OP_WMMA) {
        alu_take(left, PTX_M_GLOBAL);
    }
    *ret = i->space_count ? i->spaces[0] : PTX_GENERIC;
    return i->space_count < 2;
}

static enum lower_answer lower_rows(struct lowering *l, const struct ptx_instruction *i) {
    bool load = i->opcode == PTX_OP_LDMATRIX;
    struct matrix m = {.run = load ? matrix_run_load : matrix_run_store};
    struct alu_modifiers left = alu_modifiers_of(i);
    static const enum ptx_modifier plain[] = {PTX_M_ALIGNED, PTX_M_X1, PTX_M_X2,
                                              PTX_M_X4};
    for (size_t k = 0; k < ARRAY_LEN(plain); k++) {
        alu_take(&left, plain[k]);
    }
    bool known = alu_take(&left, PTX_M_SYNC) && alu_take(&left, PTX_M_M8N8) &&
                 take_space(i, &left, &m.space);
    m.transposed = alu_take(&left, PTX_M_TRANS);
    if (!known || !alu_nothing_left(&left) || i->type_count != 1 ||
        i->types[0] != PTX_B16) {
        return LOWER_REFUSED;
    }
    uint32_t base;
    int64_t offset;
    const struct ptx_operand *at = lower_operand(l, i, load ? 1 : 0);
    if (!lower_address(l, i, at, (enum ptx_space)m.space, &base, &offset)) {
        return LOWER_REFUSED;
    }
    struct matrix_registers r =
        lower_fragment(l, i, &m, lower_operand(l, i, load ? 0 : 1), 4, load);
    *(load ? &m.d : &m.a) = r;
    struct access a = {.space = PTX_SHARED, .bytes = 16, .count = 1, .is_store = !load};
    m.access = lower_add_access(l, &a);
    struct step *s = lower_matrix_step(l, i, &m);
    s->src[MATRIX_ADDRESS] = base;
    s->offset = offset;
    return LOWER_DONE;
}

static enum lower_answer lower_move_matrix(struct lowering *l,
                                           const struct ptx_instruction *i) {
    struct matrix m = {.run = matrix_run_move};
    if (!ptx_has(i, PTX_M_TRANS) || i->type_count != 1 || i->types[0] != PTX_B16) {
        return LOWER_REFUSED;
    }
    m.a = lower_fragment(l, i, &m, lower_operand(l, i, 1), 4, false);
    m.d = lower_fragment(l, i, &m, lower_operand(l, i, 0), 4, true);
    lower_matrix_step(l, i, &m);
    return LOWER_DONE;
}

/* ---- wmma.load, wmma.store ---- */

/* Which matrix, and the modifiers that say so. */
static bool wmma_part(const struct ptx_instruction *i, struct matrix *m) {
    struct alu_modifiers left = alu_modifiers_of(i);
    static const enum ptx_modifier plain[] = {PTX_M_SYNC, PTX_M_ALIGNED, PTX_M_LOAD,
                                              PTX_M_STORE};
    for (size_t k = 0; k < ARRAY_LEN(plain); k++) {
        alu_take(&left, plain[k]);
    }
    bool row = alu_take(&left, PTX_M_ROW), column = alu_take(&left, PTX_M_COL);
    bool a = alu_take(&left, PTX_M_A), b = alu_take(&left, PTX_M_B);
    bool c = alu_take(&left, PTX_M_C) || alu_take(&left, PTX_M_D);
    m->part = a ? 'a' : b ? 'b' : 'c';
    m->transposed = b ? row : column;
    return take_space(i, &left, &m->space) && row != column && a + b + c == 1 &&
           alu_nothing_left(&left) && ptx_has(i, PTX_M_SYNC);
}

static bool wmma_extent(const struct ptx_instruction *i, struct matrix *m) {
    enum ptx_type t = (enum ptx_type)i->types[0];
    const uint16_t *s = i->shape;
    m->element_bits = (uint8_t)matrix_bits(t);
    m->rows = m->part == 'b' ? s[1] : s[0];
    m->row_bytes = (uint16_t)((m->part == 'c' ? s[1] : s[2]) * m->element_bits / 8);
    enum factor_kind kind = factor_of(t);
    if (m->part != 'c') {
        return kind != NO_FACTOR &&
               shape_exists(wmma_shapes, ARRAY_LEN(wmma_shapes), kind, s) &&
               (!m->transposed || m->element_bits >= 8);
    }
    return list_any(x, wmma_shapes, ARRAY_LEN(wmma_shapes),
                    x->m == s[0] && x->n == s[1] && x->k == s[2] &&
                        (x->kind == F16   ? t == PTX_F16 || t == PTX_F32
                         : x->kind == F64 ? t == PTX_F64
                         : x->kind >= I8  ? t == PTX_S32
                                          : t == PTX_F32));
}

static enum lower_answer lower_wmma_memory(struct lowering *l,
                                           const struct ptx_instruction *i) {
    bool load = ptx_has(i, PTX_M_LOAD);
    struct matrix m = {.run = load ? matrix_run_wmma_load : matrix_run_wmma_store};
    if (i->type_count != 1 || i->operand_count < 2 || !wmma_part(i, &m) ||
        !wmma_extent(i, &m) || (!load && m.part != 'c')) {
        return LOWER_REFUSED;
    }
    uint32_t base, stride = STEP_NO_REGISTER;
    int64_t offset;
    const struct ptx_operand *at = lower_operand(l, i, load ? 1 : 0);
    if (!lower_address(l, i, at, (enum ptx_space)m.space, &base, &offset)) {
        return LOWER_REFUSED;
    }
    bool given = i->operand_count > 2;
    stride = given ? lower_source(l, i, lower_operand(l, i, 2), 8, PTX_U32)
                   : lower_constant(l, 0, 8);
    struct matrix_registers r = lower_fragment(
        l, i, &m, lower_operand(l, i, load ? 0 : 1), m.element_bits == 64 ? 8 : 4, load);
    *(load ? &m.d : &m.a) = r;
    struct access a = {.space = m.space == PTX_GENERIC ? PTX_GLOBAL : m.space,
                       .bytes = 16,
                       .count = 1,
                       .is_store = !load};
    m.access = lower_add_access(l, &a);
    struct step *s = lower_matrix_step(l, i, &m);
    s->src[MATRIX_ADDRESS] = base;
    s->src[MATRIX_SECOND] = stride;
    s->offset = offset;
    s->aux = !given;
    return LOWER_DONE;
}

enum lower_answer lower_matrix(struct lowering *l, const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_MMA:
        return ptx_has(i, PTX_M_SP) || ptx_has(i, PTX_M_SP_ORDERED_METADATA)
                   ? lower_sparse(l, i)
                   : lower_product(l, i);
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
        return lower_rows(l, i);
    case PTX_OP_MOVMATRIX:
        return lower_move_matrix(l, i);
    case PTX_OP_WMMA:
        return ptx_has(i, PTX_M_LOAD) || ptx_has(i, PTX_M_STORE) ? lower_wmma_memory(l, i)
                                                                 : lower_product(l, i);
    default:
        return LOWER_NOT_MINE;
    }
}
