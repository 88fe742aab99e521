#pragma once
/* validate_run: runs a check spec on a backend.
 *
 * For every case and trial: new memory, inputs from the trial's seed, poisoned outputs,
 * the kernel's launches, then the reference in separate memory, a check that inputs are
 * unchanged, and the comparison of outputs. The first case or trial that ends in a fault
 * ends the run.
 *
 * Request of a worker, `validate`: params
 *   {"seed": "0x…",
 *    "file_bytes"?, "parcel"?: child_io.h, compile.h,
 *    "limits": {"wall_ms", "save_ms"?: more time to send files, "memory_bytes",
 *    "device_bytes", "threads"}}
 * and attached to them
 *   {"spec": kernel/validate's params without sources, "ptx", "reference_ptx"?,
 *    "entries": {"kernel as the spec names it, or \"\"": {"symbol", "name"}, …},
 *    "reference_entries"?: …, "cubin"?, "reference_cubin"?: base64,
 *    "files"?: {"x.npy": [which of the files, …]}}
 * followed by the files, unless they are in a parcel (child_io.h). A child gets both
 * objects as one.
 * Answer, attached: kernel/validate's result without "check": {"verdict", "backend",
 * "error"?, "unsupported"?, "seed", "cases", "reference_check"?, "findings", "omitted",
 * "printf", "counters"?, "budget", "checks": those that were made, "unchecked"?:
 * requested ones that were not, "saved"?}. While it runs, the worker sends
 * notifications `validate/note`: a note of run_notes.h with "id", the request's. */
#include "gpu/run/backend.h"

struct run_notes;
struct spec_files;

#define VALIDATE_MAX_PTX (48u << 20)

/* Never fails: errors are verdicts with "error". files may be NULL: none. notes may be
 * NULL: no progress, and no files are sent. A new reference. */
json_t *validate_run(const json_t *request, const struct spec_files *files,
                     const struct backend_class *backend, struct run_notes *notes);

/* Ends the current run as a timeout with its results so far. Async-signal-safe; any
 * thread. */
void validate_stop(void);
/* The same after `ms`, by SIGALRM; returns the clock_ms of the end. */
uint64_t validate_stop_after(unsigned ms);
