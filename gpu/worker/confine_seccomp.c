#include "gpu/worker/confine_internal.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "upskilld-worker knows the system calls of x86-64 and aarch64 only"
#endif

/* What NVRTC, the C library and our own few lines were seen to need, and their close
 * relatives, so that another C library's choice does not break a compile. */
static const int allowed_calls[] = {
    SYS_read,
    SYS_pread64,
    SYS_readv,
    SYS_write,
    SYS_pwrite64,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_openat,
    SYS_getcwd,
    SYS_faccessat,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_fcntl,
    SYS_ftruncate,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_chdir,
    SYS_dup,
    SYS_dup3,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_times,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
    SYS_getrandom,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_set_robust_list,
    SYS_set_tid_address,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef __x86_64__
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_unlink,
    SYS_mkdir,
    SYS_getdents,
    SYS_time,
    SYS_arch_prctl,
    SYS_dup2,
#endif
};

/* A parent also takes requests, forks, and applies a stricter list in its children. */
static const int parent_calls[] = {
    SYS_recvmsg,  SYS_recvfrom,      SYS_sendmsg, SYS_sendto,      SYS_prctl,
    SYS_seccomp,  SYS_setpgid,       SYS_ppoll,   SYS_close_range, LANDLOCK_CREATE,
    LANDLOCK_ADD, LANDLOCK_RESTRICT, SYS_tgkill,
#ifdef __x86_64__
    SYS_poll,
#endif
};

/* What the driver's library was seen or is documented to use besides, and what a stricter
 * list on top of this one takes. Memory of its own making, waiting, scheduling hints; no
 * processes, no network. */
static const int driver_calls[] = {
    SYS_ioctl,
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_pipe2,
    SYS_memfd_create,
    SYS_mlock,
    SYS_mlock2,
    SYS_munlock,
    SYS_mincore,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_membarrier,
    SYS_sched_setaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_setscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_getpriority,
    SYS_setpriority,
    SYS_getcpu,
    SYS_getresuid,
    SYS_getresgid,
    SYS_capget,
    SYS_umask,
    SYS_statfs,
    SYS_fstatfs,
    SYS_fadvise64,
    SYS_fallocate,
    SYS_msync,
    SYS_flock,
    SYS_restart_syscall,
    SYS_rt_sigtimedwait,
    SYS_rt_sigpending,
    SYS_setitimer,
    SYS_prctl,
    SYS_seccomp,
    LANDLOCK_CREATE,
    LANDLOCK_ADD,
    LANDLOCK_RESTRICT,
#ifdef __x86_64__
    SYS_poll,
    SYS_select,
    SYS_pipe,
    SYS_epoll_wait,
    SYS_eventfd,
    SYS_getrlimit,
#endif
};

/* MPS speaks to its daemon through a Unix socket. */
static const int mps_calls[] = {
    SYS_socketpair,  SYS_connect,    SYS_sendmsg,    SYS_recvmsg,
    SYS_sendto,      SYS_recvfrom,   SYS_shutdown,   SYS_getsockname,
    SYS_getpeername, SYS_setsockopt, SYS_getsockopt,
};

/* What compute-sanitizer's launcher was seen to use (strace, 2025.3 and 2026.4), and the
 * close relatives of that. */
static const int launch_calls[] = {
    SYS_execve,
    SYS_wait4,
    SYS_waitid,
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    SYS_setpgid,
    SYS_getpgid,
    SYS_setsid,
    SYS_getsid,
    SYS_mknodat,
    SYS_renameat,
    SYS_renameat2,
    SYS_symlinkat,
    SYS_fchdir,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fsync,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_signalfd4,
    SYS_close_range,
    SYS_pidfd_open,
#ifdef __x86_64__
    SYS_fork,
    SYS_vfork,
    SYS_mknod,
    SYS_rmdir,
    SYS_rename,
    SYS_chmod,
    SYS_getpgrp,
#endif
};

