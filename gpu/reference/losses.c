/* losses: of a prediction and a target, element by element or by classes, and their
 * reduction to a number. */
#include "gpu/reference/parts.h"

enum reduction { REDUCE_MEAN, REDUCE_SUM, REDUCE_NONE, REDUCE_BATCHMEAN };

/* --- element by element --- */

static double smooth(double d, double width, double scale) {
    d = fabs(d);
    return d < width ? 0.5 * d * d * scale : width * scale * (d - 0.5 * width);
}

/* log, but no less than -100 (as torch's binary_cross_entropy). */
static double bounded_log(double x) {
    double l = log(x);
    return l < -100 ? -100 : l;
}

static double log1p_exp(double x) {
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double positive(double x) {
    return x < 0 ? 0 : x;
}

static double kl_of(double x, double y, bool log_target) {
    if (log_target) {
        return exp(y) * (y - x);
    }
    return y > 0 ? y * (log(y) - x) : y == 0 ? 0 : NAN;
}

/* Of a prediction x and a target y. pos_weight: of bce_with_logits alone, a factor of its
 * first term. */
#define LOSS(name_, value_)                                                              \
    static double name_##_loss(const struct operator_call *c, double x, double y,        \
                               double pos_weight) {                                      \
        (void)c, (void)pos_weight;                                                       \
        return (value_);                                                                 \
    }
LOSS(mse, (x - y) * (x - y))
LOSS(l1, fabs(x - y))
LOSS(huber, smooth(x - y, call_number(c, "delta"), 1))
LOSS(bce, -(y *bounded_log(x) + (1 - y) * bounded_log(1 - x)))
LOSS(bce_logits, pos_weight *y *log1p_exp(-x) + (1 - y) * log1p_exp(x))
LOSS(kl_div, kl_of(x, y, call_bool(c, "log_target")))
LOSS(hinge, positive(1 - x * y))
LOSS(hinge_embedding, y == 1 ? x : y == -1 ? positive(call_number(c, "margin") - x) : 0)
LOSS(soft_margin, log1p_exp(-x *y))

static double smooth_l1_loss(const struct operator_call *c, double x, double y,
                             double pos_weight) {
    double beta = call_number(c, "beta");
    (void)pos_weight;
    return beta > 0 ? smooth(x - y, beta, 1 / beta) : fabs(x - y);
}

/* The output: the shape itself, or one number. */
static int reduced_output(struct operator_call *c, const int64_t *shape, size_t rank) {
    bool none = call_choice(c, "reduction") == REDUCE_NONE;
    return call_output(c, 0, shape, none ? rank : 0);
}

/* Weights of an element loss, which must broadcast into what the others make. */
static int check_weights(struct operator_call *c, const int64_t *shape, size_t rank) {
    int r = call_want_within(c, 2, shape, rank);
    return r < 0 ? r : call_want_within(c, 3, shape, rank);
}

static int shape_of_pair(struct operator_call *c, int64_t *shape, size_t *rank) {
    static const size_t inputs[] = {0, 1};
    return call_broadcast(c, inputs, 2, shape, rank);
}

static int infer_element(struct operator_call *c) {
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank = 0;
    int r = shape_of_pair(c, shape, &rank);
    r = r < 0 ? r : check_weights(c, shape, rank);
    double count = 1;
    for (size_t i = 0; r == 0 && i < rank; i++) {
        count *= (double)shape[i];
    }
    call_cost(c, 4 * count, 40 * count);
    r = r < 0 ? r : reduced_output(c, shape, rank);
    if (r == 0 && c->out[0].rank) {
        call_rows_of_broadcast(c, 4);
    }
    c->streams = shape_equal(&c->in[0], &c->in[1]) && !call_has(c, 2) && !call_has(c, 3);
    return r;
}

struct weights {
    int64_t strides[2][OPERATOR_MAX_RANK];
};

static double weight_at(const struct operator_call *c, const struct weights *w, size_t i,
                        const struct axis_walk *walk) {
    const struct operator_array *a = &c->in[2 + i];
    return a->name ? a->v[index_offset(walk->index, w->strides[i], walk->rank)] : 1;
}

static double reduce(enum reduction kind, double sum, double count, double batch) {
    return kind == REDUCE_SUM         ? sum
           : kind == REDUCE_BATCHMEAN ? sum / batch
                                      : sum / count;
}

