/* convolutions: torch's conv and conv_transpose, the gradient of conv for its input, in
 * one to three dimensions. u.number is their count, 10 more for conv_transpose. Depthwise
 * and pointwise ones are groups equal to the channels, and kernels of 1. */
#include "base/vectors.h"
#include "gpu/reference/parts.h"
#include "gpu/reference/product.h"
#include "gpu/reference/window.h"

struct convolution {
    struct window w;
    bool transposed;
    int64_t samples, in_channels, out_channels, groups;
};

/* --- what is asked --- */

static int check_groups(struct operator_call *c, struct convolution *ret) {
    bool transposed = ret->transposed;
    const int64_t *weight = c->in[1].shape;
    int64_t groups = call_integer(c, "groups"), channels = ret->in_channels;
    ret->groups = groups;
    ret->out_channels = transposed ? weight[1] * groups : weight[0];
    if (channels % groups || ret->out_channels % groups) {
        return call_error(c, "groups", "%lld does not divide the channels %lld and %lld",
                          (long long)groups, (long long)channels,
                          (long long)ret->out_channels);
    }
    int64_t have = transposed ? weight[0] : weight[1];
    int64_t want = transposed ? channels : channels / groups;
    if (have != want) {
        return err_set(c->err, -EINVAL,
                       "%s.inputs.weight: '%s' is for %lld channels, '%s' has %lld%s",
                       c->at, c->in[1].name, (long long)have, c->in[0].name,
                       (long long)want, groups > 1 && !transposed ? " per group" : "");
    }
    return call_want_shape(c, 2, &ret->out_channels, 1);
}

static int transposed_extents(struct operator_call *c, struct window *w) {
    int r = call_check_list(c, "output_padding", w->rank, 0);
    w->outputs = w->taps = 1;
    for (size_t i = 0; r == 0 && i < w->rank; i++) {
        int64_t more = call_item(c, "output_padding", i);
        if (more >= w->stride[i] && more >= w->dilation[i]) {
            return call_error(c, "output_padding",
                              "%lld is not below the stride %lld or the dilation %lld",
                              (long long)more, (long long)w->stride[i],
                              (long long)w->dilation[i]);
        }
        w->out[i] = (w->in[i] - 1) * w->stride[i] - 2 * w->padding[i] +
                    w->dilation[i] * (w->kernel[i] - 1) + more + 1;
        if (w->out[i] < 1) {
            return call_error(c, "padding", "%lld leaves no output",
                              (long long)w->padding[i]);
        }
        w->outputs *= w->out[i];
        w->taps *= w->kernel[i];
        if (w->outputs > OPERATOR_MAX_ELEMENTS) {
            return err_set(c->err, -EINVAL, "%s: the output has too many elements",
                           c->at);
        }
    }
    return r;
}

static int plan_convolution(struct operator_call *c, struct convolution *ret) {
    size_t rank = (size_t)c->op->u.number % 10;
    struct window *w = &ret->w;
    ret->transposed = c->op->u.number > 10;
    int r = window_start(c, rank, w);
    r = r < 0 ? r : call_want_rank(c, 1, rank + 2);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < rank; i++) {
        w->kernel[i] = c->in[1].shape[i + 2];
        if (!w->kernel[i]) {
            return err_set(c->err, -EINVAL, "%s.inputs.weight: the kernel is empty",
                           c->at);
        }
    }
    ret->samples = c->in[0].rank == rank + 2 ? c->in[0].shape[0] : 1;
    ret->in_channels = c->in[0].shape[c->in[0].rank - rank - 1];
    r = window_attributes(c, w, false, true);
    r = r < 0 ? r : check_groups(c, ret);
    return r < 0             ? r
           : ret->transposed ? transposed_extents(c, w)
                             : window_extents(c, w, false);
}

enum { FEW = 4, REACHES = 1 << 20 };

/* Channels of a group that are too few for a product with columns. */
static bool is_direct(const struct convolution *k) {
    return k->out_channels / k->groups < FEW;
}

static int infer_convolution(struct operator_call *c) {
    struct convolution k;
    int r = plan_convolution(c, &k);
    r = r < 0 ? r : window_output(c, 0, &k.w, k.out_channels);
    if (r < 0) {
        return r;
    }
    c->fills = true;
    call_rows_of_first(c, c->in[0].rank < k.w.rank + 2);
    int64_t positions = k.transposed ? k.w.inputs : k.w.outputs;
    double per_group = (double)k.in_channels / (double)k.groups;
    double terms = (double)k.samples * (double)k.out_channels * (double)positions *
                   per_group * (double)k.w.taps;
    double places = (double)k.samples * (double)k.in_channels * (double)k.w.outputs *
                    (double)k.w.taps; /* looked for */
    call_cost(c, 2 * terms + (call_has(c, 2) ? (double)c->out[0].count : 0),
              is_direct(&k) ? 0.5 * terms : terms * product_steps(c) + 0.5 * places);
    return 0;
}

/* --- what is computed --- */

