#pragma once
/* sanitize_child: runs a validation's kernel once more, under compute-sanitizer.
 *
 * There are two kinds of process; both are the worker, executed again:
 *
 *   supervisor ── `--sanitize FD PID` ── compute-sanitizer ── `--sanitized FOLDER MS`
 *
 * The first, the child, reads a request, starts each tool and reads its log. The second,
 * which the tool watches, loads libcuda, runs sanitized_run.h and writes FOLDER/ran.json.
 *
 * The child and all processes that it starts have the same confinement, wider than that
 * of other runs (cuda_room_enter_tool): the tool starts programs, and communicates with
 * the one that it watches through named pipes and an abstract Unix socket. There is still
 * no network and no home, and only the tool's programs and this one can be executed.
 *
 * Request: {"request": validate_run.h's, "path": of compute-sanitizer, "folder":
 * writable, empty, "tools": ["memcheck", …], "wall_ms", "cpu_s"}. Answer: a report
 * (sanitizer_merge.h). SIGTERM ends the child and all processes that it started. */
#include "base/json.h"

#define SANITIZE_CHILD_ARGUMENT "--sanitize"
#define SANITIZED_RUN_ARGUMENT "--sanitized"

/* The path of compute-sanitizer, or NULL with a report {"absent", "hint"} in *ret_absent.
 * Only searches, runs nothing. $UPSKILLD_SANITIZER is its path, or "off"; else the
 * toolkits' folders and $PATH. Malloc'ed. */
char *sanitize_locate(json_t **ret_absent);
_Noreturn void sanitize_child_run(int supervisor, int socket);
_Noreturn void sanitized_child_run(const char *folder, unsigned wall_ms);
