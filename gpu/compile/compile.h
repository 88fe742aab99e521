#pragma once
/* compile: one compilation as it travels between the daemon and a worker.
 *
 * The protocol (2) is JSON-RPC with attachments (frame.h): what is large is attached to a
 * request or an answer, and the worker's supervisor passes it on without looking into it.
 * The greeting is one line; whatever follows may have either framing.
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
 * `rejected`: the compiler said no, diagnostics say why. `crashed`, `timeout`, `memory`:
 * the child died; one diagnostic says so (source "upskilld", code compiler_crashed,
 * compile_timeout, compile_memory). `failed`: neither, for a reason that the diagnostic
 * (compiler_failed) gives. No compiler on the machine: error with
 * data.reason "no_compiler" and data.hint.
 * Cancelled by `$/cancelRequest`: error RPC_REQUEST_CANCELLED, the child is dead by then.
 *
 * On start a worker sends the notification `worker/hello`:
 *   {"protocol": 3, "version", "host", "machine", "confinement": [...],
 *    "toolkits": [{"root", "nvrtc", "major"}], "cuda": is there a CUDA driver?,
 *    "memory": does it take descriptors (COMPILE_CHANNEL_ENV)?}
 * Lines before it (login banners) are skipped by the pool. Request `worker/status`:
 *   {"parents": [{"pid", "prefix_digest"?, "resident_bytes", "idle_ms",
 *   "state": "starting|ready"}], "running": n, "compiler"?: "13.0.88"}.
 * Request `worker/devices`, answered by a process that ends at once:
 *   {"devices": [{"ordinal", "name", "uuid", "compute_capability": "9.0", "sms",
 *    "memory_bytes", "l2_bytes", "sm_clock_mhz", "memory_clock_mhz", "memory_bus_bits",
 *    "memory_bytes_per_s", "compute_mode"}], "driver"?: "13.0" (the CUDA it is made for),
 *    "error"?: {"code": "no_gpu" or CUDA's name, "message", "hint"?}}
 * as CUDA_VISIBLE_DEVICES of the worker orders and limits them; a MIG slice is a device.
 * Request `validate`: gpu/run/validate_run.h. Request `program`:
 * gpu/worker/program_child.h.
 *
 * What is attached to an answer was written by a process that may have been taken over by
 * what it compiled or ran. It can spoil this answer and no other message. */
#include "gpu/compile/compile_options.h"
#include "gpu/source/source_set.h"

#define COMPILE_PROTOCOL 3
/* In the environment of a worker that has a socket to the daemon for descriptors
 * (base/fd_channel.h) as FD_CHANNEL_INHERITED. A request with "parcel" has its files
 * there, an answer's notes with "memory" theirs. */
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
/* The params of `compile`: all but the sources. */
int compile_job_from_json(struct compile_job *ret, const json_t *json, struct err *err);
json_t *compile_job_to_json(const struct compile_job *job);
void compile_job_finish(struct compile_job *job);
