/* reductions: many elements to one, along dimensions or over the whole tensor. */
#include "gpu/reference/gather.h"

enum fold {
    FOLD_SUM,
    FOLD_MEAN,
    FOLD_PROD,
    FOLD_MAX,
    FOLD_MIN,
    FOLD_ARGMAX,
    FOLD_ARGMIN,
    FOLD_ANY,
    FOLD_ALL,
    FOLD_COUNT,
    FOLD_VAR,
    FOLD_STD,
    FOLD_NORM,
    FOLD_LOGSUMEXP,
};

static enum fold fold_of(const struct operator_call *c) {
    return (enum fold)c->op->u.number;
}

/* --- folds of one line --- */

static int64_t extreme_of(const double *line, int64_t n, double sign) {
    int64_t best = 0;
    for (int64_t i = 1; i < n && !isnan(line[best]); i++) {
        if (isnan(line[i]) || sign * line[i] > sign * line[best]) {
            best = i;
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
    return moments_of(line, n, 1).squares / (free_values > 0 ? free_values : 0);
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

static double fold_line(const struct operator_call *c, const double *line, int64_t n) {
    double p;
    switch (fold_of(c)) {
    case FOLD_SUM:
        return sum_of(line, n, 1);
    case FOLD_MEAN:
        return sum_of(line, n, 1) / (double)n;
    case FOLD_PROD:
        return product_of_line(line, n);
    case FOLD_MAX:
        return line[extreme_of(line, n, 1)];
    case FOLD_MIN:
        return line[extreme_of(line, n, -1)];
    case FOLD_ARGMAX:
        return (double)extreme_of(line, n, 1);
    case FOLD_ARGMIN:
        return (double)extreme_of(line, n, -1);
    case FOLD_ANY:
        return nonzeros_of(line, n) > 0;
    case FOLD_ALL:
        return nonzeros_of(line, n) == n;
    case FOLD_COUNT:
        return (double)nonzeros_of(line, n);
    case FOLD_VAR:
        return variance_of(c, line, n);
    case FOLD_STD:
        return sqrt(variance_of(c, line, n));
    case FOLD_NORM:
        p = call_number(c, "p");
        return p == 0 ? (double)nonzeros_of(line, n) : norm_of(line, n, p);
    default:
        return log_sum_exp_of(line, n);
    }
}

/* --- the operator --- */

static bool wants_elements(enum fold fold) {
    return fold == FOLD_MAX || fold == FOLD_MIN || fold == FOLD_ARGMAX ||
           fold == FOLD_ARGMIN;
}

static int infer_fold(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK], keep = call_bool(c, "keepdim");
    const struct operator_array *a = &c->in[0];
    int r = call_dims(c, "dim", a, dims);
    r = r < 0 ? r : gather_output(c, 0, a, dims, keep);
    if (r == 0 && wants_elements(fold_of(c)) && c->out[0].count && !a->count) {
        r = call_error(c, "dim", "no elements of '%s' to choose from", a->name);
    }
    if (r == 0 && c->op->outputs[1].name) {
        r = gather_output(c, 1, a, dims, keep);
    }
    double cost = (double)a->count;
    call_cost(c, fold_of(c) >= FOLD_VAR ? 3 * cost : cost, 4 * cost);
    return r;
}

static int compute_fold(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK];
    struct gather g;
    call_dims(c, "dim", &c->in[0], dims);
    gather_start(&g, &c->in[0], dims);
    autofree double *line = xcalloc(g.n ? (size_t)g.n : 1, sizeof *line);
    int r = 0;
    for (int64_t l = 0; r == 0 && l < g.lines; l++) {
        gather_line(&g, c->in[0].v, line);
        c->out[0].v[l] = fold_line(c, line, g.n);
        if (c->op->outputs[1].name) {
            double sign = fold_of(c) == FOLD_MAX ? 1 : -1;
            c->out[1].v[l] = (double)extreme_of(line, g.n, sign);
        }
        gather_next(&g);
        r = l % 64 == 63 ? call_continue(c) : 0;
    }
    gather_finish(&g);
    return r;
}

#include "gpu/reference/operators_reductions.h"
