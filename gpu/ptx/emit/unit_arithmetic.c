/* Arithmetic in code: what the handlers of gpu/ptx/alu do, in vectors. */
#include "gpu/ptx/alu/comparison.h"
#include "gpu/ptx/emit/making.h"

/* An operand in the direction that the instruction rounds in. */
static struct asm_place rounded(const struct making *m, unsigned k) {
    return m->n->rounding ? in_rounded(source_vector(m, k, m->part),
                                       (enum asm_rounding)m->n->rounding)
                          : source(m, k, m->part);
}

static void make_plain(const struct making *m, unsigned to) {
    unsigned last = m->n->from[1] ? 1 : 0;
    unsigned a = last ? source_vector(m, 0, m->part) : 0;
    struct asm_place b = rounded(m, last);
    asm_vector_byte(&m->u->out, (enum vector_op)m->n->vector, to, a, b, m->n->how);
}

/* Of numbers the instruction's; of one number that one. */
static void make_extreme(const struct making *m, unsigned to) {
    struct assembler *out = &m->u->out;
    bool wide = m->n->bytes == 8;
    enum vector_op compare = wide ? VCMPPD : VCMPPS, blend = wide ? VPBLENDMQ : VPBLENDMD;
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    asm_vector_byte(out, (enum vector_op)m->n->vector, to, a, in_register(b), m->n->how);
    asm_vector_byte(out, compare, 1, a, in_register(a), UNORDERED);
    asm_vector_masked(out, blend, to, to, in_register(b), 1, 0);
    asm_vector_byte(out, compare, 1, b, in_register(b), UNORDERED);
    asm_vector_masked(out, blend, to, to, in_register(a), 1, 0);
}

static void make_sign(const struct making *m, unsigned to) {
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, constant(m, m->n->mask));
}

/* ---- functions ---- */

#define ONE 0x3f800000u
#define ONE_64 UINT64_C(0x3ff0000000000000)

static void load_constant(const struct making *m, unsigned to, uint64_t value,
                          unsigned bytes) {
    vector(m, bytes == 8 ? VPBROADCASTQ : VPBROADCASTD, to, 0,
           in_memory(HOST_DATA, unit_constant(m->u, value)));
}

/* 1 / x of binary64, rounded to binary32, is that of binary32: it is at least 2^-48 away
 * from the middle of two numbers, or there. */
static void make_reciprocal(const struct making *m, unsigned to) {
    load_constant(m, VECTOR_TEMPORARY, m->n->bytes == 8 ? ONE_64 : ONE, m->n->bytes);
    vector(m, m->n->vector, to, VECTOR_TEMPORARY, rounded(m, 0));
}

static void make_rsqrt(const struct making *m, unsigned to) {
    enum { A = VECTOR_TEMPORARY, ONES };
    unsigned a = source_vector(m, 0, m->part);
    for (unsigned half = 0; half < 2; half++) {
        widen_half(m, a, half, VCVTPS2PD, A);
        vector(m, VSQRTPD, A, 0, in_register(A));
        load_constant(m, ONES, ONE_64, 8);
        vector(m, VDIVPD, A, ONES, in_register(A));
        vector(m, VCVTPD2PS, half ? A : to, 0, in_register(A));
    }
    asm_vector_byte(&m->u->out, VINSERTI64X4, to, to, in_register(A), 1);
}

/* Divisors whose reciprocal the instruction flushes are the interpreter's. */
static void check_divisor(const struct making *m, unsigned b) {
    enum { BELOW = 1 };
    struct assembler *out = &m->u->out;
    bool masked = m->u->values.is_masked && !m->to.is_uniform;
    vector(m, VPANDD, VECTOR_TEMPORARY, b, constant(m, 0x7fffffff));
    load_constant(m, VECTOR_TEMPORARY + 1, 0x7e800001, 4);
    vector(m, VPSUBD, VECTOR_TEMPORARY, VECTOR_TEMPORARY,
           in_register(VECTOR_TEMPORARY + 1));
    if (masked) {
        values_active(out, 1, 4, m->part);
    }
    asm_vector_masked(out, VPCMPUD, 1, VECTOR_TEMPORARY,
                      constant(m, 0x7f800000 - 0x7e800001), masked ? 1 : 0, BELOW);
    asm_mask(out, KORTESTW, 1, 0, in_register(1));
    unit_exit_if(m->u, IF_NOT_EQUAL);
}

