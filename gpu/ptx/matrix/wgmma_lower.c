/* wgmma becomes steps. */
#include "gpu/ptx/alu/alu.h"
#include "base/find.h"
#include "gpu/ptx/matrix/matrix_lower.h"
#include "gpu/ptx/matrix/wgmma.h"

/* The properties of a product, by the type of its factors. */
struct form {
    uint8_t type;
    uint16_t k;
    bool half_sums;  /* d may be f16 */
    bool scales;     /* imm-scale-a, imm-scale-b */
    bool transposes; /* imm-trans-a, imm-trans-b */
};
static const struct form forms[] = {
    {PTX_F16, 16, true, true, true},   {PTX_BF16, 16, false, true, true},
    {PTX_TF32, 8, false, true, false}, {PTX_E4M3, 32, true, true, false},
    {PTX_E5M2, 32, true, true, false}, {PTX_S8, 32, false, false, false},
    {PTX_U8, 32, false, false, false}, {PTX_B1, 256, false, false, false},
};

static const struct form *form_of(uint8_t type) {
    return list_find(one, forms, ARRAY_LEN(forms), one->type == type);
}

static bool is_byte(uint8_t t) {
    return t == PTX_S8 || t == PTX_U8;
}
static bool is_small(uint8_t t) {
    return t == PTX_E4M3 || t == PTX_E5M2;
}

/* Columns: multiples of 8, of whole numbers from 32 on multiples of 16 (24 exists). */
static bool columns_exist(const struct form *f, unsigned n) {
    if (n % 8 || n < 8 || n > 256) {
        return false;
    }
    return f->scales || n % 16 == 0 || n == 8 || n == 24;
}

static bool is_sparse(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_SP);
}

static bool types_exist(const struct ptx_instruction *i, const struct form *f) {
    uint8_t d = i->types[0], a = i->types[1], b = i->types[2];
    bool pair = a == b || (is_byte(a) && is_byte(b)) || (is_small(a) && is_small(b));
    bool sums = f->scales ? d == PTX_F32 || (d == PTX_F16 && f->half_sums) : d == PTX_S32;
    return pair && sums && i->shape[0] == 64 &&
           i->shape[2] == f->k * (is_sparse(i) ? 2 : 1) &&
           (f->type != PTX_B1 || !is_sparse(i)) && columns_exist(f, i->shape[1]);
}

static bool modifiers_exist(const struct ptx_instruction *i, struct matrix *m) {
    struct alu_modifiers left = alu_modifiers_of(i);
    bool known = alu_take(&left, PTX_M_MMA_ASYNC) && alu_take(&left, PTX_M_SYNC) &&
                 alu_take(&left, PTX_M_ALIGNED);
    m->sparse = alu_take(&left, PTX_M_SP);
    if (m->product.a == PTX_B1) {
        known = known && alu_take(&left, PTX_M_AND) && alu_take(&left, PTX_M_POPC);
        m->product.is_and = true;
    } else if (is_byte(m->product.a)) {
        m->saturate = alu_take(&left, PTX_M_SATFINITE);
    }
    return known && alu_nothing_left(&left);
}

/* The immediates after scale-d. */
static bool take_immediates(struct lowering *l, const struct ptx_instruction *i,
                            const struct form *f, struct matrix *m) {
    unsigned scale_d = m->sparse ? 5 : 3; /* after metadata and selector */
    unsigned want =
        scale_d + 1 + (f->scales ? 2 : 0) + (f->transposes ? 1 + m->a_shared : 0);
    bool transposes = i->operand_count == want && f->transposes;
    if (i->operand_count != want) {
        return false;
    }
    for (unsigned k = scale_d + 1; k < want; k++) {
        int64_t v = (int64_t)lower_operand(l, i, k)->bits;
        bool scale = k < scale_d + 3;
        if (scale ? v != 1 && v != -1 : v != 0 && v != 1) {
            return false;
        }
        m->product.negated ^= scale && v == -1;
    }
    if (transposes) {
        m->a_transposed = m->a_shared && lower_operand(l, i, scale_d + 3)->bits == 1;
        m->b_transposed = lower_operand(l, i, want - 1)->bits == 1;
    }
    return true;
}

static enum lower_answer lower_mma_async(struct lowering *l,
                                         const struct ptx_instruction *i) {
    struct matrix m = {.run = wgmma_run_product};
    const struct form *f = i->type_count == 3 ? form_of(i->types[1]) : NULL;
    if (!f || !types_exist(i, f) || i->operand_count < 4) {
        return LOWER_REFUSED;
    }
    m.product = (struct matrix_product){
        .m = 16, .n = i->shape[1], .k = f->k, .a = i->types[1], .b = i->types[2]};
    m.type_c = m.type_d = i->types[0];
    m.course = f->scales ? TENSOR_ONE_STEP : TENSOR_NONE;
    const struct ptx_operand *a = lower_operand(l, i, 1);
    m.a_shared = a->kind != PTX_OPERAND_VECTOR;
    if (!modifiers_exist(i, &m) || !take_immediates(l, i, f, &m)) {
        return LOWER_REFUSED;
    }
    uint32_t first = STEP_NO_REGISTER;
    if (m.a_shared) {
        first = lower_source(l, i, a, 8, PTX_B64);
    } else {
        m.a = lower_fragment(l, i, &m, a, 4, false);
    }
    uint32_t second = lower_source(l, i, lower_operand(l, i, 2), 8, PTX_B64);
    const struct ptx_operand *scale_d = lower_operand(l, i, m.sparse ? 5 : 3);
    uint32_t scale = lower_source(l, i, scale_d, 0, PTX_PRED);
    bool turned = scale_d->negated;
    if (m.sparse && !lower_metadata(l, i, &m, 3)) {
        free(m.registers);
        return LOWER_REFUSED;
    }
    m.d = m.c = lower_fragment(l, i, &m, lower_operand(l, i, 0), 4, true);
    l->program->engine_reads = true;
    struct step *s = lower_matrix_step(l, i, &m);
    s->src[MATRIX_ADDRESS] = first;
    s->src[MATRIX_SECOND] = second;
    s->src[MATRIX_PREDICATE] = scale;
    s->src_negated = (uint8_t)(turned << MATRIX_PREDICATE);
    return LOWER_DONE;
}

enum lower_answer lower_wgmma(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode != PTX_OP_WGMMA) {
        return LOWER_NOT_MINE;
    }
    if (ptx_has(i, PTX_M_MMA_ASYNC)) {
        return lower_mma_async(l, i);
    }
    struct matrix m = {.run = ptx_has(i, PTX_M_FENCE)          ? wgmma_run_fence
                              : ptx_has(i, PTX_M_COMMIT_GROUP) ? wgmma_run_commit
                              : ptx_has(i, PTX_M_WAIT_GROUP)   ? wgmma_run_wait
                                                               : NULL};
    if (!m.run) {
        return LOWER_REFUSED;
    }
    if (m.run == wgmma_run_wait) {
        const struct ptx_operand *n = lower_operand(l, i, 0);
        if (n->kind != PTX_OPERAND_IMMEDIATE || n->bits > UINT32_MAX) {
            return LOWER_REFUSED;
        }
        m.groups = (uint32_t)n->bits;
    }
    lower_matrix_step(l, i, &m);
    return LOWER_DONE;
}