/* A run of outputs along the last spatial dimension. */
struct output_run {
    int64_t first[3], count;
};

/* Where one dimension's `out` looks for `tap`; -1: nowhere. */
static int64_t input_at(const struct convolution *k, size_t dim, int64_t out,
                        int64_t tap) {
    const struct window *w = &k->w;
    int64_t reach = tap * w->dilation[dim], stride = w->stride[dim];
    int64_t x = k->transposed ? out + w->padding[dim] - reach
                              : out * stride - w->padding[dim] + reach;
    bool hit = x >= 0 && (!k->transposed || x % stride == 0);
    x = hit && k->transposed ? x / stride : x;
    return hit && x < w->in[dim] ? x : -1;
}

/* The outputs of a run that meet an input under a tap: out + i * step meets in + i * more
 * of each channel. */
struct tap_reach {
    int64_t out, in, step, more, count;
};

static struct tap_reach reach_of(const struct convolution *k,
                                 const struct output_run *run, const int64_t *tap) {
    size_t last = k->w.rank - 1;
    int64_t row = 0, x = -1, stride = k->w.stride[last];
    struct tap_reach r = {.step = k->transposed ? stride : 1,
                          .more = k->transposed ? 1 : stride};
    for (size_t i = 0; i < last; i++) {
        int64_t at = input_at(k, i, run->first[i], tap[i]);
        if (at < 0) {
            return r;
        }
        row = row * k->w.in[i] + at;
    }
    while (r.out < run->count &&
           (x = input_at(k, last, run->first[last] + r.out, tap[last])) < 0) {
        r.out++;
    }
    if (r.out < run->count) {
        int64_t outs = (run->count - r.out + r.step - 1) / r.step;
        int64_t ins = (k->w.in[last] - x + r.more - 1) / r.more;
        r.in = row * k->w.in[last] + x;
        r.count = outs < ins ? outs : ins;
    }
    return r;
}

/* The run at place `at` of those that end with `end`. */
static struct output_run run_at(const struct convolution *k, int64_t at, int64_t end) {
    int64_t n = k->w.out[k->w.rank - 1], left = n - at % n;
    struct output_run run = {.count = end - at < left ? end - at : left};
    window_place(k->w.out, at, run.first);
    return run;
}

/* Inputs under a tap, 0 where there is none: `count` numbers. */
static void put_inputs(const struct tap_reach *r, const double *in, int64_t count,
                       double *ret) {
    if (r->count < count) {
        memset(ret, 0, (size_t)count * sizeof *ret);
    }
    if (r->step == 1 && r->more == 1) {
        memcpy(ret + r->out, in + r->in, (size_t)r->count * sizeof *ret);
        return;
    }
    for (int64_t i = 0; i < r->count; i++) {
        ret[r->out + i * r->step] = in[r->in + i * r->more];
    }
}

/* Outputs that are looked at together: runs, and what each tap reaches from each. */
struct places {
    const struct convolution *k;
    const double *in; /* of the group */
    int64_t count, runs;
    struct tap_reach *reach; /* [taps][runs] */
    int64_t *counts;         /* of the runs */
};

static void places_find(struct places *p, int64_t first) {
    const struct convolution *k = p->k;
    int64_t tap[3];
    p->runs = 0;
    for (int64_t at = 0; at < p->count; at += p->counts[p->runs++]) {
        p->counts[p->runs] = run_at(k, first + at, first + p->count).count;
    }
    for (int64_t t = 0; t < k->w.taps; t++) {
        window_place(k->w.kernel, t, tap);
        for (int64_t at = 0, i = 0; i < p->runs; at += p->counts[i++]) {
            struct output_run run = run_at(k, first + at, first + p->count);
            p->reach[t * p->runs + i] = reach_of(k, &run, tap);
        }
    }
}

/* What the weights of a group are multiplied by: a row for each channel and tap, a column
 * for each place. */
static void column_row(const void *data, int64_t row, double *ret) {
    const struct places *p = data;
    const double *in = p->in + row / p->k->w.taps * p->k->w.inputs;
    const struct tap_reach *reach = p->reach + row % p->k->w.taps * p->runs;
    for (int64_t i = 0; i < p->runs; ret += p->counts[i++]) {
        put_inputs(&reach[i], in, p->counts[i], ret);
    }
}

/* The weights, a row for each output channel of a group after the other; those of the
 * transposed one lie by input channel and are copied into room. */
static const double *weights_of(const struct operator_call *c,
                                const struct convolution *k, double *room) {
    int64_t channels = k->in_channels / k->groups, taps = k->w.taps;
    int64_t outputs = k->out_channels / k->groups;
    for (int64_t i = 0; k->transposed && i < k->in_channels * outputs; i++) {
        int64_t in = i / outputs, group = in / channels,
                out = group * outputs + i % outputs;
        memcpy(room + (out * channels + in % channels) * taps, c->in[1].v + i * taps,
               (size_t)taps * sizeof *room);
    }
    return k->transposed ? room : c->in[1].v;
}

