/* quantization: numbers on grids, and back. */
#include "gpu/reference/operator_call.h"

/* --- affine: q = clamp(round(x / scale) + zero_point), x = (q - zero_point) * scale ---
 *
 * scale and zero_point are scalars, one for each slice of dim, or, with group_size, one
 * for each group of that many elements of the last dimension. */

enum affine_kind { AFFINE_QUANTIZE, AFFINE_DEQUANTIZE, AFFINE_FAKE };

struct affine {
    double low, high;
    int64_t inner, n, group; /* index of a scale: i / inner % n, or i / group */
};

static int plan_affine(struct operator_call *c, struct affine *ret) {
    static const double lows[] = {-128, 0, -8, 0, -32768, -2147483648.0};
    static const double highs[] = {127, 255, 7, 15, 32767, 2147483647.0};
    const struct operator_array *a = &c->in[0];
    const struct operator_value *group = call_attribute(c, "group_size");
    bool back = c->op->u.number == AFFINE_DEQUANTIZE;
    int type = back ? 0 : call_choice(c, "type");
    struct operator_array want = *a;
    size_t dim = 0;
    *ret = (struct affine){lows[type], highs[type], 1, 1, 0};
    if (group->given) {
        int64_t last = a->rank ? a->shape[a->rank - 1] : 0;
        if (!a->rank || last % group->ints[0]) {
            return call_error(c, "group_size", "%lld does not divide the extent %lld",
                              (long long)group->ints[0], (long long)last);
        }
        want.shape[a->rank - 1] = last / group->ints[0];
        ret->group = group->ints[0];
    } else if (c->in[1].rank == 0 || (c->in[1].rank == 1 && c->in[1].count == 1)) {
        return call_has(c, 2) && c->in[2].count != 1 ? call_want_rank(c, 2, 0) : 0;
    } else {
        int r = call_dim(c, "dim", a, &dim);
        if (r < 0) {
            return r;
        }
        struct axis_lines l = axis_lines_of(a, dim);
        *ret = (struct affine){ret->low, ret->high, l.inner, l.n, 0};
        want = (struct operator_array){.rank = 1, .shape = {l.n}};
    }
    int r = call_want_shape(c, 1, want.shape, want.rank);
    return r < 0 ? r : call_want_shape(c, 2, want.shape, want.rank);
}

static int infer_affine(struct operator_call *c) {
    struct affine q;
    return call_output_same(c, plan_affine(c, &q), 3, 5);
}

static double quantized(const struct affine *q, double x, double scale, double zero) {
    double v = nearbyint(x / scale) + zero;
    return v < q->low ? q->low : v > q->high ? q->high : v;
}

static int compute_affine(struct operator_call *c) {
    struct affine q;
    int r = plan_affine(c, &q);
    for (int64_t i = 0; r == 0 && i < c->in[0].count; i++) {
        int64_t k = q.group ? i / q.group : i / q.inner % q.n;
        double x = c->in[0].v[i], scale = c->in[1].v[k];
        double zero = call_has(c, 2) ? c->in[2].v[k] : 0;
        switch ((enum affine_kind)c->op->u.number) {
        case AFFINE_QUANTIZE:
            c->out[0].v[i] = quantized(&q, x, scale, zero);
            break;
        case AFFINE_DEQUANTIZE:
            c->out[0].v[i] = (x - zero) * scale;
            break;
        case AFFINE_FAKE:
            c->out[0].v[i] = (quantized(&q, x, scale, zero) - zero) * scale;
            break;
        }
    }
    return r;
}

/* --- to: rounded to a floating-point type and back --- */

static int infer_round(struct operator_call *c) {
    return call_output_same(c, 0, 1, 10);
}

static double largest_of(enum tensor_type type) {
    switch (type) {
    case TENSOR_FLOAT8_E4M3:
        return 448;
    case TENSOR_FLOAT8_E5M2:
        return 57344;
    case TENSOR_FLOAT16:
        return 65504;
    case TENSOR_BFLOAT16:
        return 0x1.fep127;
    default:
        return 0x1.fffffep127;
    }
}

static int compute_round(struct operator_call *c) {
    static const enum tensor_type types[] = {TENSOR_FLOAT8_E4M3, TENSOR_FLOAT8_E5M2,
                                             TENSOR_FLOAT16, TENSOR_BFLOAT16,
                                             TENSOR_FLOAT32};
    enum tensor_type type = types[call_choice(c, "dtype")];
    double scale = call_number(c, "scale"), limit = largest_of(type);
    bool saturate = call_bool(c, "saturate");
    for (int64_t i = 0; i < c->in[0].count; i++) {
        uint64_t bits = 0;
        double x = c->in[0].v[i] / scale;
        if (saturate && !isnan(x)) {
            x = fmin(fmax(x, -limit), limit);
        }
        tensor_set(type, &bits, 0, x);
        c->out[0].v[i] = tensor_get(type, &bits, 0) * scale;
    }
    return 0;
}

/* --- GGUF's blocks of 32 numbers: a float16 scale, then q4_0: 16 bytes, whose low halves
 * are numbers 0 to 15 and high halves 16 to 31, each less 8; q8_0: 32 signed bytes --- */

struct quantized_block {
    int64_t bytes;
    bool four;
};

static struct quantized_block block_of(const struct operator_call *c) {
    return c->op->u.number == 4 ? (struct quantized_block){18, true}
                                : (struct quantized_block){34, false};
}

static int infer_blocks(struct operator_call *c) {
    struct operator_array a = c->in[0];
    int64_t bytes = block_of(c).bytes;
    if (!a.rank || a.shape[a.rank - 1] % bytes || a.type != TENSOR_UINT8) {
        return call_error(c, "inputs.input",
                          "'%s' must be uint8 and its last extent a multiple of %lld",
                          a.name, (long long)bytes);
    }
    a.shape[a.rank - 1] = a.shape[a.rank - 1] / bytes * 32;
    int r = call_output_like(c, 0, &a);
    call_cost(c, (double)c->out[0].count, 0);
    return r;
}

static int compute_blocks(struct operator_call *c) {
    struct quantized_block b = block_of(c);
    for (int64_t i = 0; i < c->out[0].count; i++) {
        const double *bytes = c->in[0].v + i / 32 * b.bytes;
        uint16_t half = (uint16_t)((unsigned)bytes[0] | (unsigned)bytes[1] << 8);
        double scale = tensor_get(TENSOR_FLOAT16, &half, 0);
        int64_t k = i % 32;
        unsigned byte = (unsigned)bytes[2 + (b.four ? k % 16 : k)];
        int q = b.four ? (int)(k < 16 ? byte & 15 : byte >> 4) - 8
                       : (int)byte - (byte > 127 ? 256 : 0);
        c->out[0].v[i] = q * scale;
    }
    return 0;
}

#include "gpu/reference/operators_quantization.h"
