/* convolutions: torch's conv and conv_transpose, the gradient of conv for its input, in
 * one to three dimensions. u.number is their count, 10 more for conv_transpose. Depthwise
 * and pointwise ones are groups equal to the channels, and kernels of 1. */
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
    int64_t positions = k.transposed ? k.w.inputs : k.w.outputs;
    double per_group = (double)k.in_channels / (double)k.groups;
    double terms = (double)k.samples * (double)k.out_channels * (double)positions *
                   per_group * (double)k.w.taps;
    double places = (double)c->out[0].count * (double)k.w.taps; /* looked for */
    call_cost(c, 2 * terms + (call_has(c, 2) ? (double)c->out[0].count : 0),
              2.5 * terms + 9 * places);
    return 0;
}

/* --- what is computed --- */

/* The input's place whose window puts `tap` on `out`; -1: none. */
static int64_t transposed_input(const struct window *w, const int64_t *out,
                                const int64_t *tap) {
    int64_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        int64_t x = out[i] + w->padding[i] - tap[i] * w->dilation[i];
        if (x < 0 || x % w->stride[i] || x / w->stride[i] >= w->in[i]) {
            return -1;
        }
        at = at * w->in[i] + x / w->stride[i];
    }
    return at;
}

static double convolve(const struct convolution *k, const double *sample,
                       const double *weight, const int64_t *out) {
    int64_t channels = k->in_channels / k->groups, tap[3];
    int64_t step = (k->transposed ? k->out_channels / k->groups : 1) * k->w.taps;
    struct sum sum = {0};
    for (int64_t t = 0; t < k->w.taps; t++) {
        window_place(k->w.kernel, t, tap);
        int64_t at = k->transposed ? transposed_input(&k->w, out, tap)
                                   : window_input(&k->w, out, tap);
        for (int64_t i = 0; at >= 0 && i < channels; i++) {
            sum_add(&sum, sample[i * k->w.inputs + at] * weight[i * step + t]);
        }
    }
    return sum_value(sum);
}

static void convolve_channel(struct operator_call *c, const struct convolution *k,
                             int64_t sample, int64_t channel) {
    int64_t per_group = k->out_channels / k->groups, group = channel / per_group;
    int64_t channels = k->in_channels / k->groups, out[3];
    int64_t first = k->transposed ? group * channels * per_group + channel % per_group
                                  : channel * channels;
    double bias = call_has(c, 2) ? c->in[2].v[channel] : 0;
    const double *in =
        c->in[0].v + (sample * k->in_channels + group * channels) * k->w.inputs;
    double *ret = c->out[0].v + (sample * k->out_channels + channel) * k->w.outputs;
    for (int64_t i = 0; i < k->w.outputs; i++) {
        window_place(k->w.out, i, out);
        ret[i] = convolve(k, in, c->in[1].v + first * k->w.taps, out) + bias;
    }
}

static int compute_convolution(struct operator_call *c) {
    struct convolution k;
    int r = plan_convolution(c, &k);
    for (int64_t i = 0; r == 0 && i < k.samples * k.out_channels; i++) {
        convolve_channel(c, &k, i / k.out_channels, i % k.out_channels);
        r = call_continue(c);
    }
    return r;
}

#include "gpu/reference/operators_convolutions.h"
