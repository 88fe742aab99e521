/* Arithmetic in code: what the handlers of gpu/ptx/alu do, in vectors. */
#include "gpu/ptx/emit/unit.h"

#define UNORDERED 3 /* of VCMPPS and VCMPPD */

/* A step while its code is made. */
struct making {
    struct emit_unit *u;
    const struct step *s;
    const struct native *n;
    struct vectors to;
    unsigned part;
};

static struct asm_place source(const struct making *m, unsigned k, unsigned part) {
    return values_part(&m->u->values, m->s->src[k], m->n->from[k], part,
                       !m->n->takes_loose);
}

static unsigned source_vector(const struct making *m, unsigned k, unsigned part) {
    return values_vector(&m->u->values, m->s->src[k], m->n->from[k], part,
                         !m->n->takes_loose);
}

static void vector(const struct making *m, unsigned op, unsigned reg, unsigned second,
                   struct asm_place rm) {
    asm_vector(&m->u->out, (enum vector_op)op, reg, second, rm);
}

static void move(const struct making *m, unsigned to, struct asm_place from) {
    vector(m, VMOVDQU32, to, 0, from);
}

static struct asm_place constant(int32_t at) {
    return (struct asm_place){.kind = PLACE_BROADCAST, .base = HOST_DATA, .at = at};
}

static void make_plain(const struct making *m, unsigned to) {
    if (m->n->from[1] == 0) {
        vector(m, m->n->vector, to, 0, source(m, 0, m->part));
        return;
    }
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, source(m, 1, m->part));
}

/* Of numbers the instruction's; of one number that one. */
static void make_extreme(const struct making *m, unsigned to) {
    struct assembler *out = &m->u->out;
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    asm_vector_byte(out, VRANGEPS, to, a, in_register(b), m->n->how);
    asm_vector_byte(out, VCMPPS, 1, a, in_register(a), UNORDERED);
    asm_vector_masked(out, VMOVDQU32, to, 0, in_register(b), 1, 0);
    asm_vector_byte(out, VCMPPS, 1, b, in_register(b), UNORDERED);
    asm_vector_masked(out, VMOVDQU32, to, 0, in_register(a), 1, 0);
}

static void make_sign(const struct making *m, unsigned to) {
    int32_t at = m->n->mask == 0x80000000   ? DATA_AT(sign)
                 : m->n->mask == 0x7fffffff ? DATA_AT(magnitude)
                                            : DATA_AT(ones);
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, constant(at));
}

static void make_product(const struct making *m, unsigned to) {
    unsigned add = m->n->bytes == 8 ? VPADDQ : VPADDD;
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, source(m, 1, m->part));
    vector(m, add, to, to, source(m, 2, m->part));
}

/* Half `half` of a vector, widened by `op`, in `to`. */
static void widen_half(const struct making *m, unsigned from, unsigned half, unsigned op,
                       unsigned to) {
    if (half) {
        asm_vector_byte(&m->u->out, VEXTRACTI64X4, from, 0, in_register(to), 1);
        from = to;
    }
    vector(m, op, to, 0, in_register(from));
}

/* Part `m->part` of the result: the low or high half of a vector of twice as many lanes,
 * widened by `op`, in `to`. */
static void widen(const struct making *m, unsigned k, unsigned op, unsigned to) {
    struct asm_place from = source(m, k, m->part / 2);
    if (from.kind == PLACE_REGISTER) {
        widen_half(m, from.base, m->part % 2, op, to);
        return;
    }
    from.at += m->part % 2 ? 32 : 0;
    vector(m, op, to, 0, from);
}

static void make_widened(const struct making *m, unsigned to) {
    widen(m, 0, m->n->vector, to);
    if (m->n->how) {
        int32_t at = unit_data_add(m->u, 4);
        m->u->data[at] = m->n->how;
        vector(m, VPSLLVD, to, to, constant(at));
    }
}

/* NaNs of a vector of f32 get their one form. */
static void settle_floats(const struct making *m, unsigned v) {
    asm_vector_byte(&m->u->out, VCMPPS, 1, v, in_register(v), UNORDERED);
    asm_vector_masked(&m->u->out, VMOVDQU32, v, 0, in_register(VECTOR_NAN), 1, 0);
}

static void settle_doubles(const struct making *m, unsigned v) {
    asm_vector_byte(&m->u->out, VCMPPD, 1, v, in_register(v), UNORDERED);
    asm_vector_masked(&m->u->out, VPBLENDMQ, v, v, constant(DATA_AT(nan_f64)), 1, 0);
}

