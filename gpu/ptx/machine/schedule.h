#pragma once
/* schedule: a launch: distribution of blocks over threads, budget, progress, the end.
 *
 * Every processor keeps some blocks resident and gives them turns; blocks start in order,
 * so a block that waits for an earlier one always progresses. If all of a processor's
 * blocks only poll, it adds more blocks. */
#include "gpu/ptx/state/run.h"

/* Runs all blocks. counters: of the program, added to. */
struct program_counters;
enum machine_end schedule_run(struct run *run, struct program_counters *counters,
                              struct err *err);
