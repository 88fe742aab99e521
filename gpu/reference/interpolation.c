/* interpolation: planes in another size. */
#include "gpu/reference/operator_call.h"

enum mode {
    MODE_NEAREST,
    MODE_NEAREST_EXACT,
    MODE_LINEAR,
    MODE_BILINEAR,
    MODE_TRILINEAR
};

struct resize {
    size_t rank;           /* spatial dimensions */
    int64_t in[3], out[3]; /* extents; 1 where there is no dimension */
    double step[3];        /* input elements per output element */
    enum mode mode;
    bool align;
};

static int plan_extent(struct operator_call *c, struct resize *p, size_t i) {
    const struct operator_value *size = call_attribute(c, "size");
    const struct operator_value *factor = call_attribute(c, "scale_factor");
    double out = factor->given ? floor((double)p->in[i] * factor->number)
                               : (double)size->ints[size->count == 1 ? 0 : i];
    if (!(out >= 1 && out <= (double)OPERATOR_MAX_ELEMENTS)) {
        return call_error(c, factor->given ? "scale_factor" : "size",
                          "an extent of %g cannot be", out);
    }
    p->out[i] = (int64_t)out;
    p->step[i] = factor->given ? 1 / factor->number : (double)p->in[i] / out;
    if (p->align) {
        p->step[i] = out > 1 ? (double)(p->in[i] - 1) / (out - 1) : 0;
    }
    return 0;
}

static int plan_resize(struct operator_call *c, struct resize *p) {
    const struct operator_array *a = &c->in[0];
    const struct operator_value *size = call_attribute(c, "size");
    bool factor = call_attribute(c, "scale_factor")->given;
    if (a->rank < 3 || a->rank > 5) {
        return call_want_rank(c, 0, 4);
    }
    *p = (struct resize){.rank = a->rank - 2, .in = {1, 1, 1}, .out = {1, 1, 1}};
    p->mode = (enum mode)call_choice(c, "mode");
    p->align = call_bool(c, "align_corners");
    if (p->mode >= MODE_LINEAR && (size_t)p->mode - MODE_LINEAR + 1 != p->rank) {
        return call_error(c, "mode", "it does not fit the %zu spatial dimensions of '%s'",
                          p->rank, a->name);
    }
    if (p->align && p->mode < MODE_LINEAR) {
        return call_error(c, "align_corners", "not with this mode");
    }
    if (factor == size->given ||
        (size->given && size->count != 1 && size->count != p->rank)) {
        return call_error(c, "size", "either it, 1 or %zu extents, or scale_factor",
                          p->rank);
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < p->rank; i++) {
        p->in[i] = a->shape[2 + i];
        r = p->in[i] ? plan_extent(c, p, i)
                     : err_set(c->err, -EINVAL, "%s.inputs.input: '%s' is empty", c->at,
                               a->name);
    }
    return r;
}

static int infer_resize(struct operator_call *c) {
    struct resize p;
    int r = plan_resize(c, &p);
    if (r < 0) {
        return r;
    }
    struct operator_array out = c->in[0];
    memcpy(out.shape + 2, p.out, p.rank * sizeof *p.out);
    r = call_output_like(c, 0, &out);
    call_cost(c, 4 * (double)c->out[0].count, 40 * (double)c->out[0].count);
    return r;
}

/* The two input elements around an output element, and the second's share. */
struct tap {
    int64_t first, second;
    double share;
};

static struct tap tap_of(const struct resize *p, size_t i, int64_t out) {
    double x;
    int64_t last = p->in[i] - 1;
    if (p->mode < MODE_LINEAR) {
        x = floor(((double)out + (p->mode == MODE_NEAREST ? 0 : 0.5)) * p->step[i]);
        int64_t at = x > (double)last ? last : (int64_t)x;
        return (struct tap){at, at, 0};
    }
    x = p->align ? (double)out * p->step[i] : ((double)out + 0.5) * p->step[i] - 0.5;
    x = x < 0 ? 0 : x;
    int64_t at = x > (double)last ? last : (int64_t)x;
    return (struct tap){at, at < last ? at + 1 : at, at < last ? x - (double)at : 0};
}

static double resized(const struct resize *p, const double *plane, const int64_t *out) {
    struct tap taps[3];
    for (size_t i = 0; i < 3; i++) {
        taps[i] = i < p->rank ? tap_of(p, i, out[i]) : (struct tap){0, 0, 0};
    }
    double sum = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        double share = 1;
        int64_t at = 0;
        for (size_t i = 0; i < 3; i++) {
            bool second = corner >> i & 1;
            share *= second ? taps[i].share : 1 - taps[i].share;
            at = at * p->in[i] + (second ? taps[i].second : taps[i].first);
        }
        sum += share > 0 ? share * plane[at] : 0;
    }
    return sum;
}

static int compute_resize(struct operator_call *c) {
    struct resize p;
    int r = plan_resize(c, &p);
    int64_t inputs = p.in[0] * p.in[1] * p.in[2];
    int64_t outputs = p.out[0] * p.out[1] * p.out[2];
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        int64_t k = i % outputs;
        int64_t out[3] = {k / p.out[2] / p.out[1], k / p.out[2] % p.out[1], k % p.out[2]};
        c->out[0].v[i] = resized(&p, c->in[0].v + i / outputs * inputs, out);
        r = i % 65536 == 65535 ? call_continue(c) : 0;
    }
    return r;
}

#include "gpu/reference/operators_interpolation.h"
