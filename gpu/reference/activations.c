/* activations: functions of one element with torch.nn.functional's parameters, and the
 * softmax family along a dimension. Formulas: the pages of torch.nn. An input that is NaN
 * gives NaN. */
#include "gpu/reference/gather.h"

#define PARAMETRIC(name_) static double name_(const struct operator_call *c, double x)

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

static double relu(double x) {
    return x <= 0 ? 0 : x;
}
static double relu6(double x) {
    return clamp(x, 0, 6);
}
PARAMETRIC(leaky_relu) {
    return x > 0 ? x : x * call_number(c, "negative_slope");
}
static double logsigmoid(double x) {
    return -log1p_exp(-x);
}
static double silu(double x) {
    return x / (1 + exp(-x));
}
PARAMETRIC(gelu) {
    if (call_choice(c, "approximate") == 0) {
        return 0.5 * x * erfc(-x * M_SQRT1_2);
    }
    double inner = sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + tanh(inner));
}
static double quick_gelu(double x) {
    return x / (1 + exp(-1.702 * x));
}
/* Klambauer and others, "Self-Normalizing Neural Networks", 2017. */
static double selu(double x) {
    const double alpha = 1.6732632423543772848170429916717;
    const double scale = 1.0507009873554804934193349852946;
    return scale * (x > 0 ? x : alpha * expm1(x));
}
PARAMETRIC(elu) {
    return x > 0 ? x : call_number(c, "alpha") * expm1(x);
}
PARAMETRIC(celu) {
    double alpha = call_number(c, "alpha");
    return x > 0 ? x : alpha * expm1(x / alpha);
}
static double hardsigmoid(double x) {
    return clamp(x + 3, 0, 6) / 6;
}
static double hardswish(double x) {
    return x * clamp(x + 3, 0, 6) / 6;
}
PARAMETRIC(hardtanh) {
    return clamp(x, call_number(c, "min_val"), call_number(c, "max_val"));
}
PARAMETRIC(softplus) {
    double beta = call_number(c, "beta");
    return x * beta > call_number(c, "threshold") ? x : log1p_exp(x * beta) / beta;
}
static double softsign(double x) {
    return x / (1 + fabs(x));
}
static double mish(double x) {
    return x * tanh(log1p_exp(x));
}
static double tanhshrink(double x) {
    return x - tanh(x);
}
PARAMETRIC(softshrink) {
    double lambd = call_number(c, "lambd");
    return x > lambd ? x - lambd : x < -lambd ? x + lambd : isnan(x) ? x : 0;
}
PARAMETRIC(hardshrink) {
    double lambd = call_number(c, "lambd");
    return x >= -lambd && x <= lambd ? 0 : x;
}
PARAMETRIC(threshold) {
    return x <= call_number(c, "threshold") ? call_number(c, "value") : x;
}

/* --- prelu: one weight, or one for each channel --- */

static int infer_prelu(struct operator_call *c) {
    int64_t channels = c->in[0].rank > 1 ? c->in[0].shape[1] : 1;
    int r = c->in[1].count == 1 ? 0 : call_want_shape(c, 1, &channels, 1);
    call_rows_of_first(c, false);
    return call_output_same(c, r, 1, 0);
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
    call_rows_of_first(c, dim == 0);
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
    size_t dim = 0;
    int r = call_dim(c, "dim", &c->in[0], &dim);
    call_rows_of_first(c, dim == 0);
    return call_output_same(c, r, 5, 20);
}

enum softmax_kind { SOFTMAX, LOG_SOFTMAX, SOFTMIN };

static void softmax_line(const void *data, const double *x, int64_t n, double *ret) {
    enum softmax_kind kind = *(const enum softmax_kind *)data;
    double sign = kind == SOFTMIN ? -1 : 1, largest = -INFINITY;
    for (int64_t i = 0; i < n && !isnan(largest); i++) {
        largest = sign * x[i] <= largest ? largest : sign * x[i];
    }
    for (int64_t i = 0; i < n; i++) {
        ret[i] = exp(sign * x[i] - largest);
    }
    double total = sum_of(ret, n), log_total = log(total);
    for (int64_t i = 0; i < n; i++) {
        ret[i] = kind == LOG_SOFTMAX ? sign * x[i] - largest - log_total : ret[i] / total;
    }
}

static int compute_softmax(struct operator_call *c) {
    size_t dim = 0;
    bool dims[OPERATOR_MAX_RANK] = {0};
    enum softmax_kind kind = (enum softmax_kind)c->op->u.number;
    call_dim(c, "dim", &c->in[0], &dim);
    dims[dim] = true;
    return gather_map(c, &c->in[0], dims, true, 500, softmax_line, &kind);
}

#include "gpu/reference/operators_activations.h"
