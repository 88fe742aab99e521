/* ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store. */
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/matrix/matrix.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

/* ---- ldmatrix, stmatrix: matrices of 8 rows of 16 bytes ---- */

/* Offset in shared memory of an address that ought to be one. */
static uint64_t shared_offset(uint64_t address, uint8_t space) {
    return space == PTX_GENERIC && address - MEMORY_SHARED < MEMORY_WINDOW_BYTES
               ? address - MEMORY_SHARED
               : address;
}

static uint8_t *row_at(struct warp *w, const struct step *s, const struct matrix *m,
                       unsigned lane, uint64_t address, bool writes) {
    struct block *b = w->block;
    uint64_t offset = shared_offset(address, m->space);
    bool inside =
        offset % 16 == 0 && shared_is_inside(w->processor, m->access, offset, 16);
    uint32_t set = 0x0f0f0f0f;
    race_touch(w, s, lane, b, offset, 16, writes ? RACE_WRITE : RACE_READ);
    if (inside && b->shared_shadow) {
        if (writes) {
            memset(b->shared_shadow + offset / 4, 0xff, 4);
            proxy_wrote(w, s, lane, b, offset, 16);
        } else {
            memcpy(&set, b->shared_shadow + offset / 4, 4);
        }
    }
    if (inside && (set & 0x0f0f0f0f) == 0x0f0f0f0f) {
        return b->shared + offset;
    }
    uint8_t *shadow;
    return access_resolve(w, s, lane, offset, PTX_SHARED, 16, !writes, writes, &shadow);
}

static void count_rows(struct warp *w, const struct step *s, const struct matrix *m,
                       uint32_t rows) {
    struct processor *processor = w->processor;
    uint64_t offsets[WARP_LANES];
    const uint64_t *base = LANES(const uint64_t, w, s->src[MATRIX_ADDRESS]);
    if (!processor->run->count) {
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        offsets[l] = base[l] + (uint64_t)s->offset;
    }
    coalescing_count(&processor->accesses[m->access], offsets, rows, 16, 1);
}

static uint32_t *register_words(struct warp *w, const struct matrix *m, unsigned k) {
    return LANES(uint32_t, w, m->registers[k]);
}

/* A matrix of 8 by 8 halves the other way round. */
static void turn_halves(uint16_t m[64]) {
    for (unsigned r = 0; r < 8; r++) {
        for (unsigned c = 0; c < r; c++) {
            uint16_t x = m[r * 8 + c];
            m[r * 8 + c] = m[c * 8 + r];
            m[c * 8 + r] = x;
        }
    }
}

bool matrix_run_load(struct warp *w, const struct step *s, const struct matrix *m) {
    uint64_t addresses[WARP_LANES];
    memcpy(addresses, LANES(const uint64_t, w, s->src[MATRIX_ADDRESS]), sizeof addresses);
    uint32_t lanes = (uint32_t)((UINT64_C(1) << (8 * m->d.count)) - 1);
    count_rows(w, s, m, lanes);
    for (unsigned k = 0; k < m->d.count; k++) {
        uint16_t halves[64] = {0};
        for (unsigned r = 0; r < 8; r++) {
            unsigned lane = k * 8 + r;
            const uint8_t *from =
                row_at(w, s, m, lane, addresses[lane] + (uint64_t)s->offset, false);
            if (from) {
                memcpy(halves + (size_t)r * 8, from, 16);
            }
        }
        if (m->transposed) {
            turn_halves(halves);
        }
        memcpy(register_words(w, m, k), halves, sizeof halves);
    }
    return true;
}

