#pragma once
/* odd_trials: runs the cases that odd_sizes adds. */
#include "gpu/run/run_course.h"

/* Call it after the trials of a kernel without failures: runs one trial of each added
 * case. A failure is a warning `odd_size`, because the author may have stated the
 * constraint elsewhere; the result gets "added_cases": [{"sizes", "verdict":
 * "pass|fail|skipped"}]. Skipped: over the budget or the time limit. */
void odd_trials(struct course *run);
