#pragma once
/* sanitizer: runs a program under NVIDIA's compute-sanitizer, if that is installed.
 *
 * The tool belongs to CUDA's toolkit and is optional. Some packages of it lack parts
 * (TreeLauncherSubreaper, without which it starts nothing and reports that the target
 * ended early): so it is tried first, and a run whose log has no summary is a failure of
 * the tool, never a clean result. Seen with strace in 2025.3 and 2026.4: its launcher
 * makes a folder with pipes in $TMPDIR and starts TreeLauncherSubreaper from its own
 * folder; that starts the program with libraries of the same folder preloaded, and they
 * communicate through an abstract Unix socket. All functions block, with a time limit:
 * for a process that does nothing else. */
#include "gpu/driver/sanitizer_log.h"

struct sanitizer {
    char path[4096];
    char version[64]; /* "2025.3.0.0"; "" = unknown */
};

/* Searches for it without running anything: in compute-sanitizer/ and bin/ of each folder
 * (toolkits), then, if path_too, in PATH's absolute folders. The program itself is
 * preferred to the script in bin/ that starts it. folders: NULL-terminated. -ENOENT:
 * there is none. */
int sanitizer_locate(struct sanitizer *ret, const char *const *folders, bool path_too);
/* Runs it with --version (10 s at most). -ENOEXEC: it does not run; err has its
 * message. */
int sanitizer_try(struct sanitizer *s, struct err *err);

struct sanitizer_job {
    const char *tool;     /* "memcheck", "racecheck", "synccheck" or "initcheck" */
    char *const *program; /* argv; program[0] a path */
    char *const *environment;
    /* writable: the log is written there and removed; also TMPDIR's value */
    const char *folder;
    unsigned timeout_ms;
};
/* Runs the program under the tool. Finish *ret in every case: it has the tool's findings,
 * including those before a failure. 0 with the program's exit status in *ret_status (128
 * + signal); -ETIMEDOUT: ended with everything it started; -ENOEXEC: the tool failed, err
 * says why. */
int sanitizer_run(const struct sanitizer *s, const struct sanitizer_job *job,
                  struct sanitizer_log *ret, int *ret_status, struct err *err);
/* Ends the processes that sanitizer_run started. Async-signal-safe. */
void sanitizer_stop(void);