static void make_quick_quotient(const struct making *m, unsigned to) {
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    check_divisor(m, b);
    vector(m, VDIVPS, to, a, in_register(b));
}

/* As INTEGER_OF of alu_convert.c; the CPU gives 2^31 for what does not fit, 2^32 - 1 for
 * unsigned results. */
static void make_integer(const struct making *m, unsigned to) {
    enum { GREATER_EQUAL = 0x1d };
    struct assembler *out = &m->u->out;
    unsigned a = source_vector(m, 0, m->part);
    unsigned direction = m->n->how & (OF_UNSIGNED - 1);
    bool zero = direction == ROUND_ZERO, whole = m->n->how & OF_UNSIGNED;
    unsigned op = whole ? (zero ? VCVTTPS2UDQ : VCVTPS2UDQ)
                        : (zero ? VCVTTPS2DQ : VCVTPS2DQ);
    if (whole) { /* NaN and what is negative become 0 */
        vector(m, VMAXPS, VECTOR_TEMPORARY, a, constant(m, 0));
        a = VECTOR_TEMPORARY;
    }
    vector(m, op, to, 0,
           zero ? in_register(a) : in_rounded(a, (enum asm_rounding)direction));
    if (!whole) {
        asm_vector_byte(out, VCMPPS, 1, a, constant(m, 0x4f000000), GREATER_EQUAL);
        asm_vector_masked(out, VPBLENDMD, to, to, constant(m, INT32_MAX), 1, 0);
        asm_vector_byte(out, VCMPPS, 1, a, in_register(a), UNORDERED);
        asm_vector_masked(out, VPXORD, to, to, in_register(to), 1, 0);
    }
}

/* ---- subnormal numbers, NaNs ---- */

#define SUBNORMAL 0x20 /* of VFPCLASSPS */

/* Whether some active lane of the part is subnormal: into k1, beside what is there. */
static void look_for_subnormal(const struct making *m, unsigned k, unsigned part,
                               bool first) {
    struct assembler *out = &m->u->out;
    bool uniform = values_of(&m->u->values, m->s->src[k], 4)->is_uniform;
    bool masked = m->u->values.is_masked && !uniform;
    unsigned a = source_vector(m, k, part), to = first ? 1 : 2;
    if (masked) {
        values_active(out, to, 4, part);
    }
    asm_vector_masked(out, VFPCLASSPS, to, 0, in_register(a), masked ? to : 0, SUBNORMAL);
    if (!first) {
        asm_mask(out, KORW, 1, 1, in_register(2));
    }
}

/* Sources of .ftz that hold a subnormal number are the interpreter's. */
static void check_sources(const struct making *m) {
    struct values *v = &m->u->values;
    bool any = false;
    for (unsigned k = 0; k < 3; k++) {
        if (m->n->from[k] != 4 || values_of(v, m->s->src[k], 4)->is_flushed) {
            continue;
        }
        unsigned parts = values_of(v, m->s->src[k], 4)->is_uniform ? 1 : 2;
        for (unsigned part = 0; part < parts; part++, any = true) {
            look_for_subnormal(m, k, part, !any);
        }
    }
    if (any) {
        asm_mask(&m->u->out, KORTESTW, 1, 0, in_register(1));
        unit_exit_if(m->u, IF_NOT_EQUAL);
    }
    for (unsigned k = 0; k < 3; k++) {
        if (m->n->from[k] == 4) {
            values_of(v, m->s->src[k], 4)->is_flushed = true;
        }
    }
}

static void flush_result(const struct making *m, unsigned v) {
    asm_vector_byte(&m->u->out, VFPCLASSPS, 1, 0, in_register(v), SUBNORMAL);
    asm_vector_masked(&m->u->out, VPANDD, v, v, constant(m, 0x80000000), 1, 0);
}

/* To 0 … 1; a NaN becomes 0. */
static void saturate_result(const struct making *m, unsigned v) {
    vector(m, VMAXPS, v, v, constant(m, 0));
    vector(m, VMINPS, v, v, constant(m, ONE));
}

