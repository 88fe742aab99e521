#pragma once
/* pattern: the layout of an access's latest requests.
 *
 * The offsets of a warp's lanes repeat, except for their start. For a request with the
 * learned offsets, the extent, the cost and the way to move its bytes are known
 * (access_lanes.c), which was measured at 2 to 3 times the speed for products in shared
 * memory. When another request comes, a pattern is learned anew; for an access whose
 * requests mostly differ, only now and then, or when one comes a second time. */
#include "gpu/ptx/state/warp.h"

enum pattern_kind {
    PATTERN_SCATTERED,
    PATTERN_CONTIGUOUS, /* all lanes, consecutive */
    PATTERN_UNIFORM,    /* a load of all lanes at one place */
    PATTERN_WORDS,      /* another load of four bytes a lane */
};

#define PATTERN_NEAR 64u /* words of four bytes */

struct lane_pattern {
    uint32_t mask;   /* 0: none is learned */
    uint32_t others; /* requests that differed from the learned one */
    uint32_t other_mask; /* of the latest of them: its lanes, and how far the last one */
    uint64_t other_span; /* lies from the first */
    int32_t low;     /* the lowest of the lanes, relative to the first of mask */
    uint32_t span;   /* bytes from there to the end of the highest */
    uint32_t ideal;  /* the lowest possible cost */
    uint8_t kind;    /* enum pattern_kind */
    uint8_t phase;   /* the lowest lane's offset modulo 4 */
    bool is_shared;  /* the cost is that of shared memory */
    bool near;       /* spans no more than PATTERN_NEAR words: `touched` holds */
    bool grouped;    /* each 8 lanes lie within the 8 words from `groups` on */
    uint8_t groups[WARP_LANES / 8];
    uint8_t cost[32]; /* by the first lane's offset modulo 32 (shared memory: 4); 0: not
                         known yet */
    /* By lane (0 for lanes out of mask): bytes from the first of mask, words from the
     * lowest. */
    uint64_t deltas[WARP_LANES] __attribute__((aligned(64)));
    uint32_t places[WARP_LANES] __attribute__((aligned(64)));
    /* Bits of the shadow's words, starting with the lowest lane's. */
    uint8_t touched[PATTERN_NEAR] __attribute__((aligned(64)));
};

/* A request that differs from the learned one: offsets are in bounds and aligned, lanes
 * out of mask have the offset of the first of mask. size: bytes of a lane. */
struct lane_request {
    const uint64_t *offsets;
    uint32_t mask;
    unsigned size;
    unsigned bytes; /* of an element */
    bool is_store, is_shared;
    bool is_simple; /* fast without a pattern, too */
};
/* cost 0: costs are not counted. */
void pattern_learn(struct lane_pattern *p, const struct lane_request *r, unsigned phase,
                   uint32_t cost, uint32_t ideal);
