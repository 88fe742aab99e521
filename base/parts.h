#pragma once
/* parts: a loop, spread over the cores that this process may use. */
#include <stdbool.h>
#include <stdint.h>

/* Turns [from, to) of a loop; those of others may run at the same time. Negative ends the
 * whole loop. */
typedef int parts_body(void *data, int64_t from, int64_t to);
typedef bool parts_stopped(void);
/* All turns [0, count), at least `least` of them together: give as many as take some ten
 * microseconds. 0; -ETIME once `stopped` (NULL = never) said so; what a part returned. */
int parts_run(int64_t count, int64_t least, parts_body *body, void *data,
              parts_stopped *stopped);
