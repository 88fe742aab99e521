#include "base/random.h"

uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += RANDOM_STEP;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
