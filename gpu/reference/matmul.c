/* matmul: products of matrices, vectors and batches of them. */
#include "gpu/reference/product.h"

/* out[batch, i, j] = sum over k of a[batch, i, k] * b[batch, k, j]. */
struct product {
    int64_t m, n, k;
    int64_t a_row, a_column, b_row, b_column;
    int64_t batch[OPERATOR_MAX_RANK], a_batch[OPERATOR_MAX_RANK],
        b_batch[OPERATOR_MAX_RANK];
    size_t batch_rank;
    bool a_vector, b_vector;
    bool by_rows; /* without batches: rows of `a` are the result's */
};

/* The last two dimensions of a factor; a vector is a row on the left, a column on the
 * right. */
struct factor {
    int64_t rows, columns, row_stride, column_stride;
    size_t batch_rank;
    bool vector;
};

static struct factor factor_of(const struct operator_array *a, bool left,
                               bool transposed) {
    int64_t strides[OPERATOR_MAX_RANK];
    shape_strides(a, strides);
    if (a->rank < 2) {
        int64_t n = a->shape[0];
        return left ? (struct factor){1, n, 0, 1, 0, true}
                    : (struct factor){n, 1, 1, 0, 0, true};
    }
    size_t r = a->rank - 2;
    struct factor f = {a->shape[r], a->shape[r + 1], strides[r], strides[r + 1], r,
                       false};
    return transposed ? (struct factor){f.columns,    f.rows,       f.column_stride,
                                        f.row_stride, f.batch_rank, false}
                      : f;
}

static int merge_batches(struct operator_call *c, size_t ia, size_t ib,
                         const struct factor *fa, const struct factor *fb,
                         struct product *ret) {
    struct operator_array a = c->in[ia], b = c->in[ib];
    ret->batch_rank = fa->batch_rank > fb->batch_rank ? fa->batch_rank : fb->batch_rank;
    for (size_t i = 0; i < ret->batch_rank; i++) {
        size_t back = ret->batch_rank - i;
        int64_t have = back <= fa->batch_rank ? a.shape[fa->batch_rank - back] : 1;
        int64_t other = back <= fb->batch_rank ? b.shape[fb->batch_rank - back] : 1;
        if (have != other && have != 1 && other != 1) {
            return err_set(c->err, -EINVAL,
                           "%s: the batches of '%s' and '%s' do not broadcast: %lld and "
                           "%lld",
                           c->at, a.name, b.name, (long long)have, (long long)other);
        }
        ret->batch[i] = have == 1 ? other : have;
    }
    int64_t a_strides[OPERATOR_MAX_RANK], b_strides[OPERATOR_MAX_RANK];
    shape_strides(&a, a_strides);
    shape_strides(&b, b_strides);
    for (size_t i = 0; i < ret->batch_rank; i++) {
        size_t back = ret->batch_rank - i;
        bool in_a = back <= fa->batch_rank && a.shape[fa->batch_rank - back] != 1;
        bool in_b = back <= fb->batch_rank && b.shape[fb->batch_rank - back] != 1;
        ret->a_batch[i] = in_a ? a_strides[fa->batch_rank - back] : 0;
        ret->b_batch[i] = in_b ? b_strides[fb->batch_rank - back] : 0;
    }
    return 0;
}

static int product_of(struct operator_call *c, size_t ia, size_t ib, bool ta, bool tb,
                      struct product *ret) {
    const struct operator_array *a = &c->in[ia], *b = &c->in[ib];
    if (!a->rank || !b->rank) {
        return err_set(c->err, -EINVAL, "%s: '%s' is a scalar, not a matrix", c->at,
                       a->rank ? b->name : a->name);
    }
    struct factor fa = factor_of(a, true, ta), fb = factor_of(b, false, tb);
    if (fa.columns != fb.rows) {
        char x[160], y[160];
        return err_set(
            c->err, -EINVAL,
            "%s: the inner extents of '%s' %s and '%s' %s differ: %lld and %lld", c->at,
            a->name, shape_text(a, x, sizeof x), b->name, shape_text(b, y, sizeof y),
            (long long)fa.columns, (long long)fb.rows);
    }
    *ret = (struct product){
        .m = fa.rows,
        .n = fb.columns,
        .k = fa.columns,
        .a_row = fa.row_stride,
        .a_column = fa.column_stride,
        .b_row = fb.row_stride,
        .b_column = fb.column_stride,
        .a_vector = fa.vector,
        .b_vector = fb.vector,
    };
    ret->by_rows = fa.batch_rank || fb.batch_rank ? 0 : !fa.vector && !ta;
    return merge_batches(c, ia, ib, &fa, &fb, ret);
}

