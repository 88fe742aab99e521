#pragma once
/* program_child: compiles and runs a whole CUDA program, for kernel/run.
 *
 *   supervisor ── `--program FD PID`, the keeper ── nvcc and its subprocesses
 *                                               └── the program, on our libcudart
 *
 * The keeper runs one stage after the other, each confined (program_stage.h): the
 * compiler may start programs of /usr and of CUDA's folder and write temporary files;
 * the program may start threads, read /usr's libraries and write its own folder. Neither
 * can reach a network, a home or other processes.
 *
 * Request `program`: params {"limits": {"wall_ms", "compile_ms", "run_ms",
 * "work_ms": of processor time on each core, "memory_bytes"}}, and attached
 *   {"sources": source_set, "units": ["r0/a.cu"], "include_dirs": ["r0/inc"],
 *    "words": [nvcc's, checked], "args": [text], "stdin"?: text,
 *    "files": [{"name", "data": base64}], "strict": bool, "save": bool,
 *    "config": {gpu/runtime/run_report.h's}}
 * Answer: kernel/run's result (gpu/program/kernel_run.json), with "files": the files
 * that it wrote, [{"name", "bytes", "data"?: base64}], with data if `save` is true and
 * the size is within the limit; and "record", the launch that the config requested, with
 * "data", base64, in its memory. Progress notes are a validation's. SIGTERM ends the
 * keeper and its stage. */
#include "base/json.h"

#define PROGRAM_CHILD_ARGUMENT "--program"

_Noreturn void program_child_run(int supervisor, int socket);
