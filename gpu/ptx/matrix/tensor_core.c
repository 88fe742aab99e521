#include "gpu/ptx/matrix/tensor_core.h"

#include "base/find.h"
#include "gpu/ptx/alu/half_bits.h"

#include <limits.h>
#include <math.h>

#define MAX_SPLIT 512 /* bytes of a factor of mma or wmma */
#define MMA_SUMS 128  /* of mma */

/* ---- accumulators ---- */

/* Sums lie column by column (fused_sum.h); those of a product of 8 rows are made the
 * other way round. */
static bool is_turned(const struct matrix *m) {
    return m->product.m < 16;
}

struct strides {
    size_t row, column;
};
static struct strides strides_of(const struct matrix *m) {
    return is_turned(m) ? (struct strides){m->product.n, 1}
                        : (struct strides){1, m->product.m};
}

static size_t tile_start(const struct matrix *m, unsigned tile) {
    unsigned row_tiles = m->product.m / 8u;
    struct strides by = strides_of(m);
    return tile % row_tiles * 8 * by.row + tile / row_tiles * 8 * by.column;
}

static void *lanes_of(const struct warp *w, uint32_t offset) {
    return w->head.regs + offset;
}

/* Lane 4 r + q of a tile has row r and the columns 2 q and 2 q + 1. */
static void take_tile(const struct warp *w, const struct matrix *m, unsigned tile,
                      float *to) {
    const uint32_t *registers = m->registers + m->c.first;
    struct strides by = strides_of(m);
    bool half = m->type_c == PTX_F16;
    for (unsigned j = 0; j < 2; j++) {
        const uint32_t *from = lanes_of(w, registers[half ? tile : 2 * tile + j]);
        for (unsigned q = 0; q < 4; q++) {
            float *at = to + (2 * q + j) * by.column;
            for (unsigned r = 0; r < 8; r++) {
                uint32_t x = from[4 * r + q];
                if (half) {
                    at[r * by.row] = half_to_float((uint16_t)(x >> 16 * j));
                } else {
                    memcpy(&at[r * by.row], &x, sizeof x);
                }
            }
        }
    }
}

/* An f16 is exact here. */
static void give_tile(struct warp *w, const struct matrix *m, unsigned tile,
                      const float *from) {
    const uint32_t *registers = m->registers + m->d.first;
    struct strides by = strides_of(m);
    bool half = m->type_d == PTX_F16;
    for (unsigned j = 0; j < 2; j++) {
        uint8_t *to = lanes_of(w, registers[half ? tile : 2 * tile + j]);
        for (unsigned q = 0; q < 4; q++) {
            const float *at = from + (2 * q + j) * by.column;
            for (unsigned r = 0; r < 8; r++) {
                uint8_t *lane = to + (size_t)(4 * r + q) * 4;
                if (half) {
                    uint16_t h = half_of_double(at[r * by.row]);
                    memcpy(lane + 2 * j, &h, sizeof h);
                } else {
                    memcpy(lane, &at[r * by.row], 4);
                }
            }
        }
    }
}

static unsigned tile_count(const struct matrix *m) {
    return m->product.m / 8u * (m->product.n / 8u);
}

static void sums_take(const struct warp *w, const struct matrix *m, bool add, float *to) {
    if (!add) {
        memset(to, 0, (size_t)m->product.m * m->product.n * sizeof *to);
    }
    for (unsigned tile = 0; add && tile < tile_count(m); tile++) {
        take_tile(w, m, tile, to + tile_start(m, tile));
    }
}

static void sums_give(struct warp *w, const struct matrix *m, const float *from) {
    for (unsigned tile = 0; tile < tile_count(m); tile++) {
        give_tile(w, m, tile, from + tile_start(m, tile));
    }
}

/* ---- steps ---- */

static struct fused_sum sum_of(const struct matrix *m) {
    const struct matrix_product *p = &m->product;
    bool turned = is_turned(m);
    bool fp8 = p->a == PTX_E4M3 || p->a == PTX_E5M2;
    bool narrow = fp8 && m->course == TENSOR_ONE_STEP;
    return (struct fused_sum){.m = turned ? p->n : p->m,
                              .n = turned ? p->m : p->n,
                              .k = p->k,
                              .row = m->sparse ? 2 * p->k : p->k,
                              .a = turned ? p->b : p->a,
                              .b = turned ? p->a : p->b,
                              .type_c = m->type_c,
                              .type_d = m->type_d,
                              .fraction = narrow ? 13 : 25,
                              .narrow = narrow && m->type_d == PTX_F32,
                              .negated = p->negated};
}

