#pragma once
/* schedule: a launch: blocks over threads, budget, progress, the end.
 *
 * Every processor keeps some blocks resident and gives them turns; blocks start in order,
 * so what waits for an earlier block always progresses. When all of a processor's blocks
 * only poll, it takes more of them in. */
#include "gpu/ptx/state/run.h"

/* Runs all blocks. counters: of the program, added to. */
struct program_counters;
enum machine_end schedule_run(struct run *run, struct program_counters *counters,
                              struct err *err);
