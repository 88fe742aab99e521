#include "gpu/worker/confine_internal.h"

#include "base/mem.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- resource limits --- */

static bool limit_set(int what, rlim_t soft, rlim_t hard) {
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now)) {
        return false;
    }
    struct rlimit wanted = {.rlim_cur = soft, .rlim_max = hard};
    if (now.rlim_max != RLIM_INFINITY && wanted.rlim_max > now.rlim_max) {
        wanted.rlim_max = now.rlim_max;
    }
    if (wanted.rlim_cur > wanted.rlim_max) {
        wanted.rlim_cur = wanted.rlim_max;
    }
    return !setrlimit((__rlimit_resource_t)what, &wanted);
}

enum { MAX_OPEN_FILES = 256, DRIVER_OPEN_FILES = 4096 };

/* RLIMIT_NPROC counts a user's processes everywhere, so it would punish unrelated ones;
 * the seccomp list, which has no clone, does that work. A parent keeps its hard limits,
 * so that each of its children can have limits of its own. */
static bool limits_apply(const struct confine_rules *r) {
    bool ok = limit_set(RLIMIT_CORE, 0, 0);
    rlim_t files = r->may_drive ? DRIVER_OPEN_FILES : MAX_OPEN_FILES;
    ok &= limit_set(RLIMIT_NOFILE, files, files);
    if (r->cpu_s) {
        ok &= limit_set(RLIMIT_CPU, r->cpu_s, r->may_fork ? RLIM_INFINITY : r->cpu_s + 1);
    }
    if (r->memory_bytes && !CONFINE_UNDER_ASAN) {
        ok &= limit_set(RLIMIT_AS, r->memory_bytes,
                        r->may_fork ? RLIM_INFINITY : r->memory_bytes);
    }
    if (r->file_bytes) {
        ok &= limit_set(RLIMIT_FSIZE, r->file_bytes,
                        r->may_fork ? RLIM_INFINITY : r->file_bytes);
    }
    return ok;
}

unsigned confine_available(void) {
    uint32_t action = SECCOMP_RET_ERRNO;
    unsigned bits = CONFINED_RLIMITS;
    if (landlock_abi() > 0) {
        bits |= CONFINED_LANDLOCK;
    }
    if (!syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action)) {
        bits |= CONFINED_SECCOMP;
    }
    return bits;
}

unsigned confine_self(const struct confine_rules *rules) {
    unsigned bits = 0;
    if (limits_apply(rules)) {
        bits |= CONFINED_RLIMITS;
    }
    if (rules->limits_only) {
        return bits;
    }
    if (!rules->may_drive) { /* a driver reads what of /proc/self is then root's */
        (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        return bits;
    }
    if (landlock_apply(rules)) {
        bits |= CONFINED_LANDLOCK;
    }
    if (seccomp_apply(rules)) {
        bits |= CONFINED_SECCOMP;
    }
    return bits;
}

json_t *confinement_to_json(unsigned bits) {
    static const char *const names[] = {"landlock", "seccomp", "rlimits"};
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (bits & (1u << i)) {
            json_array_append_new(list, json_string(names[i]));
        }
    }
    return list;
}

void confine_child_start(int parent) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) {
        _exit(1);
    }
    (void)setpgid(0, 0);
    for (int sig = 1; sig < 32; sig++) {
        (void)signal(sig, SIG_DFL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}
