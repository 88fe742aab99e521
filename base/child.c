/* The launch is our own fork and exec, since uv_spawn can set no parent-death signal:
 * what runs between the two is async-signal-safe only, and a failed exec comes back
 * through a close-on-exec pipe, so that child_start itself fails. Exits are seen through
 * SIGCHLD as libuv delivers it; the zombie is kept until the end, so that its group's
 * number cannot be another's while we signal it. */
#include "base/child.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/launch.h"
#include "base/shared_bytes.h"

#include <signal.h>
#include <sys/wait.h>

#define DRAIN_MS 200
#define KILLED_MS 1000 /* for a killed group to be gone */
#define READ_SIZE (64u << 10)
#define MAX_STDIN_COPIED (64u << 20)

struct child {
    struct child_options options; /* argv, env and cwd are not kept */
    pid_t pid;
    uv_signal_t watcher;
    uv_timer_t timer; /* time limit, then grace, then drain */
    uv_pipe_t in, out, error;
    unsigned handles;          /* close callbacks still to come */
    bool out_open, error_open; /* not at their end yet */
    bool close_stdin;          /* once the queue is empty */
    bool exited, ended, killed, paused;
    size_t output; /* bytes read so far */
    size_t copied; /* of what is queued for stdin */
    uint64_t started_us;
    struct child_end end;
    char buffer[READ_SIZE];
};

struct stdin_write {
    uv_write_t uv;
    struct child *child;
    struct shared_bytes *shared; /* or NULL: bytes */
    size_t copied;
    char bytes[];
};

/* --- the end --- */

static void on_handle_closed(uv_handle_t *handle) {
    struct child *child = handle->data;
    if (--child->handles == 0) {
        free(child);
    }
}

static void close_handle(void *handle) {
    if (!uv_is_closing(handle)) {
        uv_close(handle, on_handle_closed);
    }
}

static void close_handles(struct child *child) {
    close_handle(&child->watcher);
    close_handle(&child->timer);
    close_handle(&child->in);
    close_handle(&child->out);
    close_handle(&child->error);
}

/* The exit was seen, and the output read or given up: kills the rest of the group, then
 * reaps the zombie. */
static void finish(struct child *child) {
    int status;
    if (child->ended) {
        return;
    }
    child->ended = true;
    (void)kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {}
    if (child->options.end) {
        child->options.end(child, &child->end, child->options.data);
    }
    close_handles(child);
}

void child_leave(struct child *child) {
    if (child->ended) {
        return;
    }
    child->ended = true;
    child->end.failure = -ECANCELED;
    child->end.exit_status = -1;
    if (child->options.end) {
        child->options.end(child, &child->end, child->options.data);
    }
    close_handles(child);
}

static void finish_if_done(struct child *child) {
    if (child->exited && !child->out_open && !child->error_open) {
        finish(child);
    }
}

static void on_rest_gone(uv_timer_t *timer) {
    finish(container_of(timer, struct child, timer));
}

/* A killed process may still be inside a system call, such as one that makes a file; when
 * it is gone its end of the pipe is closed. */
static void on_drained(uv_timer_t *timer) {
    struct child *child = container_of(timer, struct child, timer);
    if (child->paused && child->out_open && !child->killed) {
        uv_timer_start(timer, on_drained, DRAIN_MS, 0);
    } else {
        child_kill(child);
        uv_timer_start(timer, on_rest_gone, KILLED_MS, 0);
    }
}

static void note_exit(struct child *child, const siginfo_t *info) {
    child->exited = true;
    child->end.wall_us = clock_us() - child->started_us;
    child->end.exit_status = info->si_code == CLD_EXITED ? info->si_status : -1;
    child->end.term_signal = info->si_code == CLD_EXITED ? 0 : info->si_status;
    uv_signal_stop(&child->watcher);
    uv_timer_start(&child->timer, on_drained, DRAIN_MS, 0);
    finish_if_done(child);
}

