#include "base/find.h"
#include "gpu/ptx/matrix/tensor_core.h"

#include "gpu/ptx/alu/half_bits.h"

void matrices_free(struct matrix *matrices, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        free(matrices[k].registers);
    }
    free(matrices);
}

/* ---- fragments ---- */

static const uint32_t *words_of(const struct warp *w, uint32_t offset) {
    return (const uint32_t *)(const void *)(w->head.regs + offset);
}

static uint32_t tile_register(const uint32_t *registers, const struct matrix_tiles *t,
                              unsigned row, unsigned word) {
    return registers[t->rows_first ? word * t->row_tiles + row
                                   : row * t->word_tiles + word];
}

void fragment_pack(const struct warp *w, const uint32_t *registers,
                   const struct matrix_tiles *t, uint8_t *to) {
    unsigned bytes = t->wide ? 8 : 4;
    for (unsigned word = 0; word < t->word_tiles; word++) {
        for (unsigned row = 0; row < t->row_tiles; row++) {
            const uint8_t *from = w->head.regs + tile_register(registers, t, row, word);
            uint8_t *tile = to + (size_t)row * 8 * t->stride + (size_t)word * 4 * bytes;
            for (unsigned r = 0; r < 8; r++) { /* four lanes are one piece of a row */
                memcpy(tile + (size_t)r * t->stride, from + (size_t)r * 4 * bytes,
                       4u * bytes);
            }
        }
    }
}

void fragment_unpack(struct warp *w, const uint32_t *registers,
                     const struct matrix_tiles *t, const uint8_t *from) {
    unsigned bytes = t->wide ? 8 : 4;
    for (unsigned word = 0; word < t->word_tiles; word++) {
        for (unsigned row = 0; row < t->row_tiles; row++) {
            uint8_t *to = w->head.regs + tile_register(registers, t, row, word);
            const uint8_t *tile =
                from + (size_t)row * 8 * t->stride + (size_t)word * 4 * bytes;
            for (unsigned r = 0; r < 8; r++) {
                memcpy(to + (size_t)r * 4 * bytes, tile + (size_t)r * t->stride,
                       4u * bytes);
            }
        }
    }
}

static struct matrix_tiles tiles_of(enum ptx_type t, unsigned rows, unsigned k) {
    unsigned bytes = k * matrix_bits(t) / 8;
    bool wide = t == PTX_F64;
    return (struct matrix_tiles){.row_tiles = (uint8_t)(rows / 8),
                                 .word_tiles = (uint8_t)(bytes / (wide ? 32 : 16)),
                                 .wide = wide,
                                 .stride = (uint16_t)bytes};
}

struct matrix_tiles matrix_tiles_a(const struct matrix *m) {
    struct matrix_tiles t =
        tiles_of((enum ptx_type)m->product.a, m->product.m, m->product.k);
    t.rows_first = true;
    return t;
}

struct matrix_tiles matrix_tiles_b(const struct matrix *m) {
    return tiles_of((enum ptx_type)m->product.b, m->product.n, m->product.k);
}

/* ---- accumulators ---- */

/* The two elements of lane l in tile number `tile`. */
static void pair_take(const struct warp *w, const uint32_t *registers, enum ptx_type t,
                      unsigned tile, unsigned l, double to[2]) {
    const uint8_t *regs = w->head.regs;
    if (t == PTX_F16) {
        uint32_t word = words_of(w, registers[tile])[l];
        to[0] = half_to_float((uint16_t)word);
        to[1] = half_to_float((uint16_t)(word >> 16));
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        const uint8_t *from = regs + registers[2 * tile + k];
        if (t == PTX_F64) {
            memcpy(&to[k], from + (size_t)l * 8, 8);
        } else {
            float f;
            memcpy(&f, from + (size_t)l * 4, 4);
            to[k] = f;
        }
    }
}

/* PTX: a NaN that is made is 0x7fffffff. */
static uint32_t float_bits(double value) {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return value != value ? 0x7fffffff : bits;
}

