#pragma once
/* random: a sequence of numbers that a seed decides, the same on every machine. For secrets
 * see random_hex (hash.h). */
#include <stdint.h>

#define RANDOM_STEP 0x9e3779b97f4a7c15u /* what a number adds to the state */

/* The next of SplitMix64's numbers (Steele, Lea, Flood 2014); *state begins as the seed. */
uint64_t random_next(uint64_t *state);