/* By batches, or else by the left factor's rows. */
static void rows_of_product(struct operator_call *c, size_t ia, size_t ib,
                            const struct product *p) {
    if (p->batch_rank) {
        call_rows(c, ia, p->batch_rank + 2, p->batch[0]);
        call_rows(c, ib, p->batch_rank + 2, p->batch[0]);
    } else if (p->by_rows) {
        call_rows(c, ia, 2, p->m);
    }
}

static int product_output(struct operator_call *c, size_t ia, size_t ib,
                          const struct product *p) {
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank = p->batch_rank;
    memcpy(shape, p->batch, sizeof shape);
    if (!p->a_vector) {
        shape[rank++] = p->m;
    }
    if (!p->b_vector) {
        shape[rank++] = p->n;
    }
    int r = call_output(c, 0, shape, rank);
    double terms = (double)c->out[0].count * (double)p->k;
    call_cost(c, 2 * terms, terms * product_steps(c));
    rows_of_product(c, ia, ib, p);
    return r;
}

struct products {
    const struct operator_call *c;
    size_t ia, ib;
    const struct product *p;
};

/* The i-th of the batch. */
static struct product_pair pair_at(const void *data, int64_t i) {
    const struct products *all = data;
    const struct product *p = all->p;
    struct product_pair ret = {
        .a = {all->c->in[all->ia].v, p->m, p->k, p->a_row, p->a_column},
        .b = {all->c->in[all->ib].v, p->k, p->n, p->b_row, p->b_column},
        .out = all->c->out[0].v + i * p->m * p->n,
    };
    for (size_t d = p->batch_rank; d-- > 0; i /= p->batch[d]) {
        ret.a.v += i % p->batch[d] * p->a_batch[d];
        ret.b.v += i % p->batch[d] * p->b_batch[d];
    }
    return ret;
}

static int product_compute(struct operator_call *c, size_t ia, size_t ib,
                           const struct product *p) {
    const struct products all = {c, ia, ib, p};
    int64_t count = c->out[0].count;
    return product_all(c, count ? count / (p->m * p->n) : 0, pair_at, &all);
}

/* --- matmul and its narrower relatives --- */

static int plan_matmul(struct operator_call *c, struct product *ret) {
    return product_of(c, 0, 1, call_bool(c, "transpose_a"), call_bool(c, "transpose_b"),
                      ret);
}

static int infer_matmul(struct operator_call *c) {
    struct product p;
    int r = plan_matmul(c, &p);
    return r < 0 ? r : product_output(c, 0, 1, &p);
}

static int compute_matmul(struct operator_call *c) {
    struct product p;
    int r = plan_matmul(c, &p);
    return r < 0 ? r : product_compute(c, 0, 1, &p);
}

/* u.number: the ranks that torch's function of that name wants, as two digits. */
static int infer_ranked(struct operator_call *c) {
    int r = call_want_rank(c, 0, (size_t)c->op->u.number / 10);
    r = r < 0 ? r : call_want_rank(c, 1, (size_t)c->op->u.number % 10);
    if (r == 0 && c->in[0].rank == 3 && c->in[0].shape[0] != c->in[1].shape[0]) {
        r = err_set(c->err, -EINVAL, "%s: '%s' and '%s' have different batches", c->at,
                    c->in[0].name, c->in[1].name);
    }
    struct product p;
    r = r < 0 ? r : product_of(c, 0, 1, false, false, &p);
    return r < 0 ? r : product_output(c, 0, 1, &p);
}

static int compute_ranked(struct operator_call *c) {
    struct product p;
    int r = product_of(c, 0, 1, false, false, &p);
    return r < 0 ? r : product_compute(c, 0, 1, &p);
}

