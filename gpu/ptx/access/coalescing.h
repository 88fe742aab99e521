#pragma once
/* coalescing: the cost of a warp's access on sm_90, by counting rules, not by timing.
 *
 * Global memory: sectors = distinct 32-byte pieces touched; ideal = distinct bytes / 32,
 * rounded up. Shared memory: 32 banks of 4 bytes; wavefronts = for each phase of lanes
 * (32 lanes of up to 4 bytes, 16 of 8, 8 of 16) the most distinct words in one bank;
 * ideal = phases. NVIDIA does not document how two half-warps of a 64-bit access pair up
 * when lanes are inactive: there this is a model. */
#include <stdint.h>

struct access_count;

/* The cost of one request. offsets: of every lane (those out of mask are ignored),
 * aligned to `bytes`. */
void coalescing_cost(const uint64_t offsets[32], uint32_t mask, unsigned bytes,
                     int is_shared, uint32_t *ret_cost, uint32_t *ret_ideal);
/* The most lanes of mask (not 0) at one address: atomics there run one after the
 * other. */
uint32_t coalescing_most_at_one(const uint64_t addresses[32], uint32_t mask);
/* Adds one request. */
void coalescing_count(struct access_count *count, const uint64_t offsets[32],
                      uint32_t mask, unsigned bytes, int is_shared);
