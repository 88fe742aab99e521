#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/shared_bytes.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct seen {
    struct buf out, error;
    unsigned ends;
    struct child_end end;
};

static void on_out(struct child *child, const char *bytes, size_t len, void *data) {
    (void)child;
    buf_add(&((struct seen *)data)->out, bytes, len);
}

static void on_error(struct child *child, const char *bytes, size_t len, void *data) {
    (void)child;
    buf_add(&((struct seen *)data)->error, bytes, len);
}

static void on_end(struct child *child, const struct child_end *end, void *data) {
    struct seen *seen = data;
    (void)child;
    seen->ends++;
    seen->end = *end;
}

static struct child_options options_for(const char *const *argv, struct seen *seen) {
    *seen = (struct seen){.out = BUF_INIT(10u << 20), .error = BUF_INIT(1u << 20)};
    return (struct child_options){
        .argv = argv, .out = on_out, .error = on_error, .end = on_end, .data = seen};
}

static void seen_finish(struct seen *seen) {
    buf_finish(&seen->out);
    buf_finish(&seen->error);
}

/* No child is left, and every handle was closed. */
static void close_loop(uv_loop_t *loop) {
    cr_assert(eq(int, waitpid(-1, NULL, WNOHANG), -1));
    cr_assert(eq(int, errno, ECHILD));
    cr_assert(zero(int, uv_run(loop, UV_RUN_DEFAULT)));
    cr_assert(zero(int, uv_loop_close(loop)));
}

/* Runs to the end; `with` may act on the child that was just started. */
static void run(struct child_options *options, void (*with)(struct child *),
                struct seen *seen) {
    uv_loop_t loop;
    struct child *child = NULL;
    struct err err = {0};
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&loop);
    int rc = child_start(&loop, options, &child, &err);
    cr_assert(zero(int, rc), "%s", err.msg);
    cr_assert(child_pid(child) > 0);
    cr_assert(zero(uint, seen->ends));
    if (with) {
        with(child);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(eq(uint, seen->ends, 1));
    close_loop(&loop);
}

static void run_shell(const char *script, struct seen *seen) {
    const char *argv[] = {"sh", "-c", script, NULL};
    struct child_options options = options_for(argv, seen);
    run(&options, NULL, seen);
}

Test(child, output_and_status_arrive) {
    struct seen seen;
    run_shell("echo to out; echo to error >&2; exit 3", &seen);
    cr_assert(eq(str, seen.out.data, "to out\n"));
    cr_assert(eq(str, seen.error.data, "to error\n"));
    cr_assert(eq(int, seen.end.exit_status, 3));
    cr_assert(zero(int, seen.end.term_signal));
    cr_assert(zero(int, seen.end.failure));
    cr_assert(seen.end.wall_us > 0 && seen.end.wall_us < 10000000);
    seen_finish(&seen);
    run_shell("kill -SEGV $$", &seen);
    cr_assert(eq(int, seen.end.exit_status, -1));
    cr_assert(eq(int, seen.end.term_signal, SIGSEGV));
    seen_finish(&seen);
    run_shell("head -c 3000000 /dev/zero", &seen);
    cr_assert(eq(sz, seen.out.len, 3000000));
    seen_finish(&seen);
}

