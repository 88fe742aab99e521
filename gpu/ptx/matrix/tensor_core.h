#pragma once
/* tensor_core: products of floats as an H100 computes them, from steps of fused_sum.h.
 *
 * The steps of a PTX instruction depend on how ptxas compiles it for sm_90a
 * (docs/architecture/tensor-cores.md). mma of fp8 has no unit there: both factors are
 * unpacked to f16, where they are exact, one step sums the k with k % 4 < 2, a second one
 * the others and the first sum, and an addition rounds c + that. */
#include "gpu/ptx/matrix/matrix.h"

/* A product in a program that consists of such steps. */
struct tensor_sum {
    uint32_t function, instruction; /* of the module */
    unsigned fraction;              /* bits that its steps keep (fused_sum.h) */
};
/* The first product among those that keep the fewest bits; false: there is none. */
bool tensor_core_find(const struct program *p, struct tensor_sum *ret);
/* The first sparse product of floats, whose sums nobody has recorded on an H100. */
const struct matrix *tensor_core_unconfirmed(const struct program *p);

/* d = c + a b for one warp. add: false for c = 0. places: for a sparse product
 * (matrix_sparse.c), else NULL; then b's rows are twice as long. */
void tensor_core_multiply(struct warp *w, const struct matrix *m, bool add,
                          const uint8_t *a, const uint8_t *places, const uint8_t *b);
/* m8n8k4 of f16, which has no unit on an H100: fused multiply-adds of f32 in the order of
 * k from 0, rounded to nearest, then one addition of c. sums: 8 rows of 8. */
void tensor_core_chain(const uint16_t a[8][4], const uint16_t b[8][4], double sums[64]);