/* 16 f32s in `from`, rounded to f16s: half `half` of `to`. The one NaN of f32 becomes
 * that of f16. */
static void round_to_half(const struct making *m, unsigned from, unsigned half,
                          unsigned to) {
    enum { NEAREST = 0 };
    settle_floats(m, from);
    asm_vector_byte(&m->u->out, VCVTPS2PH, from, 0, in_register(half ? from : to),
                    NEAREST);
    if (half) {
        asm_vector_byte(&m->u->out, VINSERTI64X4, to, to, in_register(from), 1);
    }
}

static void make_to_half(const struct making *m, unsigned to) {
    for (unsigned half = 0; half < 2; half++) {
        move(m, VECTOR_TEMPORARY, source(m, 0, half));
        round_to_half(m, VECTOR_TEMPORARY, half, to);
    }
}

/* Rounded twice, which for f16 is rounded once (alu_half.c). */
static void make_halves(const struct making *m, unsigned to) {
    enum { A = VECTOR_TEMPORARY, B };
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    for (unsigned half = 0; half < 2; half++) {
        widen_half(m, a, half, VCVTPH2PS, A);
        widen_half(m, b, half, VCVTPH2PS, B);
        vector(m, m->n->vector, A, A, in_register(B));
        round_to_half(m, A, half, to);
    }
}

static void make_wide(const struct making *m, unsigned to) {
    const struct value *b = values_of(&m->u->values, m->s->src[1], 4);
    struct asm_place other = in_register(VECTOR_TEMPORARY);
    if (b->is_uniform) { /* each of its words will do */
        other = source(m, 1, 0);
    } else {
        widen(m, 1, VPMOVZXDQ, VECTOR_TEMPORARY);
    }
    unsigned a = VECTOR_TEMPORARY + 1;
    if (values_of(&m->u->values, m->s->src[0], 4)->is_uniform) {
        a = source_vector(m, 0, 0);
    } else {
        widen(m, 0, VPMOVZXDQ, VECTOR_TEMPORARY + 1);
    }
    vector(m, m->n->vector, to, a, other);
    if (m->n->from[2]) {
        vector(m, VPADDQ, to, to, source(m, 2, m->part));
    }
}

/* Exact (alu_integer.c, quotient_32); by zero all bits are ones, as there. */
static void make_quotient(const struct making *m, unsigned to) {
    enum { A = VECTOR_TEMPORARY, B, NONZERO = 1 };
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    unsigned widening = m->n->vector == VCVTTPD2DQ ? VCVTDQ2PD : VCVTUDQ2PD;
    for (unsigned half = 0; half < 2; half++) {
        widen_half(m, a, half, widening, A);
        widen_half(m, b, half, widening, B);
        vector(m, VDIVPD, A, A, in_register(B));
        vector(m, m->n->vector, half ? B : to, 0, in_register(A));
    }
    asm_vector_byte(&m->u->out, VINSERTI64X4, A, to, in_register(B), 1);
    if (m->n->how) {
        vector(m, VPMULLD, A, A, in_register(b));
        vector(m, VPSUBD, A, a, in_register(A));
    }
    vector(m, VPTESTMD, NONZERO, b, in_register(b));
    move(m, to, in_register(VECTOR_ONES));
    asm_vector_masked(&m->u->out, VMOVDQU32, to, 0, in_register(A), NONZERO, 0);
}

static void make_shift_wide(const struct making *m, unsigned to) {
    widen(m, 1, VPMOVZXDQ, VECTOR_TEMPORARY);
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, in_register(VECTOR_TEMPORARY));
}

static void make_move(const struct making *m, unsigned to) {
    if (m->s->offset == 0 || m->n->bytes != 8) {
        move(m, to, source(m, 0, m->part));
        return;
    }
    unsigned a = source_vector(m, 0, m->part);
    int32_t at = unit_data_add(m->u, 8);
    uint64_t offset = (uint64_t)m->s->offset;
    __builtin_memcpy(m->u->data + at, &offset, sizeof offset);
    vector(m, VPADDQ, to, a, constant(at));
}

static void make_narrow(const struct making *m, unsigned to) {
    unsigned low = source_vector(m, 0, 2 * m->part);
    unsigned high = source_vector(m, 0, 2 * m->part + 1);
    vector(m, VPMOVQD, low, 0, in_register(to));
    vector(m, VPMOVQD, high, 0, in_register(VECTOR_TEMPORARY));
    asm_vector_byte(&m->u->out, VINSERTI64X4, to, to, in_register(VECTOR_TEMPORARY), 1);
}

