#include "gpu/driver/sanitizer.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { VERSION_MS = 10000, MAX_PROGRAM = 64, OWN_ARGUMENTS = 20 };
#define MAX_LOG (4u << 20)
#define MAX_WORDS 2000
#define NAME "compute-sanitizer"
#define WORD(text) ((char *)(uintptr_t)(text)) /* execve takes no const */

/* --- a process that is waited for --- */

struct process {
    pid_t pid;
    int out; /* its standard output and error */
};
static volatile sig_atomic_t running; /* its pid; 0 = none */

void sanitizer_stop(void) {
    pid_t pid = running;
    if (pid > 0) {
        (void)kill(-pid, SIGKILL);
        (void)kill(pid, SIGKILL);
    }
}

static _Noreturn void become(char *const *argv, char *const *environment, int out,
                             pid_t parent) {
    int null = open("/dev/null", O_RDONLY);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || setpgid(0, 0) < 0 || dup2(null, 0) < 0 ||
        dup2(out, 1) < 0 || dup2(out, 2) < 0) {
        _exit(127);
    }
    execve(argv[0], argv, environment);
    _exit(127);
}

static int process_start(struct process *ret, char *const *argv, char *const *environment,
                         struct err *err) {
    int ends[2];
    pid_t parent = getpid();
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM); /* a handler's sanitizer_stop must not come between */
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return err_set(err, -errno, "a pipe: %s", strerror(errno));
    }
    (void)sigprocmask(SIG_BLOCK, &term, &before);
    pid_t pid = fork();
    if (pid == 0) {
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        become(argv, environment, ends[1], parent);
    }
    int code = errno;
    if (pid > 0) {
        running = pid;
        (void)setpgid(pid, pid); /* whoever of the two comes first */
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_set(err, -code, "a process: %s", strerror(code));
    }
    *ret = (struct process){pid, ends[0]};
    return 0;
}