Test(child, what_cannot_be_started_fails_at_once_and_calls_nothing) {
    static const struct {
        const char *program, *cwd;
        int code;
    } cases[] = {{"no-such-program-here", NULL, -ENOENT},
                 {"/no/such/program", NULL, -ENOENT},
                 {"", NULL, -ENOENT},
                 {"/etc/passwd", NULL, -EACCES},
                 {"/tmp", NULL, -EACCES},
                 {"true", "/no/such/folder", -ENOENT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uv_loop_t loop;
        struct seen seen;
        struct child *child = NULL;
        struct err err = {0};
        const char *argv[] = {cases[i].program, NULL};
        struct child_options options = options_for(argv, &seen);
        options.cwd = cases[i].cwd;
        uv_loop_init(&loop);
        cr_assert(eq(int, child_start(&loop, &options, &child, &err), cases[i].code),
                  "%zu", i);
        cr_assert(strstr(err.msg, cases[i].program) != NULL);
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert(zero(uint, seen.ends));
        close_loop(&loop);
    }
}

Test(child, a_time_limit_ends_the_whole_group) {
    struct seen seen;
    const char *argv[] = {"sh", "-c", "trap '' TERM; sleep 30 & sleep 30", NULL};
    for (unsigned grace = 0; grace <= 100; grace += 100) {
        struct child_options options = options_for(argv, &seen);
        options.timeout_ms = 500; /* the shell must have set its trap by then */
        options.grace_ms = grace;
        run(&options, NULL, &seen);
        cr_assert(eq(int, seen.end.failure, -ETIMEDOUT));
        cr_assert(eq(int, seen.end.term_signal, SIGKILL));
        cr_assert(seen.end.wall_us >= 400000 && seen.end.wall_us < 20000000);
        seen_finish(&seen);
    }
}

Test(child, cancelling_asks_first_and_is_reported) {
    struct seen seen;
    const char *argv[] = {"sleep", "30", NULL};
    struct child_options options = options_for(argv, &seen);
    options.grace_ms = 5000;
    run(&options, child_cancel, &seen);
    cr_assert(eq(int, seen.end.failure, -ECANCELED));
    cr_assert(eq(int, seen.end.term_signal, SIGTERM));
    options.grace_ms = 0;
    run((seen.ends = 0, &options), child_cancel, &seen);
    cr_assert(eq(int, seen.end.term_signal, SIGKILL));
    run((seen.ends = 0, seen.end.failure = 0, &options), child_kill, &seen);
    cr_assert(zero(int, seen.end.failure));
    cr_assert(eq(int, seen.end.term_signal, SIGKILL));
}

Test(child, output_over_the_limit_ends_it) {
    struct seen seen;
    const char *argv[] = {"sh", "-c", "yes & yes >&2", NULL};
    struct child_options options = options_for(argv, &seen);
    options.max_output = 100000;
    options.grace_ms = 1000;
    run(&options, NULL, &seen);
    cr_assert(eq(int, seen.end.failure, -EMSGSIZE));
    cr_assert(eq(sz, seen.out.len + seen.error.len, 100000));
    seen_finish(&seen);
}

/* It is killed with the rest of the group, since a job leaves nothing behind. */
Test(child, a_grandchild_with_the_pipe_delays_the_end_but_not_for_long) {
    struct seen seen;
    uint64_t before = clock_ms();
    run_shell("sleep 30 & echo $!", &seen);
    cr_assert(clock_ms() - before < 5000);
    cr_assert(zero(int, seen.end.exit_status));
    pid_t grandchild = atoi(seen.out.data);
    cr_assert(grandchild > 0);
    for (int i = 0; i < 100 && kill(grandchild, 0) == 0; i++) {
        char path[64], state[8] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", grandchild);
        FILE *f = fopen(path, "r");
        bool zombie = f && fscanf(f, "%*d %*s %7s", state) == 1 && state[0] == 'Z';
        if (f) {
            fclose(f);
        }
        if (zombie) {
            break; /* nobody here reaps orphans */
        }
        cr_assert(i < 99, "alive: state %s", state);
        usleep(10000);
    }
    seen_finish(&seen);
}

#define PF_EXITING 4u /* Linux's: its files are closed, or about to be */

/* Of the group that `pid` led: how many still run. */
static unsigned running_in_group(pid_t pid) {
    unsigned count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *e; (e = readdir(dir));) {
        char path[300], state = 'Z';
        int group = 0;
        unsigned flags = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *f = atoi(e->d_name) > 0 ? fopen(path, "r") : NULL;
        if (f) {
            int n = fscanf(f, "%*d %*s %c %*d %d %*d %*d %*d %u", &state, &group, &flags);
            count += n == 3 && group == pid && !(flags & PF_EXITING) && state != 'Z' &&
                     state != 'X';
            fclose(f);
        }
    }
    closedir(dir);
    return count;
}

