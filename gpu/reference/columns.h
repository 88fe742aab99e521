#pragma once
/* columns: products of a row with many columns, eight columns at a time.
 *
 * Each column's sum has its terms in their order and is compensated as sum_add has it:
 * the same to the bit as one after the other, in half the time. */
#include "gpu/reference/operator_call.h"

enum { SIDE = 8 }; /* columns side by side */
typedef double side __attribute__((vector_size(SIDE * sizeof(double)), aligned(8)));

/* A matrix of k rows and n columns; strides in elements. */
struct columns {
    const double *v;
    int64_t k, n, row_stride, column_stride;
};

/* Columns [j, j + SIDE), row after row; those beyond the last are 0. */
void columns_pack(const struct columns *m, int64_t j, side *ret);
/* All groups, one after the other; malloc'ed. NULL: the run was stopped, c->err says so.
 */
side *columns_pack_all(struct operator_call *c, const struct columns *m);
/* A row, whose k elements are `stride` apart, by a packed group: into `count` numbers,
 * SIDE at most. */
void columns_multiply(const double *row, int64_t stride, const side *packed, int64_t k,
                      int64_t count, double *ret);
