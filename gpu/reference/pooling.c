/* pooling: largest elements and means under a window that moves over planes. u.number is
 * the count of spatial dimensions. */
#include "gpu/reference/window.h"

/* Their second output is the indices. */
static bool is_max(const struct operator_call *c) {
    return c->op->outputs[1].name != NULL;
}

static int plan_pool(struct operator_call *c, struct window *w) {
    size_t rank = (size_t)c->op->u.number;
    int r = window_start(c, rank, w);
    r = r < 0 ? r : call_check_list(c, "kernel_size", rank, 1);
    for (size_t i = 0; r == 0 && i < rank; i++) {
        w->kernel[i] = call_item(c, "kernel_size", i);
    }
    r = r < 0 ? r : window_attributes(c, w, true, is_max(c));
    return r < 0 ? r : window_extents(c, w, call_bool(c, "ceil_mode"));
}

static int64_t plane_count(const struct operator_call *c, const struct window *w) {
    return shape_count(&c->in[0], 0, c->in[0].rank - w->rank);
}

/* --- max_pool, avg_pool --- */

static int infer_pool(struct operator_call *c) {
    struct window w;
    int r = plan_pool(c, &w);
    r = r < 0 ? r : window_output(c, 0, &w, 0);
    r = r < 0 || !is_max(c) ? r : window_output(c, 1, &w, 0);
    call_rows_of_first(c, false);
    if (r == 0) {
        double taps = (double)c->out[0].count * (double)w.taps;
        call_cost(c, taps, 10 * taps);
    }
    return r;
}

static void largest_under(const struct window *w, const double *plane, int64_t position,
                          double *ret, double *ret_index) {
    int64_t out[3], tap[3];
    window_place(w->out, position, out);
    *ret = -INFINITY;
    *ret_index = -1;
    for (int64_t t = 0; t < w->taps; t++) {
        window_place(w->kernel, t, tap);
        int64_t at = window_input(w, out, tap);
        if (at >= 0 && (*ret_index < 0 || plane[at] > *ret || isnan(plane[at]))) {
            *ret = plane[at];
            *ret_index = (double)at;
        }
    }
}

/* The window's elements within the padded input. */
static int64_t padded_taps(const struct window *w, const int64_t *out) {
    int64_t count = 1;
    for (size_t i = 0; i < w->rank; i++) {
        int64_t start = out[i] * w->stride[i] - w->padding[i];
        int64_t end = start + w->kernel[i], limit = w->in[i] + w->padding[i];
        count *= (end < limit ? end : limit) - start;
    }
    return count;
}

static double mean_under(const struct operator_call *c, const struct window *w,
                         const double *plane, int64_t position) {
    int64_t out[3], tap[3], count = 0;
    struct sum sum = {0};
    window_place(w->out, position, out);
    for (int64_t t = 0; t < w->taps; t++) {
        window_place(w->kernel, t, tap);
        int64_t at = window_input(w, out, tap);
        if (at >= 0) {
            sum_add(&sum, plane[at]);
            count++;
        }
    }
    const struct operator_value *divisor = call_attribute(c, "divisor_override");
    int64_t over = divisor->given                      ? divisor->ints[0]
                   : call_bool(c, "count_include_pad") ? padded_taps(w, out)
                                                       : count;
    return sum_value(sum) / (double)over;
}

static int compute_pool(struct operator_call *c) {
    struct window w;
    int r = plan_pool(c, &w);
    int64_t planes = plane_count(c, &w);
    for (int64_t p = 0; r == 0 && p < planes; p++) {
        const double *plane = c->in[0].v + p * w.inputs;
        for (int64_t i = 0; i < w.outputs; i++) {
            int64_t at = p * w.outputs + i;
            if (is_max(c)) {
                largest_under(&w, plane, i, &c->out[0].v[at], &c->out[1].v[at]);
            } else {
                c->out[0].v[at] = mean_under(c, &w, plane, i);
            }
        }
        r = call_continue(c);
    }
    return r;
}

/* --- adaptive: windows of nearly equal extents that cover the input --- */

static int plan_adaptive(struct operator_call *c, struct window *w) {
    size_t rank = (size_t)c->op->u.number % 10;
    int r = window_start(c, rank, w);
    r = r < 0 ? r : call_check_list(c, "output_size", rank, 1);
    w->outputs = 1;
    for (size_t i = 0; r == 0 && i < rank; i++) {
        w->out[i] = call_item(c, "output_size", i);
        w->outputs *= w->out[i];
    }
    return r;
}

static int infer_adaptive(struct operator_call *c) {
    struct window w;
    int r = plan_adaptive(c, &w);
    r = r < 0 ? r : window_output(c, 0, &w, 0);
    if (r == 0 && !w.inputs) {
        r = err_set(c->err, -EINVAL, "%s.inputs.input: '%s' is empty", c->at,
                    c->in[0].name);
    }
    call_rows_of_first(c, false);
    double taps = (double)c->in[0].count + (double)c->out[0].count;
    call_cost(c, taps, 20 * taps);
    return r;
}

static double fold_box(const double *plane, const int64_t *in, const int64_t *low,
                       const int64_t *high, bool largest) {
    struct sum sum = {0};
    double best = -INFINITY;
    int64_t count = 0;
    for (int64_t x = low[0]; x < high[0]; x++) {
        for (int64_t y = low[1]; y < high[1]; y++) {
            for (int64_t z = low[2]; z < high[2]; z++, count++) {
                double v = plane[(x * in[1] + y) * in[2] + z];
                best = (v > best || isnan(v)) && !isnan(best) ? v : best;
                sum_add(&sum, v);
            }
        }
    }
    return largest ? best : sum_value(sum) / (double)count;
}

static int compute_adaptive(struct operator_call *c) {
    struct window w;
    int r = plan_adaptive(c, &w);
    int64_t planes = plane_count(c, &w);
    for (int64_t i = 0; r == 0 && i < planes * w.outputs; i++) {
        int64_t out[3], low[3], high[3];
        window_place(w.out, i % w.outputs, out);
        for (size_t k = 0; k < 3; k++) {
            low[k] = out[k] * w.in[k] / w.out[k];
            high[k] = ((out[k] + 1) * w.in[k] + w.out[k] - 1) / w.out[k];
        }
        c->out[0].v[i] = fold_box(c->in[0].v + i / w.outputs * w.inputs, w.in, low, high,
                                  c->op->u.number >= 10);
        r = i % 1024 == 1023 ? call_continue(c) : 0;
    }
    return r;
}

#include "gpu/reference/operators_pooling.h"