/* Of each `piece` bytes of `from`, 4 or a multiple of 8, the first or the second half. */
static void split(const uint8_t *restrict from, size_t bytes, size_t piece, unsigned half,
                  uint8_t *restrict to) {
    if (piece == 4) {
        for (size_t at = 0; at < bytes / 4; at++) {
            uint32_t word;
            memcpy(&word, from + at * 4, sizeof word);
            uint16_t kept = (uint16_t)(word >> 16 * half);
            memcpy(to + at * 2, &kept, sizeof kept);
        }
        return;
    }
    for (size_t at = 0; at < bytes; at += piece) {
        memcpy(to + at / 2, from + at + half * piece / 2, piece / 2);
    }
}

/* One step for each half of k: `piece` bytes of a row are split in the middle. */
static void step_halves(const struct matrix *m, size_t piece, const uint8_t *a,
                        const uint8_t *places, const uint8_t *b, float *sums) {
    uint8_t half_a[MAX_SPLIT], half_b[MAX_SPLIT], half_places[MAX_SPLIT];
    struct fused_sum f = sum_of(m);
    unsigned element = matrix_bits((enum ptx_type)f.a) / 8;
    size_t row = (size_t)f.k * element;
    f.k /= 2;
    f.row = places ? f.row : f.k;
    for (unsigned half = 0; half < 2; half++) {
        split(a, f.m * row, piece, half, half_a);
        if (places) { /* elements are bytes */
            split(places, f.m * row, piece, half, half_places);
        } else {
            split(b, f.n * row, piece, half, half_b);
        }
        m->arithmetic->step(&f, half_a, places ? half_places : NULL, places ? b : half_b,
                            sums);
    }
}

/* c + t, rounded to the type of d. */
static float add_rounded(enum ptx_type d, float c, float t) {
    float sum = d == PTX_F16 ? half_to_float(half_of_double((double)c + t)) : c + t;
    uint32_t nan = 0x7fffffff;
    if (sum != sum) {
        memcpy(&sum, &nan, sizeof sum);
    }
    return sum;
}

static void unpacked_fp8(const struct matrix *m, const uint8_t *a, const uint8_t *places,
                         const uint8_t *b, float *sums) {
    float t[MMA_SUMS] __attribute__((aligned(64))) = {0};
    struct matrix sum = *m;
    sum.type_c = m->type_d; /* that of t */
    step_halves(&sum, 4, a, places, b, t);
    for (unsigned k = 0; k < (unsigned)m->product.m * m->product.n; k++) {
        sums[k] = add_rounded((enum ptx_type)m->type_d, sums[k], t[k]);
    }
}

void tensor_core_multiply(struct warp *w, const struct matrix *m, bool add,
                          const uint8_t *a, const uint8_t *places, const uint8_t *b) {
    float sums[MATRIX_MAX_SUMS] __attribute__((aligned(64)));
    struct fused_sum f = sum_of(m);
    bool turned = is_turned(m);
    sums_take(w, m, add, sums);
    switch ((enum tensor_course)m->course) {
    default:
        m->arithmetic->step(&f, turned ? b : a, places, turned ? a : b, sums);
        break;
    case TENSOR_TWO_STEPS:
        step_halves(m, (size_t)f.k * matrix_bits((enum ptx_type)f.a) / 8, a, places, b,
                    sums);
        break;
    case TENSOR_UNPACKED:
        unpacked_fp8(m, a, places, b, sums);
        break;
    }
    sums_give(w, m, sums);
}

void tensor_core_chain(const uint16_t a[8][4], const uint16_t b[8][4], double sums[64]) {
    for (unsigned at = 0; at < 64; at++) {
        const uint16_t *x = a[at / 8], *y = b[at % 8];
        float t = half_to_float(x[0]) * half_to_float(y[0]);
        for (unsigned k = 1; k < 4; k++) {
            t = fmaf(half_to_float(x[k]), half_to_float(y[k]), t);
        }
        sums[at] = (float)sums[at] + t;
    }
}

/* ---- which instructions ---- */

bool tensor_core_find(const struct program *p, struct tensor_sum *ret) {
    struct tensor_sum sum = {.fraction = UINT_MAX};
    for (uint32_t k = 0; k < p->matrix_count; k++) {
        const struct matrix *m = &p->matrices[k];
        bool steps = m->course != TENSOR_NONE && m->course != TENSOR_CHAIN;
        unsigned fraction = steps ? sum_of(m).fraction : UINT_MAX;
        if (fraction < sum.fraction) {
            sum = (struct tensor_sum){m->function, m->instruction, fraction};
        }
    }
    *ret = sum;
    return sum.fraction != UINT_MAX;
}

const struct matrix *tensor_core_unconfirmed(const struct program *p) {
    return list_find(m, p->matrices, p->matrix_count,
                     m->sparse && m->course != TENSOR_NONE);
}
