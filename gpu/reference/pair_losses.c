/* pair_losses: of two or three sets of vectors: similarities, distances, and the losses
 * made of them. */
#include "gpu/reference/operator_call.h"

/* Results of vectors, reduced. */
static void reduce(struct operator_call *c, const double *losses, int64_t count) {
    int kind = call_choice(c, "reduction");
    if (kind == 2) {
        memcpy(c->out[0].v, losses, (size_t)count * sizeof *losses);
    } else {
        c->out[0].v[0] = sum_of(losses, count) / (kind == 0 ? (double)count : 1);
    }
}

static int reduced_output(struct operator_call *c, const int64_t *shape, size_t rank) {
    return call_output(c, 0, shape, call_choice(c, "reduction") == 2 ? rank : 0);
}

/* --- cosine_similarity, along a dimension --- */

static int infer_similarity(struct operator_call *c) {
    size_t dim;
    int r = call_dim(c, "dim", &c->in[0], &dim);
    r = r < 0 ? r : call_want_like(c, 1, 0);
    if (r < 0) {
        return r;
    }
    struct operator_array a = shape_without(c->in[0], dim);
    call_cost(c, 6 * (double)a.count, 6 * (double)a.count);
    return call_output_like(c, 0, &a);
}

struct products {
    double xy, xx, yy;
};

static struct products products_of(const double *x, const double *y, int64_t n,
                                   int64_t stride) {
    struct sum xy = {0}, xx = {0}, yy = {0};
    for (int64_t i = 0; i < n; i++) {
        double a = x[i * stride], b = y[i * stride];
        sum_add(&xy, a * b);
        sum_add(&xx, a * a);
        sum_add(&yy, b * b);
    }
    return (struct products){sum_value(xy), sum_value(xx), sum_value(yy)};
}

static int compute_similarity(struct operator_call *c) {
    size_t dim = 0;
    double eps = call_number(c, "eps");
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    for (int64_t i = 0; i < l.outer * l.inner; i++) {
        int64_t at = i / l.inner * l.n * l.inner + i % l.inner;
        struct products p = products_of(c->in[0].v + at, c->in[1].v + at, l.n, l.inner);
        c->out[0].v[i] = p.xy / (fmax(sqrt(p.xx), eps) * fmax(sqrt(p.yy), eps));
    }
    return call_continue(c);
}

/* --- cosine_embedding_loss --- */

static int infer_cosine(struct operator_call *c) {
    const struct operator_array *a = &c->in[0];
    if (a->rank != 1 && a->rank != 2) {
        return call_want_rank(c, 0, 2);
    }
    int r = call_want_like(c, 1, 0);
    r = r < 0 ? r : call_want_shape(c, 2, a->shape, a->rank - 1);
    call_cost(c, 6 * (double)a->count, 6 * (double)a->count);
    return r < 0 ? r : reduced_output(c, a->shape, a->rank - 1);
}

static int compute_cosine(struct operator_call *c) {
    struct axis_lines l = axis_lines_of(&c->in[0], c->in[0].rank - 1);
    double margin = call_number(c, "margin");
    autofree double *losses = xcalloc(l.outer ? (size_t)l.outer : 1, sizeof *losses);
    for (int64_t i = 0; i < l.outer; i++) {
        struct products p =
            products_of(c->in[0].v + i * l.n, c->in[1].v + i * l.n, l.n, 1);
        double cosine = p.xy / sqrt((p.xx + 1e-12) * (p.yy + 1e-12));
        double target = c->in[2].v[i];
        losses[i] = target == 1    ? 1 - cosine
                    : target == -1 ? fmax(cosine - margin, 0)
                                   : 0;
    }
    reduce(c, losses, l.outer);
    return call_continue(c);
}

/* --- margin_ranking_loss --- */

static int infer_ranking(struct operator_call *c) {
    int r = call_want_like(c, 1, 0);
    r = r < 0 ? r : call_want_like(c, 2, 0);
    call_cost(c, 4 * (double)c->in[0].count, 4 * (double)c->in[0].count);
    return r < 0 ? r : reduced_output(c, c->in[0].shape, c->in[0].rank);
}

static int compute_ranking(struct operator_call *c) {
    int64_t count = c->in[0].count;
    double margin = call_number(c, "margin");
    autofree double *losses = xcalloc(count ? (size_t)count : 1, sizeof *losses);
    for (int64_t i = 0; i < count; i++) {
        double loss = -c->in[2].v[i] * (c->in[0].v[i] - c->in[1].v[i]) + margin;
        losses[i] = loss < 0 ? 0 : loss;
    }
    reduce(c, losses, count);
    return call_continue(c);
}

