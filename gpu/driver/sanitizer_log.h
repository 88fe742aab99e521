#pragma once
/* sanitizer_log: parses compute-sanitizer's output into findings. Pure.
 *
 * The log is that of `--log-file`, or its standard output mixed with a program's own
 * text: only lines that begin with "=========" count. The formats are those of NVIDIA's
 * manual of the Compute Sanitizer and of published logs, older and newer ("at 0x70 in
 * k.cu:53:axpy(float*)" and "at axpy(float*)+0x70 in k.cu:53"; "size 4000 bytes" and
 * "size 4,000 bytes"); places need code compiled with -lineinfo.
 *
 * An unknown message with a place becomes a finding with its text, code `launch_error`,
 * and so does a summary that counts errors of which none was parsed: no error that the
 * tool reports is dropped. For a function that a kernel calls, the finding names the
 * kernel, and the call's place is related. */
#include "base/json.h"

#define SANITIZER_LOG_MAX_FINDINGS 100

struct sanitizer_log {
    /* Array of findings of source "run": out_of_bounds, misaligned (memcheck), race
     * (racecheck), uninitialized (initcheck), barrier_divergence, invalid_mask
     * (synccheck), launch_error. Equal ones at one place are merged, with a "count". */
    json_t *findings;
    uint64_t omitted;
    bool ended;        /* there is a summary at the end: the tool completed */
    uint64_t reported; /* errors or hazards according to the summary */
    char trouble[200]; /* why the tool itself failed; "" = it did not */
};

/* Never fails. Finish it. */
void sanitizer_log_read(struct sanitizer_log *ret, const char *text, size_t len);
void sanitizer_log_finish(struct sanitizer_log *log);
