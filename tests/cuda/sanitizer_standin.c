/* A stand-in of compute-sanitizer: it starts its target by the means that the real
 * launcher was seen to use (strace, versions 2025.3 and 2026.4) and writes a log that a
 * test has put beside it.
 *
 *   PATH.conf   words, one a line: what goes wrong (below)
 *   PATH.TOOL   the log of that tool; missing: a clean one
 *
 * A folder in $TMPDIR with two named pipes; a process that starts the target; an abstract
 * Unix socket that both speak through. Then it tries what it must not be able to do, and
 * says so on standard error and with status 99: a failure of the room. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where all is instrumented: LeakSanitizer traces its process, which the room forbids,
 * and a crash that a test orders must look like one. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0:handle_segv=0:handle_abort=0";
}

static char conf[1024];
static const char *own_path;

static bool says(const char *word) {
    const char *at = strstr(conf, word);
    return at && (at == conf || at[-1] == '\n') && strchr("\n", at[strlen(word)]);
}

static _Noreturn void fail(const char *what) {
    (void)fprintf(stderr, "sanitizer stand-in: %s: %s\n", what, strerror(errno));
    exit(98);
}

static size_t file_take(const char *suffix, char *to, size_t size) {
    char path[4200];
    snprintf(path, sizeof path, "%s.%s", own_path, suffix);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(to, 1, size - 1, f) : 0;
    to[n] = 0;
    if (f) {
        (void)fclose(f);
    }
    return n;
}

/* --- what must fail --- */

static void must_fail(bool done, const char *what) {
    if (done) {
        (void)fprintf(stderr, "sanitizer stand-in: the room lets me %s\n", what);
        exit(99);
    }
}

/* Only where a filter is in force: prctl would have been told of it in /proc. */
static void try_the_room(void) {
    const char *home = "/root";
    must_fail(socket(AF_INET, SOCK_STREAM, 0) >= 0, "open a TCP socket");
    must_fail(socket(AF_INET6, SOCK_DGRAM, 0) >= 0, "open a UDP socket");
    must_fail(socket(AF_NETLINK, SOCK_RAW, 0) >= 0, "open a netlink socket");
    must_fail(open("/etc/passwd", O_RDONLY) >= 0, "read /etc/passwd");
    must_fail(open(home, O_RDONLY | O_DIRECTORY) >= 0, "look into a home");
    must_fail(open("/tmp/sanitizer-standin-wrote", O_CREAT | O_WRONLY, 0600) >= 0,
              "write to /tmp");
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", NULL);
        execl("/usr/bin/env", "env", NULL);
        _exit(77);
    }
    int status = 0;
    (void)waitpid(pid, &status, 0);
    must_fail(pid < 0 || WEXITSTATUS(status) != 77, "start any program");
}

/* --- the launch --- */

/* Both ends of an abstract socket, as launcher and target have one. */
static void try_socket(void) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), other;
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                (size_t)snprintf(at.sun_path + 1, sizeof at.sun_path - 1,
                                                 "nv_target_process_%d", getpid()));
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, len) < 0 ||
        listen(listener, 1) < 0) {
        fail("a Unix socket");
    }
    other = socket(AF_UNIX, SOCK_STREAM, 0);
    if (other < 0 || connect(other, (struct sockaddr *)&at, len) < 0 ||
        accept(listener, NULL, NULL) < 0) {
        fail("its connection");
    }
}

static void make_pipes(char *folder, size_t size) {
    const char *tmp = getenv("TMPDIR");
    char path[4300];
    snprintf(folder, size, "%s/NVIDIA-treetracker-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        fail(folder);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/pipe-%d", folder, i);
        if (mkfifo(path, 0666) < 0 || open(path, O_RDWR | O_NONBLOCK) < 0) {
            fail(path);
        }
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static int run_target(char **argv) {
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        execv(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        fail("the target");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- the log --- */

static void flood(FILE *f) {
    char line[4096];
    memset(line, '=', sizeof line);
    line[sizeof line - 1] = '\n';
    for (long i = 0; i < (1l << 30) / (long)sizeof line; i++) {
        if (fwrite(line, 1, sizeof line, f) != sizeof line) {
            return;
        }
    }
}

static void write_log(const char *path, const char *tool) {
    static char text[1 << 16];
    FILE *f = fopen(path, "w");
    if (!f) {
        fail(path);
    }
    size_t len = file_take(tool, text, sizeof text);
    if (says("flood")) {
        flood(f);
    }
    (void)fputs("========= COMPUTE-SANITIZER\n", f);
    (void)fwrite(text, 1, len, f);
    if (!len) {
        (void)fputs("========= ERROR SUMMARY: 0 errors\n", f);
    }
    (void)fclose(f);
}

int main(int argc, char **argv) {
    const char *tool = "memcheck", *log = NULL;
    char folder[4200];
    int i = 1;
    own_path = argv[0];
    (void)file_take("conf", conf, sizeof conf);
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts(says("broken")
                 ? "error while loading shared libraries: libsanitizer.so"
                 : "NVIDIA (R) Compute Sanitizer\nVersion 2026.4.0.0 (build 1)");
        return says("broken") ? 127 : 0;
    }
    for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
        tool = !strcmp(argv[i], "--tool") ? argv[i + 1] : tool;
        log = !strcmp(argv[i], "--log-file") ? argv[i + 1] : log;
    }
    if (i >= argc || !log) {
        fail("arguments");
    }
    if (says("hang")) {
        pid_t target = fork();
        (void)(target == 0 ? run_target(argv + i) : 0);
        for (;;) {
            pause();
        }
    }
    if (says("die")) {
        (void)raise(SIGSEGV);
    }
    make_pipes(folder, sizeof folder);
    try_socket();
    if (says("confined")) {
        try_the_room();
    }
    int status = says("idle") ? 0 : run_target(argv + i);
    if (!says("silent")) {
        write_log(log, tool);
    }
    return status;
}