static void on_end_nobody_runs(struct child *child, const struct child_end *end,
                               void *data) {
    on_end(child, end, data);
    cr_expect(zero(uint, running_in_group(child_pid(child))));
}

/* Whoever removes the folder in which they wrote must meet nobody there. */
Test(child, grandchildren_are_gone_at_the_end) {
    const char *argv[] = {
        "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done", NULL};
    struct seen seen;
    struct child_options options = options_for(argv, &seen);
    options.end = on_end_nobody_runs;
    uint64_t before = clock_ms();
    run(&options, NULL, &seen);
    cr_assert(clock_ms() - before < 5000);
    seen_finish(&seen);
}

static void feed_and_close(struct child *child) {
    static char many[300000];
    memset(many, 'x', sizeof many);
    child_write(child, many, sizeof many);
    child_write(child, "end", 3);
    child_write(child, "", 0);
    child_close_stdin(child);
    child_write(child, "too late", 8);
}

Test(child, what_is_written_is_read_to_the_end) {
    struct seen seen;
    const char *argv[] = {"cat", NULL};
    struct child_options options = options_for(argv, &seen);
    options.want_stdin = true;
    run(&options, feed_and_close, &seen);
    cr_assert(eq(sz, seen.out.len, 300003));
    cr_assert(eq(str, seen.out.data + 300000, "end"));
    cr_assert(zero(int, seen.end.exit_status));
    seen_finish(&seen);
}

enum { LONG = 8 << 20 }; /* it does not fit into a pipe */

static struct shared_bytes *shared;

static void make_shared(void) {
    struct buf text = BUF_INIT(LONG);
    for (size_t i = 0; i < LONG; i++) {
        buf_addc(&text, (char)('a' + i % 23));
    }
    shared = shared_bytes_new(&text);
}

static void write_shared(struct child *child) {
    child_write_shared(child, shared);
    cr_assert(eq(sz, shared->holders, 2), "it is held while it waits");
}

static void write_shared_and_close(struct child *child) {
    child_write(child, "1", 1);
    write_shared(child);
    child_write(child, "2", 1);
    child_close_stdin(child);
    child_write_shared(child, shared);
    cr_assert(eq(sz, shared->holders, 2), "what is not taken is not held");
}

Test(child, shared_bytes_are_written_in_their_place_and_left) {
    struct seen seen;
    const char *argv[] = {"cat", NULL};
    struct child_options options = options_for(argv, &seen);
    seen.out.max = 32u << 20;
    options.want_stdin = true;
    make_shared();
    run(&options, write_shared_and_close, &seen);
    cr_assert(eq(sz, shared->holders, 1));
    cr_assert(eq(sz, seen.out.len, (size_t)LONG + 2));
    cr_assert(zero(int, memcmp(seen.out.data + 1, shared->data, LONG)));
    cr_assert(eq(chr, seen.out.data[0], '1'));
    cr_assert(eq(str, seen.out.data + 1 + LONG, "2"));
    shared_bytes_unref(shared);
    seen_finish(&seen);
}

static void write_many_shared(struct child *child) {
    for (int i = 0; i < 12; i++) {
        child_write_shared(child, shared);
    }
    cr_assert(child_write_queued(child) > 64u << 20);
    child_close_stdin(child);
}

/* What is not copied may wait however much it is. */
Test(child, what_is_shared_does_not_count_as_copies) {
    struct seen seen;
    const char *argv[] = {"wc", "-c", NULL};
    struct child_options options = options_for(argv, &seen);
    options.want_stdin = true;
    make_shared();
    run(&options, write_many_shared, &seen);
    char want[32];
    snprintf(want, sizeof want, "%d\n", 12 * LONG);
    cr_assert(eq(str, seen.out.data, want));
    cr_assert(eq(sz, shared->holders, 1));
    shared_bytes_unref(shared);
    seen_finish(&seen);
}

static void write_shared_and_kill(struct child *child) {
    write_shared(child);
    child_kill(child);
}