/* NaNs of a vector of f32 get their one form. */
static void settle_floats(const struct making *m, unsigned v) {
    asm_vector_byte(&m->u->out, VCMPPS, 1, v, in_register(v), UNORDERED);
    asm_vector_masked(&m->u->out, VMOVDQU32, v, 0, in_register(VECTOR_NAN), 1, 0);
}

static void settle_doubles(const struct making *m, unsigned v) {
    asm_vector_byte(&m->u->out, VCMPPD, 1, v, in_register(v), UNORDERED);
    asm_vector_masked(&m->u->out, VPBLENDMQ, v, v,
                      constant(m, UINT64_C(0xfff8000000000000)), 1, 0);
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

/* Bits of as many lanes of a predicate as a part has become k1. */
static void predicate_part(const struct making *m, uint32_t offset, unsigned lanes) {
    struct assembler *out = &m->u->out;
    unsigned first = m->part * lanes;
    asm_mask(out, lanes == 32 ? KMOVD_LOAD : KMOVW_LOAD, 1, 0,
             in_memory(HOST_REGS, (int32_t)(offset + first / 8)));
}

static void make_select(const struct making *m, unsigned to) {
    static const enum vector_op blends[] = {
        [2] = VPBLENDMW, [4] = VPBLENDMD, [8] = VPBLENDMQ};
    bool negated = m->s->src_negated >> 2 & 1;
    unsigned other = source_vector(m, negated ? 0 : 1, m->part);
    struct asm_place chosen = source(m, negated ? 1 : 0, m->part);
    predicate_part(m, m->s->src[2], 64 / m->n->bytes);
    asm_vector_masked(&m->u->out, blends[m->n->bytes], to, other, chosen, 1, 0);
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
                   rounded(m, 2));
            continue;
        }
        unsigned a = source_vector(m, 0, m->part);
        struct asm_place b = rounded(m, 1);
        if (!on_c) {
            move(m, to, source(m, 2, m->part));
        }
        vector(m, m->n->vector, to, a, b);
    }
}

/* ---- predicates ---- */

static void load_predicate(const struct making *m, unsigned k, enum gpr to) {
    asm_scalar(&m->u->out, MOV_32, to, in_memory(HOST_REGS, (int32_t)m->s->src[k]));
    if (m->s->src_negated >> k & 1) {
        asm_scalar(&m->u->out, NOT_32, RAX, in_register(to));
    }
}

/* Only the bits of active lanes change. */
static void store_predicate(const struct making *m, enum gpr from, uint32_t offset) {
    struct assembler *out = &m->u->out;
    struct asm_place at = in_memory(HOST_REGS, (int32_t)offset);
    if (m->u->values.is_masked) {
        asm_scalar(out, MOV_32, RSI, at);
        asm_scalar(out, XOR_32, from, in_register(RSI));
        asm_scalar(out, AND_32, from, in_register(HOST_LANES));
        asm_scalar(out, XOR_32, from, in_register(RSI));
    }
    asm_scalar(out, MOV_STORE_32, from, at);
}

/* A bit per lane, in eax. */
static void compare(struct making *m) {
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
    if (lanes < 32) {
        asm_mask(out, KUNPCKWD, 1, 2, in_register(1));
    }
    asm_mask(out, KMOVD_TO, RAX, 0, in_register(1));
}

