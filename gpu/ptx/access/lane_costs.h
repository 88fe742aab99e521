#pragma once
/* lane_costs: the cost of a warp's request (coalescing.h), in vector code without
 * branches. For access_lanes.c, which is compiled for each vector extension. */
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/access/lane_moves.h"

/* The cost of a request. Offsets of lanes out of mask equal the first lane's. */
struct lane_cost {
    uint32_t cost, ideal;
};

LANE_INLINE struct lane_cost cost_contiguous(uint64_t first, bool shared,
                                             const unsigned size) {
    uint32_t ideal = shared ? (size < 4 ? 1 : size / 4) : size;
    uint64_t sectors = ((first + 32 * size - 1) >> 5) - (first >> 5) + 1;
    return (struct lane_cost){shared ? ideal : (uint32_t)sectors, ideal};
}

/* Of shared memory a wavefront for each phase that has lanes. */
LANE_INLINE struct lane_cost cost_uniform(uint32_t mask, bool shared,
                                          const unsigned size) {
    unsigned lanes = !shared || size <= 4 ? 32 : size == 8 ? 16 : 8;
    uint32_t cost = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        cost += (mask >> first & (uint32_t)((UINT64_C(1) << lanes) - 1)) != 0;
    }
    return (struct lane_cost){cost, cost};
}

/* Words in a row, of some of the lanes. first: of lane 0, which may not be one of them. */
LANE_INLINE struct lane_cost cost_words(uint64_t first, uint32_t mask, bool shared) {
    uint64_t words = (uint64_t)mask << (first >> 2 & 7);
    uint32_t sectors = 0;
    for (; words; words >>= 8) {
        sectors += (words & 255) != 0;
    }
    uint32_t ideal = ((uint32_t)__builtin_popcount(mask) + 7) / 8;
    return shared ? (struct lane_cost){1, 1} : (struct lane_cost){sectors, ideal};
}

/* The number of distinct values among 32: a lane counts if no other lane on one side of
 * it has its value. A hash set took 600 cycles. */
#if defined __AVX512CD__
LANE_INLINE uint32_t
distinct(const uint32_t *keys) { /* by conflict detection, 20 cycles */
    __m512i low = _mm512_load_si512(keys), high = _mm512_load_si512(keys + 16);
    __m512i in_low = _mm512_conflict_epi32(low), in_high = _mm512_conflict_epi32(high);
    __m512i turn =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __mmask16 again = _mm512_test_epi32_mask(in_high, in_high);
    for (unsigned k = 0; k < 16; k++) { /* compares each of high with each of low */
        again |= _mm512_cmpeq_epi32_mask(high, _mm512_permutexvar_epi32(turn, low));
        turn = _mm512_add_epi32(turn, _mm512_set1_epi32(1));
    }
    uint32_t all = (uint32_t)again << 16 | _mm512_test_epi32_mask(in_low, in_low);
    return LANES_COUNT - (uint32_t)__builtin_popcount(all);
}
#else
LANE_INLINE uint32_t distinct(const uint32_t *keys) { /* all pairs */
    uint32_t k[2 * LANES_COUNT] __attribute__((aligned(64)));
    uint32_t again[LANES_COUNT] __attribute__((aligned(64))) = {0};
    LANES_FOR {
        k[l] = keys[l];
        k[l + LANES_COUNT] = UINT32_MAX; /* no lane's */
    }
    for (unsigned r = 1; r < LANES_COUNT; r++) {
        LANES_FOR {
            again[l] |= k[l] == k[l + r] ? 1 : 0;
        }
    }
    uint32_t count = LANES_COUNT;
    LANES_FOR {
        count -= again[l];
    }
    return count;
}
#endif

LANE_INLINE struct lane_cost cost_sectors(const uint64_t *o, uint32_t mask,
                                          unsigned size) {
    uint64_t any = 0;
    uint32_t keys[LANES_COUNT] __attribute__((aligned(64)));
    LANES_FOR {
        any |= o[l];
        keys[l] = (uint32_t)(o[l] >> 5);
    }
    struct lane_cost c;
    if (any >> 31 != 0) { /* byte offsets are keys, too */
        coalescing_cost(o, mask, size, false, &c.cost, &c.ideal);
        return c;
    }
    uint32_t addresses = c.cost = distinct(keys);
    if (c.cost < (uint32_t)__builtin_popcount(mask)) { /* else no value occurs twice */
        LANES_FOR {
            keys[l] = (uint32_t)o[l];
        }
        addresses = distinct(keys);
    }
    c.ideal = (addresses * size + 31) / 32;
    return c;
}

static LANES_APART struct lane_cost cost_of(const uint64_t *o, uint32_t mask, bool shared,
                                            unsigned size) {
    struct lane_cost c;
    if (!shared) {
        return cost_sectors(o, mask, size);
    }
    coalescing_cost(o, mask, size, true, &c.cost, &c.ideal);
    return c;
}

LANE_INLINE void count_request(struct access_count *counts, struct lane_cost c) {
    counts->requests++;
    counts->cost += c.cost;
    counts->ideal += c.ideal;
}
