#pragma once
/* product_tile: the innermost loop of matrix products. */
#include <stdint.h>

enum { TILE_ROWS = 8, TILE_COLUMNS = 24 };

/* ret[r][c] += the sum over k of a[k][r] * b[k][c], in the order of k; a is [depth][8], b
 * [depth][24]. A processor with fused multiply-add rounds each step once, others twice:
 * the results are equal if each product is exact, as for two float32. */
void product_tile(const double *a, const double *b, int64_t depth, double *ret);