static void make_comparison(struct making *m) {
    static const enum scalar_op ops[] = {
        [WITH_AND] = AND_32, [WITH_OR] = OR_32, [WITH_XOR] = XOR_32};
    struct assembler *out = &m->u->out;
    bool two = m->s->dst2 != STEP_NO_REGISTER;
    enum combine combine = (enum combine)AUX_COMBINE(m->s->aux);
    compare(m);
    if (two) {
        asm_scalar(out, MOV_32, RDX, in_register(RAX));
        asm_scalar(out, NOT_32, RAX, in_register(RDX));
    }
    if (combine != ALONE) {
        load_predicate(m, 2, RCX);
        asm_scalar(out, ops[combine], RAX, in_register(RCX));
    }
    if (combine != ALONE && two) {
        asm_scalar(out, ops[combine], RDX, in_register(RCX));
    }
    store_predicate(m, RAX, m->s->dst);
    if (two) {
        store_predicate(m, RDX, m->s->dst2);
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
    store_predicate(m, RAX, m->s->dst);
}

/* ---- parameters ---- */

static void make_parameter(const struct making *m, unsigned to) {
    struct assembler *out = &m->u->out;
    asm_scalar(out, MOV, RAX, in_memory(HOST_DATA, DATA_AT(params)));
    vector(m, m->n->bytes == 8 ? VPBROADCASTQ : VPBROADCASTD, to, 0,
           in_memory(RAX, (int32_t)m->s->offset));
}

/* ---- all ---- */

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
    [NATIVE_QUICK_QUOTIENT] = make_quick_quotient,
    [NATIVE_RECIPROCAL] = make_reciprocal,
    [NATIVE_RSQRT] = make_rsqrt,
    [NATIVE_NEGATE] = make_negated,
    [NATIVE_INTEGER] = make_integer,
    [NATIVE_HIGH] = make_high,
    [NATIVE_FUNNEL] = make_funnel,
    [NATIVE_FIELD] = make_field,
    [NATIVE_JOIN] = make_join,
    [NATIVE_PARAMETER] = make_parameter,
};

/* All lanes of the result are equal: one vector will do. */
static bool is_uniform(const struct making *m) {
    struct values *v = &m->u->values;
    bool uniform = m->n->kind != NATIVE_SELECT;
    if (m->n->kind == NATIVE_JOIN) {
        const uint32_t *pair = m->u->program->vectors[m->s->extra].registers;
        return values_of(v, pair[0], 4)->is_uniform &&
               values_of(v, pair[1], 4)->is_uniform;
    }
    for (unsigned k = 0; k < 3; k++) {
        if (m->n->from[k]) {
            uniform = uniform && values_of(v, m->s->src[k], m->n->from[k])->is_uniform;
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

static void finish_result(const struct making *m, unsigned v) {
    if (m->n->settles) {
        settle_doubles(m, v);
    }
    if (m->n->flush & FLUSH_RESULT) {
        flush_result(m, v);
    }
    if (m->n->saturates) {
        saturate_result(m, v);
    }
}

/* Whether no lane of the result will be a subnormal f32. */
static bool is_flushed(const struct making *m) {
    bool copies = m->n->kind == NATIVE_MOVE || m->n->kind == NATIVE_SELECT;
    bool flushed = m->n->bytes == 4 && (copies || m->n->flush);
    for (unsigned k = 0; copies && flushed && k < 2; k++) {
        flushed = m->n->from[k] == 0 ||
                  (m->n->from[k] == 4 &&
                   values_of(&m->u->values, m->s->src[k], 4)->is_flushed);
    }
    return flushed && m->n->kind != NATIVE_INTEGER;
}

static void make_result(struct making *m) {
    bool uniform = is_uniform(m);
    if (m->n->kind == NATIVE_FUSED) {
        m->to.count = uniform ? 1 : m->n->bytes / 2;
        m->to.is_uniform = uniform;
        make_fused(m);
    } else {
        m->to = values_new(&m->u->values, m->n->bytes, uniform);
        for (m->part = 0; m->part < m->to.count; m->part++) {
            makers[m->n->kind](m, m->to.vectors[m->part]);
        }
    }
    for (unsigned k = 0; k < m->to.count; k++) {
        finish_result(m, m->to.vectors[k]);
    }
}

void unit_arithmetic(struct emit_unit *u, const struct step *s, const struct native *n) {
    struct making m = {.u = u, .s = s, .n = n};
    if (n->flush & FLUSH_SOURCES) {
        check_sources(&m);
    }
    if (n->kind == NATIVE_COMPARE) {
        make_comparison(&m);
        return;
    }
    if (n->kind == NATIVE_PREDICATE) {
        make_predicate(&m);
        return;
    }
    if (n->kind == NATIVE_SPLIT) {
        make_split(&m);
        return;
    }
    uint32_t shape = shape_of(&m);
    bool flushed = is_flushed(&m);
    make_result(&m);
    values_set(&u->values, s->dst, n->bytes, m.to, n->makes_nans);
    struct value *r = values_of(&u->values, s->dst, n->bytes);
    r->is_flushed = flushed;
    r->shape = shape ? shape : r->shape;
}
