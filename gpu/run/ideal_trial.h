#pragma once
/* ideal_trial: finds out whether a kernel was wrong only because an H100's tensor cores
 * keep few bits of their sums. It repeats the first trial that was compared and differed,
 * with exact sums, at the cost of that trial; it does nothing if all outputs were right,
 * or if no tensor core added floats. */
#include "gpu/run/run_course.h"

/* Call it after the trials. If the result is right with exact sums, the finding
 * `low_precision_accumulation` is at the line of the product. The result gets
 * "ideal_trial": {"verdict": "pass|fail|skipped", "sizes", "seed", "ms"}; skipped: over
 * the budget or the time limit. */
void ideal_trial(struct course *run);