bool matrix_run_store(struct warp *w, const struct step *s, const struct matrix *m) {
    const uint64_t *addresses = LANES(const uint64_t, w, s->src[MATRIX_ADDRESS]);
    uint32_t lanes = (uint32_t)((UINT64_C(1) << (8 * m->a.count)) - 1);
    count_rows(w, s, m, lanes);
    w->block->changes++;
    for (unsigned k = 0; k < m->a.count; k++) {
        uint16_t halves[64];
        memcpy(halves, register_words(w, m, k), sizeof halves);
        if (m->transposed) {
            turn_halves(halves);
        }
        for (unsigned r = 0; r < 8; r++) {
            unsigned lane = k * 8 + r;
            uint8_t *to =
                row_at(w, s, m, lane, addresses[lane] + (uint64_t)s->offset, true);
            if (to) {
                memcpy(to, halves + (size_t)r * 8, 16);
            }
        }
    }
    return true;
}

bool matrix_run_move(struct warp *w, const struct step *, const struct matrix *m) {
    uint16_t halves[64];
    memcpy(halves, register_words(w, m, m->a.first), sizeof halves);
    turn_halves(halves);
    memcpy(register_words(w, m, m->d.first), halves, sizeof halves);
    return true;
}

/* ---- wmma.load, wmma.store ---- */

/* Lines of memory: rows of the packed matrix, or its columns. */
struct matrix_lines {
    uint64_t base, stride; /* bytes */
    unsigned count, bytes;
    unsigned piece; /* bytes that are read or written at once */
};

static struct matrix_lines lines_of(struct warp *w, const struct step *s,
                                    const struct matrix *m) {
    unsigned across = m->row_bytes * 8u / m->element_bits;
    struct matrix_lines n = {.count = m->transposed ? across : m->rows,
                             .bytes = m->transposed ? m->rows * m->element_bits / 8u
                                                    : m->row_bytes};
    uint32_t stride = (uint32_t)LANES(const uint64_t, w, s->src[MATRIX_SECOND])[0];
    n.base = LANES(const uint64_t, w, s->src[MATRIX_ADDRESS])[0] + (uint64_t)s->offset;
    n.stride = s->aux ? n.bytes : (uint64_t)stride * m->element_bits / 8;
    n.piece = n.bytes < 16 ? n.bytes : 16;
    return n;
}

/* Pieces of 16 bytes or less count as lanes; 32 of them are a request. */
static void count_lines(struct warp *w, const struct matrix *m,
                        const struct matrix_lines *n) {
    struct processor *processor = w->processor;
    bool shared = processor->run->program->accesses[m->access].space == PTX_SHARED;
    uint64_t offsets[WARP_LANES] = {0};
    unsigned filled = 0, pieces = n->bytes / n->piece;
    for (unsigned k = 0; processor->run->count && k < n->count * pieces; k++) {
        offsets[filled++] =
            n->base + k / pieces * n->stride + (uint64_t)(k % pieces) * n->piece;
        if (filled == WARP_LANES || k + 1 == n->count * pieces) {
            uint32_t mask = (uint32_t)((UINT64_C(1) << filled) - 1);
            coalescing_count(&processor->accesses[m->access], offsets, mask, n->piece,
                             shared);
            filled = 0;
        }
    }
}

/* Rows of a matrix become its columns: elements of whole bytes. */
static void turn_lines(const uint8_t *from, unsigned lines, unsigned across,
                       unsigned bytes, uint8_t *to) {
    for (unsigned r = 0; r < lines; r++) {
        for (unsigned c = 0; c < across; c++) {
            memcpy(to + ((size_t)c * lines + r) * bytes,
                   from + ((size_t)r * across + c) * bytes, bytes);
        }
    }
}

static void lines_load(struct warp *w, const struct step *s, const struct matrix *m,
                       const struct matrix_lines *n, uint8_t *to) {
    for (unsigned k = 0; k < n->count; k++) {
        for (unsigned at = 0; at < n->bytes; at += n->piece) {
            uint8_t *shadow;
            race_touch_at(w, s, 0, (enum ptx_space)m->space, n->base + k * n->stride + at,
                          n->piece, RACE_READ);
            const uint8_t *from =
                access_resolve(w, s, 0, n->base + k * n->stride + at,
                               (enum ptx_space)m->space, n->piece, true, false, &shadow);
            if (from) {
                memcpy(to + (size_t)k * n->bytes + at, from, n->piece);
            } else {
                memset(to + (size_t)k * n->bytes + at, 0, n->piece);
            }
        }
    }
}

