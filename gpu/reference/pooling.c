/* pooling: largest elements and means under a window that moves over planes. u.number is
 * the count of spatial dimensions. */
#include "base/vectors.h"
#include "gpu/reference/parts.h"
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
    c->streams = c->fills = true;
    r = r < 0 || !is_max(c) || c->unwanted & 2 ? r : window_output(c, 1, &w, 0);
    call_rows_of_first(c, false);
    if (r == 0) {
        double taps = (double)c->out[0].count * (double)w.taps;
        call_cost(c, taps, (is_max(c) ? 0.3 : 0.8) * taps);
    }
    return r;
}

/* Outputs of a line, along the last spatial dimension, and what each has met so far. */
struct pool_line {
    int64_t first[3], count;
    const double *x; /* a line of the input that the window reaches, at `from` */
    int64_t from;
    double *best, *index;       /* of the largest; index may be NULL */
    double *sums, *lost, *seen; /* of means: with what they lost, and how many */
};

/* Where the line of the input begins that the windows reach with these first two taps;
 * -1: padding. */
static int64_t line_start(const struct window *w, const struct pool_line *line,
                          const int64_t *tap) {
    int64_t at = 0;
    for (size_t i = 0; i + 1 < w->rank; i++) {
        int64_t x =
            line->first[i] * w->stride[i] - w->padding[i] + tap[i] * w->dilation[i];
        if (x < 0 || x >= w->in[i]) {
            return -1;
        }
        at = at * w->in[i] + x;
    }
    return at * w->in[w->rank - 1];
}

/* The places of the line, ret[0] to ret[1] - 1, that a tap of the last dimension reaches.
 * The element under place 0 would be the one returned, each further one a stride on. */
static int64_t line_places(const struct window *w, int64_t count, int64_t tap,
                           int64_t *ret) {
    size_t last = w->rank - 1;
    int64_t stride = w->stride[last], x = tap * w->dilation[last] - w->padding[last];
    int64_t end = (w->in[last] - x + stride - 1) / stride;
    ret[0] = x < 0 ? (-x + stride - 1) / stride : 0;
    ret[1] = w->in[last] <= x ? 0 : end < count ? end : count;
    return x;
}

/* Of equal ones the first tap's stays, and the last NaN. */
VECTORS static void line_largest(struct pool_line *line, const int64_t *places,
                                 int64_t at, int64_t stride) {
    double *restrict best = line->best, *restrict index = line->index;
    const double *restrict x = line->x;
    for (int64_t j = places[0]; !index && j < places[1]; j++) {
        double v = x[at + j * stride];
        best[j] = v > best[j] || v != v ? v : best[j];
    }
    for (int64_t j = places[0]; index && j < places[1]; j++) {
        double v = x[at + j * stride];
        bool further = index[j] < 0 || v > best[j] || v != v;
        best[j] = further ? v : best[j];
        index[j] = further ? (double)(line->from + at + j * stride) : index[j];
    }
}

VECTORS static void line_sum(struct pool_line *line, const int64_t *places, int64_t at,
                             int64_t stride) {
    double *restrict sums = line->sums, *restrict lost = line->lost;
    double *restrict seen = line->seen;
    const double *restrict x = line->x;
    for (int64_t j = places[0]; j < places[1]; j++) {
        double v = x[at + j * stride], t = sums[j] + v, back = t - sums[j];
        lost[j] += (sums[j] - (t - back)) + (v - back);
        sums[j] = t;
        seen[j]++;
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

static void line_means(const struct operator_call *c, const struct window *w,
                       const struct pool_line *line, double *ret) {
    const struct operator_value *divisor = call_attribute(c, "divisor_override");
    bool padded = call_bool(c, "count_include_pad");
    int64_t out[3];
    memcpy(out, line->first, sizeof out);
    for (int64_t j = 0; j < line->count; j++) {
        out[w->rank - 1] = j;
        double over = divisor->given ? (double)divisor->ints[0]
                      : padded       ? (double)padded_taps(w, out)
                                     : line->seen[j];
        ret[j] = sum_value((struct sum){line->sums[j], line->lost[j]}) / over;
    }
}

/* Numbers that a line needs: three of each output, and a line of the input. */
static int64_t line_room(const struct window *w) {
    return 3 * w->out[w->rank - 1] + w->in[w->rank - 1];
}

/* Outputs from `at` on, at this position of a plane, which begins at element `plane`. */
static void pool_line(const struct operator_call *c, const struct window *w,
                      int64_t plane, int64_t position, int64_t at, double *room) {
    int64_t n = w->out[w->rank - 1], last = w->kernel[w->rank - 1], tap[3], places[2];
    struct pool_line line = {.count = n,
                             .best = c->out[0].v + at,
                             .index = c->out[1].name ? c->out[1].v + at : NULL,
                             .sums = room,
                             .lost = room + n,
                             .seen = room + 2 * n};
    window_place(w->out, position, line.first);
    memset(room, 0, (size_t)n * 3 * sizeof *room);
    for (int64_t j = 0; is_max(c) && j < n; j++) {
        line.best[j] = -INFINITY;
    }
    for (int64_t j = 0; line.index && j < n; j++) {
        line.index[j] = -1;
    }
    for (int64_t t = 0; t < w->taps; t += last) {
        window_place(w->kernel, t, tap);
        line.from = line_start(w, &line, tap);
        if (line.from >= 0) {
            line.x = call_elements(&c->in[0], plane + line.from,
                                   (size_t)w->in[w->rank - 1], room + 3 * n);
        }
        for (int64_t i = 0; line.from >= 0 && i < last; i++) {
            int64_t from = line_places(w, n, i, places);
            (is_max(c) ? line_largest : line_sum)(&line, places, from,
                                                  w->stride[w->rank - 1]);
        }
    }
    if (!is_max(c)) {
        line_means(c, w, &line, c->out[0].v + at);
    }
}

/* Lines of all planes. */
static int pool_some(const struct operator_call *c, const void *data, int64_t from,
                     int64_t to) {
    const struct window *w = data;
    int64_t n = w->out[w->rank - 1], lines = w->outputs / n;
    autofree double *room = xmalloc((size_t)line_room(w) * sizeof *room);
    for (int64_t i = from; i < to; i++) {
        pool_line(c, w, i / lines * w->inputs, i % lines * n, i * n, room);
    }
    return 0;
}

static int compute_pool(struct operator_call *c) {
    struct window w;
    int r = plan_pool(c, &w);
    int64_t n = w.out[w.rank - 1];
    return r < 0 || !c->out[0].count ? r
                                     : call_parts(c, c->out[0].count / n,
                                                  5000 / (n * w.taps) + 1, pool_some, &w);
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
    c->fills = true;
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
