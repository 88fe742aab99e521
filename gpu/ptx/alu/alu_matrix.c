/* Products of small matrices. Factors are decoded to doubles or 32-bit integers: a by
 * rows, b by panels of eight columns, so that eight sums go side by side. */
#include "gpu/ptx/alu/lanes_float.h"
#include "gpu/ptx/alu/matrix_decode.h"
#include "gpu/ptx/alu/matrix_product.h"

#define SIDE 8 /* sums side by side */
#define ROWS 4 /* rows at a time */

typedef double real8 __attribute__((vector_size(64)));
typedef int32_t whole8 __attribute__((vector_size(32)));

/* ---- elements ---- */

MATRIX_DECODE(decode_real, double)

static void decode_whole(enum ptx_type t, const uint8_t *from, unsigned count,
                         int32_t *to) {
    for (unsigned k = 0; k < count; k++) {
        uint32_t nibble = from[k / 2] >> (k % 2 * 4) & 15;
        switch (t) {
        case PTX_S8:
            to[k] = (int8_t)from[k];
            break;
        case PTX_U8:
            to[k] = from[k];
            break;
        case PTX_S4:
            to[k] = (int32_t)(nibble ^ 8) - 8;
            break;
        default:
            to[k] = (int32_t)nibble;
            break;
        }
    }
}

/* ---- products ---- */

/* Rows of `from` to panels: eight of them side by side, then the next k. */
#define PANELS(name, type, decode)                                                       \
    static void name(enum ptx_type t, const uint8_t *from, unsigned rows, unsigned k,    \
                     type *to) {                                                         \
        unsigned stride = matrix_bytes(t, k);                                            \
        type row[MATRIX_MAX_K];                                                          \
        for (unsigned r = 0; r < rows; r++) {                                            \
            decode(t, from + (size_t)r * stride, k, row);                                \
            type *panel = to + (size_t)(r / SIDE) * SIDE * k + r % SIDE;                 \
            for (unsigned i = 0; i < k; i++) {                                           \
                panel[(size_t)i * SIDE] = row[i];                                        \
            }                                                                            \
        }                                                                                \
    }
#define MATRIX_MAX_K 64
PANELS(panels_real, double, decode_real)
PANELS(panels_whole, int32_t, decode_whole)

/* ROWS rows of a against one panel. */
#define BLOCK(name, type, vector)                                                        \
    LANE_INLINE void name(const type *a, const type *panel, unsigned k, type *sums,      \
                          unsigned stride) {                                             \
        vector sum[ROWS];                                                                \
        for (unsigned r = 0; r < ROWS; r++) {                                            \
            memcpy(&sum[r], sums + (size_t)r * stride, sizeof sum[r]);                   \
        }                                                                                \
        for (unsigned i = 0; i < k; i++) {                                               \
            vector b;                                                                    \
            memcpy(&b, panel + (size_t)i * SIDE, sizeof b);                              \
            for (unsigned r = 0; r < ROWS; r++) {                                        \
                sum[r] += a[(size_t)r * k + i] * b;                                      \
            }                                                                            \
        }                                                                                \
        for (unsigned r = 0; r < ROWS; r++) {                                            \
            memcpy(sums + (size_t)r * stride, &sum[r], sizeof sum[r]);                   \
        }                                                                                \
    }
BLOCK(block_real, double, real8)
BLOCK(block_whole, int32_t, whole8)

static void product_real(const struct matrix_product *p, const uint8_t *a,
                         const uint8_t *b, double *sums) {
    double rows[MATRIX_MAX_M * MATRIX_MAX_K];
    double panels[MATRIX_MAX_FACTOR] __attribute__((aligned(64)));
    unsigned stride = matrix_bytes((enum ptx_type)p->a, p->k);
    for (unsigned r = 0; r < p->m; r++) {
        decode_real((enum ptx_type)p->a, a + (size_t)r * stride, p->k, rows + r * p->k);
    }
    for (unsigned i = 0; p->negated && i < (unsigned)p->m * p->k; i++) {
        rows[i] = -rows[i];
    }
    panels_real((enum ptx_type)p->b, b, p->n, p->k, panels);
    for (unsigned n = 0; n < p->n; n += SIDE) {
        for (unsigned m = 0; m < p->m; m += ROWS) {
            block_real(rows + m * p->k, panels + n * p->k, p->k,
                       sums + (size_t)m * p->n + n, p->n);
        }
    }
}

static void product_whole(const struct matrix_product *p, const uint8_t *a,
                          const uint8_t *b, int32_t *sums) {
    int32_t rows[MATRIX_MAX_M * MATRIX_MAX_K];
    int32_t panels[MATRIX_MAX_FACTOR] __attribute__((aligned(64)));
    unsigned stride = matrix_bytes((enum ptx_type)p->a, p->k);
    memset(sums, 0, (size_t)p->m * p->n * sizeof *sums);
    for (unsigned r = 0; r < p->m; r++) {
        decode_whole((enum ptx_type)p->a, a + (size_t)r * stride, p->k, rows + r * p->k);
    }
    panels_whole((enum ptx_type)p->b, b, p->n, p->k, panels);
    for (unsigned n = 0; n < p->n; n += SIDE) {
        for (unsigned m = 0; m < p->m; m += ROWS) {
            block_whole(rows + m * p->k, panels + n * p->k, p->k,
                        sums + (size_t)m * p->n + n, p->n);
        }
    }
}

static void product_fused(const struct matrix_product *p, const uint8_t *a,
                          const uint8_t *b, double *sums) {
    for (unsigned m = 0; m < p->m; m++) {
        for (unsigned n = 0; n < p->n; n++) {
            double sum = sums[m * p->n + n];
            for (unsigned i = 0; i < p->k; i++) {
                double x, y;
                memcpy(&x, a + (size_t)(m * p->k + i) * sizeof x, sizeof x);
                memcpy(&y, b + (size_t)(n * p->k + i) * sizeof y, sizeof y);
                sum = __builtin_fma(x, y, sum);
            }
            sums[m * p->n + n] = settle_f64(sum);
        }
    }
}

static void product_bits(const struct matrix_product *p, const uint8_t *a,
                         const uint8_t *b, int32_t *sums) {
    unsigned bytes = p->k / 8u;
    for (unsigned m = 0; m < p->m; m++) {
        for (unsigned n = 0; n < p->n; n++) {
            int32_t count = 0;
            for (unsigned i = 0; i < bytes; i += 8) {
                uint64_t x, y;
                memcpy(&x, a + (size_t)m * bytes + i, sizeof x);
                memcpy(&y, b + (size_t)n * bytes + i, sizeof y);
                count += __builtin_popcountll(p->is_and ? x & y : x ^ y);
            }
            sums[m * p->n + n] = count;
        }
    }
}

fused_sum_run LANES_NAME(fused_sum);
extern const struct matrix_arithmetic LANES_NAME(matrix_arithmetic);
const struct matrix_arithmetic LANES_NAME(matrix_arithmetic) = {
    .step = LANES_NAME(fused_sum),
    .real = product_real,
    .fused = product_fused,
    .whole = product_whole,
    .bits = product_bits,
};