enum {
    MAX_FILTER =
        2 * (ARRAY_LEN(launch_calls) + ARRAY_LEN(allowed_calls) +
             ARRAY_LEN(parent_calls) + ARRAY_LEN(driver_calls) + ARRAY_LEN(mps_calls)) +
        50
};

struct filter {
    struct sock_filter code[MAX_FILTER];
    size_t len;
};

static void filter_add(struct filter *f, uint16_t code, uint32_t k, uint8_t yes,
                       uint8_t no) {
    f->code[f->len++] = (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = k};
}

static void filter_load(struct filter *f, size_t offset) {
    filter_add(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void filter_allow_calls(struct filter *f, const int *calls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        filter_add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
        filter_add(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    }
}

/* Allowed with this first argument only: prlimit64 and tgkill on the process itself
 * (NVRTC raises its own stack limit, abort() signals itself), clone for a sibling. */
static void filter_allow_with(struct filter *f, int call, uint32_t argument) {
    filter_add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    filter_load(f, offsetof(struct seccomp_data, args[0]));
    filter_add(f, BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1);
    filter_add(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    filter_load(f, offsetof(struct seccomp_data, nr));
}

/* No second ABI: its call numbers mean other calls. */
static void filter_check_arch(struct filter *f) {
    filter_load(f, offsetof(struct seccomp_data, arch));
    filter_add(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
    filter_add(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    filter_load(f, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    filter_add(f, BPF_JMP | BPF_JGE | BPF_K, 0x40000000u /* x32 */, 0, 1);
    filter_add(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
#endif
}

/* What pthread_create asks clone for, in glibc and musl. */
#define THREAD_FLAGS                                                                     \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |  \
     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/* clone3 hides its flags from a filter: the C library must think that it is missing. */
static void filter_allow_threads(struct filter *f) {
    filter_add(f, BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 everywhere */, 0, 1);
    filter_add(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    filter_allow_with(f, SYS_clone, THREAD_FLAGS);
}

#define NEW_NAMESPACES                                                                   \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |       \
     CLONE_NEWPID | CLONE_NEWNET)

/* Processes and threads of any kind, in the namespaces that there are. */
static void filter_allow_processes(struct filter *f) {
    filter_add(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
    filter_load(f, offsetof(struct seccomp_data, args[0]));
    filter_add(f, BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 1, 0);
    filter_add(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    filter_load(f, offsetof(struct seccomp_data, nr));
}

static void filter_allow_driver(struct filter *f, const struct confine_rules *rules) {
    filter_allow_calls(f, driver_calls, ARRAY_LEN(driver_calls));
    if (rules->may_reach_mps || rules->may_launch) {
        filter_allow_calls(f, mps_calls, ARRAY_LEN(mps_calls));
        filter_allow_with(f, SYS_socket, AF_UNIX);
    }
    if (rules->may_launch) {
        filter_allow_calls(f, launch_calls, ARRAY_LEN(launch_calls));
        filter_allow_processes(f);
    }
}

bool seccomp_apply(const struct confine_rules *rules) {
    struct filter f = {.len = 0};
    filter_check_arch(&f);
    filter_allow_calls(&f, allowed_calls, ARRAY_LEN(allowed_calls));
    if (rules->may_fork) {
        filter_allow_calls(&f, parent_calls, ARRAY_LEN(parent_calls));
        filter_allow_with(&f, SYS_clone, CLONE_PARENT | SIGCHLD);
    } else {
        filter_allow_with(&f, SYS_tgkill, (uint32_t)getpid());
    }
    if (rules->may_drive) {
        filter_allow_driver(&f, rules);
    }
    if (rules->may_thread) {
        filter_allow_threads(&f);
    }
    filter_allow_with(&f, SYS_prlimit64, 0);
    filter_add(&f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    struct sock_fprog program = {.len = (unsigned short)f.len, .filter = f.code};
    return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
