/* Addresses that instructions name. */
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/state/memory.h"
#include "gpu/ptx/state/warp.h"

void step_add_offset(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t *to = LANES(uint64_t, w, s->dst);
    const uint64_t *from = LANES(const uint64_t, w, s->src[0]);
    uint64_t add = (uint64_t)s->offset;
    if (mask == UINT32_MAX) {
        for (unsigned l = 0; l < WARP_LANES; l++) {
            to[l] = from[l] + add;
        }
        return;
    }
    bits_each(l, mask) {
        to[l] = from[l] + add;
    }
}

/* Addresses in a window are 32 bits wide and wrap around: the compiler lets a register
 * hold one that lies before the window, with an offset that leads back into it. A wider
 * register's upper half does not count: a generic address does there, too. */
static uint32_t address_register(struct lowering *l, const struct ptx_instruction *i,
                                 const struct ptx_operand *o, enum ptx_space space) {
    bool window =
        space == PTX_SHARED || space == PTX_SHARED_CLUSTER || space == PTX_LOCAL;
    bool wide = lower_register_bytes(l, o->index) == 8;
    return window && wide && l->program->generic
               ? lower_low_half(l, i, o)
               : lower_source(l, i, o, 8, window ? PTX_S64 : PTX_U64);
}

/* Address register and offset; a temporary or constant where there is none. */
bool lower_address(struct lowering *l, const struct ptx_instruction *i,
                   const struct ptx_operand *o, enum ptx_space space, uint32_t *ret_base,
                   int64_t *ret_offset) {
    uint64_t address = 0;
    *ret_offset = o->offset;
    switch (o->base) {
    case PTX_BASE_REGISTER: {
        struct ptx_operand base = {.kind = PTX_OPERAND_REGISTER, .index = o->index};
        *ret_base = address_register(l, i, &base, space);
        return !l->failed;
    }
    case PTX_BASE_SYMBOL:
        if (!lower_variable_address(l, o->index, &address)) {
            return false;
        }
        if (space == PTX_GENERIC && l->module->variables[o->index].space == PTX_SHARED) {
            address += MEMORY_SHARED;
        }
        break;
    default:
        break;
    }
    *ret_base = lower_constant(l, address, 8);
    return true;
}

bool lower_address_register(struct lowering *l, const struct ptx_instruction *i,
                            unsigned k, enum ptx_space space, uint32_t *ret) {
    const struct ptx_operand *o = lower_operand(l, i, k);
    uint32_t base;
    int64_t offset;
    if (o->kind != PTX_OPERAND_ADDRESS ||
        !lower_address(l, i, o, space, &base, &offset)) {
        return false;
    }
    *ret = base;
    if (offset != 0) {
        *ret = lower_temporary(l, 8);
        struct step *add = lower_step(l, i, step_add_offset, true);
        add->src[0] = base;
        add->dst = *ret;
        add->offset = offset;
    }
    return !l->failed;
}
