#pragma once
/* program_result: kernel/run's result, from the compilation, the end of the program and
 * the report of our runtime library. */
#include "base/buf.h"
#include "gpu/worker/program_report.h"
#include "gpu/worker/program_stage.h"

enum { PROGRAM_THREADS = 4096 }; /* that a program may have at once */

struct program_ran {
    struct program_end end;
    struct buf out, error;
    unsigned wall_ms, work_ms; /* the limits that it had */
    size_t memory_bytes;       /* likewise */
    bool strict;
    const json_t *checks; /* the names asked for; NULL: the default */
};

/* ran NULL: it was not run. New reference. */
json_t *program_result(const struct program_built *built, const struct program_ran *ran,
                       const struct program_report *report);
