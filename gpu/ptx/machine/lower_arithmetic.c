/* Arithmetic: operands as wide as opcodes.def says, and handlers of bind_alu's. */
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/machine/families.h"

enum { OPERANDS = 8 };

static void add_sources(struct lowering *l, const struct ptx_instruction *i,
                        const enum ptx_type *types, struct step *draft) {
    unsigned first = i->has_pair ? 2 : 1, to = 0;
    for (unsigned k = first; k < i->operand_count; k++) {
        const struct ptx_operand *o = lower_operand(l, i, k);
        unsigned source = k - first;
        if (i->opcode == PTX_OP_LOP3 && i->has_pair && source == 3) {
            draft->aux = (uint32_t)o->bits & 0xff; /* five sources: the table moves */
            continue;
        }
        if (to == 4) {
            l->failed = true;
            return;
        }
        if (o->negated) {
            draft->src_negated |= (uint8_t)(1u << to);
            l->failed = l->failed || types[k] != PTX_PRED;
        }
        draft->src[to++] = lower_source(l, i, o, ptx_type_bytes(types[k]), types[k]);
    }
}

enum lower_answer lower_arithmetic(struct lowering *l, const struct ptx_instruction *i) {
    enum ptx_type types[OPERANDS];
    if (i->operand_count < 2 || i->operand_count > OPERANDS || i->type_count == 0) {
        return LOWER_NOT_MINE;
    }
    ptx_operand_types(i, i->operand_count, types);
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
    add_sources(l, i, types, &draft);
    draft.dst = lower_result(l, lower_operand(l, i, 0), ptx_type_bytes(types[0]),
                             ptx_type_signed(types[0]));
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