static void pair_give(struct warp *w, const uint32_t *registers, enum ptx_type t,
                      unsigned tile, unsigned l, const double from[2]) {
    uint8_t *regs = w->head.regs;
    if (t == PTX_F16) {
        uint32_t word = half_of_double(from[0]) | (uint32_t)half_of_double(from[1]) << 16;
        memcpy(regs + registers[tile] + (size_t)l * 4, &word, 4);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        uint8_t *to = regs + registers[2 * tile + k];
        if (t == PTX_F64) {
            memcpy(to + (size_t)l * 8, &from[k], 8);
        } else {
            uint32_t bits = float_bits(from[k]);
            memcpy(to + (size_t)l * 4, &bits, 4);
        }
    }
}

void accumulators_take(const struct warp *w, const struct matrix *m, double *to) {
    unsigned row_tiles = m->product.m / 8u, n = m->product.n;
    const uint32_t *registers = m->registers + m->c.first;
    for (unsigned tile = 0; tile < row_tiles * (n / 8); tile++) {
        double *at =
            to + (size_t)(tile % row_tiles) * 8 * n + (size_t)tile / row_tiles * 8;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            pair_take(w, registers, (enum ptx_type)m->type_c, tile, l,
                      at + (size_t)(l / 4) * n + l % 4 * 2);
        }
    }
}

void accumulators_give(struct warp *w, const struct matrix *m, const double *from) {
    unsigned row_tiles = m->product.m / 8u, n = m->product.n;
    const uint32_t *registers = m->registers + m->d.first;
    for (unsigned tile = 0; tile < row_tiles * (n / 8); tile++) {
        const double *at =
            from + (size_t)(tile % row_tiles) * 8 * n + (size_t)tile / row_tiles * 8;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            pair_give(w, registers, (enum ptx_type)m->type_d, tile, l,
                      at + (size_t)(l / 4) * n + l % 4 * 2);
        }
    }
}

static uint32_t *whole_register(const struct warp *w, uint32_t offset) {
    return (uint32_t *)(void *)(w->head.regs + offset);
}

void accumulators_take_whole(const struct warp *w, const struct matrix *m, int32_t *to) {
    unsigned row_tiles = m->product.m / 8u, n = m->product.n;
    for (unsigned k = 0; k < m->c.count; k++) {
        const uint32_t *from = words_of(w, m->registers[m->c.first + k]);
        unsigned tile = k / 2;
        int32_t *at = to + (size_t)(tile % row_tiles) * 8 * n +
                      (size_t)tile / row_tiles * 8 + k % 2;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            at[(size_t)(l / 4) * n + l % 4 * 2] = (int32_t)from[l];
        }
    }
}

static uint32_t add_whole(int32_t a, int32_t b, bool saturate) {
    int64_t sum = (int64_t)a + b;
    if (saturate) {
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    }
    return (uint32_t)sum;
}

void accumulators_add_whole(struct warp *w, const struct matrix *m, const int32_t *c,
                            const int32_t *sum) {
    unsigned row_tiles = m->product.m / 8u, n = m->product.n;
    for (unsigned k = 0; k < m->d.count; k++) {
        uint32_t *to = whole_register(w, m->registers[m->d.first + k]);
        unsigned tile = k / 2;
        size_t at =
            (size_t)(tile % row_tiles) * 8 * n + (size_t)tile / row_tiles * 8 + k % 2;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            size_t e = at + (size_t)(l / 4) * n + l % 4 * 2;
            to[l] = add_whole(c[e], sum[e], m->saturate);
        }
    }
}

/* ---- mma, wmma.mma ---- */

static void multiply_whole(struct warp *w, const struct matrix *m, const uint8_t *a,
                           const uint8_t *b) {
    int32_t c[1024], sums[1024];
    bool bits = m->product.a == PTX_B1;
    (bits ? m->arithmetic->bits : m->arithmetic->whole)(&m->product, a, b, sums);
    accumulators_take_whole(w, m, c);
    accumulators_add_whole(w, m, c, sums);
}

