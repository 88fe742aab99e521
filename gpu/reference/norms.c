/* norms: a tensor brought to mean 0 and variance 1, or to length 1, in groups of
 * elements; then scaled and shifted. torch.nn.functional's names and parameters. */
#include "base/vectors.h"
#include "gpu/reference/gather.h"
#include "gpu/reference/parts.h"

/* --- groups and channels --- */

static double eps_of_type(enum tensor_type type) {
    switch (type) {
    case TENSOR_FLOAT64:
        return 0x1p-52;
    case TENSOR_FLOAT16:
        return 0x1p-10;
    case TENSOR_BFLOAT16:
        return 0x1p-7;
    default:
        return 0x1p-23;
    }
}

static double eps_of(const struct operator_call *c) {
    const struct operator_value *v = call_attribute(c, "eps");
    return v->given ? v->number : eps_of_type(c->in[0].type);
}

struct groups {
    bool centre;
    double eps;
};

VECTORS static void normalize_line(const double *x, int64_t n, double mean, double rest,
                                   double scale, double *ret) {
    for (int64_t i = 0; i < n; i++) {
        ret[i] = (x[i] - mean - rest) / scale;
    }
}

static void normalize(const void *data, const double *x, int64_t n, double *ret) {
    const struct groups *all = data;
    struct moments m = {0};
    if (all->centre) {
        m = moments_of(x, n);
    } else {
        m.squares = squares_of(x, n);
    }
    double scale = sqrt(m.squares / (double)n + all->eps);
    normalize_line(x, n, m.mean, m.rest, scale, ret);
}

/* Every group of `view` (input 0 in another shape) to mean 0 and variance 1; or, without
 * centre, to a mean square of 1. */
static int normalize_groups(struct operator_call *c, const struct operator_array *view,
                            const bool *dims, bool centre) {
    struct groups all = {.centre = centre, .eps = eps_of(c)};
    return gather_map(c, view, dims, false, 2000, normalize, &all);
}

/* The inputs for it, SIZE_MAX: none. */
struct affine {
    size_t weight, bias;
    int64_t inner, channels;
};

static int affine_some(const struct operator_call *c, const void *data, int64_t from,
                       int64_t to) {
    const struct affine *a = data;
    const double *weight = a->weight != SIZE_MAX ? c->in[a->weight].v : NULL;
    const double *bias = a->bias != SIZE_MAX ? c->in[a->bias].v : NULL;
    int64_t channel = from / a->inner % a->channels, left = a->inner - from % a->inner;
    for (int64_t i = from; i < to; i++) {
        double x = c->out[0].v[i];
        x = weight ? x * weight[channel] : x;
        c->out[0].v[i] = bias ? x + bias[channel] : x;
        if (!--left) {
            left = a->inner;
            channel = channel + 1 < a->channels ? channel + 1 : 0;
        }
    }
    return 0;
}

/* weight and bias (inputs w and w + 1 where has_bias), one per `inner` elements in turn.
 */
static int scale_and_shift(struct operator_call *c, size_t w, bool has_bias,
                           int64_t inner) {
    struct affine a = {call_has(c, w) ? w : SIZE_MAX,
                       has_bias && call_has(c, w + 1) ? w + 1 : SIZE_MAX, inner, 1};
    if (a.weight == SIZE_MAX && a.bias == SIZE_MAX) {
        return 0;
    }
    a.channels = c->in[a.weight != SIZE_MAX ? a.weight : a.bias].count;
    return call_parts(c, c->out[0].count, 4096, affine_some, &a);
}

static int norm_output(struct operator_call *c, int r) {
    return call_output_same(c, r, call_has(c, 1) ? 7 : 5, 2);
}

static int64_t channel_inner(const struct operator_array *a) {
    return shape_count(a, 2, a->rank);
}

