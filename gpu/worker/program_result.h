#pragma once
/* program_result: kernel/run's result, from what was compiled, how the program ended and
 * what our runtime library told. */
#include "base/buf.h"
#include "gpu/worker/program_report.h"
#include "gpu/worker/program_stage.h"

struct program_ran {
    struct program_end end;
    struct buf out, error;
    unsigned wall_ms;    /* that it had */
    size_t memory_bytes; /* likewise */
    bool strict;
};

/* NULL ran: it was not run. New reference. */
json_t *program_result(const struct program_built *built, const struct program_ran *ran,
                       const struct program_report *report);
