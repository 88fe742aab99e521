/* shapes: elements in other places. Every row says, for an element of the output, which
 * element of the input it is; u.number tells the rows apart. */
#include "gpu/reference/operator_call.h"

enum move {
    MOVE_TRANSPOSE,
    MOVE_PERMUTE,
    MOVE_RESHAPE,
    MOVE_IDENTITY,
    MOVE_NARROW,
    MOVE_PAD,
    MOVE_FLIP,
    MOVE_ROLL,
    MOVE_TRIL,
    MOVE_TRIU,
    MOVE_REPEAT,
    MOVE_REPEAT_INTERLEAVE,
    MOVE_EXPAND,
    MOVE_PIXEL_SHUFFLE,
    MOVE_PIXEL_UNSHUFFLE,
};

static enum move move_of(const struct operator_call *c) {
    return (enum move)c->op->u.number;
}

/* What is read from the attributes once. */
struct plan {
    size_t dim, dim1;
    bool flags[OPERATOR_MAX_RANK];
    int64_t by[OPERATOR_MAX_RANK]; /* shifts, leading pads, the order of a permutation */
    int64_t n;                     /* start, diagonal, factor */
    int64_t strides[OPERATOR_MAX_RANK];
    size_t lead; /* dimensions that the output has more, in front */
};

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR };

/* --- plans: shapes --- */

static int plan_permute(struct operator_call *c, struct plan *p, int64_t *shape) {
    const struct operator_value *v = call_attribute(c, "dims");
    const struct operator_array *a = &c->in[0];
    bool seen[OPERATOR_MAX_RANK];
    int r = call_dims(c, "dims", a, seen);
    if (r == 0 && v->count != a->rank) {
        r = call_error(c, "dims", "%zu dimensions, '%s' has %zu", v->count, a->name,
                       a->rank);
    }
    for (size_t i = 0; r == 0 && i < a->rank; i++) {
        p->by[i] = v->ints[i] < 0 ? v->ints[i] + (int64_t)a->rank : v->ints[i];
        shape[i] = a->shape[p->by[i]];
    }
    return r;
}

static int plan_reshape(struct operator_call *c, int64_t *shape, size_t *rank) {
    const struct operator_value *v = call_attribute(c, "shape");
    int64_t known = 1;
    int free_dim = -1;
    *rank = v->count;
    for (size_t i = 0; i < v->count; i++) {
        shape[i] = v->ints[i];
        if (v->ints[i] == -1 && free_dim < 0) {
            free_dim = (int)i;
        } else if (v->ints[i] < 0 || v->ints[i] > OPERATOR_MAX_ELEMENTS ||
                   (known *= v->ints[i]) > OPERATOR_MAX_ELEMENTS) {
            return call_error(c, "shape", "%lld cannot be an extent here",
                              (long long)v->ints[i]);
        }
    }
    if (free_dim >= 0 && known) {
        shape[free_dim] = c->in[0].count / known;
        known *= shape[free_dim];
    }
    return known == c->in[0].count ? 0
                                   : call_error(c, "shape", "'%s' has %lld elements",
                                                c->in[0].name, (long long)c->in[0].count);
}

static int plan_narrow(struct operator_call *c, struct plan *p, int64_t *shape) {
    const struct operator_array *a = &c->in[0];
    int64_t length = call_integer(c, "length");
    p->n = call_integer(c, "start");
    int r = call_dim(c, "dim", a, &p->dim);
    if (r < 0 || !a->rank) {
        return r < 0 ? r : call_want_rank(c, 0, 1);
    }
    p->n += p->n < 0 ? a->shape[p->dim] : 0;
    if (p->n < 0 || length < 0 || p->n > a->shape[p->dim] ||
        length > a->shape[p->dim] - p->n) {
        return call_error(c, "length", "%lld from %lld is outside the extent %lld",
                          (long long)length, (long long)p->n,
                          (long long)a->shape[p->dim]);
    }
    shape[p->dim] = length;
    return 0;
}

/* torch's order: pairs (left, right) from the last dimension forwards. */
static int plan_pad(struct operator_call *c, struct plan *p, int64_t *shape) {
    const struct operator_value *v = call_attribute(c, "pad");
    const struct operator_array *a = &c->in[0];
    int mode = call_choice(c, "mode");
    if (v->count % 2 || v->count / 2 > a->rank) {
        return call_error(c, "pad", "pairs for up to %zu dimensions are expected",
                          a->rank);
    }
    for (size_t i = 0; i < v->count / 2; i++) {
        size_t d = a->rank - 1 - i;
        int64_t left = v->ints[2 * i], right = v->ints[2 * i + 1], n = a->shape[d];
        int64_t limit = mode == PAD_REFLECT    ? n - 1
                        : mode == PAD_CIRCULAR ? n
                                               : OPERATOR_MAX_ELEMENTS;
        int64_t low = mode == PAD_CONSTANT ? -n : 0;
        if (left < low || right < low || left > limit || right > limit ||
            (mode == PAD_REPLICATE && !n)) {
            return call_error(c, "pad", "%lld and %lld do not fit an extent of %lld",
                              (long long)left, (long long)right, (long long)n);
        }
        p->by[d] = left;
        shape[d] = n + left + right;
    }
    return 0;
}

