/* convolutions: torch's conv and conv_transpose, the gradient of conv for its input, in
 * one to three dimensions. u.number is their count, 10 more for conv_transpose. Depthwise
 * and pointwise ones are groups equal to the channels, and kernels of 1. */
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
              terms * product_steps(c) + 2 * places);
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

/* Inputs under `tap` of the run's outputs, 0 where there is none. */
static void run_inputs(const struct convolution *k, const double *in,
                       const struct output_run *run, const int64_t *tap, double *ret) {
    size_t last = k->w.rank - 1;
    int64_t at = 0, stride = k->w.stride[last];
    memset(ret, 0, (size_t)run->count * sizeof *ret);
    for (size_t i = 0; i < last; i++) {
        int64_t x = input_at(k, i, run->first[i], tap[i]);
        if (x < 0) {
            return;
        }
        at = at * k->w.in[i] + x;
    }
    in += at * k->w.in[last];
    int64_t p = 0, x = -1; /* the first that meets an input: the others follow in steps */
    while (p < run->count &&
           (x = input_at(k, last, run->first[last] + p, tap[last])) < 0) {
        p++;
    }
    int64_t step = k->transposed ? stride : 1, more = k->transposed ? 1 : stride;
    for (; p < run->count && x < k->w.in[last]; p += step, x += more) {
        ret[p] = in[x];
    }
}

/* What the weights of a group are multiplied by: a row for each channel and tap, a column
 * for each of `count` outputs from `first` on; 0 where there is no input. */
static void columns_of(const struct convolution *k, const double *in, int64_t first,
                       int64_t count, double *ret) {
    int64_t channels = k->in_channels / k->groups, n = k->w.out[k->w.rank - 1], tap[3];
    struct output_run run;
    for (int64_t p = 0; p < count; p += run.count) {
        int64_t left = n - (first + p) % n;
        run.count = count - p < left ? count - p : left;
        window_place(k->w.out, first + p, run.first);
        for (int64_t t = 0; t < k->w.taps; t++) {
            window_place(k->w.kernel, t, tap);
            for (int64_t i = 0; i < channels; i++) {
                run_inputs(k, in + i * k->w.inputs, &run, tap,
                           ret + (i * k->w.taps + t) * count + p);
            }
        }
    }
}

/* The weights of a group, a row for each output channel; those of the transposed one lie
 * by input channel and are copied. */
static struct matrix_view weights_of(const struct operator_call *c,
                                     const struct convolution *k, int64_t group,
                                     double *room) {
    int64_t channels = k->in_channels / k->groups, taps = k->w.taps;
    int64_t outputs = k->out_channels / k->groups, depth = channels * taps;
    const double *from = c->in[1].v + group * outputs * depth;
    for (int64_t i = 0; k->transposed && i < outputs * depth; i++) {
        int64_t channel = i % depth / taps;
        room[i] = from[(channel * outputs + i / depth) * taps + i % taps];
    }
    return (struct matrix_view){k->transposed ? room : from, outputs, depth, depth, 1};
}

enum { PLACES = 480, COLUMNS = 1 << 20 };

/* Outputs that are looked at together. */
static int64_t places_of(const struct convolution *k) {
    int64_t depth = k->in_channels / k->groups * k->w.taps;
    int64_t fit = depth > COLUMNS / PLACES ? COLUMNS / depth + 1 : PLACES;
    return fit < k->w.outputs ? fit : k->w.outputs;
}

/* Outputs [first, first + count) of a sample's group. */
static int convolve(const struct operator_call *c, const struct convolution *k, int64_t i,
                    int64_t first, int64_t count, double *room) {
    int64_t group = i % k->groups, depth = k->in_channels / k->groups * k->w.taps;
    int64_t outputs = k->out_channels / k->groups;
    const double *in = c->in[0].v + i * (k->in_channels / k->groups) * k->w.inputs;
    double *out = c->out[0].v + i * outputs * k->w.outputs + first;
    const struct matrix_view columns = {room, depth, count, count, 1};
    const struct matrix_view weights = weights_of(c, k, group, room + depth * count);
    columns_of(k, in, first, count, room);
    int r = product(c, &weights, &columns, out, k->w.outputs);
    for (int64_t n = 0; r == 0 && call_has(c, 2) && n < outputs * count; n++) {
        out[n / count * k->w.outputs + n % count] +=
            c->in[2].v[group * outputs + n / count];
    }
    return r;
}

static int convolve_some(const struct operator_call *c, const void *data, int64_t from,
                         int64_t to) {
    const struct convolution *k = data;
    int64_t places = places_of(k), pieces = (k->w.outputs + places - 1) / places;
    int64_t depth = k->in_channels / k->groups * k->w.taps;
    size_t size = (size_t)(depth * (places + k->out_channels / k->groups));
    autofree double *room = xmalloc(size * sizeof *room);
    int r = 0;
    for (int64_t i = from; r == 0 && i < to; i++) {
        int64_t first = i % pieces * places, left = k->w.outputs - first;
        r = convolve(c, k, i / pieces, first, left < places ? left : places, room);
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
    return call_parts(c, k.samples * k.groups * pieces, 1, convolve_some, &k);
}

#include "gpu/reference/operators_convolutions.h"
