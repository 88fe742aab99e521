#pragma once
/* repeat_check: whether a kernel that was right is right when launched again.
 *
 * A kernel that keeps state between launches (a counter that it does not reset, a result
 * cached by the address of its inputs) is right the first time. So one finished trial is
 * launched again in the same memory with the same loaded module on other inputs, and
 * compared again. */
#include "gpu/run/run_course.h"

/* Launches again with seed: 0 if the outputs are right again, 1 if not or if the launch
 * faulted (finding `changes_after_repeats`, beginning with `when`), -EAGAIN if time or
 * budget ended it, another negative errno if there is no result. */
int repeat_check(struct course *run, struct trial *t, size_t i, uint64_t seed,
                 const char *when);

/* Call it after the last trial of a case: it chooses the case, and checks the budget. The
 * result gets "repeat_check": {"verdict": "pass|fail|skipped", "sizes", "seed"}. */
void repeat_trial(struct course *run, struct trial *t, size_t i, unsigned k);
