#pragma once
/* repeat_check: is a kernel that was right once right again?
 *
 * A kernel that keeps something between launches (a counter that it does not reset, a
 * result kept by the address of its inputs) is right the first time. So one finished
 * trial is launched again in the same memory with the same loaded module, on other
 * inputs, and compared once more. */
#include "gpu/run/run_course.h"

/* Once more with seed: 0 when the outputs are right again, 1 when not or when the launch
 * faulted (finding `changes_after_repeats`, beginning with `when`), -EAGAIN when time or
 * budget ended it, other negative errnos when it could not be told. */
int repeat_check(struct course *run, struct trial *t, size_t i, uint64_t seed,
                 const char *when);

/* After the last trial of a case: which case, and whether the budget allows it, is chosen
 * here. The result's "repeat_check": {"verdict": "pass|fail|skipped", "sizes", "seed"}.
 */
void repeat_trial(struct course *run, struct trial *t, size_t i, unsigned k);