static uint32_t constant_of(const struct emit_unit *u, uint32_t offset) {
    uint32_t v;
    __builtin_memcpy(&v, u->code->fixed_image + (offset - u->code->fixed), sizeof v);
    return v;
}

static void make_logic(const struct making *m, unsigned to) {
    unsigned b = source_vector(m, 1, m->part);
    struct asm_place c = source(m, 2, m->part);
    move(m, to, source(m, 0, m->part));
    asm_vector_byte(&m->u->out, VPTERNLOGD, to, b, c,
                    (uint8_t)constant_of(m->u, m->s->src[3]));
}

/* Bits of 16 lanes, or 8, of a predicate become k1. */
static void predicate_part(const struct making *m, uint32_t offset, unsigned lanes) {
    struct assembler *out = &m->u->out;
    unsigned first = m->part * lanes;
    asm_mask(out, KMOVW_LOAD, 1, 0, in_memory(HOST_REGS, (int32_t)(offset + first / 8)));
}

static void make_select(const struct making *m, unsigned to) {
    bool negated = m->s->src_negated >> 2 & 1;
    unsigned lanes = m->n->bytes == 8 ? 8 : 16;
    unsigned op = m->n->bytes == 8 ? VPBLENDMQ : VPBLENDMD;
    unsigned other = source_vector(m, negated ? 0 : 1, m->part);
    struct asm_place chosen = source(m, negated ? 1 : 0, m->part);
    predicate_part(m, m->s->src[2], lanes);
    asm_vector_masked(&m->u->out, (enum vector_op)op, to, other, chosen, 1, 0);
}

/* a * b + c: on top of c where c dies, of a where a does. */
static void make_fused(struct making *m) {
    struct values *v = &m->u->values;
    const struct step *s = m->s;
    unsigned count = m->to.count;
    for (unsigned k = 0; k < 3;
         k++) { /* operands that are read come into vectors first */
        source(m, k, 0);
    }
    bool alone_c = s->src[2] != s->src[0] && s->src[2] != s->src[1];
    bool alone_a = s->src[0] != s->src[1] && s->src[0] != s->src[2];
    bool on_c = alone_c && values_take(v, s->src[2], s->dst, count, &m->to);
    bool on_a = !on_c && alone_a && values_take(v, s->src[0], s->dst, count, &m->to);
    if (!on_c && !on_a) {
        m->to = values_new(v, m->n->bytes, m->to.is_uniform);
    }
    for (m->part = 0; m->part < count; m->part++) {
        unsigned to = m->to.vectors[m->part];
        if (on_a) {
            unsigned b = source_vector(m, 1, m->part);
            vector(m, m->n->vector == VFMADD231PS ? VFMADD213PS : VFMADD213PD, to, b,
                   source(m, 2, m->part));
            continue;
        }
        unsigned a = source_vector(m, 0, m->part);
        struct asm_place b = source(m, 1, m->part);
        if (!on_c) {
            move(m, to, source(m, 2, m->part));
        }
        vector(m, m->n->vector, to, a, b);
    }
}

/* ---- predicates ---- */

static void make_comparison(struct making *m) {
    struct assembler *out = &m->u->out;
    unsigned parts = m->n->from[0] / 2u, lanes = 32 / parts;
    for (m->part = 0; m->part < parts; m->part++) {
        unsigned a = source_vector(m, 0, m->part);
        asm_vector_byte(out, (enum vector_op)m->n->vector, m->part + 1, a,
                        source(m, 1, m->part), m->n->how);
    }
    if (lanes == 8) {
        asm_mask(out, KUNPCKBW, 1, 2, in_register(1));
        asm_mask(out, KUNPCKBW, 2, 4, in_register(3));
    }
    asm_mask(out, KUNPCKWD, 1, 2, in_register(1));
    asm_mask(out, KMOVD_TO, RAX, 0, in_register(1));
    asm_scalar(out, MOV_STORE_32, RAX, in_memory(HOST_REGS, (int32_t)m->s->dst));
}

static void load_predicate(const struct making *m, unsigned k, enum gpr to) {
    asm_scalar(&m->u->out, MOV_32, to, in_memory(HOST_REGS, (int32_t)m->s->src[k]));
    if (m->s->src_negated >> k & 1) {
        asm_scalar(&m->u->out, NOT_32, RAX, in_register(to));
    }
}

