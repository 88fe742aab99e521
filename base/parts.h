#pragma once
/* parts: runs a loop in parallel on the cores that this process may use. */
#include "base/mem.h"

/* Runs iterations [from, to); other parts may run at the same time. A negative result
 * ends the whole loop. */
typedef int parts_body(void *data, int64_t from, int64_t to);
typedef bool parts_stopped(void);
/* Cores that this process may use: fewer than the machine's under taskset or in a
 * container. */
int parts_cores(void);
/* Runs iterations [0, count) in parts of at least `least`, which should take about ten
 * microseconds. Returns 0, -ETIME if `stopped` (may be NULL) returned true, or a part's
 * negative result. */
int parts_run(int64_t count, int64_t least, parts_body *body, void *data,
              parts_stopped *stopped);
