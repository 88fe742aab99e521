#pragma once
/* product: blocked matrix products. If c->plain, the sums are those of product_tile;
 * otherwise each is compensated as in sum_add, bit for bit as if the terms were added one
 * by one. Both add in the order of the inner index. */
#include "gpu/reference/operator_call.h"

/* Strides in elements. */
struct matrix_view {
    const double *v;
    int64_t rows, columns, row_stride, column_stride;
    /* For a right factor, at most PRODUCT_COLUMNS wide, instead of v: computes row k. */
    void (*row)(const void *data, int64_t k, double *ret);
    const void *data;
};
enum { PRODUCT_COLUMNS = 480 };

/* Steps (operator_call.h) per term. */
static inline double product_steps(const struct operator_call *c) {
    return c->plain ? 0.02 : 0.5;
}

/* out[i * stride + j] = row i of a times column j of b, on one thread, using its room.
 * -ETIME once the run was stopped; c->err is not set, so parts may call it (parts.h). */
struct product_room *product_room_new(void);
int product(const struct operator_call *c, const struct matrix_view *a,
            const struct matrix_view *b, double *out, int64_t stride,
            struct product_room *room);

/* The same for many products of one shape on all cores; product_pair gives a, b and out
 * of the i-th. */
struct product_pair {
    struct matrix_view a, b;
    double *out; /* row by row */
};
typedef struct product_pair product_pair_at(const void *data, int64_t i);
int product_all(struct operator_call *c, int64_t count, product_pair_at *at,
                const void *data);
