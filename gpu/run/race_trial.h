#pragma once
/* race_trial: races, where the spec does not say what to look for.
 *
 * A missing barrier mostly passes: the order in which a backend runs threads is one of
 * those that work. Looking for races costs 2 to 8 times a trial, so by default it is one
 * trial more, of a case that is cheap enough: the first that failed, whose cause it may
 * be, else the largest. */
#include "gpu/run/run_course.h"

/* After the trials: the findings `race` and `global_race` of that trial, errors and
 * warnings, are the run's; nothing else of it is. "race" is then among the result's
 * "checks". Not made: when the spec names its checks, on a device, without a verdict of
 * pass or fail so far, or where every case is too large. */
void race_trial(struct course *run);
