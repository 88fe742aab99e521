/* indexing: elements chosen or placed by tensors of indices. A negative index is an
 * error, as in torch's functions of these names. */
#include "gpu/reference/operator_call.h"

/* --- embedding: rows of weight --- */

static int infer_embedding(struct operator_call *c) {
    struct operator_array a = c->in[0];
    int r = call_want_rank(c, 1, 2);
    if (r == 0 && a.rank == OPERATOR_MAX_RANK) {
        r = call_want_rank(c, 0, OPERATOR_MAX_RANK - 1);
    }
    if (r < 0) {
        return r;
    }
    a.shape[a.rank] = c->in[1].shape[1];
    return call_output(c, 0, a.shape, a.rank + 1);
}

static int compute_embedding(struct operator_call *c) {
    int64_t width = c->in[1].shape[1], row;
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->in[0].count; i++) {
        r = call_index(c, 0, c->in[0].v[i], 0, c->in[1].shape[0], &row);
        if (r == 0 && width) {
            memcpy(c->out[0].v + i * width, c->in[1].v + row * width,
                   (size_t)width * sizeof(double));
        }
    }
    return r;
}

/* --- gather, scatter: index has the rank of input and may be smaller beside dim --- */

static int check_index(struct operator_call *c, size_t *ret_dim) {
    const struct operator_array *a = &c->in[0], *index = &c->in[1];
    int r = call_dim(c, "dim", a, ret_dim);
    r = r < 0 ? r : call_want_rank(c, 1, a->rank);
    for (size_t i = 0; r == 0 && i < a->rank; i++) {
        if (i != *ret_dim && index->shape[i] > a->shape[i]) {
            struct operator_array want = *a;
            want.shape[*ret_dim] = index->shape[*ret_dim];
            r = call_want_shape(c, 1, want.shape, want.rank);
        }
    }
    return r;
}

static int infer_gather(struct operator_call *c) {
    size_t dim;
    int r = check_index(c, &dim);
    return r < 0 ? r : call_output_like(c, 0, &c->in[1]);
}

/* The place in input 0 that element i of the index means. */
static int place_of(const struct operator_call *c, size_t dim, const int64_t *index,
                    int64_t i, const int64_t *strides, int64_t *ret) {
    const struct operator_array *a = &c->in[0];
    int64_t chosen;
    int r = call_index(c, 1, c->in[1].v[i], 0, a->rank ? a->shape[dim] : 1, &chosen);
    if (r == 0) {
        *ret = index_offset(index, strides, a->rank);
        *ret += a->rank ? (chosen - index[dim]) * strides[dim] : 0;
    }
    return r;
}

static int compute_gather(struct operator_call *c) {
    int64_t index[OPERATOR_MAX_RANK] = {0}, strides[OPERATOR_MAX_RANK], at = 0;
    size_t dim = 0;
    int r = check_index(c, &dim);
    shape_strides(&c->in[0], strides);
    for (int64_t i = 0; r == 0 && i < c->in[1].count; i++) {
        r = place_of(c, dim, index, i, strides, &at);
        c->out[0].v[i] = r == 0 ? c->in[0].v[at] : 0;
        index_next(index, c->in[1].shape, c->in[1].rank);
    }
    return r;
}

enum scatter { SCATTER_SET, SCATTER_ADD };

static int infer_scatter(struct operator_call *c) {
    size_t dim;
    int r = check_index(c, &dim);
    r = r < 0 ? r : call_want_like(c, 2, 1);
    call_cost(c, c->op->u.number == SCATTER_ADD ? (double)c->in[1].count : 0, 0);
    return r < 0 ? r : call_output_like(c, 0, &c->in[0]);
}

static int compute_scatter(struct operator_call *c) {
    int64_t index[OPERATOR_MAX_RANK] = {0}, strides[OPERATOR_MAX_RANK], at = 0;
    size_t dim = 0;
    int r = check_index(c, &dim);
    int64_t count = c->in[0].count;
    autofree struct sum *sums = xcalloc(count ? (size_t)count : 1, sizeof *sums);
    for (int64_t i = 0; i < count; i++) {
        sums[i].s = c->in[0].v[i];
    }
    shape_strides(&c->in[0], strides);
    for (int64_t i = 0; r == 0 && i < c->in[1].count; i++) {
        r = place_of(c, dim, index, i, strides, &at);
        if (r == 0 && c->op->u.number == SCATTER_ADD) {
            sum_add(&sums[at], c->in[2].v[i]);
        } else if (r == 0) {
            sums[at] = (struct sum){c->in[2].v[i], 0};
        }
        index_next(index, c->in[1].shape, c->in[1].rank);
    }
    for (int64_t i = 0; i < count; i++) {
        c->out[0].v[i] = sum_value(sums[i]);
    }
    return r;
}