static void on_sigchld(uv_signal_t *watcher, int) {
    struct child *child = container_of(watcher, struct child, watcher);
    siginfo_t info = {0};
    if (!child->exited &&
        waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child->pid) {
        note_exit(child, &info);
    }
}

/* --- killing --- */

void child_kill(struct child *child) {
    child->killed = true;
    (void)kill(-child->pid, SIGKILL);
}

static void on_grace_over(uv_timer_t *timer) {
    child_kill(container_of(timer, struct child, timer));
}

static void stop(struct child *child, int failure) {
    if (!child->end.failure) {
        child->end.failure = failure;
    }
    if (child->ended || child->killed) {
        return;
    }
    if (child->exited) {
        uv_timer_start(&child->timer, on_drained, 0, 0);
    } else if (child->options.grace_ms && failure != -EMSGSIZE) {
        (void)kill(-child->pid, SIGTERM);
        uv_timer_start(&child->timer, on_grace_over, child->options.grace_ms, 0);
    } else {
        child_kill(child);
    }
}

static void on_timeout(uv_timer_t *timer) {
    stop(container_of(timer, struct child, timer), -ETIMEDOUT);
}

void child_cancel(struct child *child) {
    if (child->end.failure != -ECANCELED) {
        stop(child, -ECANCELED);
    }
}

/* --- output --- */

static void on_alloc(uv_handle_t *handle, size_t, uv_buf_t *ret) {
    struct child *child = handle->data;
    *ret = uv_buf_init(child->buffer, sizeof child->buffer);
}

/* How many of n more bytes may still be handed on. */
static size_t within_limit(struct child *child, size_t n) {
    size_t max = child->options.max_output;
    size_t take = max && n > max - child->output ? max - child->output : n;
    child->output += take;
    if (take < n) {
        stop(child, -EMSGSIZE);
    }
    return take;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes) {
    struct child *child = stream->data;
    bool is_out = stream == (uv_stream_t *)&child->out;
    void (*tell)(struct child *, const char *, size_t, void *) =
        is_out ? child->options.out : child->options.error;
    if (n > 0) {
        size_t take = within_limit(child, (size_t)n);
        if (tell && take && !child->ended) {
            tell(child, bytes->base, take, child->options.data);
        }
    } else if (n < 0) {
        uv_read_stop(stream);
        *(is_out ? &child->out_open : &child->error_open) = false;
        finish_if_done(child);
    }
}

void child_pause(struct child *child) {
    child->paused = true;
    uv_read_stop((uv_stream_t *)&child->out);
}

void child_resume(struct child *child) {
    child->paused = false;
    if (child->out_open && !child->ended) {
        uv_read_start((uv_stream_t *)&child->out, on_alloc, on_read);
    }
}

/* --- input --- */

static void write_free(struct stdin_write *request) {
    shared_bytes_unref(request->shared);
    free(request);
}

static void on_written(uv_write_t *uv, int status) {
    struct stdin_write *request = container_of(uv, struct stdin_write, uv);
    struct child *child = request->child;
    child->copied -= request->copied;
    write_free(request);
    if (status < 0 || (child->close_stdin && !child_write_queued(child))) {
        close_handle(&child->in); /* it reads no more, or shall see the end */
    }
}

/* Waiting shared bytes need no further memory. */
static bool takes_more(struct child *child, size_t copied) {
    if (child->close_stdin || uv_is_closing((uv_handle_t *)&child->in)) {
        return false;
    }
    if (copied > MAX_STDIN_COPIED || child->copied > MAX_STDIN_COPIED - copied) {
        close_handle(&child->in);
        return false;
    }
    return true;
}

static void write_start(struct stdin_write *request, const char *bytes, size_t len) {
    struct child *child = request->child;
    /* libuv's type has no const; it only reads them. */
    uv_buf_t piece = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)len);
    child->copied += request->copied;
    if (uv_write(&request->uv, (uv_stream_t *)&child->in, &piece, 1, on_written) < 0) {
        child->copied -= request->copied;
        write_free(request);
        close_handle(&child->in);
    }
}