/* Outputs that are looked at together. */
static int64_t places_of(const struct convolution *k) {
    int64_t fit = REACHES / k->w.taps + 1;
    fit = fit < PRODUCT_COLUMNS ? fit : PRODUCT_COLUMNS;
    return fit < k->w.outputs ? fit : k->w.outputs;
}

/* weight times what a tap reaches, added to sums; lost: what they lost so far, or NULL.
 */
VECTORS static void add_tap(const struct tap_reach *r, double weight, const double *in,
                            double *restrict sums, double *restrict lost) {
    for (int64_t i = 0; !lost && i < r->count; i++) {
        sums[r->out + i * r->step] += weight * in[r->in + i * r->more];
    }
    for (int64_t i = 0; lost && i < r->count; i++) {
        int64_t at = r->out + i * r->step;
        double x = weight * in[r->in + i * r->more], t = sums[at] + x,
               back = t - sums[at];
        lost[at] += (sums[at] - (t - back)) + (x - back);
        sums[at] = t;
    }
}

/* Tap by tap: one channel's outputs. */
static void convolve_channel(const struct operator_call *c, const struct places *p,
                             const double *weights, double *out) {
    const struct convolution *k = p->k;
    double room[PRODUCT_COLUMNS] = {0};
    int64_t depth = k->in_channels / k->groups * k->w.taps;
    memset(out, 0, (size_t)p->count * sizeof *out);
    for (int64_t row = 0; row < depth; row++) {
        const double *in = p->in + row / k->w.taps * k->w.inputs;
        const struct tap_reach *reach = p->reach + row % k->w.taps * p->runs;
        for (int64_t i = 0, at = 0; i < p->runs; at += p->counts[i++]) {
            add_tap(&reach[i], weights[row], in, out + at, c->plain ? NULL : room + at);
        }
    }
    for (int64_t i = 0; !c->plain && i < p->count; i++) {
        out[i] = sum_value((struct sum){out[i], room[i]});
    }
}

struct convolving {
    const struct convolution *k;
    const double *weights;
};

/* The places from `first` on, of a sample's group. */
static int convolve(const struct operator_call *c, const struct convolving *all,
                    struct places *p, int64_t i, int64_t first,
                    struct product_room *room) {
    const struct convolution *k = all->k;
    int64_t group = i % k->groups, depth = k->in_channels / k->groups * k->w.taps;
    int64_t outputs = k->out_channels / k->groups, left = k->w.outputs - first;
    const double *weights = all->weights + group * outputs * depth;
    double *out = c->out[0].v + i * outputs * k->w.outputs + first;
    int r = 0;
    p->in = c->in[0].v + i * (k->in_channels / k->groups) * k->w.inputs;
    p->count = places_of(k) < left ? places_of(k) : left;
    places_find(p, first);
    if (is_direct(k)) {
        for (int64_t o = 0; o < outputs; o++) {
            convolve_channel(c, p, weights + o * depth, out + o * k->w.outputs);
        }
    } else {
        const struct matrix_view columns = {
            .rows = depth, .columns = p->count, .row = column_row, .data = p};
        const struct matrix_view rows = {weights, outputs, depth, depth, 1};
        r = product(c, &rows, &columns, out, k->w.outputs, room);
    }
    for (int64_t n = 0; r == 0 && call_has(c, 2) && n < outputs * p->count; n++) {
        out[n / p->count * k->w.outputs + n % p->count] +=
            c->in[2].v[group * outputs + n / p->count];
    }
    return r;
}

static int convolve_some(const struct operator_call *c, const void *data, int64_t from,
                         int64_t to) {
    const struct convolving *all = data;
    const struct convolution *k = all->k;
    int64_t places = places_of(k), pieces = (k->w.outputs + places - 1) / places;
    size_t runs = (size_t)(places / k->w.out[k->w.rank - 1] + 2);
    autofree struct tap_reach *reach = xmalloc(runs * (size_t)k->w.taps * sizeof *reach);
    autofree int64_t *counts = xmalloc(runs * sizeof *counts);
    autofree struct product_room *room = is_direct(k) ? NULL : product_room_new();
    struct places p = {.k = k, .reach = reach, .counts = counts};
    int r = 0;
    for (int64_t i = from; r == 0 && i < to; i++) {
        r = convolve(c, all, &p, i / pieces, i % pieces * places, room);
    }
    return r;
}

static int compute_convolution(struct operator_call *c) {
    struct convolution k;
    int r = plan_convolution(c, &k);
    if (r < 0 || !c->out[0].count) {
        return r;
    }
    int64_t pieces = (k.w.outputs + places_of(&k) - 1) / places_of(&k);
    size_t count = k.transposed ? (size_t)c->in[1].count : 0;
    autofree double *room = xmalloc((count + 1) * sizeof *room);
    struct convolving all = {&k, weights_of(c, &k, room)};
    return call_parts(c, k.samples * k.groups * pieces, 1, convolve_some, &all);
}

#include "gpu/reference/operators_convolutions.h"