/* The reader reads a part of it, or nothing, and ends. */
Test(child, shared_bytes_that_nobody_reads_are_left) {
    static const char *const scripts[] = {"head -c 100000 >/dev/null", "exec <&-",
                                          "sleep 1000"};
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct seen seen;
        const char *argv[] = {"sh", "-c", scripts[i], NULL};
        struct child_options options = options_for(argv, &seen);
        options.want_stdin = true;
        make_shared();
        run(&options, i == 2 ? write_shared_and_kill : write_shared, &seen);
        cr_assert(eq(sz, shared->holders, 1));
        shared_bytes_unref(shared);
        seen_finish(&seen);
    }
}

static void flood(struct child *child) {
    static char many[1 << 20];
    for (int i = 0; i < 100; i++) {
        child_write(child, many, sizeof many);
    }
    cr_assert(child_write_queued(child) <= 64u << 20);
}

Test(child, one_that_does_not_read_costs_bounded_memory) {
    struct seen seen;
    const char *argv[] = {"sh", "-c", "exec <&-; sleep 0.1; echo done", NULL};
    struct child_options options = options_for(argv, &seen);
    options.want_stdin = true;
    run(&options, flood, &seen);
    cr_assert(eq(str, seen.out.data, "done\n"));
    seen_finish(&seen);
}

Test(child, it_inherits_only_what_it_is_given) {
    struct seen seen;
    const char *argv[] = {
        "/bin/sh", "-c",
        "echo \"$SECRET|$FOO|$(pwd)\"; readlink /proc/self/fd/0; "
        "ls /proc/self/fd | wc -l; cut -d' ' -f5,6 /proc/$$/stat; echo $$; "
        "grep -E 'SigBlk|SigIgn' /proc/self/status",
        NULL};
    const char *env[] = {"PATH=/usr/bin:/bin", "FOO=bar", NULL};
    int leak = open("/dev/null", O_RDONLY); /* not close-on-exec */
    setenv("SECRET", "x", 1);
    for (int given = 0; given <= 1; given++) {
        struct child_options options = options_for(argv, &seen);
        options.cwd = "/usr";
        options.env = given ? env : NULL;
        run(&options, NULL, &seen);
        char want[300];
        /* 0, 1, 2 and the folder that ls itself reads; group and session are its own. */
        int pid = atoi(strstr(seen.out.data, "/dev/null") + strlen("/dev/null\n4\n"));
        snprintf(want, sizeof want,
                 "|%s|/usr\n/dev/null\n4\n%d %d\n%d\nSigBlk:\t0000000000000000\n"
                 "SigIgn:\t0000000000000000\n",
                 given ? "bar" : "", pid, pid, pid);
        cr_assert(eq(str, seen.out.data, want));
        seen_finish(&seen);
    }
    close(leak);
}

/* The parent of the parent-death test: starts a child and is killed. */
static void start_and_wait(int report) {
    uv_loop_t loop;
    struct seen seen;
    struct child *child;
    const char *argv[] = {"sleep", "30", NULL};
    struct child_options options = options_for(argv, &seen);
    uv_loop_init(&loop);
    int pid = child_start(&loop, &options, &child, NULL) == 0 ? child_pid(child) : -1;
    (void)!write(report, &pid, sizeof pid);
    pause();
}

Test(child, it_dies_with_its_parent) {
    int fds[2], pid = 0;
    cr_assert(zero(int, pipe(fds)));
    pid_t parent = fork();
    if (parent == 0) {
        start_and_wait(fds[1]);
        _exit(0);
    }
    cr_assert(eq(sz, (size_t)read(fds[0], &pid, sizeof pid), sizeof pid));
    cr_assert(pid > 0);
    cr_assert(zero(int, kill(pid, 0)));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    char path[64], state[8] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (int i = 0; i < 200 && state[0] != 'Z'; i++) {
        FILE *f = fopen(path, "r");
        if (!f) {
            return;
        }
        (void)!fscanf(f, "%*d %*s %7s", state);
        fclose(f);
        usleep(10000);
    }
    cr_assert(eq(chr, state[0], 'Z'));
}

