#pragma once
/* making: one arithmetic step while its code is made: its sources and its result by
 * parts, each of which is a vector. */
#include "gpu/ptx/emit/unit.h"

#define UNORDERED 3 /* of VCMPPS and VCMPPD */

struct making {
    struct emit_unit *u;
    const struct step *s;
    const struct native *n;
    struct vectors to;
    unsigned part;
};
/* Makes part m->part of the result in the vector `to`. */
typedef void make_part(const struct making *m, unsigned to);

static inline struct asm_place source(const struct making *m, unsigned k, unsigned part) {
    return values_part(&m->u->values, m->s->src[k], m->n->from[k], part,
                       !m->n->takes_loose);
}

static inline unsigned source_vector(const struct making *m, unsigned k, unsigned part) {
    return values_vector(&m->u->values, m->s->src[k], m->n->from[k], part,
                         !m->n->takes_loose);
}

static inline void vector(const struct making *m, unsigned op, unsigned reg,
                          unsigned second, struct asm_place rm) {
    asm_vector(&m->u->out, (enum vector_op)op, reg, second, rm);
}

static inline void move(const struct making *m, unsigned to, struct asm_place from) {
    vector(m, VMOVDQU32, to, 0, from);
}

/* One number for all elements of a vector, of 4 or 8 bytes as the instruction's. */
static inline struct asm_place constant(const struct making *m, uint64_t value) {
    return (struct asm_place){.kind = PLACE_BROADCAST,
                              .base = HOST_DATA,
                              .at = unit_constant(m->u, value)};
}

/* Half `half` of a vector, widened by `op`, in `to`. */
static inline void widen_half(const struct making *m, unsigned from, unsigned half,
                              unsigned op, unsigned to) {
    if (half) {
        asm_vector_byte(&m->u->out, VEXTRACTI64X4, from, 0, in_register(to), 1);
        from = to;
    }
    vector(m, op, to, 0, in_register(from));
}

make_part make_product, make_widened, make_wide, make_quotient, make_shift_wide,
    make_move, make_narrow, make_logic, make_negated, make_high, make_funnel, make_field,
    make_join;
/* Both results of NATIVE_SPLIT. */
void make_split(struct making *m);
