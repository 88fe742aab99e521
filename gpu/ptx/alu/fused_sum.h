#pragma once
/* fused_sum: one step of an H100's tensor cores, to the bit.
 *
 * d = c + a[0] b[0] + a[1] b[1] + … for each element of d, all products at once:
 *
 *   1. A number is a whole significand times a power of two. Subnormals keep their value
 *      and have the least normal exponent of their format. The low 13 bits of a tf32
 *      are ignored.
 *   2. A product is exact. Its exponent is the sum of the two exponents; it is not
 *      normalised, so its significand lies in [1, 4) for normal factors.
 *   3. E is the greatest exponent of the products and c. Terms that are zero have none.
 *      E is at least -133 (d f32) or -21 (d f16).
 *   4. Each term is truncated towards zero to a multiple of 2^(E - fraction). No sticky
 *      bit is kept for the truncated part.
 *   5. The truncated terms are added exactly: the order does not matter.
 *   6. The sum is truncated towards zero to f32, or rounded to nearest even to f16.
 *      `narrow`: the f32 keeps 13 bits of fraction, the low 10 are zero. The result may
 *      be subnormal.
 *   7. A sum beyond the largest finite value becomes infinity, also where sums are
 *      truncated. A zero is +0.
 *   8. A NaN, an infinity times zero, or infinities of both signs: 0x7fffffff (f16
 *      0x7fff). Otherwise an infinite term is the sum.
 *
 * fraction is 25, and 13 for wgmma of fp8, which is narrow if d is f32.
 * docs/architecture/tensor-cores.md says which instruction makes which steps, and which
 * of this was recorded on an H100. Sources: Xie et al., MMA-Sim (arXiv 2511.10909);
 * Khattak and Mikaitis, Accurate Models of NVIDIA Tensor Cores (arXiv 2512.07004), with
 * recordings of an H100; where they differ (3: zero terms, the least E) the latter. */
#include "gpu/ptx/read/module.h"

#define FUSED_MAX_M 32
#define FUSED_MAX_K 32   /* terms of a sum */
#define FUSED_MAX_ROW 64 /* elements of a row of b */

struct fused_sum {
    uint16_t m, n, k;       /* m a multiple of 16 */
    uint16_t row;           /* elements of a row of b: k, or more with places */
    uint8_t a, b;           /* enum ptx_type of the elements: f16 bf16 tf32 e4m3 e5m2 */
    uint8_t type_c, type_d; /* enum ptx_type: f16 f32 */
    uint8_t fraction;       /* bits below E that are kept: at most 25 for k <= 16 */
    bool narrow, negated;   /* negated: the products are subtracted */
};

/* sums[column * m + row]: c, then d; an f16 as the f32 of its value. Both factors are
 * rows of packed elements, a's with k running along. places: NULL, or of each element of
 * a, in which element of a row of b its factor stands; the others there count for
 * nothing. sums are 64-byte aligned. */
typedef void fused_sum_run(const struct fused_sum *f, const uint8_t *a,
                           const uint8_t *places, const uint8_t *b, float *sums);