bool matrix_run_mma(struct warp *w, const struct step *, const struct matrix *m) {
    uint8_t a[2048], b[2048];
    struct matrix_tiles ta = matrix_tiles_a(m), tb = matrix_tiles_b(m);
    fragment_pack(w, m->registers + m->a.first, &ta, a);
    fragment_pack(w, m->registers + m->b.first, &tb, b);
    if (matrix_is_whole((enum ptx_type)m->type_d)) {
        multiply_whole(w, m, a, b);
        return true;
    }
    if (matrix_is_tensor_core(w, m)) {
        tensor_core_multiply(w, m, true, a, NULL, b);
        return true;
    }
    double sums[1024] __attribute__((aligned(64)));
    accumulators_take(w, m, sums);
    bool fused = m->product.a == PTX_F64;
    (fused ? m->arithmetic->fused : m->arithmetic->real)(&m->product, a, b, sums);
    accumulators_give(w, m, sums);
    return true;
}

/* ---- m8n8k4 of f16: four quarters of eight lanes, one product each ---- */

static unsigned quad_lane(unsigned quad, unsigned thread) {
    return quad * 4 + thread % 4 + thread / 4 * 16;
}

static uint16_t half_at(const struct warp *w, const uint32_t *registers, unsigned l,
                        unsigned element) {
    return (uint16_t)(words_of(w, registers[element / 2])[l] >> (element % 2 * 16));
}

/* A factor of one quarter to 8 rows of 4 halves. across: a thread holds four rows of one
 * column of its half of the threads, else one row. */
static void quad_pack(const struct warp *w, const uint32_t *registers, unsigned quad,
                      bool across, uint16_t to[8][4]) {
    for (unsigned t = 0; t < 8; t++) {
        for (unsigned e = 0; e < 4; e++) {
            uint16_t value = half_at(w, registers, quad_lane(quad, t), e);
            if (across) {
                to[e + t / 4 * 4][t % 4] = value;
            } else {
                to[t][e] = value;
            }
        }
    }
}

/* The position of element e of thread t in 8 rows of 8. */
static unsigned quad_element(enum ptx_type t, unsigned thread, unsigned e) {
    if (t == PTX_F16) {
        return thread * 8 + e;
    }
    unsigned row = (thread & 1) + (e & 2) + (thread & 4);
    return row * 8 + (e & 4) + (thread & 2) + (e & 1);
}

bool matrix_run_quads(struct warp *w, const struct step *, const struct matrix *m) {
    double sums[4][64];
    for (unsigned quad = 0; quad < 4; quad++) {
        uint16_t a[8][4], b[8][4];
        quad_pack(w, m->registers + m->a.first, quad, m->a_columns, a);
        quad_pack(w, m->registers + m->b.first, quad, m->b_rows, b);
        for (unsigned t = 0; t < 8; t++) {
            unsigned l = quad_lane(quad, t);
            for (unsigned e = 0; e < 8; e++) {
                const uint32_t *c = m->registers + m->c.first;
                float f;
                if (m->type_c == PTX_F16) {
                    f = half_to_float(half_at(w, c, l, e));
                } else {
                    memcpy(&f, &words_of(w, c[e])[l], sizeof f);
                }
                sums[quad][quad_element((enum ptx_type)m->type_c, t, e)] = f;
            }
        }
        if (matrix_is_tensor_core(w, m)) {
            tensor_core_chain(a, b, sums[quad]);
        } else {
            m->arithmetic->real(&m->product, (const uint8_t *)a, (const uint8_t *)b,
                                sums[quad]);
        }
    }
    for (unsigned k = 0; k < 32; k++) { /* only now: d may be a or b */
        unsigned quad = k / 8, t = k % 8, l = quad_lane(quad, t);
        const uint32_t *d = m->registers + m->d.first;
        for (unsigned e = 0; e < 8; e++) {
            double sum = sums[quad][quad_element((enum ptx_type)m->type_d, t, e)];
            if (m->type_d == PTX_F16) {
                uint16_t half = half_of_double(sum);
                memcpy(w->head.regs + d[e / 2] + (size_t)l * 4 + (size_t)e % 2 * 2, &half,
                       2);
            } else {
                whole_register(w, d[e])[l] = float_bits(sum);
            }
        }
    }
    return true;
}

