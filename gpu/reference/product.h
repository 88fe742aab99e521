#pragma once
/* product: products of matrices, block by block.
 *
 * With c->plain the sums are those of product_tile; else each is compensated as sum_add
 * has it: the same to the bit as one term after the other. Both add in the order of the
 * inner index. */
#include "gpu/reference/operator_call.h"

/* Strides in elements. */
struct matrix_view {
    const double *v;
    int64_t rows, columns, row_stride, column_stride;
    /* Of a right factor, PRODUCT_COLUMNS wide or less, instead of v: makes row k. */
    void (*row)(const void *data, int64_t k, double *ret);
    const void *data;
};
enum { PRODUCT_COLUMNS = 480 };

/* Steps (operator_call.h) that a term takes. */
static inline double product_steps(const struct operator_call *c) {
    return c->plain ? 0.02 : 0.5;
}

/* out[i * stride + j] = row i of a by column j of b, by one thread, in its room. -ETIME
 * once the run was stopped; c->err is not set: for parts (parts.h). */
struct product_room *product_room_new(void);
int product(const struct operator_call *c, const struct matrix_view *a,
            const struct matrix_view *b, double *out, int64_t stride,
            struct product_room *room);

/* The same of many products of one shape on all cores; the i-th from a, b and out of
 * product_pair. */
struct product_pair {
    struct matrix_view a, b;
    double *out; /* row by row */
};
typedef struct product_pair product_pair_at(const void *data, int64_t i);
int product_all(struct operator_call *c, int64_t count, product_pair_at *at,
                const void *data);
