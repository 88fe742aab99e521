/* elementwise: arithmetic and functions of one, two or three elements; shapes broadcast.
 */
#include "gpu/reference/operator_call.h"

/* --- one element --- */

int infer_unary(struct operator_call *c) {
    call_cost(c, (double)c->in[0].count, 20 * (double)c->in[0].count);
    return call_output_like(c, 0, &c->in[0]);
}

int compute_unary(struct operator_call *c) {
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        c->out[0].v[i] = c->op->u.unary(c, c->in[0].v[i]);
        r = i % 65536 == 65535 ? call_continue(c) : 0;
    }
    return r;
}

#define FUNCTION(name_, value_)                                                          \
    static double name_##_of(const struct operator_call *c, double x) {                  \
        (void)c;                                                                         \
        return (value_);                                                                 \
    }
FUNCTION(abs, fabs(x))
FUNCTION(neg, -x)
FUNCTION(exp, exp(x))
FUNCTION(exp2, exp2(x))
FUNCTION(expm1, expm1(x))
FUNCTION(log, log(x))
FUNCTION(log2, log2(x))
FUNCTION(log10, log10(x))
FUNCTION(log1p, log1p(x))
FUNCTION(sqrt, sqrt(x))
FUNCTION(rsqrt, 1 / sqrt(x))
FUNCTION(reciprocal, 1 / x)
FUNCTION(square, x *x)
FUNCTION(sign, (x > 0) - (x < 0))
FUNCTION(sin, sin(x))
FUNCTION(cos, cos(x))
FUNCTION(tan, tan(x))
FUNCTION(asin, asin(x))
FUNCTION(acos, acos(x))
FUNCTION(atan, atan(x))
FUNCTION(sinh, sinh(x))
FUNCTION(cosh, cosh(x))
FUNCTION(erf, erf(x))
FUNCTION(erfc, erfc(x))
FUNCTION(floor, floor(x))
FUNCTION(ceil, ceil(x))
FUNCTION(round, nearbyint(x))
FUNCTION(trunc, trunc(x))
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
    return r;
}

static int compute_binary(struct operator_call *c) {
    struct axis_walk w;
    walk_start(&w, c, input_count(c->op), c->out[0].shape, c->out[0].rank);
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        c->out[0].v[i] = c->op->u.binary(c, *w.at[0], *w.at[1]);
        walk_next(&w, c);
        r = i % 65536 == 65535 ? call_continue(c) : 0;
    }
    return r;
}

#define BINARY(name_, value_)                                                            \
    static double name_##_of(const struct operator_call *c, double x, double y) {        \
        (void)c;                                                                         \
        return (value_);                                                                 \
    }
BINARY(add, x + call_number(c, "alpha") * y)
BINARY(sub, x - call_number(c, "alpha") * y)
BINARY(mul, x *y)
BINARY(pow, pow(x, y))
BINARY(maximum, isnan(x) || x > y ? x : y)
BINARY(minimum, isnan(x) || x < y ? x : y)
BINARY(fmod, fmod(x, y))
BINARY(atan2, atan2(x, y))
BINARY(eq, x == y)
BINARY(ne, x != y)
BINARY(lt, x < y)
BINARY(le, x <= y)
BINARY(gt, x > y)
BINARY(ge, x >= y)
BINARY(logical_and, x != 0 && y != 0)
BINARY(logical_or, x != 0 || y != 0)
BINARY(logical_xor, (x != 0) != (y != 0))

enum div_rounding { DIV_EXACT, DIV_TRUNC, DIV_FLOOR };

static double div_of(const struct operator_call *c, double x, double y) {
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
static double remainder_of(const struct operator_call *c, double x, double y) {
    (void)c;
    double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

enum ternary { WHERE, LERP, ADDCMUL, ADDCDIV };

static double ternary_of(const struct operator_call *c, double x, double y, double z) {
    switch (c->op->u.number) {
    case WHERE:
        return x != 0 ? y : z;
    case LERP:
        return z < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z);
    case ADDCMUL:
        return x + call_number(c, "value") * y * z;
    default:
        return x + call_number(c, "value") * y / z;
    }
}

static int compute_ternary(struct operator_call *c) {
    struct axis_walk w;
    walk_start(&w, c, input_count(c->op), c->out[0].shape, c->out[0].rank);
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        c->out[0].v[i] = ternary_of(c, *w.at[0], *w.at[1], *w.at[2]);
        walk_next(&w, c);
        r = i % 65536 == 65535 ? call_continue(c) : 0;
    }
    return r;
}

#include "gpu/reference/operators_elementwise.h"