/* --- index_select, index_add: a list of indices along dim --- */

/* The first input as long along dim as there are indices; it must have a dimension. */
static int selected_shape(struct operator_call *c, struct operator_array *ret) {
    struct operator_array a = c->in[0];
    size_t dim;
    int r = call_dim(c, "dim", &a, &dim);
    r = r < 0 ? r : call_want_rank(c, 1, 1);
    if (r < 0 || !a.rank) {
        return r < 0 ? r : call_want_rank(c, 0, 1);
    }
    a.shape[dim] = c->in[1].count;
    *ret = a;
    return 0;
}

static int infer_select(struct operator_call *c) {
    struct operator_array a;
    int r = selected_shape(c, &a);
    return r < 0 ? r : call_output_like(c, 0, &a);
}

static int compute_select(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    int64_t n = c->in[1].count, chosen;
    int r = 0;
    for (int64_t i = 0; r == 0 && i < n; i++) {
        r = call_index(c, 1, c->in[1].v[i], 0, l.n, &chosen);
        for (int64_t o = 0; r == 0 && l.inner && o < l.outer; o++) {
            memcpy(c->out[0].v + (o * n + i) * l.inner,
                   c->in[0].v + (o * l.n + chosen) * l.inner,
                   (size_t)l.inner * sizeof(double));
        }
    }
    return r;
}

static int infer_index_add(struct operator_call *c) {
    struct operator_array a;
    int r = selected_shape(c, &a);
    r = r < 0 ? r : call_want_shape(c, 2, a.shape, a.rank);
    call_cost(c, 2 * (double)c->in[2].count, 0);
    return r < 0 ? r : call_output_like(c, 0, &c->in[0]);
}

static int compute_index_add(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    int64_t n = c->in[1].count, chosen;
    double alpha = call_number(c, "alpha");
    int r = 0;
    memcpy(c->out[0].v, c->in[0].v, (size_t)c->in[0].count * sizeof(double));
    for (int64_t i = 0; r == 0 && i < n; i++) {
        r = call_index(c, 1, c->in[1].v[i], 0, l.n, &chosen);
        for (int64_t k = 0; r == 0 && k < l.outer * l.inner; k++) {
            int64_t o = k / l.inner, inner = k % l.inner;
            c->out[0].v[(o * l.n + chosen) * l.inner + inner] +=
                alpha * c->in[2].v[(o * n + i) * l.inner + inner];
        }
    }
    return r;
}

/* --- masked_fill, one_hot --- */

static int infer_masked_fill(struct operator_call *c) {
    static const size_t inputs[] = {0, 1};
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank;
    int r = call_broadcast(c, inputs, 2, shape, &rank);
    r = r < 0 ? r : call_output(c, 0, shape, rank);
    call_rows_of_broadcast(c, 2);
    return r;
}

static double masked_fill(const struct operator_call *c, double x, double y, double) {
    return y != 0 ? call_number(c, "value") : x;
}

static int infer_one_hot(struct operator_call *c) {
    struct operator_array a = c->in[0];
    if (a.rank == OPERATOR_MAX_RANK) {
        return call_want_rank(c, 0, OPERATOR_MAX_RANK - 1);
    }
    a.shape[a.rank] = call_integer(c, "num_classes");
    return call_output(c, 0, a.shape, a.rank + 1);
}

static int compute_one_hot(struct operator_call *c) {
    int64_t classes = call_integer(c, "num_classes"), class;
    int r = 0;
    for (int64_t i = 0; r == 0 && i < c->in[0].count; i++) {
        r = call_index(c, 0, c->in[0].v[i], 0, classes, &class);
        if (r == 0) {
            c->out[0].v[i * classes + class] = 1;
        }
    }
    return r;
}

#include "gpu/reference/operators_indexing.h"
