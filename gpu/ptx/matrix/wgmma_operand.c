#include "gpu/ptx/matrix/wgmma_operand.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

struct wgmma_operand wgmma_operand_of(uint64_t descriptor, unsigned first, unsigned rows,
                                      bool transposed) {
    static const uint8_t swizzles[4] = {1, 8, 4, 2};
    return (struct wgmma_operand){.start = (descriptor & 0x3fff) << 4,
                                  .lead = (descriptor >> 16 & 0x3fff) << 4,
                                  .stride = (descriptor >> 32 & 0x3fff) << 4,
                                  .base = descriptor >> 49 & 7,
                                  .swizzle = swizzles[descriptor >> 62],
                                  .first = first,
                                  .rows = rows,
                                  .transposed = transposed,
                                  .doubled = 0};
}

/* Pieces of 16 bytes: two of each row or, transposed, 16 lines of k with a piece for each
 * eight rows. */
static unsigned piece_count(const struct wgmma_operand *o) {
    return (o->transposed ? o->rows / 8 * 16 : o->rows * 2) << o->doubled;
}

/* In units of 16 bytes, canonical layouts: along k ((8,m),2):((W,SBO),1 or LBO), across
 * it ((W,m),(8,2)):((1,LBO),(W,SBO)), without swizzle ((1,m),(8,2)):((-,SBO),(1,LBO));
 * then bits 4-6 of the address are changed by its bits 7-9. */
static uint64_t piece_offset(const struct wgmma_operand *o, unsigned piece) {
    unsigned w = o->swizzle, turns = (unsigned)__builtin_ctz(w);
    uint64_t at = o->start;
    if (o->transposed) {
        unsigned bits = 4 + o->doubled, k = piece & ((1u << bits) - 1);
        unsigned unit = o->first / 8 + (piece >> bits);
        at += w == 1
                  ? unit * o->stride + k / 8 * o->lead
                  : (unit & (w - 1)) * 16 + (unit >> turns) * o->lead + k / 8 * o->stride;
        at += (uint64_t)(k % 8) * w * 16;
    } else {
        unsigned bits = 1 + o->doubled, k = piece & ((1u << bits) - 1);
        unsigned row = o->first + (piece >> bits);
        at += (uint64_t)(row % 8) * w * 16 + row / 8 * o->stride;
        at += w == 1 ? k * o->lead : (k & (w - 1)) * 16 + (k >> turns) * o->lead;
    }
    uint64_t line = (at >> 7) - o->base;
    return at ^ (line & (w - 1)) << 4;
}

static uint64_t mix(uint64_t sum, const uint8_t *piece) {
    uint64_t x[2];
    memcpy(x, piece, sizeof x);
    sum = (sum ^ x[0]) * UINT64_C(0x9e3779b97f4a7c15);
    sum = (sum ^ x[1] ^ sum >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return sum ^ sum >> 32;
}

uint64_t wgmma_operand_sum(const struct block *b, const struct wgmma_operand *o) {
    uint64_t sum = 0;
    for (unsigned k = 0; k < piece_count(o); k++) {
        uint64_t at = piece_offset(o, k);
        if (at + 16 <= b->shared_bytes) {
            sum = mix(sum, b->shared + at);
        }
    }
    return sum;
}

/* CUTLASS lets wgmma read what cp.async brought with no fence of the proxy; so may
 * others. */
static void check_proxy(struct warp *w, const struct step *s, uint64_t at) {
    proxy_check(
        &(struct proxy_reader){
            .warp = w, .step = s, .words = "wgmma", .passes_copies = true},
        w->block, at, 16);
}

static const uint8_t *piece_at(struct warp *w, const struct step *s, uint64_t at,
                               struct race_copy race) {
    const struct block *b = w->block;
    uint32_t set = 0x0f0f0f0f;
    race_copy_touch(w, s, 0, w->block, at, 16, RACE_READ, race);
    if (at + 16 <= b->shared_bytes) {
        if (b->shared_shadow) {
            memcpy(&set, b->shared_shadow + at / 4, 4);
        }
        if (set & 0xf0f0f0f0) {
            check_proxy(w, s, at);
        }
        if ((set & 0x0f0f0f0f) == 0x0f0f0f0f) {
            return b->shared + at;
        }
    }
    uint8_t *shadow;
    return access_resolve(w, s, 0, at, PTX_SHARED, 16, true, false, &shadow);
}

uint64_t wgmma_operand_take(struct warp *w, const struct step *s,
                            const struct wgmma_operand *o, struct race_copy race,
                            uint8_t *to) {
    static const uint8_t nothing[16];
    uint64_t sum = 0;
    for (unsigned k = 0; k < piece_count(o); k++) {
        const uint8_t *from = piece_at(w, s, piece_offset(o, k), race);
        sum = from ? mix(sum, from) : sum;
        from = from ? from : nothing;
        if (!o->transposed) {
            memcpy(to + (size_t)k * 16, from, 16);
            continue;
        }
        for (unsigned r = 0; r < 8; r++) { /* a piece is eight rows of one k: halves */
            unsigned bits = 4 + o->doubled;
            memcpy(to + ((k >> bits) * 8 + r) * ((size_t)ROW_BYTES << o->doubled) +
                       (size_t)(k & ((1u << bits) - 1)) * 2,
                   from + (size_t)r * 2, 2);
        }
    }
    return sum;
}