/* Accumulators as they lie in registers: 16, 32 or 64 bits. */
static uint8_t *accumulator_at(struct warp *w, const struct matrix *m, unsigned row,
                               unsigned column) {
    unsigned bytes = m->element_bits / 8u, row_tiles = m->rows / 8u;
    unsigned tile = column / 8 * row_tiles + row / 8;
    unsigned l = row % 8 * 4 + column % 8 / 2;
    const struct matrix_registers *f = m->d.count ? &m->d : &m->a;
    unsigned element = 2 * tile + column % 2;
    if (bytes == 2) {
        return w->head.regs + m->registers[f->first + element / 2] + (size_t)l * 4 +
               (size_t)element % 2 * 2;
    }
    return w->head.regs + m->registers[f->first + element] + (size_t)l * bytes;
}

static void accumulators_move(struct warp *w, const struct matrix *m, uint8_t *rows,
                              bool to_registers) {
    unsigned bytes = m->element_bits / 8u, columns = m->row_bytes / bytes;
    for (unsigned r = 0; r < m->rows; r++) {
        for (unsigned c = 0; c < columns; c++) {
            uint8_t *reg = accumulator_at(w, m, r, c);
            uint8_t *at = rows + ((size_t)r * columns + c) * bytes;
            memcpy(to_registers ? reg : at, to_registers ? at : reg, bytes);
        }
    }
}

/* f16 factors have more registers than they need: the rest repeats. */
static void factor_give(struct warp *w, const struct matrix *m, const uint8_t *rows) {
    bool wide = m->element_bits == 64;
    struct matrix_tiles t = {.row_tiles = (uint8_t)(m->rows / 8),
                             .word_tiles = (uint8_t)(m->row_bytes / (wide ? 32 : 16)),
                             .rows_first = m->part == 'a',
                             .wide = wide,
                             .stride = m->row_bytes};
    unsigned tiles = (unsigned)t.row_tiles * t.word_tiles;
    for (unsigned first = 0; first + tiles <= m->d.count; first += tiles) {
        fragment_unpack(w, m->registers + m->d.first + first, &t, rows);
    }
}

bool matrix_run_wmma_load(struct warp *w, const struct step *s, const struct matrix *m) {
    uint8_t lines[2048], rows[2048];
    struct matrix_lines n = lines_of(w, s, m);
    count_lines(w, m, &n);
    lines_load(w, s, m, &n, lines);
    uint8_t *packed = lines;
    if (m->transposed) {
        turn_lines(lines, n.count, m->rows, m->element_bits / 8u, rows);
        packed = rows;
    }
    if (m->part == 'c') {
        accumulators_move(w, m, packed, true);
    } else {
        factor_give(w, m, packed);
    }
    return true;
}

bool matrix_run_wmma_store(struct warp *w, const struct step *s, const struct matrix *m) {
    uint8_t lines[2048], rows[2048];
    struct matrix_lines n = lines_of(w, s, m);
    unsigned bytes = m->element_bits / 8u;
    count_lines(w, m, &n);
    accumulators_move(w, m, rows, false);
    const uint8_t *from = rows;
    if (m->transposed) {
        turn_lines(rows, m->rows, n.count, bytes, lines);
        from = lines;
    }
    w->block->changes++;
    for (unsigned k = 0; k < n.count; k++) {
        for (unsigned at = 0; at < n.bytes; at += n.piece) {
            uint8_t *shadow;
            race_touch_at(w, s, 0, (enum ptx_space)m->space, n.base + k * n.stride + at,
                          n.piece, RACE_WRITE);
            uint8_t *to =
                access_resolve(w, s, 0, n.base + k * n.stride + at,
                               (enum ptx_space)m->space, n.piece, false, true, &shadow);
            if (to) {
                memcpy(to, from + (size_t)k * n.bytes + at, n.piece);
            }
        }
    }
    return true;
}