/* Keeps the beginning of what it says; false at the end. */
static bool process_hear(const struct process *p, struct buf *words) {
    char chunk[4096];
    ssize_t n = read(p->out, chunk, sizeof chunk);
    size_t room = words->max - words->len;
    if (n > 0) {
        (void)buf_add(words, chunk, (size_t)n < room ? (size_t)n : room);
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Its whole group ends with it: the tool starts others. */
static int process_wait(const struct process *p, uint64_t until_ms, struct buf *words,
                        int *ret_status) {
    const struct timespec pause = {.tv_nsec = 5000000};
    bool open_end = true, timed_out = false;
    int status = 0;
    for (;;) {
        if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
            break;
        }
        if (clock_ms() >= until_ms) {
            timed_out = true;
            kill(-p->pid, SIGKILL);
            kill(p->pid, SIGKILL);
            (void)waitpid(p->pid, &status, 0);
            break;
        }
        struct pollfd fd = {.fd = p->out, .events = POLLIN};
        if (open_end && poll(&fd, 1, 20) > 0) {
            open_end = process_hear(p, words);
        } else if (!open_end) {
            (void)nanosleep(&pause, NULL);
        }
    }
    kill(-p->pid, SIGKILL);
    running = 0;
    struct pollfd left = {.fd = p->out, .events = POLLIN};
    while (open_end && poll(&left, 1, 0) > 0 && process_hear(p, words)) {}
    close(p->out);
    *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return timed_out ? -ETIMEDOUT : 0;
}

static int run(char *const *argv, char *const *environment, unsigned timeout_ms,
               struct buf *words, int *ret_status, struct err *err) {
    struct process p = {.out = -1};
    int r = process_start(&p, argv, environment, err);
    if (r < 0) {
        return r;
    }
    r = process_wait(&p, clock_ms() + timeout_ms, words, ret_status);
    return r < 0 ? err_set(err, r, "%s was ended after %.3g s", argv[0], timeout_ms / 1e3)
                 : 0;
}

/* The first line that says something, cleaned. */
static void first_words(const struct buf *words, char *ret, size_t size) {
    autobuf clean = BUF_INIT(MAX_WORDS + 1);
    (void)text_clean(&clean, words->data, words->len);
    const char *at = clean.data + strspn(clean.data, " \n\t=");
    snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* --- finding it --- */

/* "Version 2025.3.0.0 (build …)" */
static void read_version(struct sanitizer *s, const struct buf *words) {
    const char *at = strstr(words->data, "Version ");
    size_t len = at ? strspn(at + 8, "0123456789.") : 0;
    snprintf(s->version, sizeof s->version, "%.*s", (int)(len < 63 ? len : 63),
             at ? at + 8 : "");
}

int sanitizer_try(struct sanitizer *s, struct err *err) {
    char *argv[] = {s->path, (char[]){"--version"}, NULL};
    char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
    autobuf words = BUF_INIT(MAX_WORDS);
    char said[160];
    int status = 0;
    int r = run(argv, environment, VERSION_MS, &words, &status, err);
    if (r < 0) {
        return r == -ETIMEDOUT ? err_set(err, -ENOEXEC, "%s does not answer", s->path)
                               : r;
    }
    first_words(&words, said, sizeof said);
    if (status != 0 || !strstr(words.data, "ompute Sanitizer")) {
        return err_set(err, -ENOEXEC, "%.200s does not run (status %d): %s", s->path,
                       status, said);
    }
    read_version(s, &words);
    return 0;
}

static bool look_at(struct sanitizer *s, const char *folder, size_t len,
                    const char *part) {
    int n = snprintf(s->path, sizeof s->path, "%.*s%s/" NAME, (int)len, folder, part);
    return len && *folder == '/' && n > 0 && (size_t)n < sizeof s->path &&
           access(s->path, X_OK) == 0;
}

/* bin/compute-sanitizer mostly is a script that starts its neighbour. */
static bool look_in_path(struct sanitizer *s) {
    const char *path = getenv("PATH");
    bool found = false;
    while (path && *path && !found) {
        size_t len = strcspn(path, ":");
        found = look_at(s, path, len, "/../" NAME) || look_at(s, path, len, "");
        path += len + (path[len] == ':');
    }
    return found;
}

int sanitizer_locate(struct sanitizer *ret, const char *const *folders, bool path_too) {
    bool found = false;
    *ret = (struct sanitizer){0};
    for (size_t i = 0; folders[i] && !found; i++) {
        size_t len = strlen(folders[i]);
        found = look_at(ret, folders[i], len, "/" NAME) ||
                look_at(ret, folders[i], len, "/bin");
    }
    if (!found && !(path_too && look_in_path(ret))) {
        *ret->path = 0;
        return -ENOENT;
    }
    return 0;
}

/* --- running under it --- */

static int log_read(const char *path, struct sanitizer_log *ret) {
    autobuf text = BUF_INIT(MAX_LOG);
    autofd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *room = NULL;
    ssize_t n = 0;
    while (fd >= 0 && (room = buf_reserve(&text, 1 << 16)) &&
           (n = read(fd, room, 1 << 16)) > 0) {
        buf_commit(&text, (size_t)n);
    }
    sanitizer_log_read(ret, text.data, text.len);
    return fd < 0 || n < 0 ? -EIO : room ? 0 : -EFBIG;
}

/* A tool that did not end its log did not look at everything. */
static int judge_log(const struct sanitizer_log *log, int read, const struct buf *words,
                     int status, struct err *err) {
    char said[160];
    if (log->ended && !*log->trouble && read == 0) {
        return 0;
    }
    first_words(words, said, sizeof said);
    return err_set(err, -ENOEXEC, NAME " did not do its work (status %d): %s", status,
                   read == -EFBIG  ? "its log has more than 4 MiB"
                   : *log->trouble ? log->trouble
                   : *said         ? said
                                   : "it left no summary");
}

/* Paths are whole, so that a file in a folder is known; of the stack only the device's
 * part; between buffers there is room, so that one byte too far is in none. */
static size_t arguments(char **argv, const struct sanitizer *s, char *tool, char *log) {
    char *const own[] = {WORD(s->path),
                         WORD("--tool"),
                         tool,
                         WORD("--log-file"),
                         log,
                         WORD("--print-limit"),
                         WORD("1000"),
                         WORD("--target-processes"),
                         WORD("all"),
                         WORD("--show-backtrace"),
                         WORD("device"),
                         WORD("--strip-paths"),
                         WORD("no")};
    memcpy(argv, own, sizeof own);
    return ARRAY_LEN(own);
}

int sanitizer_run(const struct sanitizer *s, const struct sanitizer_job *job,
                  struct sanitizer_log *ret, int *ret_status, struct err *err) {
    char log_path[4200], tool[16];
    char *argv[OWN_ARGUMENTS + MAX_PROGRAM];
    snprintf(log_path, sizeof log_path, "%.4000s/sanitizer-%d.log", job->folder,
             (int)getpid());
    snprintf(tool, sizeof tool, "%s", job->tool);
    size_t count = arguments(argv, s, tool, log_path);
    if (!strcmp(job->tool, "memcheck")) {
        argv[count++] = WORD("--report-api-errors");
        argv[count++] = WORD("no");
        argv[count++] = WORD("--padding");
        argv[count++] = WORD("4096");
    }
    *ret = (struct sanitizer_log){.findings = json_array()};
    for (size_t i = 0; job->program[i]; i++) {
        if (i == MAX_PROGRAM) {
            return err_set(err, -E2BIG, "too many arguments");
        }
        argv[count++] = job->program[i];
    }
    argv[count] = NULL;
    autobuf words = BUF_INIT(MAX_WORDS);
    (void)unlink(log_path);
    int r = run(argv, job->environment, job->timeout_ms, &words, ret_status, err);
    if (r == 0 || r == -ETIMEDOUT) {
        sanitizer_log_finish(ret);
        int read = log_read(log_path, ret); /* without a log it has no summary either */
        r = r ? r : judge_log(ret, read, &words, *ret_status, err);
    }
    (void)unlink(log_path);
    return r;
}
