/* Products whose first factor has zeros in half of its places, which are left out: 2 of
 * 4, 1 of 2 of tf32, 2 pairs of 4 of 4-bit elements; metadata say which stay.
 *
 * What stays of a row lies as a dense factor's row of half as many elements. The row is
 * spread out again, in two halves of k, so that two dense products in a row are the
 * sparse one. Metadata: PTX ISA 9.0, "Sparse matrix storage"; which lane holds those of
 * which row are CuTe's ELayouts (mma_traits_sm90_gmma_sparse.hpp, of a warp, and
 * mma_traits_sm80_sparse.hpp, whose authors say of 4-bit elements that the ISA's picture
 * is wrong). */
#include "gpu/ptx/matrix/tensor_core.h"

#define CHUNK_BITS 4

unsigned sparse_row_bytes(const struct matrix *m) {
    return m->product.k * matrix_bits((enum ptx_type)m->product.a) / 8u;
}

/* The unit that is moved: an element, or two of 4 bits. */
static unsigned unit_bytes(const struct matrix *m) {
    unsigned bits = matrix_bits((enum ptx_type)m->product.a);
    return bits < 8 ? 1 : bits / 8;
}

/* Four bits for each chunk of the row, the first chunk lowest. */
static uint64_t row_metadata(const struct warp *w, const struct matrix *m, unsigned row,
                             unsigned element_bytes) {
    const uint32_t *words =
        (const uint32_t *)(const void *)(w->head.regs + m->registers[m->metadata.first]);
    unsigned g = row % 8, high = row / 8;
    if (sparse_row_bytes(m) < SPARSE_ROW_BYTES) { /* one lane, a pair for bytes */
        return element_bytes == 1 ? words[4 * g + 2 * m->selector + high]
                                  : words[4 * g + m->selector] >> (16 * high) & 0xffff;
    }
    if (element_bytes == 1) { /* all four lanes, a word for 32 columns */
        return words[4 * g + high] | (uint64_t)words[4 * g + 2 + high] << 32;
    }
    const uint32_t *pair = words + 4 * g + (size_t)2 * m->selector;
    return (pair[0] >> (16 * high) & 0xffff) | (pair[1] >> (16 * high) & 0xffff) << 16;
}

/* The positions of its elements in a chunk; false: invalid metadata. */
static bool chunk_places(unsigned bits, unsigned element_bytes, bool ordered,
                         unsigned to[2]) {
    if (element_bytes == 4) {
        to[0] = bits == 14;
        return bits == 14 || bits == 4;
    }
    to[0] = bits & 3;
    to[1] = bits >> 2;
    return to[0] < to[1] || (to[0] > to[1] && !ordered);
}

static void tell_metadata(struct warp *w, const struct step *s, unsigned row,
                          unsigned bits) {
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = row % 8 * 4},
                FINDING_INVALID_METADATA,
                "Metadata 0x%x of row %u of the sparse matrix do not name two of four "
                "places (or one of two): undefined",
                bits, row);
}

void sparse_places(struct warp *w, const struct step *s, const struct matrix *m,
                   uint8_t *places) {
    unsigned bytes = unit_bytes(m);
    unsigned kept = bytes == 4 ? 1 : 2, wide = 2 * kept; /* of a chunk */
    unsigned chunks = sparse_row_bytes(m) / bytes / kept;
    bool told = false;
    for (unsigned row = 0; row < m->product.m; row++) {
        uint64_t metadata = row_metadata(w, m, row, bytes);
        for (unsigned c = 0; c < chunks; c++) {
            unsigned bits = metadata >> (CHUNK_BITS * c) & 15, at[2];
            if (!chunk_places(bits, bytes, m->ordered, at) && !told) {
                told = true;
                tell_metadata(w, s, row, bits);
            }
            for (unsigned e = 0; e < kept; e++) {
                *places++ = (uint8_t)(c * wide + at[e]);
            }
        }
    }
}

void sparse_spread(const struct matrix *m, const uint8_t *a, const uint8_t *places,
                   uint8_t *halves[2]) {
    unsigned bytes = unit_bytes(m), row_bytes = sparse_row_bytes(m);
    unsigned units = row_bytes / bytes;
    for (unsigned h = 0; h < 2; h++) {
        memset(halves[h], 0, (size_t)m->product.m * row_bytes);
    }
    for (unsigned k = 0; k < m->product.m * units; k++) {
        unsigned at = places[k] * bytes;
        memcpy(halves[at / row_bytes] + (size_t)(k / units) * row_bytes + at % row_bytes,
               a + (size_t)k * bytes, bytes);
    }
}

void sparse_split(const struct matrix *m, const uint8_t *b, uint8_t *halves[2]) {
    unsigned row_bytes = sparse_row_bytes(m);
    for (unsigned row = 0; row < m->product.n; row++) {
        for (unsigned h = 0; h < 2; h++) {
            memcpy(halves[h] + (size_t)row * row_bytes,
                   b + (size_t)(2 * row + h) * row_bytes, row_bytes);
        }
    }
}

void sparse_whole(const struct matrix *m, uint8_t *const a[2], uint8_t *const b[2],
                  int32_t *sums, int32_t *room) {
    m->arithmetic->whole(&m->product, a[0], b[0], sums);
    m->arithmetic->whole(&m->product, a[1], b[1], room);
    for (unsigned k = 0; k < (unsigned)m->product.m * m->product.n; k++) {
        sums[k] += room[k];
    }
}

void sparse_real(const struct matrix *m, uint8_t *const a[2], uint8_t *const b[2],
                 double *sums) {
    m->arithmetic->real(&m->product, a[0], b[0], sums);
    m->arithmetic->real(&m->product, a[1], b[1], sums);
}

bool matrix_run_sparse(struct warp *w, const struct step *s, const struct matrix *m) {
    uint8_t a[16 * SPARSE_ROW_BYTES], b[8 * 2 * SPARSE_ROW_BYTES];
    uint8_t spread[2][16 * SPARSE_ROW_BYTES], split[2][8 * SPARSE_ROW_BYTES];
    uint8_t places[16 * SPARSE_ROW_BYTES];
    uint8_t *as[2] = {spread[0], spread[1]}, *bs[2] = {split[0], split[1]};
    struct matrix_tiles ta = matrix_tiles_a(m), tb = matrix_tiles_b(m);
    tb.word_tiles *= 2; /* k is the dense product's */
    tb.stride *= 2;
    fragment_pack(w, m->registers + m->a.first, &ta, a);
    fragment_pack(w, m->registers + m->b.first, &tb, b);
    sparse_places(w, s, m, places);
    if (matrix_is_tensor_core(w, m)) {
        tensor_core_multiply(w, m, true, a, places, b);
        return true;
    }
    sparse_spread(m, a, places, as);
    sparse_split(m, b, bs);
    if (matrix_is_whole((enum ptx_type)m->type_d)) {
        int32_t c[128], sums[128], room[128];
        sparse_whole(m, as, bs, sums, room);
        accumulators_take_whole(w, m, c);
        accumulators_add_whole(w, m, c, sums);
        return true;
    }
    double sums[128] __attribute__((aligned(64)));
    accumulators_take(w, m, sums);
    sparse_real(m, as, bs, sums);
    accumulators_give(w, m, sums);
    return true;
}
