#pragma once
/* lane_pattern: handles a request that matches the learned pattern (pattern.h). For
 * access_lanes.c, which is compiled for each vector extension. */
#include "gpu/ptx/access/lane_costs.h"
#include "gpu/ptx/access/pattern.h"

/* The widest vector of the extension: compilers break up wider ones through memory. */
#if defined __AVX512F__
#define ROW_BYTES 64
#elif defined __AVX2__
#define ROW_BYTES 32
#else
#define ROW_BYTES 16
#endif
typedef uint64_t row
    __attribute__((vector_size(ROW_BYTES), aligned(ROW_BYTES), may_alias));
typedef uint64_t row_anywhere
    __attribute__((vector_size(ROW_BYTES), aligned(1), may_alias));
typedef int64_t row_signed __attribute__((vector_size(ROW_BYTES)));
typedef int32_t half_row __attribute__((vector_size(ROW_BYTES / 2), may_alias));

LANE_INLINE bool row_is_zero(row x) {
#if defined __AVX512F__
    return _mm512_test_epi64_mask((__m512i)x, (__m512i)x) == 0;
#elif defined __AVX2__
    return _mm256_testz_si256((__m256i)x, (__m256i)x);
#else
    return (x[0] | x[1]) == 0;
#endif
}

/* Whether the lanes' addresses (base) have the learned distances. */
LANE_INLINE bool pattern_repeats(const struct lane_pattern *p, const struct warp *w,
                                 const uint64_t *base, uint32_t mask, uint64_t first) {
    const row *address = (const row *)(const void *)base;
    const row *delta = (const row *)(const void *)p->deltas;
    const half_row *on = (const half_row *)(const void *)w->masks;
    row differ = {0};
    for (unsigned k = 0; k < LANES_COUNT * 8 / ROW_BYTES; k++) {
        row other = (address[k] - first) ^ delta[k];
        if (mask != UINT32_MAX) {
            other &= (row) __builtin_convertvector(on[k], row_signed);
        }
        differ |= other;
    }
    return row_is_zero(differ);
}

/* Whether all bytes that a load touches are initialised. shadow: of the lowest lane's
 * word. */
LANE_INLINE bool pattern_is_set(const struct lane_pattern *p, const uint8_t *shadow,
                                const unsigned size) {
    if (p->near) {
        const row *touched = (const row *)(const void *)p->touched;
        const row_anywhere *is = (const row_anywhere *)(const void *)shadow;
        row missing = {0};
        for (unsigned k = 0; k < PATTERN_NEAR / ROW_BYTES; k++) {
            missing |= touched[k] & ~is[k];
        }
        return row_is_zero(missing);
    }
    if (p->kind == PATTERN_CONTIGUOUS) {
        return shadow_contiguous_set(shadow, size * LANES_COUNT / 4);
    }
    uint8_t all = 0x0f; /* WORDS */
    for (unsigned l = 0; l < LANES_COUNT; l++) {
        all &= shadow[p->places[l]];
    }
    return all == 0x0f;
}

#if defined __AVX512F__
/* host: of the lowest lane. Within 32 words two loads and two permutations take 5 cycles,
 * gathers 31. Masked: nothing after the highest lane is read. */
LANE_INLINE void load_words(uint8_t *to, const uint8_t *host,
                            const struct lane_pattern *p, uint32_t mask) {
    __m512i place[2] = {_mm512_load_si512(p->places), _mm512_load_si512(p->places + 16)};
    __m512i v[2];
    if (p->span <= 128) {
        uint32_t words = (uint32_t)((UINT64_C(1) << p->span / 4) - 1);
        __m512i low = _mm512_maskz_loadu_epi32((__mmask16)words, host);
        __m512i high = _mm512_maskz_loadu_epi32((__mmask16)(words >> 16), host + 64);
        v[0] = _mm512_permutex2var_epi32(low, place[0], high);
        v[1] = _mm512_permutex2var_epi32(low, place[1], high);
    } else {
        v[0] = _mm512_i32gather_epi32(place[0], host, 4);
        v[1] = _mm512_i32gather_epi32(place[1], host, 4);
    }
    _mm512_mask_store_epi32(to, (__mmask16)mask, v[0]);
    _mm512_mask_store_epi32(to + 64, (__mmask16)(mask >> 16), v[1]);
}
#else
LANE_INLINE void load_words(uint8_t *to, const uint8_t *host,
                            const struct lane_pattern *p, uint32_t mask) {
    const u32_alias *from = (const u32_alias *)(const void *)host;
    u32_alias *v = __builtin_assume_aligned(to, 64);
#if defined __AVX2__
    if (mask == UINT32_MAX && p->grouped) { /* half the time of 32 loads */
        for (unsigned g = 0; g < LANES_COUNT / 8; g++) {
            __m256i first = _mm256_set1_epi32(p->groups[g]);
            __m256i place =
                _mm256_load_si256((const __m256i *)(const void *)(p->places + 8 * g));
            __m256i words =
                _mm256_loadu_si256((const __m256i *)(const void *)(from + p->groups[g]));
            place = _mm256_sub_epi32(place, first);
            _mm256_store_si256((__m256i *)(void *)(v + 8 * g),
                               _mm256_permutevar8x32_epi32(words, place));
        }
        return;
    }
#endif
    if (mask == UINT32_MAX) {
        LANES_FOR {
            v[l] = from[p->places[l]];
        }
        return;
    }
    bits_each(l, mask) {
        v[l] = from[p->places[l]];
    }
}
#endif

