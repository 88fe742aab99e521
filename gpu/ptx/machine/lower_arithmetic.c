/* Widths of the operands of arithmetic, and its steps: the handlers are bind_alu's. */
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/machine/families.h"

/* What operand `k` of the sources is: bytes (0: a predicate), and the type that says how
 * a wider register is brought down and an immediate is read. */
struct width {
    unsigned bytes;
    enum ptx_type type;
};

static struct width width_of(enum ptx_type t) {
    return (struct width){ptx_type_bytes(t), t};
}
static const struct width word = {4, PTX_B32};

static struct width wide_of(enum ptx_type t) {
    switch (t) {
    case PTX_S16:
        return width_of(PTX_S32);
    case PTX_U16:
    case PTX_B16:
        return width_of(PTX_U32);
    case PTX_S32:
        return width_of(PTX_S64);
    default:
        return width_of(PTX_U64);
    }
}

static struct width result_width(const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        return ptx_has(i, PTX_M_WIDE) ? wide_of(i->types[0]) : width_of(i->types[0]);
    case PTX_OP_BFIND:
    case PTX_OP_CLZ:
    case PTX_OP_POPC:
    case PTX_OP_FNS:
    case PTX_OP_DP4A:
    case PTX_OP_DP2A:
        return word;
    case PTX_OP_CVT:
        return ptx_has(i, PTX_M_PACK) ? word : width_of(i->types[0]);
    case PTX_OP_SETP:
    case PTX_OP_TESTP:
        return width_of(PTX_PRED);
    default:
        return width_of(i->types[0]);
    }
}

static struct width source_width(const struct ptx_instruction *i, unsigned k) {
    enum ptx_type first = i->types[0];
    enum ptx_type second = i->type_count > 1 ? i->types[1] : first;
    switch (i->opcode) {
    case PTX_OP_MAD:
        return k == 2 && ptx_has(i, PTX_M_WIDE) ? wide_of(first) : width_of(first);
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_SZEXT:
    case PTX_OP_FNS:
        return k == 0 ? width_of(first) : word;
    case PTX_OP_BFE:
        return k == 0 ? width_of(first) : word;
    case PTX_OP_BFI:
        return k < 2 ? width_of(first) : word;
    case PTX_OP_DP4A:
    case PTX_OP_DP2A:
    case PTX_OP_PRMT:
    case PTX_OP_SHF:
    case PTX_OP_BMSK:
        return word;
    case PTX_OP_LOP3:
        return k < 4 ? word : width_of(PTX_PRED);
    case PTX_OP_CVT:
        if (ptx_has(i, PTX_M_PACK)) {
            return word;
        }
        return width_of(second);
    case PTX_OP_SET:
        return k < 2 ? width_of(second) : width_of(PTX_PRED);
    case PTX_OP_SETP:
        return k < 2 ? width_of(first) : width_of(PTX_PRED);
    case PTX_OP_SELP:
        return k < 2 ? width_of(first) : width_of(PTX_PRED);
    case PTX_OP_SLCT:
        return k < 2 ? width_of(first) : width_of(second);
    default:
        return width_of(first);
    }
}

/* Rounding with random bits has a third word beside two values. */
static bool is_random_word(const struct ptx_instruction *i, unsigned k) {
    return i->opcode == PTX_OP_CVT && ptx_has(i, PTX_M_RS) && k == 2;
}

static void add_sources(struct lowering *l, const struct ptx_instruction *i,
                        struct step *draft) {
    unsigned first = i->has_pair ? 2 : 1, to = 0;
    for (unsigned k = first; k < i->operand_count; k++) {
        const struct ptx_operand *o = lower_operand(l, i, k);
        unsigned source = k - first;
        if (i->opcode == PTX_OP_LOP3 && i->has_pair && source == 3) {
            draft->aux = (uint32_t)o->bits & 0xff; /* five sources: the table moves */
            continue;
        }
        struct width w = is_random_word(i, source) ? word : source_width(i, source);
        if (to == 4) {
            l->failed = true;
            return;
        }
        if (o->negated) {
            draft->src_negated |= (uint8_t)(1u << to);
            l->failed = l->failed || w.bytes != 0;
        }
        draft->src[to++] = lower_source(l, i, o, w.bytes, w.type);
    }
}

enum lower_answer lower_arithmetic(struct lowering *l, const struct ptx_instruction *i) {
    if (i->operand_count < 2 || i->type_count == 0) {
        return LOWER_NOT_MINE;
    }
    for (unsigned k = 0; k < i->operand_count; k++) {
        uint8_t kind = lower_operand(l, i, k)->kind;
        if (kind == PTX_OPERAND_VECTOR || kind == PTX_OPERAND_ADDRESS ||
            kind == PTX_OPERAND_LABEL || kind == PTX_OPERAND_TABLE ||
            kind == PTX_OPERAND_PROTOTYPE) {
            return LOWER_NOT_MINE;
        }
    }
    struct step draft = {
        .dst2 = STEP_NO_REGISTER,
        .src = {STEP_NO_REGISTER, STEP_NO_REGISTER, STEP_NO_REGISTER, STEP_NO_REGISTER}};
    add_sources(l, i, &draft);
    struct width r = result_width(i);
    draft.dst = lower_result(l, lower_operand(l, i, 0), r.bytes, ptx_type_signed(r.type));
    if (i->has_pair) {
        draft.dst2 = lower_result(l, lower_operand(l, i, 1), 0, false);
    }
    step_run *run = l->failed ? NULL : bind_alu(i, &draft);
    if (!run) {
        return LOWER_REFUSED;
    }
    struct step *s = lower_step(l, i, run, true);
    s->dst = draft.dst;
    s->dst2 = draft.dst2;
    for (unsigned k = 0; k < 4; k++) {
        s->src[k] = draft.src[k];
    }
    s->src_negated = draft.src_negated;
    s->aux = draft.aux;
    s->vector = draft.vector;
    s->bytes = draft.bytes;
    s->extra = draft.extra;
    l->code->lane_wise[l->code->step_count - 1] = STEP_ARITHMETIC;
    return LOWER_DONE;
}
