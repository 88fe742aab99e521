#pragma once
/* matrix_product: products of small matrices, compiled per vector extension (lanes.h).
 *
 * Both factors are rows of packed elements with k running along the row: a has m rows, b
 * has n rows. m and n are multiples of 8. */
#include "gpu/ptx/alu/fused_sum.h"

#define MATRIX_MAX_M 32
#define MATRIX_MAX_N 256
#define MATRIX_MAX_SUMS 4096   /* m times n */
#define MATRIX_MAX_FACTOR 8192 /* elements of one factor, except b1 */

struct matrix_product {
    uint16_t m, n, k;
    uint8_t a, b; /* enum ptx_type of the elements */
    bool negated; /* subtracts */
    bool is_and;  /* b1: and instead of xor */
};

struct matrix_arithmetic {
    /* f16 bf16 tf32 e4m3 e5m2: the result of an H100 (fused_sum.h). */
    fused_sum_run *step;
    /* The same types, ideal: sums[m][n] += a b. Products are exact in binary64 and are
     * added in the order of k. */
    void (*real)(const struct matrix_product *p, const uint8_t *a, const uint8_t *b,
                 double *sums);
    /* f64: a fused multiply-add for each k in order. */
    void (*fused)(const struct matrix_product *p, const uint8_t *a, const uint8_t *b,
                  double *sums);
    /* s8 u8 s4 u4: sums[m][n] = a b, without overflow. */
    void (*whole)(const struct matrix_product *p, const uint8_t *a, const uint8_t *b,
                  int32_t *sums);
    /* b1: the number of bits that are set in a ^ b or a & b. */
    void (*bits)(const struct matrix_product *p, const uint8_t *a, const uint8_t *b,
                 int32_t *sums);
};
extern const struct matrix_arithmetic matrix_arithmetic_baseline;
extern const struct matrix_arithmetic matrix_arithmetic_avx2;
extern const struct matrix_arithmetic matrix_arithmetic_avx512;
extern const struct matrix_arithmetic matrix_arithmetic_neon;
/* For the widest extension of this CPU, or the forced one (bind.h). */
const struct matrix_arithmetic *bind_matrix(void);