static int plan_roll(struct operator_call *c, struct plan *p) {
    const struct operator_value *shifts = call_attribute(c, "shifts");
    const struct operator_value *dims = call_attribute(c, "dims");
    const struct operator_array *a = &c->in[0];
    int r = call_dims(c, "dims", a, p->flags);
    if (r == 0 && shifts->count != dims->count) {
        r = call_error(c, "shifts", "%zu numbers for %zu dims", shifts->count,
                       dims->count);
    }
    for (size_t i = 0; r == 0 && i < dims->count && a->rank; i++) {
        int64_t d = dims->ints[i] < 0 ? dims->ints[i] + (int64_t)a->rank : dims->ints[i];
        int64_t n = a->shape[d] ? a->shape[d] : 1;
        p->by[d] = (shifts->ints[i] % n + n) % n;
    }
    return r;
}

static int plan_repeat(struct operator_call *c, struct plan *p, int64_t *shape,
                       size_t *rank) {
    const struct operator_value *v = call_attribute(c, "repeats");
    const struct operator_array *a = &c->in[0];
    if (v->count < a->rank) {
        return call_error(c, "repeats", "%zu numbers, '%s' has rank %zu", v->count,
                          a->name, a->rank);
    }
    p->lead = v->count - a->rank;
    *rank = v->count;
    for (size_t i = 0; i < v->count; i++) {
        int64_t n = i < p->lead ? 1 : a->shape[i - p->lead];
        if (v->ints[i] < 0 || v->ints[i] > OPERATOR_MAX_ELEMENTS) {
            return call_error(c, "repeats", "%lld cannot be", (long long)v->ints[i]);
        }
        shape[i] = n * v->ints[i];
    }
    return 0;
}

static int plan_expand(struct operator_call *c, struct plan *p, int64_t *shape,
                       size_t *rank) {
    const struct operator_value *v = call_attribute(c, "shape");
    const struct operator_array *a = &c->in[0];
    *rank = v->count;
    p->lead = v->count - a->rank;
    bool fits = v->count >= a->rank;
    for (size_t i = 0; fits && i < v->count; i++) {
        int64_t n = i < p->lead ? 1 : a->shape[i - p->lead];
        shape[i] = v->ints[i] == -1 ? n : v->ints[i];
        fits = n == 1 || n == shape[i];
    }
    return fits ? 0
                : call_error(c, "shape", "the shape of '%s' does not broadcast to it",
                             a->name);
}

/* [.., C r r, H, W] to [.., C, H r, W r], or back. */
static int plan_pixels(struct operator_call *c, struct plan *p, int64_t *shape) {
    const struct operator_array *a = &c->in[0];
    bool up = move_of(c) == MOVE_PIXEL_SHUFFLE;
    const char *name = up ? "upscale_factor" : "downscale_factor";
    if (a->rank < 3) {
        return call_want_rank(c, 0, 4);
    }
    int64_t f = p->n = call_integer(c, name);
    size_t d = a->rank - 3;
    bool fits = up ? a->shape[d] % (f * f) == 0
                   : a->shape[d + 1] % f == 0 && a->shape[d + 2] % f == 0;
    if (!fits) {
        return call_error(c, name, "%lld does not divide the shape of '%s'", (long long)f,
                          a->name);
    }
    shape[d] = up ? a->shape[d] / (f * f) : a->shape[d] * f * f;
    shape[d + 1] = up ? a->shape[d + 1] * f : a->shape[d + 1] / f;
    shape[d + 2] = up ? a->shape[d + 2] * f : a->shape[d + 2] / f;
    return 0;
}

static int plan_triangle(struct operator_call *c, struct plan *p) {
    p->n = call_integer(c, "diagonal");
    return c->in[0].rank < 2 ? call_want_rank(c, 0, 2) : 0;
}

static int plan_move(struct operator_call *c, struct plan *p, int64_t *shape,
                     size_t *rank) {
    const struct operator_array *a = &c->in[0];
    *p = (struct plan){0};
    *rank = a->rank;
    memcpy(shape, a->shape, sizeof a->shape);
    shape_strides(a, p->strides);
    int r = 0;
    switch (move_of(c)) {
    case MOVE_TRANSPOSE:
        r = call_dim(c, "dim0", a, &p->dim);
        r = r < 0 ? r : call_dim(c, "dim1", a, &p->dim1);
        if (r == 0) {
            shape[p->dim] = a->shape[p->dim1];
            shape[p->dim1] = a->shape[p->dim];
        }
        return r;
    case MOVE_PERMUTE:
        return plan_permute(c, p, shape);
    case MOVE_RESHAPE:
        return plan_reshape(c, shape, rank);
    case MOVE_NARROW:
        return plan_narrow(c, p, shape);
    case MOVE_PAD:
        return plan_pad(c, p, shape);
    case MOVE_FLIP:
        return call_dims(c, "dims", a, p->flags);
    case MOVE_ROLL:
        return plan_roll(c, p);
    case MOVE_TRIL:
    case MOVE_TRIU:
        return plan_triangle(c, p);
    case MOVE_REPEAT:
        return plan_repeat(c, p, shape, rank);
    case MOVE_REPEAT_INTERLEAVE:
        p->n = call_integer(c, "repeats");
        r = call_dim(c, "dim", a, &p->dim);
        if (r == 0 && a->rank) {
            shape[p->dim] *= p->n;
        }
        return r == 0 && !a->rank ? call_want_rank(c, 0, 1) : r;
    case MOVE_EXPAND:
        return plan_expand(c, p, shape, rank);
    case MOVE_PIXEL_SHUFFLE:
    case MOVE_PIXEL_UNSHUFFLE:
        return plan_pixels(c, p, shape);
    case MOVE_IDENTITY:
        break;
    }
    return 0;
}

