#pragma once
/* validate_timing: times a kernel that is right.
 *
 * After the trials of a check that asks for it ("benchmark", "roofline"), the largest
 * case is placed in fresh memory and timed, and so is its reference kernel; then its
 * outputs are checked once more. If the backend's time means nothing (the emulator), the
 * finding `no_timing` says so, and the roofline is a bound for an H100. A kernel that is
 * not right is not timed. */
#include "gpu/run/run_course.h"

/* Sets "timing" and "roofline" of the result; findings no_timing, not_timed, too_fast,
 * changes_after_repeats. */
void validate_timing(struct course *run);