/* One that is left alone goes on, and the loop is free of it. */
Test(child, one_may_be_left_alone) {
    uv_loop_t loop;
    struct seen seen;
    struct child *child;
    const char *argv[] = {"sleep", "600", NULL};
    struct child_options options = options_for(argv, &seen);
    options.want_stdin = true;
    uv_loop_init(&loop);
    cr_assert(zero(int, child_start(&loop, &options, &child, NULL)));
    int pid = child_pid(child);
    child_leave(child);
    child_leave(child);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(eq(uint, seen.ends, 1));
    cr_assert(eq(int, seen.end.failure, -ECANCELED));
    cr_assert(zero(int, waitpid(pid, NULL, WNOHANG)), "it still runs");
    kill(pid, SIGKILL);
    cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
    close_loop(&loop);
    seen_finish(&seen);
}

static bool appears(const char *path) {
    for (int i = 0; i < 6000; i++) {
        if (access(path, F_OK) == 0) {
            return true;
        }
        usleep(10000);
    }
    return false;
}

/* One that has to clean up is asked to, when its parent dies. */
Test(child, it_hears_of_its_parents_death_as_it_likes) {
    char folder[] = "/tmp/test-child-XXXXXX", ready[64], told[64], script[300];
    cr_assert(ne(ptr, mkdtemp(folder), NULL));
    snprintf(ready, sizeof ready, "%s/ready", folder);
    snprintf(told, sizeof told, "%s/told", folder);
    snprintf(script, sizeof script,
             "trap 'touch %s; exit 0' TERM; touch %s; while :; do sleep 0.02; done", told,
             ready);
    pid_t parent = fork();
    if (parent == 0) {
        uv_loop_t loop;
        struct seen seen;
        struct child *child;
        const char *argv[] = {"sh", "-c", script, NULL};
        struct child_options options = options_for(argv, &seen);
        options.death_signal = SIGTERM;
        uv_loop_init(&loop);
        child_start(&loop, &options, &child, NULL);
        for (;;) {
            pause();
        }
    }
    cr_assert(appears(ready));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    cr_assert(appears(told));
    unlink(ready);
    unlink(told);
    rmdir(folder);
}

Test(child, many_at_once_are_told_apart) {
    enum { N = 20 };
    uv_loop_t loop;
    struct seen seen[N];
    struct child *children[N];
    uv_loop_init(&loop);
    for (int i = 0; i < N; i++) {
        char script[64];
        snprintf(script, sizeof script, "echo %d; exit %d", i, i);
        const char *argv[] = {"sh", "-c", script, NULL};
        struct child_options options = options_for(argv, &seen[i]);
        cr_assert(zero(int, child_start(&loop, &options, &children[i], NULL)));
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < N; i++) {
        cr_assert(eq(int, seen[i].end.exit_status, i));
        cr_assert(eq(int, atoi(seen[i].out.data), i));
        seen_finish(&seen[i]);
    }
    close_loop(&loop);
}

static void stop_waiting(uv_timer_t *timer) {
    uv_stop(timer->loop);
    uv_close((uv_handle_t *)timer, NULL);
}

static void run_for(uv_loop_t *loop, unsigned ms) {
    uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, stop_waiting, ms, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_run(loop, UV_RUN_NOWAIT); /* the timer closes */
}

/* Long after the child's exit: what it said is still to come, and the end with it; unless
 * it was killed. */
Test(child, what_is_paused_comes_when_it_is_resumed) {
    static const char *const argv[] = {"sh", "-c", "printf 'one two three'", NULL};
    for (int killed = 0; killed <= 1; killed++) {
        uv_loop_t loop;
        struct seen seen;
        struct child *child;
        cr_assert(zero(int, uv_loop_init(&loop)));
        struct child_options options = options_for(argv, &seen);
        cr_assert(zero(int, child_start(&loop, &options, &child, NULL)));
        child_pause(child);
        run_for(&loop, 700);
        cr_assert(zero(uint, seen.ends));
        cr_assert(zero(sz, seen.out.len));
        if (killed) {
            child_kill(child);
        } else {
            child_resume(child);
        }
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert(eq(uint, seen.ends, 1));
        cr_assert_str_eq(seen.out.data, killed ? "" : "one two three");
        close_loop(&loop);
        seen_finish(&seen);
    }
}
