#pragma once
/* ideal_trial: is a kernel that was wrong only wrong because an H100's tensor cores keep
 * few bits of their sums?
 *
 * One trial more, of the first that was compared and differed, with ideal sums. It costs
 * what that trial did; nothing is run where all outputs were right, or no tensor core
 * added floats. */
#include "gpu/run/run_course.h"

/* After the trials. Right with ideal sums: the finding `low_precision_accumulation` at
 * the line of the product. The result's "ideal_trial": {"verdict": "pass|fail|skipped",
 * "sizes", "seed", "ms"}; skipped is what the budget or the time does not allow. */
void ideal_trial(struct course *run);
