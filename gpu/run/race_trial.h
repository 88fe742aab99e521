#pragma once
/* race_trial: looks for races if the spec does not name its checks.
 *
 * A missing barrier mostly passes, because a backend runs threads in an order that
 * happens to work. Looking for races makes a trial 2 to 8 times slower, so by default it
 * is done in one more trial, of a case that is cheap enough: the first that failed, since
 * a race may be the cause, otherwise the largest. */
#include "gpu/run/run_course.h"

/* Call it after the trials. Of that trial only what race_trial_finds, errors and warnings,
 * is added to the run. Then "race" is among the result's "checks". It is not made if the
 * spec names its checks, on a device, without a verdict of pass or fail so far, or if
 * every case is too large. */
void race_trial(struct course *run);

/* Whether the check for races may find it. (A proxy's missing fence is found without the
 * check too, and known by then.) */
bool race_trial_finds(const json_t *finding);

/* The same trial of case i in a run that is good so far: whether it fails. */
bool race_trial_fails(struct course *run, size_t i);