static int infer_outer(struct operator_call *c) {
    int r = call_want_rank(c, 0, 1);
    r = r < 0 ? r : call_want_rank(c, 1, 1);
    int64_t shape[2] = {c->in[0].shape[0], c->in[1].shape[0]};
    r = r < 0 ? r : call_output(c, 0, shape, 2);
    call_cost(c, (double)c->out[0].count, 0);
    call_rows_of_first(c, false);
    return r;
}

static int compute_outer(struct operator_call *c) {
    double *out = c->out[0].v;
    for (int64_t i = 0; i < c->in[0].count; i++) {
        for (int64_t j = 0; j < c->in[1].count; j++) {
            *out++ = c->in[0].v[i] * c->in[1].v[j];
        }
    }
    return 0;
}

/* diag(a) @ b */
static int infer_diagonal(struct operator_call *c) {
    int r = call_want_rank(c, 0, 1);
    r = r < 0 ? r : call_want_rank(c, 1, 2);
    if (r == 0 && c->in[0].shape[0] != c->in[1].shape[0]) {
        r = err_set(c->err, -EINVAL, "%s: '%s' has %lld elements, '%s' %lld rows", c->at,
                    c->in[0].name, (long long)c->in[0].shape[0], c->in[1].name,
                    (long long)c->in[1].shape[0]);
    }
    call_cost(c, (double)c->in[1].count, 0);
    c->by_rows = 3;
    return r < 0 ? r : call_output_like(c, 0, &c->in[1]);
}

static int compute_diagonal(struct operator_call *c) {
    int64_t columns = c->in[1].shape[1];
    for (int64_t i = 0; i < c->out[0].count; i++) {
        c->out[0].v[i] = c->in[0].v[i / columns] * c->in[1].v[i];
    }
    return 0;
}

/* --- with something added --- */

static int plan_linear(struct operator_call *c, struct product *ret) {
    int r = call_want_rank(c, 1, 2);
    return r < 0 ? r : product_of(c, 0, 1, false, true, ret);
}

static int infer_linear(struct operator_call *c) {
    struct product p;
    int r = plan_linear(c, &p);
    r = r < 0 ? r : call_want_shape(c, 2, &p.n, 1);
    call_cost(c, call_has(c, 2) ? (double)p.m * (double)p.n : 0, 0);
    return r < 0 ? r : product_output(c, 0, 1, &p);
}

static int compute_linear(struct operator_call *c) {
    struct product p;
    int r = plan_linear(c, &p);
    r = r < 0 ? r : product_compute(c, 0, 1, &p);
    for (int64_t i = 0; r == 0 && call_has(c, 2) && i < c->out[0].count; i++) {
        c->out[0].v[i] += c->in[2].v[i % p.n];
    }
    return r;
}

/* addmm, baddbmm, addmv: beta * input + alpha * (a @ b); u.number as above. */
static int infer_add(struct operator_call *c) {
    struct product p;
    int r = call_want_rank(c, 1, (size_t)c->op->u.number / 10);
    r = r < 0 ? r : call_want_rank(c, 2, (size_t)c->op->u.number % 10);
    r = r < 0 ? r : product_of(c, 1, 2, false, false, &p);
    r = r < 0 ? r : product_output(c, 1, 2, &p);
    call_rows(c, 0, c->out[0].rank, c->out[0].shape[0]);
    r = r < 0 ? r : call_want_within(c, 0, c->out[0].shape, c->out[0].rank);
    call_cost(c, 3 * (double)c->out[0].count, 0);
    return r;
}

static int compute_add(struct operator_call *c) {
    struct product p;
    int r = product_of(c, 1, 2, false, false, &p);
    r = r < 0 ? r : product_compute(c, 1, 2, &p);
    double alpha = call_number(c, "alpha"), beta = call_number(c, "beta");
    int64_t strides[OPERATOR_MAX_RANK], index[OPERATOR_MAX_RANK] = {0};
    const struct operator_array *out = &c->out[0];
    broadcast_strides(&c->in[0], out->shape, out->rank, strides);
    for (int64_t i = 0; r == 0 && i < out->count; i++) {
        /* As in torch, what beta 0 multiplies is not even looked at. */
        double added =
            beta != 0 ? beta * c->in[0].v[index_offset(index, strides, out->rank)] : 0;
        out->v[i] = alpha * out->v[i] + added;
        index_next(index, out->shape, out->rank);
    }
    return r;
}

#include "gpu/reference/operators_matmul.h"
