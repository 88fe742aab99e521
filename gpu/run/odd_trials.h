#pragma once
/* odd_trials: what the cases that odd_sizes adds show. */
#include "gpu/run/run_course.h"

/* After the trials of a kernel that is good so far: one trial of each added case. A
 * failure is a warning `odd_size`, because the author may have stated the constraint
 * elsewhere; result "added_cases": [{"sizes", "verdict": "pass|fail|skipped"}]. Skipped
 * is what the budget or the time does not allow. */
void odd_trials(struct course *run);
