#pragma once
/* sanitizer_log: what compute-sanitizer wrote, as findings.
 *
 * Pure. The log is that of `--log-file`, or its standard output with a program's own text
 * between: only lines that begin with "=========" count. The shapes are those of
 * NVIDIA's manual of the Compute Sanitizer and of published logs, of the older and the
 * newer kind ("at 0x70 in k.cu:53:axpy(float*)" and "at axpy(float*)+0x70 in k.cu:53";
 * "size 4000 bytes" and "size 4,000 bytes"); places need code that was compiled with
 * -lineinfo. A head that is not known but has a place is a finding with its words, code
 * `launch_error`, and so is a summary that counts errors of which none was understood:
 * nothing the tool complains about is dropped. Of a function that a kernel calls the
 * kernel is named, and the call's place is related. */
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

#define SANITIZER_LOG_MAX_FINDINGS 100

struct sanitizer_log {
    /* Array of findings of source "run": out_of_bounds, misaligned (memcheck), race
     * (racecheck), uninitialized (initcheck), barrier_divergence, invalid_mask
     * (synccheck), launch_error. Equal ones at one place are one, with a "count". */
    json_t *findings;
    uint64_t omitted;
    bool ended;        /* a summary stands at the end: the tool came to its end */
    uint64_t reported; /* errors or hazards by that summary */
    char trouble[200]; /* why the tool itself could not do its work; "" = it could */
};

/* Never fails. Finish it. */
void sanitizer_log_read(struct sanitizer_log *ret, const char *text, size_t len);
void sanitizer_log_finish(struct sanitizer_log *log);
