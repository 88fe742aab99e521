#pragma once
/* counters: counts of a program's instructions and accesses, summed over launches.
 *
 * Instructions are counted per basic block when it is entered; lanes that a guard
 * disables are not subtracted. PTX instructions are not the hardware's: ptxas removes
 * moves and unrolls loops again. */
#include "gpu/ptx/state/run.h"

struct program_counters {
    const struct program *program;
    struct block_count *blocks;
    struct access_count *accesses;
    uint64_t branches, divergent, launches;
};

void counters_init(struct program_counters *c, const struct program *program);
void counters_finish(struct program_counters *c);
void counters_add(struct program_counters *c, const struct processor *processor);
/* Of `count` programs (those without a program are skipped): kernel/validate's shape. */
json_t *counters_json(const struct program_counters *programs, size_t count);
