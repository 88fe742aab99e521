/* Instructions on mbarriers become steps. */
#include "gpu/ptx/copies/copies_lower.h"
#include "gpu/ptx/copies/mbarrier_steps.h"

static bool address_operand(struct lowering *l, const struct ptx_instruction *i,
                            unsigned k, uint32_t *ret_base, int64_t *ret_offset,
                            uint32_t *aux) {
    const struct ptx_operand *o = lower_operand(l, i, k);
    enum ptx_space space = i->space_count ? i->spaces[0] : PTX_GENERIC;
    if (o->kind != PTX_OPERAND_ADDRESS || i->space_count > 1 ||
        (space != PTX_GENERIC && space != PTX_SHARED && space != PTX_SHARED_CLUSTER)) {
        return false;
    }
    *aux |=
        (space != PTX_SHARED ? AUX_REMOTE : 0) | (space == PTX_GENERIC ? AUX_GENERIC : 0);
    return lower_address(l, i, o, space, ret_base, ret_offset);
}

static enum lower_answer lower_plain(struct lowering *l, const struct ptx_instruction *i,
                                     step_run *run, uint32_t aux) {
    uint32_t base, count = STEP_NO_REGISTER;
    int64_t offset;
    if (!address_operand(l, i, 0, &base, &offset, &aux)) {
        return LOWER_REFUSED;
    }
    if (i->operand_count > 1) {
        count = lower_source(l, i, lower_operand(l, i, 1), 4, PTX_U32);
    }
    struct step *s = lower_step(l, i, run, true);
    s->src[0] = base;
    s->src[1] = count;
    s->offset = offset;
    s->aux = aux;
    return LOWER_DONE;
}

static enum lower_answer lower_arrive(struct lowering *l,
                                      const struct ptx_instruction *i) {
    const struct ptx_operand *state = lower_operand(l, i, 0);
    uint32_t aux = (ptx_has(i, PTX_M_ARRIVE_DROP) ? AUX_DROP : 0) |
                   (ptx_has(i, PTX_M_EXPECT_TX) ? AUX_EXPECT : 0) |
                   (ptx_has(i, PTX_M_NO_COMPLETE) ? AUX_NO_COMPLETE : 0);
    uint32_t base, count = STEP_NO_REGISTER, to = STEP_NO_REGISTER;
    int64_t offset;
    if (!address_operand(l, i, 1, &base, &offset, &aux) ||
        ((aux & AUX_EXPECT) && i->operand_count < 3)) {
        return LOWER_REFUSED;
    }
    if (i->operand_count > 2) {
        count = lower_source(l, i, lower_operand(l, i, 2), 4, PTX_U32);
    }
    if (state->kind != PTX_OPERAND_SINK) {
        to = lower_result(l, state, 8, false);
    }
    struct step *s = lower_step(l, i, step_mbarrier_arrive, true);
    s->src[0] = base;
    s->src[1] = count;
    s->dst = to;
    s->offset = offset;
    s->aux = aux;
    return LOWER_DONE;
}

static enum lower_answer lower_wait(struct lowering *l, const struct ptx_instruction *i) {
    bool parity = ptx_has(i, PTX_M_PARITY);
    uint32_t base, aux = parity ? AUX_PARITY : 0;
    int64_t offset;
    if (!address_operand(l, i, 1, &base, &offset, &aux)) {
        return LOWER_REFUSED;
    }
    uint32_t state = lower_source(l, i, lower_operand(l, i, 2), parity ? 4 : 8,
                                  parity ? PTX_U32 : PTX_U64);
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 0, false);
    struct step *s = lower_step(l, i, step_mbarrier_wait, true);
    s->src[0] = base;
    s->src[2] = state;
    s->dst = to;
    s->offset = offset;
    s->aux = aux & ~AUX_REMOTE;
    return LOWER_DONE;
}

static enum lower_answer lower_pending(struct lowering *l,
                                       const struct ptx_instruction *i) {
    uint32_t from = lower_source(l, i, lower_operand(l, i, 1), 8, PTX_U64);
    uint32_t to = lower_result(l, lower_operand(l, i, 0), 4, false);
    struct step *s = lower_step(l, i, step_mbarrier_pending_count, true);
    s->src[0] = from;
    s->dst = to;
    return LOWER_DONE;
}

enum lower_answer lower_mbarrier(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode == PTX_OP_CP && ptx_has(i, PTX_M_MBARRIER) &&
        ptx_has(i, PTX_M_ARRIVE)) {
        uint32_t aux = ptx_has(i, PTX_M_NOINC) ? AUX_NO_INCREMENT : 0;
        return lower_plain(l, i, step_mbarrier_arrive_copies, aux);
    }
    if (i->opcode != PTX_OP_MBARRIER) {
        return LOWER_NOT_MINE;
    }
    if (ptx_has(i, PTX_M_INIT)) {
        return lower_plain(l, i, step_mbarrier_init, 0);
    }
    if (ptx_has(i, PTX_M_INVAL)) {
        return lower_plain(l, i, step_mbarrier_inval, 0);
    }
    if (ptx_has(i, PTX_M_ARRIVE) || ptx_has(i, PTX_M_ARRIVE_DROP)) {
        return lower_arrive(l, i);
    }
    if (ptx_has(i, PTX_M_TEST_WAIT) || ptx_has(i, PTX_M_TRY_WAIT)) {
        return lower_wait(l, i);
    }
    if (ptx_has(i, PTX_M_PENDING_COUNT)) {
        return lower_pending(l, i);
    }
    if (ptx_has(i, PTX_M_EXPECT_TX)) {
        return lower_plain(l, i, step_mbarrier_expect, 0);
    }
    return ptx_has(i, PTX_M_COMPLETE_TX) ? lower_plain(l, i, step_mbarrier_complete, 0)
                                         : LOWER_REFUSED;
}