static void make_predicate(const struct making *m) {
    static const enum scalar_op ops[] = {
        [PREDICATE_AND] = AND_32, [PREDICATE_OR] = OR_32, [PREDICATE_XOR] = XOR_32};
    struct assembler *out = &m->u->out;
    load_predicate(m, 0, RAX);
    if (m->n->how == PREDICATE_NOT) {
        asm_scalar(out, NOT_32, RAX, in_register(RAX));
    } else if (m->n->how != PREDICATE_MOVE) {
        load_predicate(m, 1, RCX);
        asm_scalar(out, ops[m->n->how], RAX, in_register(RCX));
    }
    asm_scalar(out, MOV_STORE_32, RAX, in_memory(HOST_REGS, (int32_t)m->s->dst));
}

/* ---- parameters ---- */

static void make_parameter(const struct making *m, unsigned to) {
    struct assembler *out = &m->u->out;
    asm_scalar(out, MOV, RAX, in_memory(HOST_DATA, DATA_AT(params)));
    vector(m, m->n->bytes == 8 ? VPBROADCASTQ : VPBROADCASTD, to, 0,
           in_memory(RAX, (int32_t)m->s->offset));
}

/* ---- all ---- */

typedef void make_part(const struct making *m, unsigned to);
static make_part *const makers[] = {
    [NATIVE_PLAIN] = make_plain,
    [NATIVE_EXTREME] = make_extreme,
    [NATIVE_SIGN] = make_sign,
    [NATIVE_PRODUCT] = make_product,
    [NATIVE_WIDE] = make_wide,
    [NATIVE_QUOTIENT] = make_quotient,
    [NATIVE_SHIFT_WIDE] = make_shift_wide,
    [NATIVE_MOVE] = make_move,
    [NATIVE_WIDEN] = make_widened,
    [NATIVE_NARROW] = make_narrow,
    [NATIVE_LOGIC] = make_logic,
    [NATIVE_TO_HALF] = make_to_half,
    [NATIVE_HALVES] = make_halves,
    [NATIVE_SELECT] = make_select,
    [NATIVE_PARAMETER] = make_parameter,
};

/* All lanes of the result are equal: one vector will do. */
static bool is_uniform(const struct making *m) {
    bool uniform = m->n->kind != NATIVE_SELECT;
    for (unsigned k = 0; k < 3; k++) {
        if (m->n->from[k]) {
            uniform = uniform &&
                      values_of(&m->u->values, m->s->src[k], m->n->from[k])->is_uniform;
        }
    }
    return uniform;
}

/* Lanes of a sum with one number for all lie as those of the other operand; 0: it is
 * another operation. */
static uint32_t shape_of(const struct making *m) {
    struct values *v = &m->u->values;
    if (m->n->kind == NATIVE_MOVE && m->n->bytes == 8) {
        return values_of(v, m->s->src[0], 8)->shape;
    }
    if (m->n->kind != NATIVE_PLAIN || m->n->vector != VPADDQ) {
        return 0;
    }
    bool first = values_of(v, m->s->src[0], 8)->is_uniform;
    bool second = values_of(v, m->s->src[1], 8)->is_uniform;
    return !first && !second ? 0 : values_of(v, m->s->src[first ? 1 : 0], 8)->shape;
}

void unit_arithmetic(struct emit_unit *u, const struct step *s, const struct native *n) {
    struct making m = {.u = u, .s = s, .n = n};
    if (n->kind == NATIVE_COMPARE) {
        make_comparison(&m);
        return;
    }
    if (n->kind == NATIVE_PREDICATE) {
        make_predicate(&m);
        return;
    }
    bool uniform = is_uniform(&m);
    uint32_t shape = shape_of(&m);
    if (n->kind == NATIVE_FUSED) {
        m.to.count = uniform ? 1 : n->bytes / 2;
        m.to.is_uniform = uniform;
        make_fused(&m);
    } else {
        m.to = values_new(&u->values, n->bytes, uniform);
        for (m.part = 0; m.part < m.to.count; m.part++) {
            makers[n->kind](&m, m.to.vectors[m.part]);
        }
    }
    for (unsigned k = 0; n->settles && k < m.to.count; k++) {
        settle_doubles(&m, m.to.vectors[k]);
    }
    values_set(&u->values, s->dst, n->bytes, m.to, n->makes_nans);
    if (shape) {
        values_of(&u->values, s->dst, n->bytes)->shape = shape;
    }
}