static int infer_move(struct operator_call *c) {
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank;
    struct plan p;
    int r = plan_move(c, &p, shape, &rank);
    return r < 0 ? r : call_output(c, 0, shape, rank);
}

/* --- sources: where an element comes from --- */

static int64_t padded_source(int64_t i, int64_t n, enum pad_mode mode) {
    switch (mode) {
    case PAD_REFLECT:
        return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    case PAD_REPLICATE:
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    case PAD_CIRCULAR:
        return (i % n + n) % n;
    default:
        return i >= 0 && i < n ? i : -1;
    }
}

static void source_of_pixels(const struct operator_call *c, const struct plan *p,
                             int64_t *at) {
    size_t d = c->in[0].rank - 3;
    int64_t f = p->n, channel = at[d], y = at[d + 1], x = at[d + 2];
    if (move_of(c) == MOVE_PIXEL_SHUFFLE) {
        at[d] = channel * f * f + y % f * f + x % f;
        at[d + 1] = y / f;
        at[d + 2] = x / f;
    } else {
        at[d] = channel / (f * f);
        at[d + 1] = y * f + channel / f % f;
        at[d + 2] = x * f + channel % f;
    }
}

/* One dimension's coordinate in the input; -1: not from the input. */
static int64_t source_along(const struct operator_call *c, const struct plan *p, size_t d,
                            int64_t i) {
    int64_t n = c->in[0].shape[d];
    switch (move_of(c)) {
    case MOVE_NARROW:
        return d == p->dim ? i + p->n : i;
    case MOVE_PAD:
        return padded_source(i - p->by[d], n, (enum pad_mode)call_choice(c, "mode"));
    case MOVE_FLIP:
        return p->flags[d] ? n - 1 - i : i;
    case MOVE_ROLL:
        return (i - p->by[d] + n) % n;
    case MOVE_REPEAT:
        return i % n;
    case MOVE_REPEAT_INTERLEAVE:
        return d == p->dim ? i / p->n : i;
    case MOVE_EXPAND:
        return n == 1 ? 0 : i;
    default:
        return i;
    }
}

/* The flat place in the input of the output's element at `index`; -1: none. */
static int64_t source_of(const struct operator_call *c, const struct plan *p,
                         const int64_t *index) {
    int64_t at[OPERATOR_MAX_RANK], swap;
    size_t rank = c->in[0].rank;
    memcpy(at, index + p->lead, rank * sizeof *at);
    switch (move_of(c)) {
    case MOVE_TRANSPOSE:
        swap = at[p->dim];
        at[p->dim] = at[p->dim1];
        at[p->dim1] = swap;
        break;
    case MOVE_PERMUTE:
        for (size_t i = 0; i < rank; i++) {
            at[p->by[i]] = index[i];
        }
        break;
    case MOVE_TRIL:
    case MOVE_TRIU:
        swap = at[rank - 1] - at[rank - 2] - p->n;
        if (move_of(c) == MOVE_TRIL ? swap > 0 : swap < 0) {
            return -1;
        }
        break;
    case MOVE_PIXEL_SHUFFLE:
    case MOVE_PIXEL_UNSHUFFLE:
        source_of_pixels(c, p, at);
        break;
    default:
        for (size_t i = 0; i < rank; i++) {
            at[i] = source_along(c, p, i, at[i]);
            if (at[i] < 0) {
                return -1;
            }
        }
    }
    return index_offset(at, p->strides, rank);
}

static int compute_move(struct operator_call *c) {
    int64_t shape[OPERATOR_MAX_RANK], index[OPERATOR_MAX_RANK] = {0};
    size_t rank;
    struct plan p;
    int r = plan_move(c, &p, shape, &rank);
    bool same = move_of(c) == MOVE_RESHAPE || move_of(c) == MOVE_IDENTITY;
    double fill = move_of(c) == MOVE_PAD ? call_number(c, "value") : 0;
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        int64_t from = same ? i : source_of(c, &p, index);
        c->out[0].v[i] = from < 0 ? fill : c->in[0].v[from];
        index_next(index, shape, rank);
        r = i % 65536 == 65535 ? call_continue(c) : 0;
    }
    return r;
}

#include "gpu/reference/operators_shapes.h"
