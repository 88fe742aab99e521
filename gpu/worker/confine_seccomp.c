/* The seccomp list, through libseccomp. A call that the machine's architecture does not
 * have is left out by the library. */
#include "base/mem.h"
#include "gpu/worker/confine_internal.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpu/confine_calls_table.h"

#define ALLOW_ALL(filter, names) allow_all(filter, names, ARRAY_LEN(names))

static int allow_all(scmp_filter_ctx filter, const char *const *names, size_t count) {
    int r = 0;
    for (size_t i = 0; !r && i < count; i++) {
        r = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
                             seccomp_syscall_resolve_name(names[i]), 0);
    }
    return r;
}

/* Allowed where these bits of its first argument are as given. The kernel reads 32 of
 * them. */
static int allow_with(scmp_filter_ctx filter, int call, uint32_t mask, uint32_t value) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, mask, value));
}

#define EXACTLY UINT32_MAX

/* What pthread_create asks clone for, in glibc and musl. */
#define THREAD_FLAGS                                                                     \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |  \
     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/* clone3 hides its flags from a filter: the C library must think that it is missing. */
static int hide_clone3(scmp_filter_ctx filter) {
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int allow_threads(scmp_filter_ctx filter) {
    int r = hide_clone3(filter);
    return r ? r : allow_with(filter, SCMP_SYS(clone), EXACTLY, THREAD_FLAGS);
}

#define NEW_NAMESPACES                                                                   \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |       \
     CLONE_NEWPID | CLONE_NEWNET)

static int allow_driver(scmp_filter_ctx filter, const struct confine_rules *rules) {
    int r = ALLOW_ALL(filter, driver_calls);
    if (!r && (rules->may_reach_mps || rules->may_launch)) {
        r = ALLOW_ALL(filter, mps_calls);
        r = r ? r : allow_with(filter, SCMP_SYS(socket), EXACTLY, AF_UNIX);
    }
    if (!r &&
        rules->may_launch) { /* processes of any kind, in the namespaces there are */
        r = ALLOW_ALL(filter, launch_calls);
        r = r ? r : allow_with(filter, SCMP_SYS(clone), NEW_NAMESPACES, 0);
    }
    return r;
}

/* Programs that it starts, in the namespaces there are. */
static int allow_start(scmp_filter_ctx filter) {
    int r = ALLOW_ALL(filter, start_calls);
    r = r ? r : hide_clone3(filter);
    return r ? r : allow_with(filter, SCMP_SYS(clone), NEW_NAMESPACES, 0);
}

/* Memory that is written to or executed, never both: what a kernel or a source made the
 * process write is nothing to run. The emulator turns its pages over. A driver's library
 * and a user's program do as they like. */
static int allow_pages(scmp_filter_ctx filter, bool both) {
    static const uint64_t protections[] = {0, PROT_WRITE, PROT_EXEC,
                                           PROT_WRITE | PROT_EXEC};
    const int calls[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};
    int r = 0;
    for (size_t k = 0; !r && k < (both ? 4u : 3u) * ARRAY_LEN(calls); k++) {
        r = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, calls[k % 2], 1,
            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_WRITE | PROT_EXEC, protections[k / 2]));
    }
    return r;
}

/* prlimit64 and tgkill on the process itself: NVRTC raises its own stack limit, abort()
 * signals itself. */
static int allow_rules(scmp_filter_ctx filter, const struct confine_rules *rules) {
    int r = ALLOW_ALL(filter, allowed_calls);
    r = r ? r : allow_pages(filter, rules->may_drive || rules->may_compute);
    if (!r && rules->may_fork) {
        r = ALLOW_ALL(filter, parent_calls);
        r = r ? r : allow_with(filter, SCMP_SYS(clone), EXACTLY, CLONE_PARENT | SIGCHLD);
    } else if (!r) {
        r = allow_with(filter, SCMP_SYS(tgkill), EXACTLY, (uint32_t)getpid());
    }
    if (!r && rules->may_drive) {
        r = allow_driver(filter, rules);
    }
    if (!r && (rules->may_start || rules->may_compute)) {
        r = ALLOW_ALL(filter, program_calls);
    }
    if (!r && rules->may_start) {
        r = allow_start(filter);
    } else if (!r && rules->may_thread) {
        r = allow_threads(filter);
    }
    return r ? r : allow_with(filter, SCMP_SYS(prlimit64), EXACTLY, 0);
}

/* A second ABI's numbers mean other calls: the library's filter ends whoever uses one. */
bool seccomp_apply(const struct confine_rules *rules) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool applied =
        filter &&
        !seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) &&
        !allow_rules(filter, rules) && !seccomp_load(filter);
    if (filter) {
        seccomp_release(filter);
    }
    return applied;
}
