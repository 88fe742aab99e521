#include "gpu/ptx/access/pattern.h"

#define TRIES 32 /* other requests before an access counts as one without a pattern */
#define PAUSE 32 /* of which every so many is looked at */

static enum pattern_kind kind_of(const struct lane_request *r) {
    uint64_t apart = ~r->mask, differ = ~r->mask;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        apart |= r->offsets[l] ^ (r->offsets[0] + l * r->size);
        differ |= r->offsets[l] ^ r->offsets[0];
    }
    bool words = r->bytes == 4 && r->size == 4;
    return apart == 0    ? PATTERN_CONTIGUOUS
           : r->is_store ? PATTERN_SCATTERED
           : differ == 0 ? PATTERN_UNIFORM
           : words       ? PATTERN_WORDS
                         : PATTERN_SCATTERED;
}

/* Which bytes of their words the lanes touch. */
static void touch(struct lane_pattern *p, const struct lane_request *r, uint64_t low) {
    memset(p->touched, 0, sizeof p->touched);
    bits_each(lane, r->mask) {
        uint64_t at = r->offsets[lane] - (low & ~UINT64_C(3));
        for (unsigned k = 0; k < r->size; k++, at++) {
            p->touched[at / 4] |= (uint8_t)(1u << (at & 3));
        }
    }
}

/* Vectors of 8 words: where each 8 lanes find theirs, without reading past the last. */
static void find_groups(struct lane_pattern *p) {
    uint32_t words = p->span / 4;
    p->grouped = p->kind == PATTERN_WORDS && words >= 8 && p->near;
    for (unsigned g = 0; p->grouped && g < WARP_LANES / 8; g++) {
        uint32_t low = words - 8, high = 0;
        for (unsigned l = 8 * g; l < 8 * g + 8; l++) {
            low = p->places[l] < low ? p->places[l] : low;
            high = p->places[l] > high ? p->places[l] : high;
        }
        p->groups[g] = (uint8_t)low;
        p->grouped = high - low < 8;
    }
}

static bool is_known(const struct lane_pattern *p, const struct lane_request *r,
                     uint64_t first) {
    uint64_t differ = (r->mask ^ p->mask) | (r->is_shared ^ p->is_shared);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        differ |= (r->offsets[l] - first) ^ p->deltas[l];
    }
    return differ == 0;
}

/* A loop that some of the lanes go through repeats its requests. */
static bool came_before(struct lane_pattern *p, const struct lane_request *r,
                        uint64_t first) {
    uint64_t span = r->offsets[31 - __builtin_clz(r->mask)] - first;
    bool again = r->mask == p->other_mask && span == p->other_span;
    p->other_mask = r->mask;
    p->other_span = span;
    return again;
}

void pattern_learn(struct lane_pattern *p, const struct lane_request *r, unsigned phase,
                   uint32_t cost, uint32_t ideal) {
    uint64_t first = r->offsets[__builtin_ctz(r->mask)], low = first, high = first;
    bool again = came_before(p, r, first) && !r->is_simple;
    if (++p->others > TRIES && p->others % PAUSE != 0 && !again) {
        return;
    }
    uint8_t known = (uint8_t)(cost < 256 ? cost : 0);
    if (is_known(p, r, first)) { /* but not its cost from there */
        p->cost[phase] = known;
        p->others--;
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        low = r->offsets[l] < low ? r->offsets[l] : low;
        high = r->offsets[l] > high ? r->offsets[l] : high;
    }
    p->mask = 0;
    if (high - low >= INT32_MAX - r->size) {
        return; /* too far apart for what is kept */
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        p->deltas[l] = r->offsets[l] - first;
        p->places[l] = (uint32_t)(r->offsets[l] - low) / 4;
    }
    p->mask = r->mask;
    p->low = (int32_t)(int64_t)(low - first);
    p->span = (uint32_t)(high - low) + r->size;
    p->kind = (uint8_t)kind_of(r);
    p->phase = low & 3;
    p->is_shared = r->is_shared;
    p->near = p->phase + p->span <= 4 * PATTERN_NEAR;
    if (p->near) {
        touch(p, r, low);
    }
    find_groups(p);
    memset(p->cost, 0, sizeof p->cost);
    p->cost[phase] = known;
    p->ideal = ideal;
}
