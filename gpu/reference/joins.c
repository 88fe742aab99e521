/* joins: cat and stack, of several inputs along a dimension; their rows are among those
 * of shapes.c. */
#include "gpu/reference/operator_call.h"

static size_t tensor_count(const struct operator_call *c) {
    size_t n = 0;
    while (n < OPERATOR_MAX_INPUTS && call_has(c, n)) {
        n++;
    }
    return n;
}

int join_cat_infer(struct operator_call *c) {
    struct operator_array all = c->in[0];
    size_t dim = 0;
    int r = call_dim(c, "dim", &all, &dim);
    r = r == 0 && !all.rank ? call_want_rank(c, 0, 1) : r;
    for (size_t i = 1; r == 0 && i < tensor_count(c); i++) {
        struct operator_array want = all;
        want.shape[dim] =
            c->in[i].rank == all.rank ? c->in[i].shape[dim] : all.shape[dim];
        r = call_want_shape(c, i, want.shape, want.rank);
        all.shape[dim] += want.shape[dim];
    }
    return r < 0 ? r : call_output_like(c, 0, &all);
}

int join_cat(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines whole = axis_lines_of(&c->out[0], dim);
    int64_t before = 0;
    for (size_t i = 0; i < tensor_count(c); i++) {
        struct axis_lines l = axis_lines_of(&c->in[i], dim);
        size_t row = (size_t)(l.n * l.inner);
        for (int64_t o = 0; row && o < l.outer; o++) {
            memcpy(c->out[0].v + (o * whole.n + before) * l.inner,
                   c->in[i].v + o * l.n * l.inner, row * sizeof(double));
        }
        before += l.n;
    }
    return 0;
}

/* dim is one of the output's, which has one more. */
static int stacked(struct operator_call *c, struct operator_array *ret, size_t *dim) {
    *ret = c->in[0];
    if (ret->rank == OPERATOR_MAX_RANK) {
        return call_want_rank(c, 0, OPERATOR_MAX_RANK - 1);
    }
    ret->rank++;
    int r = call_dim(c, "dim", ret, dim);
    if (r < 0) {
        return r;
    }
    for (size_t i = ret->rank - 1; i > *dim; i--) {
        ret->shape[i] = ret->shape[i - 1];
    }
    ret->shape[*dim] = (int64_t)tensor_count(c);
    return 0;
}

int join_stack_infer(struct operator_call *c) {
    struct operator_array all;
    size_t dim = 0;
    int r = stacked(c, &all, &dim);
    for (size_t i = 1; r == 0 && i < tensor_count(c); i++) {
        r = call_want_like(c, i, 0);
    }
    return r < 0 ? r : call_output_like(c, 0, &all);
}

int join_stack(struct operator_call *c) {
    struct operator_array all;
    size_t dim = 0;
    int r = stacked(c, &all, &dim);
    struct axis_lines l = axis_lines_of(&all, dim);
    for (int64_t i = 0; r == 0 && i < c->out[0].count; i++) {
        int64_t inner = i % l.inner, which = i / l.inner % l.n, o = i / l.inner / l.n;
        c->out[0].v[i] = c->in[which].v[o * l.inner + inner];
    }
    return r;
}