void child_write(struct child *child, const char *bytes, size_t len) {
    if (len && takes_more(child, len)) {
        struct stdin_write *request = xmalloc(sizeof *request + len);
        *request = (struct stdin_write){.child = child, .copied = len};
        memcpy(request->bytes, bytes, len);
        write_start(request, request->bytes, len);
    }
}

void child_write_shared(struct child *child, struct shared_bytes *shared) {
    if (shared->len && takes_more(child, 0)) {
        struct stdin_write *request = xcalloc(1, sizeof *request);
        request->child = child;
        request->shared = shared_bytes_ref(shared);
        write_start(request, shared->data, shared->len);
    }
}

size_t child_write_queued(const struct child *child) {
    return uv_is_closing((const uv_handle_t *)&child->in)
               ? 0
               : uv_stream_get_write_queue_size((const uv_stream_t *)&child->in);
}

void child_close_stdin(struct child *child) {
    child->close_stdin = true;
    if (!child_write_queued(child)) {
        close_handle(&child->in);
    }
}

/* --- the beginning --- */

static struct child *child_new(uv_loop_t *loop, const struct child_options *options) {
    struct child *child = xmalloc(sizeof *child);
    memset(child, 0, offsetof(struct child, buffer));
    child->options = *options;
    child->options.argv = child->options.env = NULL;
    child->options.cwd = NULL;
    uv_signal_init(loop, &child->watcher);
    uv_timer_init(loop, &child->timer);
    uv_pipe_init(loop, &child->in, 0);
    uv_pipe_init(loop, &child->out, 0);
    uv_pipe_init(loop, &child->error, 0);
    child->watcher.data = child->timer.data = child;
    child->in.data = child->out.data = child->error.data = child;
    child->handles = 5;
    return child;
}

/* Hand a descriptor to the pipe; it is the pipe's when this returns 0. */
static int adopt(uv_pipe_t *pipe, int *fd) {
    int rc = *fd < 0 ? 0 : uv_pipe_open(pipe, *fd);
    if (rc == 0) {
        *fd = -1;
    }
    return rc;
}

static int watch(struct child *child, struct launch *launch) {
    int rc = adopt(&child->out, &launch->out);
    rc = rc < 0 ? rc : adopt(&child->error, &launch->error);
    rc = rc < 0 ? rc : adopt(&child->in, &launch->in);
    rc = rc < 0 ? rc : uv_read_start((uv_stream_t *)&child->out, on_alloc, on_read);
    rc = rc < 0 ? rc : uv_read_start((uv_stream_t *)&child->error, on_alloc, on_read);
    child->out_open = child->error_open = true;
    if (rc == 0 && child->options.timeout_ms) {
        uv_timer_start(&child->timer, on_timeout, child->options.timeout_ms, 0);
    }
    return rc;
}

int child_start(uv_loop_t *loop, const struct child_options *options, struct child **ret,
                struct err *err) {
    struct child *child = child_new(loop, options);
    struct launch launch;
    child->started_us = clock_us();
    /* Before the launch, so that no exit can be missed. */
    int rc = uv_signal_start(&child->watcher, on_sigchld, SIGCHLD);
    rc = rc < 0 ? rc : launch_program(options, &launch);
    if (rc == 0) {
        child->pid = launch.pid;
        rc = watch(child, &launch);
        if (rc < 0) {
            (void)kill(-child->pid, SIGKILL);
            waitpid(child->pid, NULL, 0);
        }
        launch_close(&launch);
    }
    if (rc < 0) {
        close_handles(child);
        return err_set(err, rc, "%s: cannot be started: %s", options->argv[0],
                       strerror(-rc)); /* libuv has no words for ENOEXEC, and leaks those */
    }
    if (!options->want_stdin) {
        close_handle(&child->in);
    }
    *ret = child;
    return 0;
}

int child_pid(const struct child *child) {
    return child->pid;
}
