#pragma once
/* sanitize_child: a validation's kernel once more, under compute-sanitizer.
 *
 * Two kinds of process, both the worker started anew:
 *
 *   supervisor ── `--sanitize FD PID` ── compute-sanitizer ── … ── `--sanitized FOLDER
 * MS` the child: reads a                    loads libcuda, runs request, starts each
 * sanitized_run.h and writes tool, reads its log                   FOLDER/ran.json
 *
 * The child and all that it starts are in one room, wider than that of other runs
 * (cuda_room_enter_tool): the tool starts programs, and speaks with the one that it
 * watches through pipes with names and an abstract Unix socket. Still no network, no
 * home, no program but the tool's own and this one.
 *
 * Request: {"request": validate_run.h's, "path": of compute-sanitizer, "folder":
 * writable, empty, "tools": ["memcheck", …], "wall_ms", "cpu_s"}. Answer: a report
 * (sanitizer_merge.h). SIGTERM ends the child with everything it started. */
#include "base/json.h"

#define SANITIZE_CHILD_ARGUMENT "--sanitize"
#define SANITIZED_RUN_ARGUMENT "--sanitized"

/* Where it is, or NULL with a report {"absent", "hint"} in *ret_absent. Looks, runs
 * nothing. $UPSKILLD_SANITIZER is its path, or "off"; else the toolkits' folders and
 * $PATH. Malloc'ed. */
char *sanitize_locate(json_t **ret_absent);
_Noreturn void sanitize_child_run(int supervisor, int socket);
_Noreturn void sanitized_child_run(const char *folder, unsigned wall_ms);
