#pragma once
/* program_report: the report of our runtime library on a program
 * (gpu/runtime/run_report.h), as members of kernel/run's result.
 *
 * The lines were written by a process that ran others' code: they may contain anything.
 * All text is cleaned, and files have the names that the user knows. */
#include "gpu/worker/program_build.h"

struct program_report {
    bool began;         /* the library wrote its first line */
    bool called, ended; /* a CUDA function; the library wrote its last line */
    json_t *launches;  /* [{"kernel", "grid", "block", "times", "file"?, "line"?, …}] */
    json_t *findings;  /* the one shape, with the host's call site as related place */
    json_t *api_errors;  /* [{"function", "error", "count", "file"?, "line"?, …}] */
    json_t *leaks;       /* [{"kind", "bytes", "count", "file"?, "line"?}] */
    json_t *unsupported; /* [{"what", "message"}] */
    json_t *limits;      /* [{"which", "message"}] */
    json_t *skipped;     /* {"launches", "sets", "kernels"}; NULL: none */
    json_t *counters;    /* [{…}], of each module; NULL: none */
    json_t *record;      /* the launch that was requested (run_report.h); NULL: none */
    json_int_t omitted_rows;    /* rows omitted from the other lists, which are limited */
    json_int_t omitted;         /* findings that it omitted */
    json_int_t first_launch_us; /* since the library was loaded; 0: not known */
};
/* lines: what the library wrote. */
void program_report_read(struct program_report *ret, const struct build_job *job,
                         const struct buf *lines);
void program_report_finish(struct program_report *r);
