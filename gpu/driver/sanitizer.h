#pragma once
/* sanitizer: a program run under NVIDIA's compute-sanitizer, where that is installed.
 *
 * The tool belongs to CUDA's toolkit and is optional. Some packages of it lack parts
 * (TreeLauncherTargetLdPreloadHelper and its like, without which it starts nothing and
 * says so only in words): so it is tried before it is believed, and a run whose log has
 * no summary is a failure of the tool, never a clean result. Everything here waits, with
 * a limit; it is for a process that does nothing else. */
#include "gpu/driver/sanitizer_log.h"

struct err;

enum sanitizer_tool {
    SANITIZER_MEMCHECK,
    SANITIZER_RACECHECK,
    SANITIZER_SYNCCHECK,
    SANITIZER_INITCHECK, /* has false alarms in library code: only when asked for */
};

struct sanitizer {
    char path[4096];
    char version[64]; /* "2025.3.0.0"; "" = it told none */
};

/* In bin/ and compute-sanitizer/ of each folder (toolkits), then in PATH's absolute
 * folders when path_too. Runs it with --version (10 s at most). folders:
 * NULL-terminated. -ENOENT: there is none; -ENOEXEC: what is there does not run, with its
 * words. */
int sanitizer_find(struct sanitizer *ret, const char *const *folders, bool path_too,
                   struct err *err);

struct sanitizer_job {
    enum sanitizer_tool tool;
    char *const *program; /* argv; program[0] a path */
    char *const *environment;
    const char *folder; /* writable: the log goes there and is removed */
    unsigned timeout_ms;
};
/* Run the program under the tool. 0 with *ret to be finished: what the tool found, and
 * the program's exit status in *ret_status (128 + signal). -ETIMEDOUT: ended with
 * everything it started; -ENOEXEC: the tool did not do its work, err says why. */
int sanitizer_run(const struct sanitizer *s, const struct sanitizer_job *job,
                  struct sanitizer_log *ret, int *ret_status, struct err *err);