/* --- distances between rows --- */

static double distance(const double *x, const double *y, int64_t n, double p,
                       double eps) {
    struct sum sum = {0};
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs(x[i] - y[i] + eps);
        largest = d > largest ? d : largest;
        sum_add(&sum, p == 1 ? d : p == 2 ? d * d : pow(d, p));
    }
    double total = sum_value(sum);
    return isinf(p) ? largest : p == 1 ? total : p == 2 ? sqrt(total) : pow(total, 1 / p);
}

static int infer_distance(struct operator_call *c) {
    struct operator_array a = c->in[0];
    int r = call_want_like(c, 1, 0);
    if (r == 0 && !a.rank) {
        r = call_want_rank(c, 0, 2);
    }
    call_cost(c, 4 * (double)a.count, 20 * (double)a.count);
    if (r == 0) {
        a.shape[a.rank - 1] = 1;
        r = call_output(c, 0, a.shape, a.rank - !call_bool(c, "keepdim"));
    }
    return r;
}

static int compute_distance(struct operator_call *c) {
    struct axis_lines l = axis_lines_of(&c->in[0], c->in[0].rank - 1);
    double p = call_number(c, "p"), eps = call_number(c, "eps");
    for (int64_t i = 0; i < l.outer; i++) {
        c->out[0].v[i] =
            distance(c->in[0].v + i * l.n, c->in[1].v + i * l.n, l.n, p, eps);
    }
    return call_continue(c);
}

/* Every row of input 0 with every row of input 1. */
static int infer_cdist(struct operator_call *c) {
    int r = call_want_rank(c, 0, 2);
    r = r < 0 ? r : call_want_rank(c, 1, 2);
    if (r == 0 && c->in[0].shape[1] != c->in[1].shape[1]) {
        int64_t shape[] = {c->in[1].shape[0], c->in[0].shape[1]};
        r = call_want_shape(c, 1, shape, 2);
    }
    int64_t shape[] = {c->in[0].shape[0], c->in[1].shape[0]};
    r = r < 0 ? r : call_output(c, 0, shape, 2);
    double terms = (double)c->out[0].count * (double)c->in[0].shape[1];
    call_cost(c, 3 * terms, 20 * terms);
    return r;
}

static int compute_cdist(struct operator_call *c) {
    int64_t rows = c->in[1].shape[0], n = c->in[0].shape[1];
    double p = call_number(c, "p");
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        c->out[0].v[i] =
            distance(c->in[0].v + i / rows * n, c->in[1].v + i % rows * n, n, p, 0);
        r = i % 1024 == 1023 ? call_continue(c) : 0;
    }
    return r;
}

/* --- triplet_margin_loss --- */

static int infer_triplet(struct operator_call *c) {
    const struct operator_array *a = &c->in[0];
    int r = a->rank ? 0 : call_want_rank(c, 0, 2);
    r = r < 0 ? r : call_want_like(c, 1, 0);
    r = r < 0 ? r : call_want_like(c, 2, 0);
    call_cost(c, 12 * (double)a->count, 60 * (double)a->count);
    return r < 0 ? r : reduced_output(c, a->shape, a->rank - 1);
}

static int compute_triplet(struct operator_call *c) {
    struct axis_lines l = axis_lines_of(&c->in[0], c->in[0].rank - 1);
    double p = call_number(c, "p"), eps = call_number(c, "eps");
    double margin = call_number(c, "margin");
    autofree double *losses = xcalloc(l.outer ? (size_t)l.outer : 1, sizeof *losses);
    for (int64_t i = 0; i < l.outer; i++) {
        const double *anchor = c->in[0].v + i * l.n, *near = c->in[1].v + i * l.n;
        const double *far = c->in[2].v + i * l.n;
        double apart = distance(anchor, far, l.n, p, eps);
        if (call_bool(c, "swap")) {
            apart = fmin(apart, distance(near, far, l.n, p, eps));
        }
        double loss = margin + distance(anchor, near, l.n, p, eps) - apart;
        losses[i] = loss < 0 ? 0 : loss;
    }
    reduce(c, losses, l.outer);
    return call_continue(c);
}

#include "gpu/reference/operators_pair_losses.h"
