/* ordering: sorted elements and their places, counts of values. NaN counts as larger than
 * every number, as in torch. Of equal elements the first stays first. */
#include "gpu/reference/operator_call.h"

struct item {
    double value;
    int64_t place;
};

static int compare_numbers(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return (isnan(a) != 0) - (isnan(b) != 0);
    }
    return (a > b) - (a < b);
}

static int by_value(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int order = compare_numbers(x->value, y->value);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_value_down(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int order = compare_numbers(y->value, x->value);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* --- sort, argsort, topk: the first k of each sorted line --- */

static bool is_topk(const struct operator_call *c) {
    return c->op->u.number == 1;
}

static int plan_sort(struct operator_call *c, size_t *ret_dim, int64_t *ret_k) {
    const struct operator_array *a = &c->in[0];
    int r = call_dim(c, "dim", a, ret_dim);
    if (r < 0) {
        return r;
    }
    struct axis_lines l = axis_lines_of(a, *ret_dim);
    *ret_k = is_topk(c) ? call_integer(c, "k") : l.n;
    return *ret_k > l.n ? call_error(c, "k", "%lld is more than the extent %lld of '%s'",
                                     (long long)*ret_k, (long long)l.n, a->name)
                        : 0;
}

static int infer_sort(struct operator_call *c) {
    struct operator_array a = c->in[0];
    size_t dim = 0;
    int64_t k = 0;
    int r = plan_sort(c, &dim, &k);
    if (a.rank) {
        a.shape[dim] = k;
    }
    r = r < 0 ? r : call_output_like(c, 0, &a);
    if (r == 0 && c->op->outputs[1].name) {
        r = call_output_like(c, 1, &a);
    }
    call_cost(c, 0, 100 * (double)c->in[0].count);
    return r;
}

static void sort_line(struct operator_call *c, struct item *items, int64_t from,
                      int64_t to, const struct axis_lines *l, int64_t k, bool down) {
    for (int64_t i = 0; i < l->n; i++) {
        items[i] = (struct item){c->in[0].v[from + i * l->inner], i};
    }
    qsort(items, (size_t)l->n, sizeof *items, down ? by_value_down : by_value);
    bool only_places = !c->op->outputs[1].name;
    for (int64_t i = 0; i < k; i++) {
        double place = (double)items[i].place;
        c->out[0].v[to + i * l->inner] = only_places ? place : items[i].value;
        if (!only_places) {
            c->out[1].v[to + i * l->inner] = place;
        }
    }
}

static int compute_sort(struct operator_call *c) {
    size_t dim = 0;
    int64_t k = 0;
    int r = plan_sort(c, &dim, &k);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    bool down = is_topk(c) ? call_bool(c, "largest") : call_bool(c, "descending");
    autofree struct item *items = xcalloc(l.n ? (size_t)l.n : 1, sizeof *items);
    for (int64_t i = 0; r == 0 && i < l.outer * l.inner; i++) {
        int64_t o = i / l.inner, inner = i % l.inner;
        sort_line(c, items, o * l.n * l.inner + inner, o * k * l.inner + inner, &l, k,
                  down);
        r = call_continue(c);
    }
    return r;
}

/* --- histograms --- */

static int infer_bincount(struct operator_call *c) {
    int64_t bins = call_integer(c, "bins");
    int r = call_want_like(c, 1, 0);
    call_cost(c, (double)c->in[0].count, 0);
    return r < 0 ? r : call_output(c, 0, &bins, 1);
}

static int compute_bincount(struct operator_call *c) {
    int64_t bins = call_integer(c, "bins"), bin;
    autofree struct sum *sums = xcalloc((size_t)bins, sizeof *sums);
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->in[0].count; i++) {
        r = call_index(c, 0, c->in[0].v[i], 0, bins, &bin);
        if (r == 0) {
            sum_add(&sums[bin], call_has(c, 1) ? c->in[1].v[i] : 1);
        }
    }
    for (int64_t i = 0; i < bins; i++) {
        c->out[0].v[i] = sum_value(sums[i]);
    }
    return r;
}

static int infer_histc(struct operator_call *c) {
    int64_t bins = call_integer(c, "bins");
    if (!(call_number(c, "max") >= call_number(c, "min"))) {
        return call_error(c, "max", "it is below min");
    }
    call_cost(c, 2 * (double)c->in[0].count, 0);
    return call_output(c, 0, &bins, 1);
}

/* As torch's histc: with min equal to max, the range is that of the elements. */
static void range_of(const struct operator_call *c, double *low, double *high) {
    *low = call_number(c, "min");
    *high = call_number(c, "max");
    bool of_elements = *low == *high && c->in[0].count;
    for (int64_t i = 0; of_elements && i < c->in[0].count; i++) {
        *low = i ? fmin(*low, c->in[0].v[i]) : c->in[0].v[0];
        *high = i ? fmax(*high, c->in[0].v[i]) : c->in[0].v[0];
    }
    if (*low == *high) {
        *low -= 1;
        *high += 1;
    }
}

static int compute_histc(struct operator_call *c) {
    int64_t bins = call_integer(c, "bins");
    double low, high;
    range_of(c, &low, &high);
    if (!(high > low) || !isfinite(high - low)) {
        return call_error(c, "max", "%g to %g is not a range", low, high);
    }
    for (int64_t i = 0; i < c->in[0].count; i++) {
        double x = c->in[0].v[i];
        if (x >= low && x <= high) {
            int64_t bin = (int64_t)((x - low) / (high - low) * (double)bins);
            c->out[0].v[bin == bins ? bins - 1 : bin] += 1;
        }
    }
    return 0;
}

/* --- searchsorted: where each value would be inserted --- */

static int infer_search(struct operator_call *c) {
    int r = call_want_rank(c, 0, 1);
    call_cost(c, 0, 40 * (double)c->in[1].count);
    return r < 0 ? r : call_output_like(c, 0, &c->in[1]);
}

static int compute_search(struct operator_call *c) {
    bool right = call_bool(c, "right");
    for (int64_t i = 0; i < c->in[1].count; i++) {
        double x = c->in[1].v[i];
        int64_t low = 0, high = c->in[0].count;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            double v = c->in[0].v[middle];
            bool before = right ? !(v > x) : !(v >= x);
            low = before ? middle + 1 : low;
            high = before ? high : middle;
        }
        c->out[0].v[i] = (double)low;
    }
    return 0;
}

#include "gpu/reference/operators_ordering.h"