/* A loss for each element of two inputs of one shape, and sums of so many. */
enum { SUMMED = 1 << 16 };

static int streamed_sums(const struct operator_call *c, const void *data, int64_t from,
                         int64_t to) {
    struct sum *const *sums = data;
    double left[CALL_ELEMENTS], right[CALL_ELEMENTS];
    bool kept = (enum reduction)call_choice(c, "reduction") == REDUCE_NONE;
    int64_t count = c->in[0].count, end = to * SUMMED < count ? to * SUMMED : count;
    for (int64_t at = from * SUMMED, n; at < end; at += n) {
        struct sum *sum = &(*sums)[at / SUMMED];
        n = end - at < CALL_ELEMENTS ? end - at : CALL_ELEMENTS;
        const double *x = call_elements(&c->in[0], at, (size_t)n, left);
        const double *y = call_elements(&c->in[1], at, (size_t)n, right);
        for (int64_t i = 0; i < n; i++) {
            double loss = c->op->u.broadcast(c, x[i], y[i], 1);
            sum_add(sum, loss);
            if (kept) {
                c->out[0].v[at + i] = loss;
            }
        }
    }
    return 0;
}

static int compute_streamed(struct operator_call *c) {
    int64_t count = c->in[0].count, pieces = (count + SUMMED - 1) / SUMMED;
    autofree struct sum *sums = xcalloc((size_t)pieces + 1, sizeof *sums);
    enum reduction kind = (enum reduction)call_choice(c, "reduction");
    struct sum all = {0};
    int r = call_parts(c, pieces, 1, streamed_sums, &sums);
    for (int64_t i = 0; i < pieces; i++) {
        sum_add(&all, sums[i].s);
        all.c += sums[i].c;
    }
    if (kind != REDUCE_NONE) {
        double batch = c->in[0].rank ? (double)c->in[0].shape[0] : 1;
        c->out[0].v[0] = reduce(kind, sum_value(all), (double)count, batch);
    }
    return r;
}

static int compute_element(struct operator_call *c) {
    if (c->streams) {
        return compute_streamed(c);
    }
    int64_t shape[OPERATOR_MAX_RANK], count = 1;
    size_t rank = 0;
    struct axis_walk walk;
    struct weights w;
    struct sum sum = {0};
    enum reduction kind = (enum reduction)call_choice(c, "reduction");
    shape_of_pair(c, shape, &rank);
    for (size_t i = 0; i < rank; i++) {
        count *= shape[i];
    }
    for (size_t i = 0; i < 2; i++) {
        broadcast_strides(&c->in[2 + i], shape, rank, w.strides[i]);
    }
    walk_start(&walk, c, 2, shape, rank);
    int r = 0;
    for (int64_t i = 0; r == 0 && i < count; i++) {
        double loss =
            c->op->u.broadcast(c, *walk.at[0], *walk.at[1], weight_at(c, &w, 1, &walk)) *
            weight_at(c, &w, 0, &walk);
        sum_add(&sum, loss);
        if (kind == REDUCE_NONE) {
            c->out[0].v[i] = loss;
        }
        walk_next(&walk, c);
        r = i % 65536 == 65535 ? call_continue(c) : 0;
    }
    if (kind != REDUCE_NONE) {
        c->out[0].v[0] =
            reduce(kind, sum_value(sum), (double)count, rank ? (double)shape[0] : 1);
    }
    return r;
}

/* --- by classes: cross_entropy and nll_loss --- */

/* Input [C], [N, C] or [N, C, …]; targets are classes, or (cross_entropy) probabilities
 * in the input's own shape. */
struct classes {
    struct axis_lines l; /* samples x classes x places */
    bool probabilities, log_input;
    double smoothing;
    enum reduction reduction;
};

static int plan_classes(struct operator_call *c, struct classes *ret) {
    const struct operator_array *a = &c->in[0];
    bool entropy = c->op->u.number == 1;
    if (!a->rank) {
        return call_want_rank(c, 0, 2);
    }
    size_t dim = a->rank > 1;
    *ret = (struct classes){
        .l = axis_lines_of(a, dim),
        .log_input = !entropy,
        .probabilities = entropy && shape_equal(a, &c->in[1]),
        .smoothing = entropy ? call_number(c, "label_smoothing") : 0,
        .reduction = (enum reduction)call_choice(c, "reduction"),
    };
    int r = call_want_shape(c, 2, &ret->l.n, 1);
    if (r < 0 || ret->probabilities) {
        return r;
    }
    struct operator_array places = shape_without(*a, dim);
    return call_want_shape(c, 1, places.shape, places.rank);
}

