/* elementwise: arithmetic and functions of one, two or three elements; shapes broadcast.
 */
#include "gpu/reference/parts.h"

/* --- one element --- */

int infer_unary(struct operator_call *c) {
    call_rows_of_first(c, false);
    c->streams = true;
    return call_output_same(c, 0, 1, 20);
}

enum { ELEMENTS = 4096, SOME = CALL_ELEMENTS }; /* a thread takes ELEMENTS or more */

static int each_some(const struct operator_call *c, const void *, int64_t from,
                     int64_t to) {
    double room[SOME], *out = c->out[0].v;
    bool plain = c->op->compute == compute_unary;
    for (int64_t at = from; at < to; at += SOME) {
        size_t n = to - at < SOME ? (size_t)(to - at) : SOME;
        const double *x = call_elements(&c->in[0], at, n, room);
        for (size_t i = 0; i < n; i++) {
            out[at + (int64_t)i] =
                plain ? c->op->u.unary(x[i]) : c->op->u.parametric(c, x[i]);
        }
    }
    return 0;
}

int compute_unary(struct operator_call *c) {
    return call_parts(c, c->out[0].count, ELEMENTS, each_some, NULL);
}

int compute_parametric(struct operator_call *c) {
    return call_parts(c, c->out[0].count, ELEMENTS, each_some, NULL);
}

/* What <math.h> has no function for. */
#define FUNCTION(name_, value_)                                                          \
    static double name_##_of(double x) {                                                 \
        return (value_);                                                                 \
    }
FUNCTION(neg, -x)
FUNCTION(rsqrt, 1 / sqrt(x))
FUNCTION(reciprocal, 1 / x)
FUNCTION(square, x *x)
FUNCTION(sign, (x > 0) - (x < 0))
FUNCTION(frac, x - trunc(x))
FUNCTION(isnan, isnan(x) != 0)
FUNCTION(isfinite, isfinite(x) != 0)
FUNCTION(logical_not, x == 0)

static double clamp_of(const struct operator_call *c, double x) {
    const struct operator_value *min = call_attribute(c, "min"),
                                *max = call_attribute(c, "max");
    if (isnan(x)) {
        return x;
    }
    x = min->given && x < min->number ? min->number : x;
    return max->given && x > max->number ? max->number : x;
}

/* --- two and three elements --- */

static size_t input_count(const struct operator* op) {
    size_t n = 0;
    while (n < OPERATOR_MAX_INPUTS && op->inputs[n].name) {
        n++;
    }
    return n;
}

static int infer_broadcast(struct operator_call *c) {
    static const size_t inputs[] = {0, 1, 2};
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank, n = input_count(c->op);
    int r = call_broadcast(c, inputs, n, shape, &rank);
    r = r < 0 ? r : call_output(c, 0, shape, rank);
    call_cost(c, (double)(n - 1) * (double)c->out[0].count, 20 * (double)c->out[0].count);
    c->fills = true;
    call_rows_of_broadcast(c, n);
    return r;
}

/* Elements [i, i + count) of a row of the output. */
static void broadcast_row(const struct operator_call *c, size_t inputs, int64_t i,
                          int64_t count) {
    const struct operator_array *out = &c->out[0];
    const double *at[3] = {0};
    int64_t step[3] = {0};
    for (size_t k = 0; k < inputs; k++) {
        int64_t strides[OPERATOR_MAX_RANK], rest = i;
        broadcast_strides(&c->in[k], out->shape, out->rank, strides);
        at[k] = c->in[k].v;
        for (size_t d = out->rank; d-- > 0; rest /= out->shape[d]) {
            at[k] += rest % out->shape[d] * strides[d];
        }
        step[k] = out->rank ? strides[out->rank - 1] : 0;
    }
    for (int64_t n = 0; n < count; n++) {
        double z = inputs > 2 ? at[2][n * step[2]] : 0;
        out->v[i + n] = c->op->u.broadcast(c, at[0][n * step[0]], at[1][n * step[1]], z);
    }
}

static int broadcast_some(const struct operator_call *c, const void *, int64_t from,
                          int64_t to) {
    size_t inputs = input_count(c->op), rank = c->out[0].rank;
    int64_t row = rank ? c->out[0].shape[rank - 1] : 1, count;
    for (int64_t i = from; i < to; i += count) {
        count = row - i % row < to - i ? row - i % row : to - i;
        broadcast_row(c, inputs, i, count);
    }
    return 0;
}

int compute_broadcast(struct operator_call *c) {
    return call_parts(c, c->out[0].count, ELEMENTS, broadcast_some, NULL);
}

#define BROADCAST(name_, value_)                                                         \
    static double name_##_of(const struct operator_call *c, double x, double y,          \
                             double z) {                                                 \
        (void)c, (void)z;                                                                \
        return (value_);                                                                 \
    }
BROADCAST(add, x + call_number(c, "alpha") * y)
BROADCAST(sub, x - call_number(c, "alpha") * y)
BROADCAST(mul, x *y)
BROADCAST(pow, pow(x, y))
BROADCAST(maximum, isnan(x) || x > y ? x : y)
BROADCAST(minimum, isnan(x) || x < y ? x : y)
BROADCAST(fmod, fmod(x, y))
BROADCAST(atan2, atan2(x, y))
BROADCAST(eq, x == y)
BROADCAST(ne, x != y)
BROADCAST(lt, x < y)
BROADCAST(le, x <= y)
BROADCAST(gt, x > y)
BROADCAST(ge, x >= y)
BROADCAST(logical_and, x != 0 && y != 0)
BROADCAST(logical_or, x != 0 || y != 0)
BROADCAST(logical_xor, (x != 0) != (y != 0))
BROADCAST(where, x != 0 ? y : z)
BROADCAST(lerp, z < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))
BROADCAST(addcmul, x + call_number(c, "value") * y * z)
BROADCAST(addcdiv, x + call_number(c, "value") * y / z)

enum div_rounding { DIV_EXACT, DIV_TRUNC, DIV_FLOOR };

static double div_of(const struct operator_call *c, double x, double y, double) {
    int mode = call_choice(c, "rounding_mode");
    double q = x / y;
    if (mode == DIV_EXACT || !isfinite(q)) {
        return q;
    }
    if (mode == DIV_TRUNC) {
        return trunc(q);
    }
    /* From the exact remainder: a quotient may round up to a whole number. */
    double rest = fmod(x, y), whole = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) {
        whole -= 1;
    }
    double near = floor(whole);
    return near + (whole - near > 0.5);
}

/* The sign is the divisor's. */
static double remainder_of(const struct operator_call *, double x, double y, double) {
    double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

#include "gpu/reference/operators_elementwise.h"
