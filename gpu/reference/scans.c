/* scans: running sums, products and extremes along a dimension. */
#include "base/vectors.h"
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
    if (r == 0 && c->op->outputs[1].name && !(c->unwanted & 2)) {
        r = call_output_like(c, 1, &c->in[0]);
    }
    enum scan kind = (enum scan)c->op->u.number;
    double steps = kind == SCAN_SUM || kind == SCAN_PROD ? 2.5 : 10;
    call_cost(c, (double)c->in[0].count, steps * (double)c->in[0].count);
    return r;
}

/* Lines go side by side, so many elements of each at a time. */
enum { SIDE = 16, STEPS = 64 };
struct tile {
    double x[STEPS][SIDE], index[STEPS][SIDE];
};

/* What lines have seen so far. */
struct running {
    double sums[SIDE], lost[SIDE], products[SIDE], extremes[SIDE];
    double shift[SIDE]; /* of logsumexp: the largest so far */
    int64_t at[SIDE], seen;
};

VECTORS_INLINE vec running_value(vec s, vec c) {
    return vec_select(vec_abs(s) < INFINITY, s + c, s);
}

VECTORS static void scan_sums(struct running *all, struct tile *tile, int64_t steps,
                              bool exclusive) {
    for (int j = 0; j < SIDE; j += LANES) {
        vec s = vec_load(all->sums + j), c = vec_load(all->lost + j);
        for (int64_t k = 0; k < steps; k++) {
            vec x = vec_load(tile->x[k] + j), t = s + x, back = t - s;
            vec ret = running_value(s, c);
            c += (s - (t - back)) + (x - back);
            s = t;
            ret = exclusive ? ret : running_value(s, c);
            memcpy(tile->x[k] + j, &ret, sizeof ret);
        }
        memcpy(all->sums + j, &s, sizeof s);
        memcpy(all->lost + j, &c, sizeof c);
    }
}

VECTORS static void scan_products(struct running *all, struct tile *tile, int64_t steps,
                                  bool exclusive) {
    for (int j = 0; j < SIDE; j += LANES) {
        vec product = vec_load(all->products + j);
        for (int64_t k = 0; k < steps; k++) {
            vec after = product * vec_load(tile->x[k] + j);
            vec ret = exclusive ? product : after;
            memcpy(tile->x[k] + j, &ret, sizeof ret);
            product = after;
        }
        memcpy(all->products + j, &product, sizeof product);
    }
}

/* Of equal ones the last counts, and a NaN stays. */
static void scan_extremes(struct running *all, struct tile *tile, int64_t steps,
                          double sign) {
    for (int64_t k = 0; k < steps; k++) {
        for (int j = 0; j < SIDE; j++) {
            double x = tile->x[k][j], extreme = all->extremes[j];
            if (!(all->seen + k) || isnan(x) ||
                (!isnan(extreme) && sign * x >= sign * extreme)) {
                all->extremes[j] = x;
                all->at[j] = all->seen + k;
            }
            tile->x[k][j] = all->extremes[j];
            tile->index[k][j] = (double)all->at[j];
        }
    }
}

static double scan_exp(struct running *all, int j, double x, bool first) {
    struct sum sum = {all->sums[j], all->lost[j]};
    if (first || x > all->shift[j]) {
        double factor = !first && isfinite(all->shift[j]) ? exp(all->shift[j] - x) : 0;
        sum = (struct sum){sum.s * factor, sum.c * factor};
        all->shift[j] = x;
    }
    sum_add(&sum, x == all->shift[j] ? 1 : exp(x - all->shift[j]));
    all->sums[j] = sum.s;
    all->lost[j] = sum.c;
    return isinf(all->shift[j]) ? all->shift[j] : all->shift[j] + log(sum_value(sum));
}

static void scan_tile(enum scan kind, struct running *all, struct tile *tile,
                      int64_t steps, bool exclusive) {
    switch (kind) {
    case SCAN_SUM:
        scan_sums(all, tile, steps, exclusive);
        break;
    case SCAN_PROD:
        scan_products(all, tile, steps, exclusive);
        break;
    case SCAN_LOGSUMEXP:
        for (int64_t i = 0; i < steps * SIDE; i++) {
            double *x = &tile->x[i / SIDE][i % SIDE];
            *x = scan_exp(all, (int)(i % SIDE), *x, !(all->seen + i / SIDE));
        }
        break;
    default:
        scan_extremes(all, tile, steps, kind == SCAN_MAX ? 1 : -1);
    }
    all->seen += steps;
}

/* Sums and products may run from the end, and leave out the element itself. */
static bool flag_of(const struct operator_call *c, const char *name) {
    enum scan kind = (enum scan)c->op->u.number;
    return (kind == SCAN_SUM || kind == SCAN_PROD) && call_bool(c, name);
}

/* Elements of some lines: the first of line j at at[j], the others in steps. */
struct places {
    int64_t at[SIDE], step, count, lines;
};

VECTORS static void load_tile(struct tile *tile, const struct places *p, const double *x,
                              const double *mask) {
    for (int64_t j = 0; j < p->lines; j++) {
        for (int64_t k = 0; k < p->count; k++) {
            int64_t at = p->at[j] + k * p->step;
            tile->x[k][j] = !mask || mask[at] != 0 ? x[at] : 0;
        }
    }
}

static void store_tile(double (*from)[SIDE], const struct places *p, double *to) {
    for (int64_t j = 0; j < p->lines; j++) {
        for (int64_t k = 0; k < p->count; k++) {
            to[p->at[j] + k * p->step] = from[k][j];
        }
    }
}

/* Lines from `from` on, SIDE or less. */
static void scan_lines(const struct operator_call *c, const struct axis_lines *l,
                       int64_t from, int64_t lines) {
    struct tile tile = {0};
    struct running all = {0};
    bool reverse = flag_of(c, "reverse"), exclusive = flag_of(c, "exclusive");
    const double *mask = c->op->inputs[1].name ? c->in[1].v : NULL;
    struct places p = {.step = reverse ? -l->inner : l->inner, .lines = lines};
    for (int64_t j = 0; j < lines; j++) {
        p.at[j] = (from + j) / l->inner * l->n * l->inner + (from + j) % l->inner +
                  (reverse ? (l->n - 1) * l->inner : 0);
    }
    for (int j = 0; j < SIDE; j++) {
        all.products[j] = 1;
    }
    for (int64_t k = 0; k < l->n; k += p.count) {
        p.count = l->n - k < STEPS ? l->n - k : STEPS;
        load_tile(&tile, &p, c->in[0].v, mask);
        scan_tile((enum scan)c->op->u.number, &all, &tile, p.count, exclusive);
        store_tile(tile.x, &p, c->out[0].v);
        if (c->out[1].name) {
            store_tile(tile.index, &p, c->out[1].v);
        }
        for (int64_t j = 0; j < lines; j++) {
            p.at[j] += p.count * p.step;
        }
    }
}

static int scan_some(const struct operator_call *c, const void *data, int64_t from,
                     int64_t to) {
    for (; from < to; from += SIDE) {
        scan_lines(c, data, from, to - from < SIDE ? to - from : SIDE);
    }
    return 0;
}

static int compute_scan(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    int64_t least = 2000 / (l.n + 1) + 1;
    return call_parts(c, l.outer * l.inner, (least + SIDE - 1) / SIDE * SIDE, scan_some,
                      &l);
}

#include "gpu/reference/operators_scans.h"
