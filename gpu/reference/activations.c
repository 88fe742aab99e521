/* activations: functions of one element with torch.nn.functional's parameters, and the
 * softmax family along a dimension. Formulas: the pages of torch.nn. An input that is NaN
 * gives NaN. */
#include "gpu/reference/operator_call.h"

#define ELEMENT(name_) static double name_##_of(const struct operator_call *c, double x)

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* log(1 + exp(x)) without overflow. */
static double log1p_exp(double x) {
    return isnan(x) ? x : fmax(x, 0) + log1p(exp(-fabs(x)));
}

ELEMENT(relu) {
    (void)c;
    return x <= 0 ? 0 : x;
}
ELEMENT(relu6) {
    (void)c;
    return clamp(x, 0, 6);
}
ELEMENT(leaky_relu) {
    return x > 0 ? x : x * call_number(c, "negative_slope");
}
ELEMENT(sigmoid) {
    (void)c;
    return sigmoid(x);
}
ELEMENT(logsigmoid) {
    (void)c;
    return -log1p_exp(-x);
}
ELEMENT(tanh) {
    (void)c;
    return tanh(x);
}
ELEMENT(silu) {
    (void)c;
    return x / (1 + exp(-x));
}
ELEMENT(gelu) {
    if (call_choice(c, "approximate") == 0) {
        return 0.5 * x * erfc(-x * M_SQRT1_2);
    }
    double inner = sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + tanh(inner));
}
ELEMENT(quick_gelu) {
    (void)c;
    return x / (1 + exp(-1.702 * x));
}
/* Klambauer and others, "Self-Normalizing Neural Networks", 2017. */
ELEMENT(selu) {
    (void)c;
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    return scale * (x > 0 ? x : alpha * expm1(x));
}
ELEMENT(elu) {
    return x > 0 ? x : call_number(c, "alpha") * expm1(x);
}
ELEMENT(celu) {
    double alpha = call_number(c, "alpha");
    return x > 0 ? x : alpha * expm1(x / alpha);
}
ELEMENT(hardsigmoid) {
    (void)c;
    return clamp(x + 3, 0, 6) / 6;
}
ELEMENT(hardswish) {
    (void)c;
    return x * clamp(x + 3, 0, 6) / 6;
}
ELEMENT(hardtanh) {
    return clamp(x, call_number(c, "min_val"), call_number(c, "max_val"));
}
ELEMENT(softplus) {
    double beta = call_number(c, "beta");
    return x * beta > call_number(c, "threshold") ? x : log1p_exp(x * beta) / beta;
}
ELEMENT(softsign) {
    (void)c;
    return x / (1 + fabs(x));
}
ELEMENT(mish) {
    (void)c;
    return x * tanh(log1p_exp(x));
}
ELEMENT(tanhshrink) {
    (void)c;
    return x - tanh(x);
}
ELEMENT(softshrink) {
    double lambd = call_number(c, "lambd");
    return x > lambd ? x - lambd : x < -lambd ? x + lambd : isnan(x) ? x : 0;
}
ELEMENT(hardshrink) {
    double lambd = call_number(c, "lambd");
    return x >= -lambd && x <= lambd ? 0 : x;
}
ELEMENT(threshold) {
    return x <= call_number(c, "threshold") ? call_number(c, "value") : x;
}

/* --- prelu: one weight, or one for each channel --- */

static int infer_prelu(struct operator_call *c) {
    int64_t channels = c->in[0].rank > 1 ? c->in[0].shape[1] : 1;
    int r = c->in[1].count == 1 ? 0 : call_want_shape(c, 1, &channels, 1);
    call_cost(c, (double)c->in[0].count, 0);
    return r < 0 ? r : call_output_like(c, 0, &c->in[0]);
}

static int compute_prelu(struct operator_call *c) {
    const struct operator_array *a = &c->in[0];
    int64_t inner = a->rank > 2 ? shape_count(a, 2, a->rank) : 1;
    for (int64_t i = 0; i < a->count; i++) {
        double slope = c->in[1].v[c->in[1].count == 1 ? 0 : i / inner % c->in[1].count];
        c->out[0].v[i] = a->v[i] > 0 ? a->v[i] : slope * a->v[i];
    }
    return 0;
}

/* --- glu: the first half times the sigmoid of the second --- */

static int infer_glu(struct operator_call *c) {
    size_t dim;
    int r = call_dim(c, "dim", &c->in[0], &dim);
    if (r == 0 && (!c->in[0].rank || c->in[0].shape[dim] % 2)) {
        r = call_error(c, "dim", "the extent there is odd and cannot be halved");
    }
    if (r < 0) {
        return r;
    }
    struct operator_array half = c->in[0];
    half.shape[dim] /= 2;
    r = call_output_like(c, 0, &half);
    call_cost(c, 4 * (double)c->out[0].count, 0);
    return r;
}

static int compute_glu(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    int64_t half = l.n / 2 * l.inner;
    for (int64_t i = 0; i < c->out[0].count; i++) {
        const double *x = c->in[0].v + i / half * 2 * half + i % half;
        c->out[0].v[i] = x[0] * sigmoid(x[half]);
    }
    return 0;
}

/* --- softmax: exponentials over their sum, and its logarithm --- */

