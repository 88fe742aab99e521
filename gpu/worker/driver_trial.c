#include "gpu/worker/driver_trial.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/cuda_child.h"
#include "protocol/finding.h"

#include <sys/wait.h>
#include <unistd.h>

enum { TRIAL_CPU_S = 20, PATIENCE_MS = 2000 };

static bool starts(bool confined, struct err *err) {
    struct cuda_child child = {
        .cpu_s = TRIAL_CPU_S,
        .deadline_ms = clock_ms() + PATIENCE_MS,
        .is_confined = !confined,
    };
    return cuda_child_start(&child, err) == CUDA_CHILD_READY;
}

/* In a separate process: its output is the reason why the driver does not start. */
static _Noreturn void try_confined(int supervisor, int out) {
    struct err err = {0};
    confine_child_start(supervisor);
    if (!starts(true, &err)) {
        (void)file_write_all(out, err.msg, strlen(err.msg));
        _exit(1);
    }
    _exit(0);
}

/* Empty when it starts in the room. */
static void confined_trial(char *ret, size_t size) {
    int ends[2], status = 0, self = getpid();
    ret[0] = 0;
    if (pipe(ends)) {
        return;
    }
    int pid = fork();
    if (pid == 0) {
        try_confined(self, ends[1]);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t got;
    while (len + 1 < size && (got = read(ends[0], ret + len, size - 1 - len)) > 0) {
        len += (size_t)got;
    }
    ret[len] = 0;
    close(ends[0]);
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status)) {
        snprintf(ret, size, "the driver's process died (SIG%s)",
                 sigabbrev_np(WTERMSIG(status)));
    }
}

json_t *driver_trial(void) {
    char why[200];
    struct err err = {0};
    confined_trial(why, sizeof why);
    if (!why[0]) {
        return json_object();
    }
    return starts(false, &err) ? json_pack("{s:o}", "too_narrow", json_clean_z(why))
                               : json_pack("{s:o}", "failed", json_clean_z(err.msg));
}

json_t *driver_trial_finding(const char *why) {
    const struct finding_span nowhere = {0};
    autofree char *message =
        xasprintf("the driver does not start in a confined process (%.200s), so the "
                  "kernel ran in one with resource limits only",
                  why);
    return finding_new("run", "unconfined", FINDING_INFO, message,
                       "UPSKILLD_CUDA_CONFINEMENT=full in the worker's environment "
                       "refuses such runs",
                       &nowhere);
}
