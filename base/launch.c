#include "base/launch.h"

#include "base/child.h"
#include "base/fd_channel.h"
#include "base/file.h"
#include "base/strings.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLOEXEC_RANGE 4u /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */

/* Everything the forked process needs, made before the fork. */
struct plan {
    char *program;
    const char *const *argv;
    const char *const *env;
    const char *cwd;
    pid_t parent;
    int death_signal;
    int stdio[3]; /* its ends, all >= 3 */
    int channel;  /* its FD_CHANNEL_INHERITED; 0 = none */
    int report;   /* the errno of a failed launch is written here */
};

/* --- in the child: async-signal-safe calls only --- */

static void reset_signals(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int i = 1; i < NSIG; i++) {
        if (i != SIGKILL && i != SIGSTOP) {
            sigaction(i, &standard, NULL);
        }
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void seal_descriptors(int first) {
    if (syscall(SYS_close_range, (unsigned)first, ~0u, CLOEXEC_RANGE) < 0) {
        for (int fd = first; fd < 1024; fd++) {
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
}

static void run_program(struct plan *plan) {
    setsid();
    prctl(PR_SET_PDEATHSIG, plan->death_signal);
    if (getppid() != plan->parent) { /* it died before the line above */
        _exit(127);
    }
    for (int fd = 0; fd < 3; fd++) {
        if (dup2(plan->stdio[fd], fd) < 0) {
            return;
        }
    }
    if (plan->cwd && chdir(plan->cwd) < 0) {
        return;
    }
    if (plan->channel && plan->report == FD_CHANNEL_INHERITED) {
        plan->report = fcntl(plan->report, F_DUPFD_CLOEXEC, FD_CHANNEL_INHERITED + 1);
    }
    if (plan->channel && dup2(plan->channel, FD_CHANNEL_INHERITED) < 0) {
        return;
    }
    seal_descriptors(FD_CHANNEL_INHERITED + (plan->channel != 0));
    if (plan->channel == FD_CHANNEL_INHERITED) {
        fcntl(FD_CHANNEL_INHERITED, F_SETFD, 0);
    }
    reset_signals();
    execve(plan->program, (char *const *)(const void *)plan->argv,
           (char *const *)(const void *)plan->env);
}

/* --- before it --- */

static const char *env_value(const char *const *env, const char *name) {
    size_t len = strlen(name);
    for (; *env; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') {
            return *env + len + 1;
        }
    }
    return NULL;
}

static bool is_program(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The program's path by PATH (absolute entries only), or NULL. Freed by the caller. */
static char *find_program(const char *name, const char *const *env) {
    const char *path = env_value(env, "PATH");
    if (strchr(name, '/')) {
        return xstrdup(name);
    }
    for (const char *s = path ? path : "/usr/bin:/bin"; name[0] && *s;) {
        size_t len = strcspn(s, ":");
        autofree char *dir = xstrndup(s, len);
        autofree char *full = path_join(dir, name);
        if (dir[0] == '/' && is_program(full)) {
            return take(full);
        }
        s += len;
        s += *s == ':';
    }
    return NULL;
}

/* "NAME=value" for the few variables that any program needs. */
static char **minimal_env(void) {
    static const char *const names[] = {"PATH", "HOME", "LANG", "TMPDIR", "USER"};
    char **env = xcalloc(ARRAY_LEN(names) + 1, sizeof *env);
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value) {
            env[count++] = xasprintf("%s=%s", names[i], value);
        }
    }
    return env;
}

/* Move a descriptor above standard error, where dup2 onto 0 to 2 cannot hit it. */
static int raise_fd(int *fd) {
    if (*fd > 2) {
        return 0;
    }
    int raised = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    close(*fd);
    *fd = raised;
    return raised < 0 ? -errno : 0;
}

static int make_pipe(int *ret_read, int *ret_write) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0) {
        return -errno;
    }
    *ret_read = fds[0];
    *ret_write = fds[1];
    int rc = raise_fd(ret_read);
    int other = raise_fd(ret_write);
    return rc < 0 ? rc : other;
}

static int make_pipes(const struct child_options *options, struct plan *plan,
                      struct launch *launch, int *ret_report) {
    int rc = make_pipe(&launch->out, &plan->stdio[1]);
    rc = rc < 0 ? rc : make_pipe(&launch->error, &plan->stdio[2]);
    rc = rc < 0 ? rc : make_pipe(ret_report, &plan->report);
    if (rc == 0 && options->want_stdin) {
        rc = make_pipe(&plan->stdio[0], &launch->in);
    } else if (rc == 0) {
        plan->stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        rc = plan->stdio[0] < 0 ? -errno : raise_fd(&plan->stdio[0]);
    }
    return rc;
}

/* With all signals blocked: a handler of ours must not run in the child. */
static pid_t fork_quietly(struct plan *plan) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        run_program(plan);
        int code = errno;
        (void)!write(plan->report, &code, sizeof code);
        _exit(127);
    }
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid;
}

/* 0 if the program was executed (which closes its end of the pipe), or the error that it
 * wrote. */
static int read_report(int report) {
    int code = 0;
    ssize_t n;
    do {
        n = read(report, &code, sizeof code);
    } while (n < 0 && errno == EINTR);
    return n == sizeof code ? -code : 0;
}

static int start(struct plan *plan, struct launch *launch, int report) {
    plan->parent = getpid();
    launch->pid = fork_quietly(plan);
    if (launch->pid < 0) {
        return -errno;
    }
    close(plan->report);
    plan->report = -1;
    int rc = read_report(report);
    if (rc < 0) {
        while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR) {}
    }
    return rc;
}

int launch_program(const struct child_options *options, struct launch *ret) {
    autoptr(strings_free) char **minimal = options->env ? NULL : minimal_env();
    const char *const *env =
        options->env ? options->env : (const char *const *)(void *)minimal;
    autofree char *program = find_program(options->argv[0], env);
    struct plan plan = {.program = program,
                        .argv = options->argv,
                        .env = env,
                        .cwd = options->cwd,
                        .death_signal =
                            options->death_signal ? options->death_signal : SIGKILL,
                        .stdio = {-1, -1, -1},
                        .channel = options->channel,
                        .report = -1};
    autofd int report = -1;
    if (!program) {
        return -ENOENT;
    }
    *ret = (struct launch){.in = -1, .out = -1, .error = -1};
    int rc = make_pipes(options, &plan, ret, &report);
    rc = rc < 0 ? rc : start(&plan, ret, report);
    for (int i = 0; i < 3; i++) {
        fd_close_p(&plan.stdio[i]);
    }
    fd_close_p(&plan.report);
    if (rc < 0) {
        launch_close(ret);
    }
    return rc;
}

void launch_close(struct launch *launch) {
    fd_close_p(&launch->in);
    fd_close_p(&launch->out);
    fd_close_p(&launch->error);
    launch->in = launch->out = launch->error = -1;
}
