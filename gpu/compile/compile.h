#pragma once
/* compile: the protocol between the daemon and a worker, and one compilation in it.
 *
 * The protocol is JSON-RPC with attachments (frame.h): large data is attached to a
 * request or an answer, and the worker's supervisor passes it on without parsing it. The
 * greeting is one line; later messages may use either framing.
 *
 * Request `compile`, with source_set JSON attached:
 *   {"include_dirs": ["r0/include"], "options": {…},
 *    "prefix": "#include <cuda/barrier>\n" | null,
 *    "limits": {"wall_ms", "cpu_s", "memory_bytes"}}
 * Answer, all or most of it attached (rpc_peer_allow_attachments joins both):
 *   {"outcome": "compiled|rejected|crashed|timeout|memory|failed", "signal"?,
 *    "compiler": {"name": "nvrtc", "version": "13.0.88"}, "compile_ms": 61.2,
 *    "diagnostics": [finding…], "omitted": 0, "kernels": [… without occupancy …],
 *    "functions": 0 (compiled ones that are no kernels; relocatable code has them),
 *    "confinement": ["landlock", "seccomp", "rlimits"],
 *    "precompiled": "used|made|none", "ptx"?: text, when the options say want_ptx,
 *    "cubin"?: base64, when they say want_cubin and it is not over cubin_text.h's size}
 * `rejected`: the compiler reported errors (diagnostics). `crashed`, `timeout`,
 * `memory`: the child died; one diagnostic says so (source "upskilld", code
 * compiler_crashed, compile_timeout, compile_memory). `failed`: none of these; the
 * diagnostic (compiler_failed) gives the reason. No compiler on the machine: error with
 * data.reason "no_compiler" and data.hint. Cancelled by `$/cancelRequest`: error
 * RPC_REQUEST_CANCELLED; the child is dead by then.
 *
 * On start a worker sends the notification `worker/hello`:
 *   {"protocol": 4, "version", "host", "machine", "confinement": [...],
 *    "toolkits": [{"root", "nvrtc", "major"}], "cuda": whether there is a CUDA driver,
 *    "memory": whether it accepts descriptors (COMPILE_CHANNEL_ENV)}
 * The pool skips lines before it (login banners). Request `worker/status`:
 *   {"parents": [{"pid", "prefix_digest"?, "resident_bytes", "idle_ms",
 *   "state": "starting|ready"}], "running": n, "compiler"?: "13.0.88"}.
 * Request `worker/devices`, answered by a short-lived process:
 *   {"devices": [{"ordinal", "name", "uuid", "compute_capability": "9.0", "sms",
 *    "memory_bytes", "l2_bytes", "sm_clock_mhz", "memory_clock_mhz", "memory_bus_bits",
 *    "memory_bytes_per_s", "compute_mode"}], "driver"?: "13.0" (its CUDA version),
 *    "error"?: {"code": "no_gpu" or CUDA's name, "message", "hint"?}}
 * in the order and selection of the worker's CUDA_VISIBLE_DEVICES; a MIG slice is a
 * device. Request `validate`: gpu/run/validate_run.h. Request `program`:
 * gpu/worker/program_child.h.
 *
 * A process that may be controlled by the code that it compiled or ran wrote the
 * attachment of an answer. It can spoil that answer but no other message. */
#include "gpu/compile/compile_options.h"
#include "gpu/source/source_set.h"

#define COMPILE_PROTOCOL 4
/* Set in the environment of a worker that inherits a socket for descriptors
 * (base/fd_channel.h) as FD_CHANNEL_INHERITED. The attachment and the files of a
 * request with "parcel" and the memory of a note with "memory" come through it. */
#define COMPILE_CHANNEL_NAME "UPSKILLD_CHANNEL"
#define COMPILE_CHANNEL_ENV COMPILE_CHANNEL_NAME "=3"

struct compile_limits {
    unsigned wall_ms;    /* 120 000 */
    unsigned cpu_s;      /* 130 */
    size_t memory_bytes; /* address space: 6 GiB */
};

struct compile_job {
    struct source_set sources;
    char **include_dirs; /* NULL-terminated */
    struct compile_options options;
    char *prefix; /* or NULL */
    struct compile_limits limits;
};
/* The params of `compile`: everything except the sources. */
int compile_job_from_json(struct compile_job *ret, const json_t *json, struct err *err);
json_t *compile_job_to_json(const struct compile_job *job);
void compile_job_finish(struct compile_job *job);
