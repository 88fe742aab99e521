#include "gpu/worker/confine.h"

#include "gpu/confine_calls_table.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* RLIMIT_NPROC counts a user's processes everywhere, so it would affect unrelated ones;
 * the seccomp list, which has no clone, limits processes instead. A parent keeps its hard
 * limits, so that each of its children can have different limits. */
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

/* --- Landlock: a process keeps the files that its rules name, and no others --- */

/* The kernel's interface, spelled out so that old headers do. */
struct landlock_rules {
    uint64_t fs;
    uint64_t net;    /* from ABI 4 */
    uint64_t scoped; /* from ABI 6 */
};
struct landlock_beneath {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

enum { LANDLOCK_VERSION_FLAG = 1, LANDLOCK_BENEATH = 1 };

#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_REMOVE_DIR (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_REG (1ull << 8)
#define FS_MAKE_SOCK (1ull << 9)
#define FS_MAKE_FIFO (1ull << 10)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL (1ull << 15) /* from ABI 5 */
#define FS_READ (FS_READ_FILE | FS_READ_DIR)
#define FS_DEVICE (FS_READ | FS_WRITE_FILE | FS_IOCTL)
#define FS_WRITE                                                                         \
    (FS_READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |            \
     FS_MAKE_REG | FS_TRUNCATE)

/* Version of the kernel's interface; 0: it has none. */
static int landlock_abi(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);
    return abi < 0 ? 0 : (int)abi;
}

/* Everything that the ABI version can forbid. */
static struct landlock_rules landlock_all(int abi, size_t *ret_size) {
    static const int fs_bits[] = {0, 13, 14, 15, 15, 16};
    struct landlock_rules all = {.fs = (1ull << fs_bits[abi < 5 ? abi : 5]) - 1};
    *ret_size = offsetof(struct landlock_rules, net);
    if (abi >= 4) {
        all.net = 3; /* bind and connect TCP */
        *ret_size = offsetof(struct landlock_rules, scoped);
    }
    if (abi >= 6) {
        all.scoped = 3; /* abstract sockets, signals to processes outside */
        *ret_size = sizeof all;
    }
    return all;
}

/* A rule on a file, as opposed to a folder, may name only what one does with files. */
#define FS_OF_FILES (FS_EXECUTE | FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL)

static void landlock_allow(int ruleset, const char *const *paths, uint64_t access) {
    for (; paths && *paths; paths++) {
        struct stat st;
        autofd int fd = open(*paths, O_PATH | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st)) {
            continue;
        }
        struct landlock_beneath rule = {
            .access = S_ISDIR(st.st_mode) ? access : access & FS_OF_FILES,
            .fd = fd,
        };
        (void)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_BENEATH, &rule, 0);
    }
}

static bool landlock_apply(const struct confine_rules *rules) {
    int abi = landlock_abi();
    if (abi < 1) {
        return false;
    }
    size_t size;
    struct landlock_rules all = landlock_all(abi, &size);
    autofd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    if (ruleset < 0) {
        return false;
    }
    landlock_allow(ruleset, rules->read_paths, FS_READ);
    uint64_t make = rules->may_launch ? FS_MAKE_FIFO | FS_MAKE_SOCK : 0;
    landlock_allow(ruleset, rules->write_paths, (FS_WRITE | make) & all.fs);
    landlock_allow(ruleset, rules->output_paths, FS_WRITE_FILE);
    landlock_allow(ruleset, rules->exec_paths, FS_READ | FS_EXECUTE);
    landlock_allow(ruleset, rules->device_paths, FS_DEVICE & all.fs);
    return !syscall(SYS_landlock_restrict_self, ruleset, 0);
}

/* --- the list of system calls, through libseccomp. One that the machine's architecture
 * does not have is left out by the library --- */

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

/* The clone flags of pthread_create, in glibc and musl. */
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

/* What F_SETOWN and F_SETSIG make: a signal of one's choice to any process of the user.
 * All other commands, in the header's numbers: 0 to 7, 9, 36 to 39, 1024 to 1279. */
static int allow_fcntl(scmp_filter_ctx filter) {
    static const uint32_t commands[][2] = {{~7u, 0}, {EXACTLY, 9}, {~3u, 36}, {~255u, 1024}};
    int r = 0;
    for (size_t k = 0; !r && k < ARRAY_LEN(commands); k++) {
        r = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
            SCMP_A1(SCMP_CMP_MASKED_EQ, commands[k][0], commands[k][1]));
    }
    return r;
}

/* prlimit64 and tgkill on the process itself: NVRTC raises its own stack limit, abort()
 * signals itself. */
static int allow_rules(scmp_filter_ctx filter, const struct confine_rules *rules) {
    int r = ALLOW_ALL(filter, allowed_calls);
    r = r ? r : allow_fcntl(filter);
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
    if (!r && rules->may_compute) { /* of itself, not of the user's other processes */
        r = allow_with(filter, SCMP_SYS(sched_setaffinity), EXACTLY, 0);
    }
    if (!r && rules->may_start) {
        r = allow_start(filter);
    } else if (!r && rules->may_thread) {
        r = allow_threads(filter);
    }
    return r ? r : allow_with(filter, SCMP_SYS(prlimit64), EXACTLY, 0);
}

/* The numbers of a second ABI mean other calls: the library's filter kills a process that
 * uses one. */
static bool seccomp_apply(const struct confine_rules *rules) {
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

/* --- all of it --- */

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