/* Moves the bytes of lanes that are not consecutive; the short, frequent cases are
 * handled elsewhere. at: of the offset 0; start: the lowest lane's. Here and below, false
 * means that nothing was done. */
typedef bool pattern_scatter(struct warp *w, const struct access *a,
                             const struct lane_pattern *p, struct lane_window at,
                             uint64_t start, uint32_t mask);

LANE_INLINE bool pattern_scattered(struct warp *w, const struct access *a,
                                   const struct lane_pattern *p, struct lane_window at,
                                   uint64_t start, uint32_t mask, const bool store,
                                   const unsigned bytes, const unsigned count) {
    uint64_t o[LANES_COUNT] __attribute__((aligned(64)));
    uint64_t first = start - (uint64_t)(int64_t)p->low;
    LANES_FOR {
        o[l] = first + p->deltas[l];
    }
    if (at.shadow && !store && p->near) {
        if (!pattern_is_set(p, at.shadow + (start >> 2), bytes * count)) {
            return false;
        }
        at.shadow = NULL;
    }
    return move_scattered(w, a, at, o, mask, store, bytes, count);
}

LANE_INLINE bool pattern_move(struct warp *w, const struct access *a,
                              const struct lane_pattern *p, struct lane_window at,
                              uint64_t start, uint32_t mask, pattern_scatter *scatter,
                              const bool store, const unsigned bytes,
                              const unsigned count) {
    if (p->kind == PATTERN_SCATTERED) {
        return scatter(w, a, p, at, start, mask);
    }
    if (store) {
        return move_contiguous(w, a, at, start, true, bytes, count);
    }
    if (at.shadow && !pattern_is_set(p, at.shadow + (start >> 2), bytes * count)) {
        return false;
    }
    at.shadow = NULL;
    if (p->kind == PATTERN_CONTIGUOUS) {
        return move_contiguous(w, a, at, start, false, bytes, count);
    }
    if (p->kind == PATTERN_UNIFORM) {
        return load_uniform(w, a, at, start, UINT32_MAX, bytes, count);
    }
    if (bytes == 4 && a->registers[0] != STEP_NO_REGISTER) {
        load_words(LANES(uint8_t, w, a->registers[0]), at.host + start, p, mask);
    }
    return true;
}

/* The memory of a request: addresses minus `space` are offsets, which may be in `in`. */
struct lane_space {
    uint64_t space;
    struct shared_extent in;
    struct lane_window at;
    bool is_shared;
};

/* Executes a request that matches the learned one. false: it is another one, or something
 * about it must be checked. */
LANE_INLINE bool pattern_again(struct warp *w, const struct step *s, uint32_t mask,
                               const struct lane_space to, pattern_scatter *scatter,
                               const bool store, const unsigned bytes,
                               const unsigned count) {
    const unsigned size = bytes * count;
    struct processor *processor = w->processor;
    const struct lane_pattern *p = &processor->patterns[s->extra];
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t lane = base[__builtin_ctz(mask)];
    uint64_t first = lane + (uint64_t)s->offset - to.space;
    uint64_t start = first + (uint64_t)(int64_t)p->low;
    if (mask != p->mask || to.is_shared != p->is_shared || start < to.in.low ||
        start >= to.in.high || to.in.high - start < p->span ||
        (first & (size - 1)) != 0 || (size < 4 && (start & 3) != p->phase) ||
        !pattern_repeats(p, w, base, mask, lane)) {
        return false;
    }
    uint32_t cost = p->cost[first & (to.is_shared ? 3 : 31)];
    bool counts = processor->run->count;
    const struct access *a = &processor->run->program->accesses[s->extra];
    if ((counts && cost == 0) ||
        !pattern_move(w, a, p, to.at, start, mask, scatter, store, bytes, count)) {
        return false;
    }
    if (counts) {
        count_request(&processor->accesses[s->extra], (struct lane_cost){cost, p->ideal});
    }
    return true;
}