static int check_channels(struct operator_call *c, size_t first, size_t count) {
    if (c->in[0].rank < 2) {
        return err_set(c->err, -EINVAL, "%s.inputs.input: '%s' has no channels: rank %zu",
                       c->at, c->in[0].name, c->in[0].rank);
    }
    for (size_t i = first; i < first + count; i++) {
        int r = call_want_shape(c, i, &c->in[0].shape[1], 1);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* --- batch_norm: input, running_mean, running_var, weight, bias --- */

static int infer_batch_norm(struct operator_call *c) {
    int r = check_channels(c, 1, 4);
    if (r == 0 && !call_bool(c, "training") && (!call_has(c, 1) || !call_has(c, 2))) {
        r = call_error(c, "training",
                       "without it running_mean and running_var are needed");
    }
    call_rows_of_first(c, call_bool(c, "training"));
    return norm_output(c, r);
}

static int compute_batch_norm(struct operator_call *c) {
    int64_t inner = channel_inner(&c->in[0]), channels = c->in[0].shape[1];
    bool dims[OPERATOR_MAX_RANK] = {true, false, true, true, true, true, true, true};
    int r = 0;
    if (call_bool(c, "training")) {
        r = normalize_groups(c, &c->in[0], dims, true);
    } else {
        double eps = eps_of(c);
        for (int64_t i = 0; i < c->out[0].count; i++) {
            int64_t k = i / inner % channels;
            c->out[0].v[i] = (c->in[0].v[i] - c->in[1].v[k]) / sqrt(c->in[2].v[k] + eps);
        }
    }
    return r < 0 ? r : scale_and_shift(c, 3, true, inner);
}

/* --- instance_norm, group_norm: input, weight, bias --- */

static int infer_instance_norm(struct operator_call *c) {
    call_rows_of_first(c, false);
    return norm_output(c, check_channels(c, 1, 2));
}

static int compute_instance_norm(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK] = {false, false, true, true, true, true, true, true};
    int r = normalize_groups(c, &c->in[0], dims, true);
    return r < 0 ? r : scale_and_shift(c, 1, true, channel_inner(&c->in[0]));
}

static int infer_group_norm(struct operator_call *c) {
    int r = infer_instance_norm(c);
    int64_t groups = call_integer(c, "num_groups");
    if (r == 0 && c->in[0].shape[1] % groups) {
        r = call_error(c, "num_groups", "%lld does not divide the %lld channels of '%s'",
                       (long long)groups, (long long)c->in[0].shape[1], c->in[0].name);
    }
    return r;
}

static int compute_group_norm(struct operator_call *c) {
    bool dims[] = {false, true};
    struct operator_array view = {.rank = 2};
    view.shape[0] = c->in[0].shape[0] * call_integer(c, "num_groups");
    view.shape[1] = view.shape[0] ? c->in[0].count / view.shape[0] : 0;
    int r = normalize_groups(c, &view, dims, true);
    return r < 0 ? r : scale_and_shift(c, 1, true, channel_inner(&c->in[0]));
}

/* --- layer_norm, rms_norm: over the last dimensions --- */

/* How many of the last dimensions are meant; negative errno. */
static int last_dims(struct operator_call *c) {
    const struct operator_array *a = &c->in[0];
    const struct operator_value *v = call_attribute(c, "normalized_shape");
    size_t count = v->given ? v->count : call_has(c, 1) ? c->in[1].rank : 1;
    if (count > a->rank || !count) {
        return call_error(c, "normalized_shape", "%zu dimensions, '%s' has %zu", count,
                          a->name, a->rank);
    }
    for (size_t i = 0; v->given && i < count; i++) {
        if (v->ints[i] != a->shape[a->rank - count + i]) {
            char shape[160];
            return call_error(c, "normalized_shape",
                              "it is not how the shape of '%s' ends: %s", a->name,
                              shape_text(a, shape, sizeof shape));
        }
    }
    return (int)count;
}

static int infer_layer_norm(struct operator_call *c) {
    int count = last_dims(c);
    if (count < 0) {
        return count;
    }
    call_rows_of_first(c, (size_t)count == c->in[0].rank);
    const int64_t *shape = c->in[0].shape + c->in[0].rank - (size_t)count;
    int r = call_want_shape(c, 1, shape, (size_t)count);
    r = r < 0 ? r : call_want_shape(c, 2, shape, (size_t)count);
    return norm_output(c, r);
}

static void last_as_flags(struct operator_call *c, bool *ret) {
    size_t count = (size_t)last_dims(c);
    for (size_t i = 0; i < c->in[0].rank; i++) {
        ret[i] = i + count >= c->in[0].rank;
    }
}

static int compute_layer_norm(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK] = {0};
    last_as_flags(c, dims);
    int r = normalize_groups(c, &c->in[0], dims, true);
    return r < 0 ? r : scale_and_shift(c, 1, true, 1);
}

