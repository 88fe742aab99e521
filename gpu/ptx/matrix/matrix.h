#pragma once
/* matrix: the instructions of the tensor cores and the loads that feed them.
 *
 * A matrix is copied from the registers of a warp (or from shared memory) into rows of
 * packed elements, both factors with k running along the row; matrix_product.h
 * multiplies; the results are copied back. Fragments consist of tiles of 8 rows: lane l
 * holds, for each tile, the word l % 4 of row l / 4 (a and b; a word is 32 bits, for f64
 * one element) or the elements 2 (l % 4) and the next of row l / 4 (c and d). That is the
 * layout of mma and wgmma in the PTX ISA 9.0 for every shape except m8n8k4 of f16; wmma's
 * is not documented and is the same here. */
#include "gpu/ptx/alu/matrix_product.h"
#include "gpu/ptx/state/run.h"

/* The registers of a fragment, in matrix->registers. */
struct matrix_registers {
    uint16_t first, count;
};

/* How an H100 computes a product of floats (tensor_core.h). */
enum tensor_course {
    TENSOR_NONE, /* f64, integers, or no product */
    TENSOR_ONE_STEP,
    TENSOR_TWO_STEPS, /* the first half of k, then the second: wmma of tf32 */
    TENSOR_UNPACKED,  /* mma of fp8 */
    TENSOR_CHAIN,     /* m8n8k4 of f16: no tensor core */
};

struct matrix;
/* Runs it for the whole warp, whose registers are WARP_HEAD(w)->regs. false: the warp
 * must wait for others of its warpgroup (wgmma_check_group continues it). */
typedef bool matrix_run(struct warp *w, const struct step *s, const struct matrix *m);

struct matrix {
    matrix_run *run;
    const struct matrix_arithmetic *arithmetic;
    struct matrix_product product;  /* of mma, wmma.mma; of wgmma for one warp */
    uint8_t type_c, type_d;         /* enum ptx_type */
    uint8_t course;                 /* enum tensor_course */
    uint32_t function, instruction; /* of the module */
    bool saturate;
    bool a_columns, b_rows; /* m8n8k4 of f16 alone */
    uint32_t *registers;    /* offsets in the arena */
    uint32_t register_count;
    struct matrix_registers d, a, b, c;
    /* Of a sparse product; product.k is half of its k. */
    struct matrix_registers metadata; /* one register */
    bool sparse, ordered;
    uint8_t selector; /* which of four lanes, or which pair, holds the metadata */
    uint32_t access;  /* of loads and stores: for the counters */
    /* Of loads and stores. */
    uint8_t space;        /* enum ptx_space */
    bool transposed;      /* ldmatrix, stmatrix; wmma: lines run across fragments' rows */
    uint8_t element_bits; /* wmma */
    uint8_t part;         /* wmma: 'a', 'b', 'c' */
    uint16_t rows, row_bytes; /* wmma: of the packed matrix */
    /* Of wgmma. */
    bool a_shared, a_transposed, b_transposed;
    uint32_t groups; /* wait_group: the number that may stay pending */
};

/* The contents of a step's src[]: an address or descriptor (8 bytes a lane), a second one
 * or a stride, a predicate. */
enum matrix_source { MATRIX_ADDRESS, MATRIX_SECOND, MATRIX_PREDICATE };

void matrices_free(struct matrix *matrices, uint32_t count);

/* The step of all matrix instructions: waits for all lanes of the warp. */
void step_matrix(struct warp *w, const struct step *s, uint32_t mask);

/* Fragments to rows of packed elements, `stride` bytes apart, and back. row_tiles of 8
 * rows, word_tiles of 4 words; the register of a tile is rows_first ? row + word *
 * row_tiles : row * word_tiles + word. */
struct matrix_tiles {
    uint8_t row_tiles, word_tiles;
    bool rows_first, wide; /* wide: words of 64 bits */
    uint16_t stride;
};
void fragment_pack(const struct warp *w, const uint32_t *registers,
                   const struct matrix_tiles *t, uint8_t *to);
void fragment_unpack(struct warp *w, const uint32_t *registers,
                     const struct matrix_tiles *t, const uint8_t *from);
struct matrix_tiles matrix_tiles_a(const struct matrix *m);
struct matrix_tiles matrix_tiles_b(const struct matrix *m);
/* c and d: rows x columns values (f16, f32, f64 as double). */
void accumulators_take(const struct warp *w, const struct matrix *m, double *to);
void accumulators_give(struct warp *w, const struct matrix *m, const double *from);
void accumulators_take_whole(const struct warp *w, const struct matrix *m, int32_t *to);
/* d = c + sum, wrapped or saturated. */
void accumulators_add_whole(struct warp *w, const struct matrix *m, const int32_t *c,
                            const int32_t *sum);
static inline bool matrix_is_whole(enum ptx_type t) {
    return t == PTX_S32;
}

/* Whether it is a product of floats below f64 whose sums are an H100's and not ideal. */
static inline bool matrix_is_tensor_core(const struct warp *w, const struct matrix *m) {
    return m->course != TENSOR_NONE && !w->processor->run->ideal_sums;
}

/* The runs; lowering: matrix_lower.c. */
matrix_run matrix_run_mma, matrix_run_quads, matrix_run_sparse;
matrix_run matrix_run_load, matrix_run_store, matrix_run_move;
matrix_run matrix_run_wmma_load, matrix_run_wmma_store;

/* matrix_sparse.c: expands rows of the kept elements of a warp's first factor, and of the
 * second, to the two dense factors of a sparse product; both products. places: for each
 * kept element (of two of 4 bits), its position in a full row. */
#define SPARSE_ROW_BYTES 32 /* the longest row of kept elements */
unsigned sparse_row_bytes(const struct matrix *m);
void sparse_places(struct warp *w, const struct step *s, const struct matrix *m,
                   uint8_t *places);
void sparse_spread(const struct matrix *m, const uint8_t *a, const uint8_t *places,
                   uint8_t *halves[2]);
void sparse_split(const struct matrix *m, const uint8_t *b, uint8_t *halves[2]);
void sparse_real(const struct matrix *m, uint8_t *const a[2], uint8_t *const b[2],
                 double *sums);
void sparse_whole(const struct matrix *m, uint8_t *const a[2], uint8_t *const b[2],
                  int32_t *sums, int32_t *room);

/* Bits of an element of a matrix. */
static inline unsigned matrix_bits(enum ptx_type t) {
    switch (t) {
    case PTX_B1:
        return 1;
    case PTX_U4:
    case PTX_S4:
        return 4;
    case PTX_TF32:
        return 32;
    default:
        return 8 * ptx_type_bytes(t);
    }
}
