/* reductions: many elements to one, along dimensions or over the whole tensor. */
#include "gpu/reference/gather.h"
#include "gpu/reference/parts.h"

/* --- folds of one line --- */

static int64_t extreme_of(const double *line, int64_t n, double sign) {
    int64_t best = 0;
    double most = n ? sign * line[0] : 0;
    for (int64_t i = 1; i < n && !isnan(most); i++) {
        if (!(sign * line[i] <= most)) {
            best = i;
            most = sign * line[i];
        }
    }
    return best;
}

static double product_of_line(const double *line, int64_t n) {
    double product = 1;
    for (int64_t i = 0; i < n; i++) {
        product *= line[i];
    }
    return product;
}

static int64_t nonzeros_of(const double *line, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        count += line[i] != 0;
    }
    return count;
}

static double variance_of(const struct operator_call *c, const double *line, int64_t n) {
    double free_values = (double)n - call_number(c, "correction");
    return moments_of(line, n).squares / (free_values > 0 ? free_values : 0);
}

static double log_sum_exp_of(const double *line, int64_t n) {
    double largest = n ? line[extreme_of(line, n, 1)] : -INFINITY;
    if (!isfinite(largest)) {
        return largest;
    }
    struct sum sum = {0};
    for (int64_t i = 0; i < n; i++) {
        sum_add(&sum, exp(line[i] - largest));
    }
    return largest + log(sum_value(sum));
}

#define FOLD(name_, value_)                                                              \
    static double fold_##name_(const struct operator_call *c, const double *line,        \
                               int64_t n) {                                              \
        (void)c;                                                                         \
        return (value_);                                                                 \
    }
FOLD(sum, sum_of(line, n))
FOLD(mean, sum_of(line, n) / (double)n)
FOLD(prod, product_of_line(line, n))
FOLD(max, line[extreme_of(line, n, 1)])
FOLD(min, line[extreme_of(line, n, -1)])
FOLD(argmax, (double)extreme_of(line, n, 1))
FOLD(argmin, (double)extreme_of(line, n, -1))
FOLD(any, nonzeros_of(line, n) > 0)
FOLD(all, nonzeros_of(line, n) == n)
FOLD(count, (double)nonzeros_of(line, n))
FOLD(var, variance_of(c, line, n))
FOLD(std, sqrt(variance_of(c, line, n)))
FOLD(logsumexp, log_sum_exp_of(line, n))

static double fold_norm(const struct operator_call *c, const double *line, int64_t n) {
    double p = call_number(c, "p");
    return p == 0 ? (double)nonzeros_of(line, n) : norm_of(line, n, p);
}

/* --- the operator --- */

static bool wants_elements(const struct operator* op) {
    return op->u.fold == fold_max || op->u.fold == fold_min ||
           op->u.fold == fold_argmax || op->u.fold == fold_argmin;
}

static bool is_costly(const struct operator* op) {
    return op->u.fold == fold_var || op->u.fold == fold_std || op->u.fold == fold_norm ||
           op->u.fold == fold_logsumexp;
}

static int infer_fold(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK], keep = call_bool(c, "keepdim");
    const struct operator_array *a = &c->in[0];
    int r = call_dims(c, "dim", a, dims);
    r = r < 0 ? r : gather_output(c, 0, a, dims, keep);
    if (r == 0 && wants_elements(c->op) && c->out[0].count && !a->count) {
        r = call_error(c, "dim", "no elements of '%s' to choose from", a->name);
    }
    if (r == 0 && c->op->outputs[1].name && !(c->unwanted & 2)) {
        r = gather_output(c, 1, a, dims, keep);
    }
    c->fills = true;
    call_rows_of_first(c, r < 0 || dims[0]);
    double cost = (double)a->count;
    call_cost(c, is_costly(c->op) ? 3 * cost : cost, 2 * cost);
    return r;
}

static int fold_some(const struct operator_call *c, const void *data, int64_t from,
                     int64_t to) {
    const struct gather *g = data;
    autofree double *room = gather_room(g);
    for (struct gathered l; from < to; from += l.count) {
        l = gather_lines(g, from, to, c->in[0].v, room);
        for (int64_t k = 0; k < l.count; k++) {
            const double *line = l.v + k * l.stride;
            if (c->out[1].name) {
                int64_t at = extreme_of(line, g->n, c->op->u.fold == fold_max ? 1 : -1);
                c->out[0].v[from + k] = line[at];
                c->out[1].v[from + k] = (double)at;
            } else {
                c->out[0].v[from + k] = c->op->u.fold(c, line, g->n);
            }
        }
    }
    return 0;
}

static int compute_fold(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK];
    struct gather g;
    call_dims(c, "dim", &c->in[0], dims);
    gather_start(&g, &c->in[0], dims);
    int r = call_parts(c, g.lines, 2000 / (g.n + 1), fold_some, &g);
    gather_finish(&g);
    return r;
}

#include "gpu/reference/operators_reductions.h"
