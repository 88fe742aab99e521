#pragma once
/* run_report: the report of a program that runs on our libcudart.
 *
 * Two environment variables configure it. Without them the program runs too, and the
 * library writes its findings to standard error at the end.
 *
 * UPSKILLD_RUN_CONFIG: path of a JSON file, each member optional:
 *   {"checks": ["memory", "initialized", "race", "barrier"]  (default: all but race),
 *    "run_all_launches": true  (skip no launch that would change nothing),
 *    "launches": N             (limit; the next one fails, event "limit"),
 *    "work": N                 (limit in lane-instructions of all launches),
 *    "memory": BYTES           (of the device; default 80 GiB),
 *    "threads": N              (host threads for kernels; default: all CPUs),
 *    "record": {"kernel": name}  (record its first launch, then end the program)}
 *
 * UPSKILLD_RUN_REPORT: path of a file or named pipe to which lines are appended, each a
 * JSON object with "event". A line is complete or missing, so the report of a killed program
 * is readable; at most RUN_REPORT_MAX_LINES and RUN_REPORT_MAX_BYTES in all. A line with
 * an "id" replaces the earlier one of the same event and id.
 *
 *   {"event": "begin", "pid", "version": 1}
 *   {"event": "launch", "id", "kernel": mangled name, "grid": [x, y, z], "block": [x, y,
 *    z], "cluster"?, "shared_bytes"?, "cooperative"?, "times", "host"}
 *   {"event": "finding", "id", "finding": see protocol/finding.h, "host"?: of the
 *    launch or call, "other"?, "other_host"?: what the second call is, as of the copy by
 *    which a launch's uninitialized value came to the host, and its place; "third"?,
 *    "third_host"? likewise; "constant"?:
 *    of unset_constant the variable's name, without its namespace: it is no finding if
 *    the source initialises it; a finding of the library itself has "source": "run" and
 *    no place}
 *   {"event": "api_error", "id", "function", "error": "cudaErrorInvalidValue", "code": 1,
 *    "count", "looked_at": the program called cudaGetLastError or cudaPeekAtLastError
 *    afterwards, or asked for an error's name or text, "message"?: the reason, "host",
 *    "later"?: calls that failed because this error lasts, "later_calls"?: the first few
 *    places of them, [{"function", "host"}]}
 *   {"event": "leak", "id", "bytes", "count", "kind": "device" "managed" "pinned"
 *    "registered", "host"}
 *   {"event": "skipped", "id": 1, "launches": in all, "sets": cudaMemset calls,
 *    "kernels": {mangled name: launches}}
 *   {"event": "unsupported", "what": an instruction, module or feature, "message"}
 *   {"event": "limit", "which": "launches" "work" "findings" "lines"
 *    "host_function", "message"}
 *   {"event": "counters", "id": number of the module, "counters": as in kernel/validate}
 *   {"event": "record", "id": 1, "symbol": mangled name, "grid", "block", "cluster"?,
 *    "shared_bytes", "cooperative", "params": the bytes of each in hexadecimal, "memory":
 *    the memory that they point to and the variables that the program set,
 *    [{"address", "bytes", "variable"?: symbol,
 *      "image"?: the contents of a texture or surface ("address" is then its handle, and
 *      the bytes are its texels): {"kind", "type", "shape", "modes": as in check specs},
 *      "before": "none" "some" "all" of it was written before,
 *      "ranges"?: {type name: [low, high, "sorted"]} for the types as which all of it is
 *      finite, and after the launch "after", "read", "written"}],
 *    "us"? after the launch}. The file RUN_RECORD_FILE beside the report has the contents
 *    of memory I before the launch, at most RUN_RECORD_MAX_BYTES in all; larger memory
 *    has only "ranges"
 *   {"event": "end", "how": "exit" or "signal", "signal"?, "omitted": findings left out,
 *    "called": the program called a CUDA function, "first_launch_us"?: since the library
 *    was loaded}
 *   {"event": "crash", "signal", "address", "message": a text on the address, "host"}
 *
 * "host" is the program's call of the library, innermost frame first, as
 *   [{"object": path of the executable or library, "offset": address in that file}, …]
 * with offsets of the instruction before the return address, ready for `addr2line -e
 * object`. Frames of the toolkit's headers may precede the user's. */
#define RUN_CONFIG_VARIABLE "UPSKILLD_RUN_CONFIG"
#define RUN_REPORT_VARIABLE "UPSKILLD_RUN_REPORT"
#define RUN_REPORT_VERSION 1
#define RUN_REPORT_MAX_BYTES (16u << 20)
#define RUN_REPORT_MAX_LINES 20000u
#define RUN_RECORD_FILE "memory-%u"
#define RUN_RECORD_MAX_MEMORY 256u
#define RUN_RECORD_MAX_BYTES (8u << 20)

/* The library beside the worker, and the node of every name that it exports. */
#define RUN_LIBRARY "libcudart.so.13"
