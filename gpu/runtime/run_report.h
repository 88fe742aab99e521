#pragma once
/* run_report: what a program that runs on our libcudart tells whoever started it.
 *
 * The program finds two variables in its environment; without them it runs all the same,
 * and what was found goes to its standard error at the end.
 *
 * UPSKILLD_RUN_CONFIG: path of a JSON file, each member optional:
 *   {"checks": ["memory", "initialized", "race", "barrier"]  (default: all but race),
 *    "run_all_launches": true  (none is skipped as proven equal),
 *    "launches": N             (limit; the next one fails and is told: "limit"),
 *    "work": N                 (limit in lane-instructions of all launches),
 *    "memory": BYTES           (of the device: 80 GiB unless told),
 *    "threads": N              (that execute kernels; as many as there are CPUs),
 *    "record": {"kernel": name}  (its first launch is told, and ends the program)}
 *
 * UPSKILLD_RUN_REPORT: path of a file to which lines are added, each of them one JSON
 * object with "event". A line is whole or missing, so what a killed program had written
 * can be read; at most RUN_REPORT_MAX_LINES and RUN_REPORT_MAX_BYTES in all. A line with
 * an "id" replaces the earlier one of the same event and id.
 *
 *   {"event": "begin", "pid", "version": 1}
 *   {"event": "launch", "id", "kernel": mangled name, "grid": [x, y, z], "block": [x, y,
 *    z], "cluster"?, "shared_bytes"?, "cooperative"?, "times", "host"}
 *   {"event": "finding", "id", "finding": the one shape of findings, "host"?: of the
 * launch or call; a finding of the library itself has "source": "run" and no place}
 *   {"event": "api_error", "id", "function", "error": "cudaErrorInvalidValue", "code": 1,
 *    "count", "looked_at": the program asked cudaGetLastError or cudaPeekAtLastError
 *    afterwards, or for an error's name or words, "message"?: why, in words, "host"}
 *   {"event": "leak", "id", "bytes", "count", "kind": "device" "managed" "pinned",
 * "host"}
 *   {"event": "skipped", "id": 1, "launches": in all, "sets": cudaMemset calls,
 *    "kernels": {mangled name: launches}}
 *   {"event": "unsupported", "what": an instruction, module or feature, "message"}
 *   {"event": "limit", "which": "launches" "work" "findings" "lines", "message"}
 *   {"event": "counters", "id": number of the module, "counters": as kernel/validate has
 *    them}
 *   {"event": "record", "id": 1, "symbol": mangled name, "grid", "block", "cluster"?,
 *    "shared_bytes", "cooperative", "params": the bytes of each in hexadecimal, "memory":
 *    what they lead to and the variables that the program set, [{"address", "bytes",
 *    "variable"?: symbol, "image"?: what a texture or surface shows (then "address" is
 * its handle, and the bytes are its texels): {"kind", "type", "shape", "modes": as check
 *    specs have them}, "before": "none" "some" "all" of it was ever written,
 * "ranges"?: {type's name: [low, high, "sorted"]} for those types as which all of it is
 * finite, and once the launch has ended "after", "read", "written"}], "us"? once it has
 * ended}. What memory I held before stands in the file RUN_RECORD_FILE beside the report,
 * of RUN_RECORD_MAX_BYTES in all; what is too much for that has ranges
 *   {"event": "end", "how": "exit" or "signal", "signal"?, "omitted": findings not told,
 *    "first_launch_us"?: since the library was loaded}
 *   {"event": "crash", "signal", "address", "message": what is at the address, in words,
 *    "host"}
 *
 * "host" is where the program called the library, innermost first, as
 *   [{"object": path of the executable or library, "offset": address in that file}, …]
 * with offsets of the instruction before the return address, ready for `addr2line -e
 * object`. Frames of the toolkit's headers may stand in front of the user's. */
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
