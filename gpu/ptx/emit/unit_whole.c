/* Whole numbers and moves of bits in code (unit_arithmetic.c). */
#include "gpu/ptx/emit/making.h"

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

void make_product(const struct making *m, unsigned to) {
    unsigned add = m->n->bytes == 8 ? VPADDQ : VPADDD;
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, source(m, 1, m->part));
    vector(m, add, to, to, source(m, 2, m->part));
}

void make_widened(const struct making *m, unsigned to) {
    widen(m, 0, m->n->vector, to);
    if (m->n->how) {
        vector(m, VPSLLVD, to, to, constant(m, m->n->how));
    }
}

void make_wide(const struct making *m, unsigned to) {
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
void make_quotient(const struct making *m, unsigned to) {
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

void make_shift_wide(const struct making *m, unsigned to) {
    widen(m, 1, VPMOVZXDQ, VECTOR_TEMPORARY);
    unsigned a = source_vector(m, 0, m->part);
    vector(m, m->n->vector, to, a, in_register(VECTOR_TEMPORARY));
}

void make_move(const struct making *m, unsigned to) {
    if (m->s->offset == 0 || m->n->bytes != 8) {
        move(m, to, source(m, 0, m->part));
        return;
    }
    unsigned a = source_vector(m, 0, m->part);
    vector(m, VPADDQ, to, a, constant(m, (uint64_t)m->s->offset));
}

/* A vector of half-wide elements in the lower half of `to`. */
static void narrow(const struct making *m, unsigned from, unsigned to) {
    bool store = vector_forms[m->n->vector].flags & ASM_STORE;
    vector(m, m->n->vector, store ? from : to, 0, in_register(store ? to : from));
}

void make_narrow(const struct making *m, unsigned to) {
    unsigned low = source_vector(m, 0, 2 * m->part);
    unsigned high = source_vector(m, 0, 2 * m->part + 1);
    narrow(m, low, to);
    narrow(m, high, VECTOR_TEMPORARY);
    asm_vector_byte(&m->u->out, VINSERTI64X4, to, to, in_register(VECTOR_TEMPORARY), 1);
}

static uint32_t constant_of(const struct emit_unit *u, uint32_t offset) {
    uint32_t v;
    __builtin_memcpy(&v, u->code->fixed_image + (offset - u->code->fixed), sizeof v);
    return v;
}

void make_logic(const struct making *m, unsigned to) {
    unsigned b = source_vector(m, 1, m->part);
    struct asm_place c = source(m, 2, m->part);
    move(m, to, source(m, 0, m->part));
    asm_vector_byte(&m->u->out, VPTERNLOGD, to, b, c,
                    (uint8_t)constant_of(m->u, m->s->src[3]));
}

void make_negated(const struct making *m, unsigned to) {
    unsigned a = source_vector(m, 0, m->part);
    vector(m, VPXORD, VECTOR_TEMPORARY, VECTOR_TEMPORARY, in_register(VECTOR_TEMPORARY));
    vector(m, m->n->vector, to, VECTOR_TEMPORARY, in_register(a));
}

/* Products of the even words, then of the odd ones; upper halves of both. */
void make_high(const struct making *m, unsigned to) {
    enum { A = VECTOR_TEMPORARY, B };
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    struct asm_place half = constant(m, 32);
    vector(m, VPSRLVQ, A, a, half);
    vector(m, VPSRLVQ, B, b, half);
    vector(m, m->n->vector, A, A, in_register(B));
    vector(m, m->n->vector, B, a, in_register(b));
    vector(m, VPSRLVQ, to, B, half);
    asm_mask(&m->u->out, KMOVW_LOAD, 1, 0,
             in_memory(HOST_DATA, unit_constant(m->u, 0xaaaa)));
    asm_vector_masked(&m->u->out, VMOVDQU32, to, 0, in_register(A), 1, 0);
}

/* Of the pair b:a. Vector shifts by the width or more give zeros. */
void make_funnel(const struct making *m, unsigned to) {
    enum { COUNT = VECTOR_TEMPORARY, OTHER };
    bool right = m->n->how & FUNNEL_RIGHT, clamp = m->n->how & FUNNEL_CLAMP;
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    unsigned c = source_vector(m, 2, m->part);
    vector(m, clamp ? VPMINUD : VPANDD, COUNT, c, constant(m, clamp ? 32 : 31));
    vector(m, VPBROADCASTD, OTHER, 0,
           in_memory(HOST_DATA, unit_constant(m->u, 32)));
    vector(m, VPSUBD, OTHER, OTHER, in_register(COUNT));
    vector(m, right ? VPSRLVD : VPSLLVD, to, right ? a : b, in_register(COUNT));
    vector(m, right ? VPSLLVD : VPSRLVD, OTHER, right ? b : a, in_register(OTHER));
    vector(m, VPORD, to, to, in_register(OTHER));
}

void make_field(const struct making *m, unsigned to) {
    enum { POSITION = VECTOR_TEMPORARY, ABOVE };
    unsigned a = source_vector(m, 0, m->part), b = source_vector(m, 1, m->part);
    unsigned c = source_vector(m, 2, m->part);
    vector(m, VPANDD, POSITION, b, constant(m, 255));
    vector(m, VPANDD, ABOVE, c, constant(m, 255));
    vector(m, VPSRLVD, to, a, in_register(POSITION));
    vector(m, VPSLLVD, ABOVE, VECTOR_ONES, in_register(ABOVE));
    vector(m, VPANDND, to, ABOVE, in_register(to));
}

/* ---- pairs of words ---- */

/* Numbers for VPERMI2: count from `first` by `step`, in twos, the second `apart`. */
static struct asm_place pair_places(const struct making *m, unsigned first, unsigned step,
                                    unsigned apart, unsigned count) {
    int32_t at = unit_data_add(m->u, 64);
    for (unsigned k = 0; k < 16; k++) {
        uint32_t place = first + k / count * step + k % count * apart;
        __builtin_memcpy(m->u->data + at + 4 * k, &place, sizeof place);
    }
    return in_memory(HOST_DATA, at);
}

static const uint32_t *pair_of(const struct making *m) {
    return m->u->program->vectors[m->s->extra].registers;
}

void make_join(const struct making *m, unsigned to) {
    struct values *v = &m->u->values;
    unsigned low = values_vector(v, pair_of(m)[0], 4, m->part / 2, true);
    unsigned high = values_vector(v, pair_of(m)[1], 4, m->part / 2, true);
    move(m, to, pair_places(m, m->part % 2 * 8, 1, 16, 2));
    vector(m, VPERMI2D, to, low, in_register(high));
}

void make_split(struct making *m) {
    struct values *v = &m->u->values;
    bool uniform = values_of(v, m->s->src[0], 8)->is_uniform;
    for (unsigned k = 0; k < 2; k++) {
        if (pair_of(m)[k] == STEP_NO_REGISTER) {
            continue;
        }
        struct vectors to = values_new(v, 4, uniform);
        for (unsigned part = 0; part < to.count; part++) {
            unsigned low = source_vector(m, 0, 2 * part);
            unsigned high = source_vector(m, 0, 2 * part + 1);
            move(m, to.vectors[part], pair_places(m, k, 2, 0, 1));
            vector(m, VPERMI2D, to.vectors[part], low, in_register(high));
        }
        values_set(v, pair_of(m)[k], 4, to, false);
    }
}