/* `dim` instead of the last dimensions: then the weight is per element of dim alone. */
static int infer_rms_norm(struct operator_call *c) {
    size_t dim = 0;
    if (!call_attribute(c, "dim")->given) {
        return infer_layer_norm(c);
    }
    int r = call_dim(c, "dim", &c->in[0], &dim);
    call_rows_of_first(c, dim == 0);
    r = r == 0 && !c->in[0].rank ? call_want_rank(c, 0, 2) : r;
    r = r < 0 ? r : call_want_shape(c, 1, &c->in[0].shape[dim], 1);
    call_cost(c, 0, 3 * (double)c->in[0].count); /* elements that lie apart */
    return norm_output(c, r);
}

static int compute_rms_norm(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK] = {0};
    size_t dim = 0;
    int64_t inner = 1;
    if (call_attribute(c, "dim")->given) {
        call_dim(c, "dim", &c->in[0], &dim);
        dims[dim] = true;
        inner = axis_lines_of(&c->in[0], dim).inner;
    } else {
        last_as_flags(c, dims);
    }
    int r = normalize_groups(c, &c->in[0], dims, false);
    return r < 0 ? r : scale_and_shift(c, 1, false, inner);
}

/* --- normalize: over the p-norm along dimensions --- */

static int infer_normalize(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK];
    int r = call_dims(c, "dim", &c->in[0], dims);
    call_rows_of_first(c, r < 0 || dims[0]);
    double p = call_number(c, "p");
    return call_output_same(c, r, 3, p == 1 || p == 2 || isinf(p) ? 2 : 15);
}

struct lengths {
    double p, eps;
};

static void shorten(const void *data, const double *x, int64_t n, double *ret) {
    const struct lengths *all = data;
    double length = norm_of(x, n, all->p);
    length = length < all->eps ? all->eps : length;
    normalize_line(x, n, 0, 0, length, ret);
}

static int compute_normalize(struct operator_call *c) {
    bool dims[OPERATOR_MAX_RANK];
    struct lengths all = {.p = call_number(c, "p"), .eps = call_number(c, "eps")};
    call_dims(c, "dim", &c->in[0], dims);
    return gather_map(c, &c->in[0], dims, false, 2000, shorten, &all);
}

/* --- local_response_norm: Krizhevsky and others, 2012, over `size` channels --- */

static int infer_response(struct operator_call *c) {
    double terms = 2 * call_number(c, "size");
    call_rows_of_first(c, false);
    return call_output_same(c, check_channels(c, 1, 0), terms, terms);
}

static int compute_response(struct operator_call *c) {
    const double *x = c->in[0].v;
    int64_t inner = channel_inner(&c->in[0]), channels = c->in[0].shape[1];
    int64_t size = call_integer(c, "size");
    double alpha = call_number(c, "alpha"), beta = call_number(c, "beta");
    double k = call_number(c, "k");
    for (int64_t i = 0; i < c->out[0].count; i++) {
        int64_t at = i / inner % channels;
        struct sum sum = {0};
        for (int64_t j = at - size / 2; j < at - size / 2 + size; j++) {
            double v = j >= 0 && j < channels ? x[i + (j - at) * inner] : 0;
            sum_add(&sum, v * v);
        }
        c->out[0].v[i] = x[i] / pow(k + alpha * sum_value(sum) / (double)size, beta);
    }
    return call_continue(c);
}

#include "gpu/reference/operators_norms.h"