/* ---- the whole warp ---- */

static const struct matrix *matrix_of(const struct warp *w, const struct step *s) {
    return &w->processor->run->program->matrices[s->extra];
}

static void tell_missing(struct warp *w, const struct step *s, uint32_t lanes) {
    finding_add(&(struct finding_place){.warp = w,
                                        .step = s,
                                        .lane = (unsigned)__builtin_ctz(lanes)},
                FINDING_INVALID_MASK,
                "An instruction of the whole warp without the lanes 0x%08x, which have "
                "exited or never were: undefined",
                ~lanes);
}

/* Registers of lanes between frames of one function: a frame does not use those of lanes
 * that are not its own. */
static void registers_move(const struct step *s, const struct matrix *m,
                           const struct frame *from, struct frame *to, uint32_t lanes) {
    for (uint32_t k = 0; k < m->register_count; k++) {
        unsigned bytes = m->product.a == PTX_F64 || m->element_bits == 64 ? 8 : 4;
        bits_each(lane, lanes) {
            size_t at = m->registers[k] + (size_t)lane * bytes;
            memcpy(to->regs + at, from->regs + at, bytes);
        }
    }
    for (unsigned k = 0; k < MATRIX_PREDICATE; k++) {
        for (uint32_t b = lanes; b && s->src[k] != STEP_NO_REGISTER; b &= b - 1) {
            size_t at = s->src[k] + (size_t)__builtin_ctz(b) * 8;
            memcpy(to->regs + at, from->regs + at, 8);
        }
    }
}

static bool same_place(const struct split *a, const struct split *b) {
    return b->state == SPLIT_MEET && a->at == b->at;
}

/* Lanes that wait at such a step: goes on when all are here. */
static void matrix_meet(struct warp *w, const struct split *p) {
    const struct split key = *p;
    const struct matrix *m = matrix_of(w, key.at);
    uint32_t here = 0;
    for (uint32_t k = 0; k < w->pending_count; k++) {
        here |= same_place(&key, &w->pending[k]) ? w->pending[k].lanes : 0;
    }
    if (w->live & ~here) {
        return;
    }
    struct frame *running = w->frame;
    uint8_t *regs = w->head.regs;
    w->frame = key.frame;
    w->head.regs = key.frame->regs;
    list_each(k, q, w->pending, w->pending_count) {
        if (same_place(&key, q) && q->frame != key.frame) {
            registers_move(key.at, m, q->frame, key.frame, q->lanes);
        }
    }
    if (here != UINT32_MAX) {
        tell_missing(w, key.at, here);
    }
    bool done = m->run(w, key.at, m);
    list_each(k, q, w->pending, w->pending_count) {
        if (same_place(&key, q)) {
            if (q->frame != key.frame) {
                registers_move(key.at, m, key.frame, q->frame, q->lanes);
            }
            q->state = done ? SPLIT_READY : SPLIT_GROUP;
        }
    }
    w->frame = running;
    w->head.regs = regs;
}

void step_matrix(struct warp *w, const struct step *s, uint32_t mask) {
    if (mask != UINT32_MAX) {
        if (w->live & ~mask) {
            warp_park_to_meet(w, mask, s, UINT32_MAX, matrix_meet);
            warp_check_meets(w);
            return;
        }
        tell_missing(w, s, mask);
    }
    const struct matrix *m = matrix_of(w, s);
    if (!m->run(w, s, m)) {
        warp_park(w, mask, s, SPLIT_GROUP, 0);
    }
}
