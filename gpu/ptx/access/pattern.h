#pragma once
/* pattern: what an access's latest requests looked like.
 *
 * Offsets of a warp's lanes repeat, but for where they begin: of a request with the
 * offsets that were learned, its extent, its cost and the way in which its bytes move are
 * known (access_lanes.c), which was measured at 2 to 3 times the speed for products in
 * shared memory. A pattern is learned anew when another request comes; of an access whose
 * requests are mostly others, now and then only. */
#include "gpu/ptx/state/warp.h"

enum pattern_kind {
    PATTERN_SCATTERED,
    PATTERN_CONTIGUOUS, /* all lanes, one behind the other */
    PATTERN_UNIFORM,    /* a load of all lanes at one place */
    PATTERN_WORDS,      /* another load of four bytes a lane */
};

#define PATTERN_NEAR 64u /* words of four bytes */

struct pattern {
    uint32_t mask;   /* 0: none is learned */
    uint32_t others; /* requests that were not as learned */
    int32_t low;     /* the lowest of the lanes, relative to the first of mask */
    uint32_t span;   /* bytes from there to the end of the highest */
    uint32_t ideal;  /* cost at best */
    uint8_t kind;    /* enum pattern_kind */
    uint8_t phase;   /* the lowest lane's offset modulo 4 */
    bool is_shared;  /* that memory is what the cost is of */
    bool near;       /* spans no more than PATTERN_NEAR words: `touched` holds */
    bool grouped;    /* each 8 lanes lie within the 8 words from `groups` on */
    uint8_t groups[WARP_LANES / 8];
    uint8_t cost[32]; /* by the first lane's offset modulo 32 (shared memory: 4); 0: not
                         known yet */
    /* By lane, of those out of mask 0: bytes from the first of mask, words from the
     * lowest.
     */
    uint64_t deltas[WARP_LANES] __attribute__((aligned(64)));
    uint32_t places[WARP_LANES] __attribute__((aligned(64)));
    /* Bits of the shadow's words from the lowest lane's on. */
    uint8_t touched[PATTERN_NEAR] __attribute__((aligned(64)));
};

/* A request that is not as learned: offsets in bounds and aligned, lanes out of mask
 * where the first of mask is; size: bytes of a lane. */
struct lane_request {
    const uint64_t *offsets;
    uint32_t mask;
    unsigned size;
    unsigned bytes; /* of an element */
    bool is_store, is_shared;
};
/* cost 0: nobody counts. */
void pattern_learn(struct pattern *p, const struct lane_request *r, unsigned phase,
                   uint32_t cost, uint32_t ideal);
