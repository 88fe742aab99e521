#pragma once
/* validate_run: carry out a check spec on a backend.
 *
 * For every case and trial: fresh memory, inputs from the trial's seed, poisoned outputs,
 * the kernel's launches, then the reference in memory of its own, inputs checked
 * unchanged, outputs compared. The first case or trial that ends in a fault ends the run.
 *
 * Request of a worker, `validate`: params
 *   {"seed": "0x…",
 *    "file_bytes"?, "parcel"?: child_io.h, compile.h,
 *    "limits": {"wall_ms", "save_ms"?: for files to leave, after it, "memory_bytes",
 *    "device_bytes", "threads"}}
 * and attached to them
 *   {"spec": kernel/validate's params without sources, "ptx", "reference_ptx"?,
 *    "entries": {"kernel as the spec names it, or \"\"": {"symbol", "name"}, …},
 *    "reference_entries"?: …, "cubin"?, "reference_cubin"?: base64,
 *    "files"?: {"x.npy": [which of the files, …]}}
 * and behind that, or in a parcel, the files (child_io.h). A child is given both objects
 * as one.
 * Answer, attached: kernel/validate's result without "check": {"verdict", "backend",
 * "error"?, "unsupported"?, "seed", "cases", "reference_check"?, "findings", "omitted",
 * "printf", "counters"?, "budget", "checks": those that were made, "unchecked"?: those
 * asked for that this backend cannot make, "saved"?}. While it goes on the worker sends
 * notifications `validate/note`: a note of run_notes.h with "id", the request's. */
#include "base/json.h"
#include "gpu/run/backend.h"

struct run_notes;
struct spec_files;

#define VALIDATE_MAX_PTX (48u << 20)

/* Never fails: what goes wrong is a verdict with its error. files may be NULL: none.
 * notes may be NULL: nothing is told on the way, and files that are asked for go nowhere.
 * New reference. */
json_t *validate_run(const json_t *request, const struct spec_files *files,
                     const struct backend_class *backend, struct run_notes *notes);

/* Ends the run that is going on as a time-out with what it has. Async-signal-safe; any
 * thread. */
void validate_stop(void);
/* The same after so long, by SIGALRM; the clock_ms at which that is. */
uint64_t validate_stop_after(unsigned ms);
