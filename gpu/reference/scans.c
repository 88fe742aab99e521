/* scans: running sums, products and extremes along a dimension. */
#include "gpu/reference/parts.h"

enum scan { SCAN_SUM, SCAN_PROD, SCAN_MAX, SCAN_MIN, SCAN_LOGSUMEXP };

static int infer_scan(struct operator_call *c) {
    size_t dim = 0;
    int r = call_dim(c, "dim", &c->in[0], &dim);
    for (size_t i = 0; dim && i < 2; i++) {
        call_rows(c, i, c->in[0].rank, c->in[0].shape[0]);
    }
    if (r == 0 && c->op->inputs[1].name) {
        r = call_want_like(c, 1, 0);
    }
    c->fills = true;
    r = r < 0 ? r : call_output_like(c, 0, &c->in[0]);
    if (r == 0 && c->op->outputs[1].name) {
        r = call_output_like(c, 1, &c->in[0]);
    }
    call_cost(c, (double)c->in[0].count, 10 * (double)c->in[0].count);
    return r;
}

/* What a scan has seen so far. */
struct running {
    struct sum sum;
    double product, extreme;
    int64_t at;
    double shift; /* of logsumexp: the largest so far */
    bool any;
};

static void scan_extreme(struct running *s, double x, int64_t i, double sign) {
    /* Of equal ones the last counts, and a NaN stays. */
    bool further =
        !s->any || isnan(x) || (!isnan(s->extreme) && sign * x >= sign * s->extreme);
    if (further) {
        s->extreme = x;
        s->at = i;
    }
}

static void scan_exp(struct running *s, double x) {
    if (!s->any || x > s->shift) {
        double factor = s->any && isfinite(s->shift) ? exp(s->shift - x) : 0;
        s->sum = (struct sum){s->sum.s * factor, s->sum.c * factor};
        s->shift = x;
    }
    sum_add(&s->sum, x == s->shift ? 1 : exp(x - s->shift));
}

static void scan_add(struct running *s, enum scan kind, double x, int64_t i) {
    switch (kind) {
    case SCAN_SUM:
        sum_add(&s->sum, x);
        break;
    case SCAN_PROD:
        s->product *= x;
        break;
    case SCAN_LOGSUMEXP:
        scan_exp(s, x);
        break;
    default:
        scan_extreme(s, x, i, kind == SCAN_MAX ? 1 : -1);
    }
    s->any = true;
}

static double scan_value(const struct running *s, enum scan kind) {
    switch (kind) {
    case SCAN_SUM:
        return sum_value(s->sum);
    case SCAN_PROD:
        return s->product;
    case SCAN_LOGSUMEXP:
        return isinf(s->shift) ? s->shift : s->shift + log(sum_value(s->sum));
    default:
        return s->extreme;
    }
}

/* Sums and products may run from the end, and leave out the element itself. */
static bool flag_of(const struct operator_call *c, const char *name) {
    enum scan kind = (enum scan)c->op->u.number;
    return (kind == SCAN_SUM || kind == SCAN_PROD) && call_bool(c, name);
}

static void scan_line(const struct operator_call *c, int64_t at,
                      const struct axis_lines *l) {
    enum scan kind = (enum scan)c->op->u.number;
    bool reverse = flag_of(c, "reverse"), exclusive = flag_of(c, "exclusive");
    struct running s = {.product = 1};
    for (int64_t k = 0; k < l->n; k++) {
        int64_t i = reverse ? l->n - 1 - k : k, place = at + i * l->inner;
        double x = c->in[0].v[place];
        if (c->op->inputs[1].name) {
            x = c->in[1].v[place] != 0 ? x : 0;
        }
        if (exclusive) {
            c->out[0].v[place] = scan_value(&s, kind);
        }
        scan_add(&s, kind, x, i);
        if (!exclusive) {
            c->out[0].v[place] = scan_value(&s, kind);
        }
        if (c->op->outputs[1].name) {
            c->out[1].v[place] = (double)s.at;
        }
    }
}

static int scan_some(const struct operator_call *c, const void *data, int64_t from,
                     int64_t to) {
    const struct axis_lines *l = data;
    for (int64_t i = from; i < to; i++) {
        scan_line(c, i / l->inner * l->n * l->inner + i % l->inner, l);
    }
    return 0;
}

static int compute_scan(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    return call_parts(c, l.outer * l.inner, 2000 / (l.n + 1) + 1, scan_some, &l);
}

#include "gpu/reference/operators_scans.h"
