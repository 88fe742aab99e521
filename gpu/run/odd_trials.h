#pragma once
/* odd_trials: runs the cases that odd_sizes adds. */
#include "gpu/run/run_course.h"

/* Call it after the trials of a kernel without failures: runs one trial of each added
 * case. A failure is the finding `odd_size` at the place of its first error. It is an
 * error if the spec's own grid is rounded up for such sizes and a half full last block
 * fails too; else a warning, because the author may have stated the constraint elsewhere.
 * The result gets "added_cases": [{"sizes", "verdict": "pass|fail|skipped"}]. Skipped:
 * over the budget or the time limit. */
void odd_trials(struct course *run);