static int infer_softmax(struct operator_call *c) {
    size_t dim;
    int r = call_dim(c, "dim", &c->in[0], &dim);
    call_cost(c, 5 * (double)c->in[0].count, 20 * (double)c->in[0].count);
    return r < 0 ? r : call_output_like(c, 0, &c->in[0]);
}

enum softmax_kind { SOFTMAX, LOG_SOFTMAX, SOFTMIN };

static void softmax_line(enum softmax_kind kind, const double *x, int64_t n,
                         int64_t stride, double *ret) {
    double sign = kind == SOFTMIN ? -1 : 1, largest = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double v = sign * x[i * stride];
        largest = v > largest || isnan(v) ? v : largest;
        if (isnan(largest)) {
            break;
        }
    }
    struct sum sum = {0};
    for (int64_t i = 0; i < n; i++) {
        sum_add(&sum, exp(sign * x[i * stride] - largest));
    }
    double total = sum_value(sum), log_total = log(total);
    for (int64_t i = 0; i < n; i++) {
        double d = sign * x[i * stride] - largest;
        ret[i * stride] = kind == LOG_SOFTMAX ? d - log_total : exp(d) / total;
    }
}

static int compute_softmax(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    int r = 0;
    for (int64_t o = 0; r == 0 && o < l.outer; o++) {
        for (int64_t i = 0; i < l.inner; i++) {
            int64_t at = o * l.n * l.inner + i;
            softmax_line((enum softmax_kind)c->op->u.number, c->in[0].v + at, l.n,
                         l.inner, c->out[0].v + at);
        }
        r = call_continue(c);
    }
    return r;
}

#define FAMILY .family = "activations"
#define ROW(name_, summary_, ...)                                                        \
    {                                                                                    \
        .name = #name_, FAMILY, .summary = (summary_), .inputs = {IN("input")}, OUTPUT,  \
        .attributes = {__VA_ARGS__}, .infer = infer_unary, .compute = compute_unary,     \
        .u.unary = name_##_of                                                            \
    }
#define SOFTMAX_ROW(name_, summary_, kind_)                                              \
    {                                                                                    \
        .name = (name_), FAMILY, .summary = (summary_), .inputs = {IN("input")}, OUTPUT, \
        .attributes = {INTEGER("dim", "-1")}, .infer = infer_softmax,                    \
        .compute = compute_softmax, .u.number = (kind_)                                  \
    }

const struct operator operators_activations[] = {
    ROW(relu, "max(x, 0)", {0}),
    ROW(relu6, "x clamped to 0 and 6", {0}),
    ROW(leaky_relu, "x, or negative_slope * x below 0", NUMBER("negative_slope", "0.01")),
    {.name = "prelu",
     FAMILY,
     .summary = "leaky_relu with a slope, or one per channel",
     .inputs = {IN("input"), IN("weight")},
     OUTPUT,
     .infer = infer_prelu,
     .compute = compute_prelu},
    ROW(sigmoid, "1 / (1 + exp(-x))", {0}),
    ROW(logsigmoid, "log(sigmoid(x))", {0}),
    ROW(tanh, "Hyperbolic tangent", {0}),
    ROW(silu, "x * sigmoid(x), swish", {0}),
    ROW(gelu, "x times the normal distribution's function of x",
        CHOICE("approximate", "\"none\"", "none|tanh")),
    ROW(quick_gelu, "x * sigmoid(1.702 x)", {0}),
    ROW(selu, "Scaled elu", {0}),
    ROW(elu, "x, or alpha * (exp(x) - 1) below 0", NUMBER("alpha", "1")),
    ROW(celu, "x, or alpha * (exp(x / alpha) - 1) below 0", NUMBER("alpha", "1")),
    ROW(hardsigmoid, "relu6(x + 3) / 6", {0}),
    ROW(hardswish, "x * relu6(x + 3) / 6", {0}),
    ROW(hardtanh, "x clamped to min_val and max_val", NUMBER("min_val", "-1"),
        NUMBER("max_val", "1")),
    ROW(softplus, "log(1 + exp(beta x)) / beta, or x where beta x is over the threshold",
        NUMBER("beta", "1"), NUMBER("threshold", "20")),
    ROW(softsign, "x / (1 + |x|)", {0}),
    ROW(mish, "x * tanh(softplus(x))", {0}),
    ROW(tanhshrink, "x - tanh(x)", {0}),
    ROW(softshrink, "x moved toward 0 by lambd", NUMBER("lambd", "0.5")),
    ROW(hardshrink, "x, or 0 within lambd of 0", NUMBER("lambd", "0.5")),
    ROW(threshold, "x, or value where x is not over the threshold",
        NUMBER("threshold", NULL), NUMBER("value", NULL)),
    {.name = "glu",
     FAMILY,
     .summary = "First half times sigmoid of the second half",
     .inputs = {IN("input")},
     OUTPUT,
     .attributes = {INTEGER("dim", "-1")},
     .infer = infer_glu,
     .compute = compute_glu},
    SOFTMAX_ROW("softmax", "exp(x) over its sum along dim", SOFTMAX),
    SOFTMAX_ROW("log_softmax", "Logarithm of softmax", LOG_SOFTMAX),
    SOFTMAX_ROW("softmin", "softmax of -x", SOFTMIN),
    {0},
};
