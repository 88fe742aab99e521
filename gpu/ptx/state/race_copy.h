#pragma once
/* race_copy: the name that a race detector (race.h) gives a copy. */
#include <stdint.h>

/* Names one copy, or several that are complete together. */
struct race_copy {
    uint32_t block, warp; /* that issued it */
    uint32_t stamp;       /* 0: no races are looked for */
};
