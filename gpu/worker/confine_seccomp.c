/* The seccomp list, through libseccomp. A call that the machine's architecture does not
 * have is left out by the library. */
#include "gpu/worker/confine_internal.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What NVRTC, the C library and our own few lines were seen to need, and their close
 * relatives, so that another C library's choice does not break a compile. */
static const char allowed_calls[] =
    "read pread64 readv write pwrite64 writev lseek close fstat newfstatat statx "
    "openat getcwd faccessat readlinkat getdents64 fcntl ftruncate unlinkat mkdirat "
    "chdir dup dup3 mmap munmap mprotect mremap madvise brk exit exit_group futex "
    "sched_yield sched_getaffinity nanosleep clock_nanosleep clock_gettime "
    "clock_getres gettimeofday times getrusage sysinfo uname getrandom getpid getppid "
    "gettid getuid geteuid getgid getegid rt_sigaction rt_sigprocmask rt_sigreturn "
    "sigaltstack set_robust_list set_tid_address rseq open stat lstat access "
    "readlink unlink mkdir getdents time arch_prctl dup2";

/* A parent also takes requests, forks, and applies a stricter list in its children. */
static const char parent_calls[] =
    "recvmsg recvfrom sendmsg sendto prctl seccomp setpgid ppoll close_range "
    "landlock_create_ruleset landlock_add_rule landlock_restrict_self tgkill poll";

/* What the driver's library was seen or is documented to use besides, and what a stricter
 * list on top of this one takes. Memory of its own making, waiting, scheduling hints; no
 * processes, no network. */
static const char driver_calls[] =
    "ioctl ppoll pselect6 epoll_create1 epoll_ctl epoll_pwait eventfd2 pipe2 "
    "memfd_create mlock mlock2 munlock mincore mbind get_mempolicy set_mempolicy "
    "membarrier sched_setaffinity sched_getparam sched_getscheduler "
    "sched_setscheduler sched_get_priority_max sched_get_priority_min getpriority "
    "setpriority getcpu getresuid getresgid capget umask statfs fstatfs fadvise64 "
    "fallocate msync flock restart_syscall rt_sigtimedwait rt_sigpending setitimer "
    "prctl seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self "
    "poll select pipe epoll_wait eventfd getrlimit";

/* MPS speaks to its daemon through a Unix socket. */
static const char mps_calls[] =
    "socketpair connect sendmsg recvmsg sendto recvfrom shutdown getsockname "
    "getpeername setsockopt getsockopt";

/* What compute-sanitizer's launcher was seen to use (strace, 2025.3 and 2026.4), and the
 * close relatives of that. */
static const char launch_calls[] =
    "execve wait4 waitid kill tkill tgkill setpgid getpgid setsid getsid mknodat "
    "renameat renameat2 symlinkat fchdir fchmod fchmodat fsync bind listen accept "
    "accept4 timerfd_create timerfd_settime timerfd_gettime signalfd4 close_range "
    "pidfd_open fork vfork mknod rmdir rename chmod getpgrp";

/* names: system calls, a space between two. */
static int allow_all(scmp_filter_ctx filter, const char *names) {
    char name[32];
    int r = 0;
    for (size_t len; !r && (len = strcspn(names, " "));
         names += len + (names[len] == ' ')) {
        snprintf(name, sizeof name, "%.*s", (int)len, names);
        r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(name),
                             0);
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
static int allow_threads(scmp_filter_ctx filter) {
    int r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return r ? r : allow_with(filter, SCMP_SYS(clone), EXACTLY, THREAD_FLAGS);
}

#define NEW_NAMESPACES                                                                   \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |       \
     CLONE_NEWPID | CLONE_NEWNET)

static int allow_driver(scmp_filter_ctx filter, const struct confine_rules *rules) {
    int r = allow_all(filter, driver_calls);
    if (!r && (rules->may_reach_mps || rules->may_launch)) {
        r = allow_all(filter, mps_calls);
        r = r ? r : allow_with(filter, SCMP_SYS(socket), EXACTLY, AF_UNIX);
    }
    if (!r &&
        rules->may_launch) { /* processes of any kind, in the namespaces there are */
        r = allow_all(filter, launch_calls);
        r = r ? r : allow_with(filter, SCMP_SYS(clone), NEW_NAMESPACES, 0);
    }
    return r;
}

/* prlimit64 and tgkill on the process itself: NVRTC raises its own stack limit, abort()
 * signals itself. */
static int allow_rules(scmp_filter_ctx filter, const struct confine_rules *rules) {
    int r = allow_all(filter, allowed_calls);
    if (!r && rules->may_fork) {
        r = allow_all(filter, parent_calls);
        r = r ? r : allow_with(filter, SCMP_SYS(clone), EXACTLY, CLONE_PARENT | SIGCHLD);
    } else if (!r) {
        r = allow_with(filter, SCMP_SYS(tgkill), EXACTLY, (uint32_t)getpid());
    }
    if (!r && rules->may_drive) {
        r = allow_driver(filter, rules);
    }
    if (!r && rules->may_thread) {
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