static int infer_classes(struct operator_call *c) {
    struct classes k;
    int r = plan_classes(c, &k);
    if (r < 0) {
        return r;
    }
    struct operator_array a = shape_without(c->in[0], c->in[0].rank > 1);
    call_cost(c, 5 * (double)a.count, 40 * (double)a.count);
    return reduced_output(c, a.shape, a.rank);
}

static double weight_of(const struct operator_call *c, int64_t class) {
    return call_has(c, 2) ? c->in[2].v[class] : 1;
}

/* log of the sum of exponentials of the classes, or 0 where the input is logarithms. */
static double log_total(const struct classes *k, const double *x) {
    double largest = -INFINITY;
    struct sum sum = {0};
    for (int64_t i = 0; !k->log_input && i < k->l.n; i++) {
        double v = x[i * k->l.inner];
        largest = v > largest || isnan(v) ? v : largest;
    }
    for (int64_t i = 0; !k->log_input && i < k->l.n; i++) {
        sum_add(&sum, exp(x[i * k->l.inner] - largest));
    }
    return k->log_input ? 0 : largest + log(sum_value(sum));
}

/* Loss of one place whose target is a class; *ret_weight is what the mean divides by. */
static double class_loss(const struct operator_call *c, const struct classes *k,
                         const double *x, int64_t target, double *ret_weight) {
    double total = log_total(k, x), own = weight_of(c, target);
    double loss = own * (total - x[target * k->l.inner]);
    if (k->smoothing > 0) {
        struct sum all = {0};
        for (int64_t i = 0; i < k->l.n; i++) {
            sum_add(&all, weight_of(c, i) * (total - x[i * k->l.inner]));
        }
        loss = (1 - k->smoothing) * loss + k->smoothing / (double)k->l.n * sum_value(all);
    }
    *ret_weight = own;
    return loss;
}

static double soft_loss(const struct operator_call *c, const struct classes *k,
                        const double *x, const double *target) {
    double total = log_total(k, x);
    struct sum sum = {0};
    for (int64_t i = 0; i < k->l.n; i++) {
        double p =
            target[i * k->l.inner] * (1 - k->smoothing) + k->smoothing / (double)k->l.n;
        sum_add(&sum, weight_of(c, i) * p * (total - x[i * k->l.inner]));
    }
    return sum_value(sum);
}

static int loss_at(const struct operator_call *c, const struct classes *k, int64_t place,
                   double *ret, double *ret_weight) {
    int64_t sample = place / k->l.inner, inner = place % k->l.inner, target;
    int64_t at = sample * k->l.n * k->l.inner + inner;
    const double *x = c->in[0].v + at;
    if (k->probabilities) {
        *ret_weight = 1;
        *ret = soft_loss(c, k, x, c->in[1].v + at);
        return 0;
    }
    *ret = *ret_weight = 0;
    double value = c->in[1].v[place];
    if (value == (double)call_integer(c, "ignore_index")) {
        return 0;
    }
    int r = call_index(c, 1, value, 0, k->l.n, &target);
    if (r == 0) {
        *ret = class_loss(c, k, x, target, ret_weight);
    }
    return r;
}

static int compute_classes(struct operator_call *c) {
    struct classes k;
    struct sum sum = {0}, weights = {0};
    int r = plan_classes(c, &k);
    for (int64_t i = 0; r == 0 && i < k.l.outer * k.l.inner; i++) {
        double loss, weight;
        r = loss_at(c, &k, i, &loss, &weight);
        if (r < 0) {
            return r;
        }
        sum_add(&sum, loss);
        sum_add(&weights, weight);
        if (k.reduction == REDUCE_NONE) {
            c->out[0].v[i] = loss;
        }
        r = i % 256 == 255 ? call_continue(c) : 0;
    }
    if (k.reduction != REDUCE_NONE) {
        c->out[0].v[0] = reduce(k.reduction, sum_value(sum), sum_value(weights), 1);
    }
    return r;
}

#include "gpu/reference/operators_losses.h"
