/* confine: what a confined process can still do, tried in a process of its own. */
#include "base/mem.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/cuda_room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/confine-test-XXXXXX";

static void start(void) {
    cr_assert(mkdtemp(folder) != NULL);
}

static void stop(void) {
    autofree char *command = xasprintf("rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

/* What `attempt` returns in a confined child: 0-255, or -signal. */
static int in_confinement(const struct confine_rules *rules, int (*attempt)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        confine_self(rules);
        _exit(attempt());
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int refused(long result) {
    return result == -1 && (errno == EPERM || errno == EACCES) ? 0 : 1;
}

static int wait_a_while(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&lock);
    return pthread_cond_timedwait(&never, &lock, &until) == ETIMEDOUT ? 0 : 1;
}

/* The system continues an interrupted wait by a call of its own, restart_syscall. The C
 * library ends a process whose wait fails as none can. */
Test(confine, a_process_that_was_stopped_goes_on_waiting) {
    const struct confine_rules rules = {.cpu_s = 10};
    pid_t pid = fork();
    if (pid == 0) {
        confine_self(&rules);
        _exit(wait_a_while());
    }
    usleep(300000);
    cr_assert_eq(kill(pid, SIGSTOP), 0);
    int status;
    cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
    cr_assert(WIFSTOPPED(status));
    cr_assert_eq(kill(pid, SIGCONT), 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

static int try_socket(void) {
    return refused(socket(AF_INET, SOCK_STREAM, 0));
}
static int try_unix(void) {
    return refused(socket(AF_UNIX, SOCK_STREAM, 0));
}
static int try_exec(void) {
    return refused(execl("/bin/true", "true", (char *)NULL));
}
static int try_fork(void) {
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        _exit(0);
    }
    return refused(pid);
}
static int try_namespace(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        _exit(0);
    }
    return refused(pid);
}
static int try_kill(void) {
    return refused(kill(getppid(), 0));
}
static int try_ptrace(void) {
    return refused(ptrace(PTRACE_TRACEME, 0, 0, 0));
}
static int try_mount(void) {
    return refused(mount("none", "/mnt", "tmpfs", 0, 0));
}
static int try_unshare(void) {
    return refused(syscall(SYS_unshare, 0x10000000));
}
static int try_bpf(void) {
    return refused(syscall(SYS_bpf, 0, 0, 0));
}
static int try_keyctl(void) {
    return refused(syscall(SYS_keyctl, 0, 0, 0));
}
static int try_uring(void) {
    return refused(syscall(SYS_io_uring_setup, 1, 0));
}
static int try_userfault(void) {
    return refused(syscall(SYS_userfaultfd, 0));
}
static int try_memfd(void) {
    return refused(syscall(SYS_memfd_create, "x", 0));
}
static int try_writable_code(void) {
    return refused((long)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
/* Turned over from one to the other, memory can be executed; never with both. */
static int try_pages(void) {
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_EXEC) ||
           mprotect(p, 4096, PROT_READ | PROT_WRITE) ||
           refused(mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
}
static int try_foreign_limit(void) {
    struct rlimit limit;
    return refused(prlimit(getppid(), RLIMIT_CORE, NULL, &limit));
}

/* A signal of its choice to its parent, by a pipe that has something to tell. */
static int try_owner(void) {
    return refused(fcntl(0, F_SETOWN, getppid())) || refused(fcntl(0, F_SETSIG, SIGKILL));
}
static int try_command(void) {
    int copy = fcntl(1, F_DUPFD_CLOEXEC, 50);
    return copy < 50 || fcntl(copy, F_SETFL, fcntl(copy, F_GETFL)) ||
           fcntl(copy, F_GETFD) != FD_CLOEXEC;
}

Test(confine, a_confined_process_reaches_nobody) {
    static const struct {
        const char *what;
        int (*attempt)(void);
    } cases[] = {
        {"socket", try_socket},
        {"unix socket", try_unix},
        {"exec", try_exec},
        {"fork", try_fork},
        {"kill", try_kill},
        {"ptrace", try_ptrace},
        {"mount", try_mount},
        {"unshare", try_unshare},
        {"bpf", try_bpf},
        {"keyctl", try_keyctl},
        {"io_uring", try_uring},
        {"userfaultfd", try_userfault},
        {"memfd", try_memfd},
        {"signals by a file's owner", try_owner},
        {"other commands to files", try_command},
        {"limits of others", try_foreign_limit},
        {"writable code", try_writable_code},
        {"pages that are turned over", try_pages},
    };
    const struct confine_rules rules = {.cpu_s = 10};
    if (!(confine_available() & CONFINED_SECCOMP)) {
        cr_skip_test("no seccomp here");
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_expect_eq(in_confinement(&rules, cases[i].attempt), 0, "%s", cases[i].what);
    }
}

static int try_open(const char *path, int flags) {
    int fd = open(path, flags, 0600);
    return fd < 0 ? (errno == EACCES || errno == EPERM ? 13 : errno) : 0;
}

static int read_inside(void) {
    autofree char *path = xasprintf("%s/in", folder);
    return try_open(path, O_RDONLY);
}
static int write_inside(void) {
    autofree char *path = xasprintf("%s/new", folder);
    return try_open(path, O_WRONLY | O_CREAT);
}
static int read_outside(void) {
    return try_open("/etc/passwd", O_RDONLY);
}
static int list_outside(void) {
    return try_open("/etc", O_RDONLY | O_DIRECTORY);
}
static int read_by_link(void) {
    autofree char *path = xasprintf("%s/link", folder);
    return try_open(path, O_RDONLY);
}
static int read_by_dots(void) {
    autofree char *path = xasprintf("%s/../../etc/passwd", folder);
    return try_open(path, O_RDONLY);
}

Test(confine, only_the_named_folders_can_be_read, .init = start, .fini = stop) {
    if (!(confine_available() & CONFINED_LANDLOCK)) {
        cr_skip_test("no Landlock here");
    }
    autofree char *in = xasprintf("%s/in", folder), *link = xasprintf("%s/link", folder);
    close(open(in, O_WRONLY | O_CREAT, 0600));
    cr_assert_eq(symlink("/etc/passwd", link), 0);
    const char *const dirs[] = {folder, "/no/such/folder", NULL};
    const struct confine_rules reads = {.read_paths = dirs};
    const struct confine_rules writes = {.write_paths = dirs};
    const char *const file[] = {in, NULL};
    const struct confine_rules one_file = {.read_paths = file};
    cr_expect_eq(in_confinement(&reads, read_inside), 0);
    cr_expect_eq(in_confinement(&reads, write_inside), 13);
    cr_expect_eq(in_confinement(&reads, read_outside), 13);
    cr_expect_eq(in_confinement(&reads, list_outside), 13);
    cr_expect_eq(in_confinement(&reads, read_by_link), 13);
    cr_expect_eq(in_confinement(&reads, read_by_dots), 13);
    cr_expect_eq(in_confinement(&writes, write_inside), 0);
    cr_expect_eq(in_confinement(&writes, read_outside), 13);
    cr_expect_eq(in_confinement(&one_file, read_inside), 0);
    cr_expect_eq(in_confinement(&one_file, read_by_link), 13);
}

static char outside[] = "/tmp/confine-outside-XXXXXX";

static int change_outside(void) {
    int fd = open(outside, O_RDONLY); /* which it may read */
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    return fd < 0 || refused(chmod(outside, 0777)) || refused(fchmod(fd, 0777)) ||
           refused(fchmodat(AT_FDCWD, outside, 0777, 0)) ||
           refused(utimensat(AT_FDCWD, outside, NULL, 0)) || refused(futimens(fd, NULL)) ||
           refused(truncate(outside, 0)) || try_memfd() ||
           refused(sched_setaffinity(getppid(), sizeof cpus, &cpus)) ||
           sched_setaffinity(0, sizeof cpus, &cpus);
}

Test(confine, a_program_changes_no_file_outside, .init = start, .fini = stop) {
    const char *const dirs[] = {folder, NULL}, *const reads[] = {outside, NULL};
    const struct confine_rules program = {
        .read_paths = reads, .write_paths = dirs, .may_compute = true, .may_thread = true};
    struct stat before, after;
    if (!(confine_available() & CONFINED_SECCOMP)) {
        cr_skip_test("no seccomp here");
    }
    int fd = mkstemp(outside);
    cr_assert_eq(write(fd, "content", 7), 7);
    cr_assert_eq(fstat(fd, &before), 0);
    cr_expect_eq(in_confinement(&program, change_outside), 0);
    cr_assert_eq(fstat(fd, &after), 0);
    cr_expect(after.st_mode == before.st_mode && after.st_size == 7 &&
              after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    cr_expect_eq(close(fd), 0);
    cr_expect_eq(unlink(outside), 0);
}

static int burn(void) {
    volatile unsigned long turns = 0;
    while (turns != ~0ul) {
        turns++;
    }
    return 0;
}

static int fill_file(void) {
    autofree char *path = xasprintf("%s/big", folder);
    static char bytes[65536];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 100; i++) {
        if (write(fd, bytes, sizeof bytes) < 0) {
            return 1;
        }
    }
    return 0;
}
#if !CONFINE_UNDER_ASAN
static int take_memory(void) {
    return mmap(NULL, 1u << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                   MAP_FAILED
               ? 7
               : 0;
}
#endif
static int abort_itself(void) {
    abort();
}

Test(confine, limits_hold, .init = start, .fini = stop) {
    const char *const dirs[] = {folder, NULL};
    cr_expect_eq(in_confinement(&(struct confine_rules){.cpu_s = 1}, burn), -SIGXCPU);
    cr_expect_eq(in_confinement(
                     &(struct confine_rules){.write_paths = dirs, .file_bytes = 1u << 20},
                     fill_file),
                 -SIGXFSZ);
#if !CONFINE_UNDER_ASAN
    cr_expect_eq(
        in_confinement(&(struct confine_rules){.memory_bytes = 512u << 20}, take_memory),
        7);
#endif
    cr_expect_eq(in_confinement(&(struct confine_rules){0}, abort_itself), -SIGABRT);
}

/* A confined parent cannot wait for its child, whose verdict comes through this page. */
static volatile int *verdict;

static int fork_a_confined_child(void) {
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
        confine_self(&(struct confine_rules){.cpu_s = 5});
        *verdict = try_fork() || try_socket() || read_outside() != 13 ? 2 : 1;
        _exit(0);
    }
    for (int tries = 0; !*verdict && tries < 200; tries++) {
        usleep(10000);
    }
    return *verdict == 1 ? 0 : 1;
}

Test(confine, a_parent_may_fork_and_nothing_more) {
    const struct confine_rules parent = {.may_fork = true, .cpu_s = 5};
    verdict = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_expect_eq(in_confinement(&parent, fork_a_confined_child), 0);
    cr_expect_eq(in_confinement(&parent, try_fork), 0, "only siblings");
    cr_expect_eq(in_confinement(&parent, try_namespace), 0);
    cr_expect_eq(in_confinement(&parent, try_foreign_limit), 0);
    cr_expect_eq(in_confinement(&parent, try_exec), 0);
    cr_expect_eq(in_confinement(&parent, try_unix), 0);
    cr_expect_eq(in_confinement(&parent, try_ptrace), 0);
}

static int live_on(void) {
    pause();
    return 0;
}

Test(confine, a_child_dies_with_its_parent) {
    int pipe_ends[2];
    cr_assert_eq(pipe(pipe_ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        pid_t child = fork();
        if (child == 0) {
            confine_child_start(getppid());
            (void)!write(pipe_ends[1], "x", 1);
            close(pipe_ends[0]);
            _exit(live_on());
        }
        char c;
        (void)!read(pipe_ends[0], &c, 1);
        _exit(0);
    }
    close(pipe_ends[1]);
    waitpid(parent, NULL, 0);
    char c;
    /* The end of the pipe: its last writer, the child, is gone. */
    cr_expect_eq((int)read(pipe_ends[0], &c, 1), 0);
    cr_expect_eq(close(pipe_ends[0]), 0);
}

/* --- a driver's room (cuda_room.h) --- */

static int in_driver_room(int (*attempt)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        cuda_room_enter(10, NULL);
        _exit(attempt());
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int drive(void) {
    char *const maps[] = {(char[]){"/proc/self/maps"}, (char[]){"/sys/devices"}};
    int null = open("/dev/null", O_RDWR);
    int size = 0;
    if (null < 0 || ioctl(null, TIOCGWINSZ, &size) != -1 || errno != ENOTTY) {
        return 2;
    }
    int devices = try_open(maps[1], O_RDONLY | O_DIRECTORY);
    return try_open(maps[0], O_RDONLY) || (devices && devices != ENOENT);
}
static int make_memory(void) {
    int fd = memfd_create("x", MFD_CLOEXEC);
    return fd < 0 || ftruncate(fd, 1 << 20) || write(fd, "x", 1) != 1;
}
static void *nothing(void *data) {
    return data;
}
static int make_thread(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL);
}
static int write_home(void) {
    return try_open("/tmp/of-a-driver", O_WRONLY | O_CREAT);
}
static int other_device(void) {
    return try_open("/dev/full", O_RDONLY);
}
/* What the emulator's process is; a driver that is of no use is left this way. */
static int confine_further(void) {
    unsigned bits = confine_self(&(struct confine_rules){.may_thread = true, .cpu_s = 5});
    return bits != (CONFINED_LANDLOCK | CONFINED_SECCOMP | CONFINED_RLIMITS) ||
           make_thread() || read_outside() != 13 ||
           try_open("/proc/self/maps", O_RDONLY) != 13 || try_memfd();
}

Test(confine, a_driver_gets_devices_and_threads_and_no_more) {
    static int (*const refusals[])(void) = {
        try_socket, try_unix,      try_exec,         try_fork, try_kill,
        try_ptrace, try_mount,     try_unshare,      try_bpf,  try_keyctl,
        try_uring,  try_userfault, try_foreign_limit};
    if (confine_available() !=
        (CONFINED_LANDLOCK | CONFINED_SECCOMP | CONFINED_RLIMITS)) {
        cr_skip_test("no Landlock or no seccomp here");
    }
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        cr_expect_eq(in_driver_room(refusals[i]), 0, "%zu", i);
    }
    cr_expect_eq(in_driver_room(drive), 0);
    cr_expect_eq(in_driver_room(make_memory), 0);
    cr_expect_eq(in_driver_room(make_thread), 0);
    cr_expect_eq(in_driver_room(read_outside), 13);
    cr_expect_eq(in_driver_room(write_home), 13);
    cr_expect_eq(in_driver_room(other_device), 13);
    cr_expect_eq(in_driver_room(confine_further), 0);
}

Test(confine, says_what_is_in_force) {
    autojson *all =
        confinement_to_json(CONFINED_LANDLOCK | CONFINED_SECCOMP | CONFINED_RLIMITS);
    autofree char *text = json_dumps(all, JSON_COMPACT);
    cr_expect_str_eq(text, "[\"landlock\",\"seccomp\",\"rlimits\"]");
    autojson *one = confinement_to_json(CONFINED_RLIMITS);
    cr_expect_eq(json_array_size(one), 1);
}
