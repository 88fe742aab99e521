#pragma once
/* random: a seeded sequence of pseudorandom numbers, the same on every machine. For
 * secrets use random_hex (hash.h). */
#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15u /* what a number adds to the state */

/* The next number of SplitMix64 (Steele, Lea, Flood 2014); *state starts as the seed. */
uint64_t random_next(uint64_t *state);
