#include "gpu/reference/product_tile.h"

#include <stddef.h>
#include <string.h>

/* As many sums as registers hold: ROWS x COLUMNS of the tile at a time, in vectors of
 * WIDTH numbers. */
#define TILE(NAME, WIDTH, ROWS, COLUMNS, TARGET)                                         \
    typedef double NAME##_vec __attribute__((vector_size((WIDTH) * sizeof(double))));    \
    TARGET static void NAME##_part(const double *a, const double *b, int64_t depth,      \
                                   double *ret) {                                        \
        NAME##_vec sums[ROWS][(COLUMNS) / (WIDTH)], side;                                \
        for (int i = 0; i < (ROWS); i++) {                                               \
            memcpy(sums[i], ret + (ptrdiff_t)i * TILE_COLUMNS, sizeof sums[i]);          \
        }                                                                                \
        for (int64_t k = 0; k < depth; k++, a += TILE_ROWS, b += TILE_COLUMNS) {         \
            for (int j = 0; j < (COLUMNS) / (WIDTH); j++) {                              \
                memcpy(&side, b + (ptrdiff_t)j * (WIDTH), sizeof side);                  \
                for (int i = 0; i < (ROWS); i++) {                                       \
                    sums[i][j] += a[i] * side;                                           \
                }                                                                        \
            }                                                                            \
        }                                                                                \
        for (int i = 0; i < (ROWS); i++) {                                               \
            memcpy(ret + (ptrdiff_t)i * TILE_COLUMNS, sums[i], sizeof sums[i]);          \
        }                                                                                \
    }                                                                                    \
    TARGET static void NAME(const double *a, const double *b, int64_t depth,             \
                            double *ret) {                                               \
        for (int i = 0; i < TILE_ROWS; i += (ROWS)) {                                    \
            for (int j = 0; j < TILE_COLUMNS; j += (COLUMNS)) {                          \
                NAME##_part(a + i, b + j, depth, ret + i * TILE_COLUMNS + j);            \
            }                                                                            \
        }                                                                                \
    }

#ifdef VECTOR_COPIES
TILE(tile_avx512, 8, 8, 24, __attribute__((target("avx512f,fma"))))
TILE(tile_avx2, 4, 4, 12, __attribute__((target("avx2,fma"))))
#endif
TILE(tile_plain, 2, 4, 6, )

void product_tile(const double *a, const double *b, int64_t depth, double *ret) {
#ifdef VECTOR_COPIES
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma")) {
        tile_avx512(a, b, depth, ret);
        return;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        tile_avx2(a, b, depth, ret);
        return;
    }
#endif
    tile_plain(a, b, depth, ret);
}
