#pragma once
/* race_copy: identifies a copy for the race detector (race.h). */
#include <stdint.h>

/* One copy, or several that complete together. */
struct race_copy {
    uint32_t block, warp; /* that issued it */
    uint32_t stamp;       /* 0: races are not checked */
};
