#include "clients/ctl/connection.h"

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "protocol/rpc/rpc.h"

#include <signal.h>
#include <unistd.h>

#define FIRST_ANSWER_MS 30000 /* of what every daemon answers at once */

static bool interrupted; /* by Ctrl-C, which means the whole program */

struct connection {
    uv_loop_t loop;
    struct connection_options options;
    struct child *child; /* NULL once it ended */
    int killed_by;       /* the signal that ended it, or 0 */
    struct rpc_peer *peer;
    uv_timer_t tick;
    uv_signal_t interrupt;
    struct rpc_request *request; /* the call under way */
    uint64_t started_ms;
    bool answered, greeted; /* this call, and any */
    bool feeding;           /* what the child said is read */
    const char *problem;    /* why it is no daemon; NULL: it may be one */
    int status;
    json_t *result, *error;
    struct buf log; /* the daemon's last words, for when it does not start */
};

/* --- the daemon's program --- */

static char *find_on_path(const char *name) {
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        autofree char *file = xasprintf("%.*s/%s", (int)len, path, name);
        if (*file == '/' && access(file, X_OK) == 0) {
            return take(file);
        }
        path += len + (path[len] == ':');
    }
    return xstrdup(name);
}

char *connection_program(void) {
    static const char *const places[] = {"upskilld", "../../daemon/upskilld"};
    const char *named = getenv("UPSKILLD");
    if (named && *named) {
        char *real = realpath(named, NULL);
        return real ? real : xstrdup(named);
    }
    char *path = beside_program(places, ARRAY_LEN(places), X_OK);
    return path ? path : find_on_path("upskilld");
}

/* --- what arrives --- */

/* Another program would go on, or say nothing, for ever. */
static void leave(struct connection *c, const char *problem) {
    c->problem = problem;
    if (c->child) {
        child_kill(c->child);
    }
}

static void on_request(struct rpc_call *call, void *) {
    rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "upskillctl serves no methods");
}

static void on_notification(struct rpc_peer *, enum frame_mode, const char *method,
                            json_t *params, void *data) {
    struct connection *c = data;
    if (strcmp(method, "job/changed") == 0) {
        if (c->options.progress && c->request) {
            c->options.progress(params, (double)(clock_ms() - c->started_ms) / 1000,
                                c->options.data);
        }
    } else if (c->options.notification) {
        c->options.notification(method, params, c->options.data);
    }
}

static void on_send(struct rpc_peer *, char *bytes, size_t len, bool, void *data) {
    struct connection *c = data;
    if (c->feeding && !c->options.trace) { /* a daemon asks nothing of a plain client */
        leave(c, "does not speak upskilld's protocol");
    } else if (c->child) {
        child_write(c->child, bytes, len);
    }
    free(bytes);
}

static void on_trace(struct rpc_peer *, bool outgoing, const char *body, size_t len,
                     void *data) {
    struct connection *c = data;
    if (c->options.trace) {
        c->options.trace(outgoing, body, len, c->options.data);
    }
}

static void on_response(struct rpc_request *, int status, const json_t *result,
                        const json_t *error, void *data) {
    struct connection *c = data;
    c->request = NULL;
    c->answered = c->greeted = true;
    c->status = status;
    c->result = json_incref((json_t *)(uintptr_t)result);
    c->error = json_incref((json_t *)(uintptr_t)error);
    uv_stop(&c->loop);
}

static void on_out(struct child *, const char *bytes, size_t len, void *data) {
    struct connection *c = data;
    if (c->peer && !c->problem) {
        c->feeding = true;
        rpc_feed(c->peer, bytes, len);
        c->feeding = false;
    }
    uv_stop(&c->loop);
}

static void on_log(struct child *, const char *bytes, size_t len, void *data) {
    struct connection *c = data;
    if (c->options.keep_stderr) {
        fwrite(bytes, 1, len, stderr);
        return;
    }
    if (c->log.len + len > c->log.max) {
        buf_reset(&c->log);
    }
    buf_add(&c->log, bytes, len < c->log.max ? len : c->log.max);
}

static void on_end(struct child *, const struct child_end *end, void *data) {
    struct connection *c = data;
    c->child = NULL;
    c->killed_by = end->term_signal;
    uv_stop(&c->loop);
}

/* --- while a call runs --- */

static void on_tick(uv_timer_t *timer) {
    struct connection *c = container_of(timer, struct connection, tick);
    uint64_t elapsed = clock_ms() - c->started_ms;
    if (!c->greeted && elapsed > FIRST_ANSWER_MS) {
        leave(c, "does not answer");
    }
    if (c->options.progress && c->request) {
        c->options.progress(NULL, (double)elapsed / 1000, c->options.data);
    }
}

static void on_interrupt(uv_signal_t *handle, int number) {
    struct connection *c = container_of(handle, struct connection, interrupt);
    if (interrupted || !c->request) {
        if (c->child) {
            child_kill(c->child);
        }
        _exit(128 + number);
    }
    interrupted = true;
    rpc_notify(c->peer, "$/cancelRequest",
               json_pack("{s:I}", "id", rpc_request_id(c->request)));
    if (c->options.interrupted) {
        c->options.interrupted(c->options.data);
    }
}

void connection_leave_interrupts(struct connection *c, bool leave) {
    if (leave) {
        uv_signal_stop(&c->interrupt);
    } else {
        uv_signal_start(&c->interrupt, on_interrupt, SIGINT);
    }
}

bool connection_interrupted(void) {
    return interrupted;
}

/* --- open, call, close --- */

static int start_daemon(struct connection *c, struct err *err) {
    autofree char *program = connection_program();
    const char *argv[64] = {program};
    for (size_t i = 0; c->options.daemon_args && c->options.daemon_args[i] && i < 62;
         i++) {
        argv[i + 1] = c->options.daemon_args[i];
    }
    extern char **environ;
    struct child_options child = {
        .argv = argv,
        .env = c->options.env ? c->options.env : (const char *const *)environ,
        .want_stdin = true,
        .grace_ms = 1000,
        .out = on_out,
        .error = on_log,
        .end = on_end,
        .data = c,
    };
    return child_start(&c->loop, &child, &c->child, err);
}

int connection_open(const struct connection_options *options, struct connection **ret,
                    struct err *err) {
    static const struct rpc_events events = {.request = on_request,
                                             .notification = on_notification,
                                             .send = on_send,
                                             .trace = on_trace};
    struct connection *c = xcalloc(1, sizeof *c);
    c->options = *options;
    c->log = BUF_INIT(16u << 10);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&c->loop);
    uv_timer_init(&c->loop, &c->tick);
    uv_signal_init(&c->loop, &c->interrupt);
    uv_signal_start(&c->interrupt, on_interrupt, SIGINT);
    c->peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &events, c);
    int rc = start_daemon(c, err);
    if (rc < 0) {
        connection_close(c);
        return rc;
    }
    *ret = c;
    return 0;
}

static int no_answer(const struct connection *c, struct err *err) {
    const char *words = c->log.len ? c->log.data : "it wrote no message";
    if (c->problem) {
        autofree char *program = connection_program();
        return err_set(err, -EPROTO, "%s %s", program, c->problem);
    }
    if (c->killed_by) {
        return err_set(err, -ECONNABORTED, "the daemon ended: killed by signal %d",
                       c->killed_by);
    }
    return err_set(err, -EPIPE, "the daemon ended: %.*s", (int)strcspn(words, "\n"),
                   words);
}

int connection_call(struct connection *c, const char *method, json_t *params,
                    json_t **result, json_t **error, struct err *err) {
    c->answered = false;
    c->result = c->error = NULL;
    if (interrupted) {
        json_decref(params);
        return err_set(err, -EINTR, "stopped by Ctrl-C");
    }
    c->started_ms = clock_ms();
    c->request = rpc_request_start(c->peer, method, params, on_response, c);
    if (!c->request) {
        return err_set(err, -EMSGSIZE, "the params are larger than a message may be");
    }
    uv_timer_start(&c->tick, on_tick, 100, 100);
    while (!c->answered && c->child) {
        uv_run(&c->loop, UV_RUN_DEFAULT);
    }
    uv_timer_stop(&c->tick);
    if (!c->answered) {
        return no_answer(c, err);
    }
    *result = c->result;
    *error = c->error;
    if (c->status < 0) {
        return err_set(err, c->status, "no answer: %s", strerror(-c->status));
    }
    return c->error ? 1 : 0;
}

void connection_send_raw(struct connection *c, const char *line, size_t len) {
    if (c->child) {
        child_write(c->child, line, len);
        child_write(c->child, "\n", 1);
    }
}

static void wait_over(uv_timer_t *timer) {
    uv_stop(timer->loop);
}

bool connection_wait(struct connection *c, unsigned ms) {
    uv_timer_start(&c->tick, wait_over, ms, 0);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    uv_timer_stop(&c->tick);
    return c->child != NULL;
}

static void give_up(uv_timer_t *timer) {
    struct connection *c = container_of(timer, struct connection, tick);
    if (c->child) {
        child_kill(c->child);
    }
}

void connection_close(struct connection *c) {
    if (c->child) {
        child_close_stdin(c->child);
        uv_timer_start(&c->tick, give_up, 2000, 0);
    }
    while (c->child) {
        uv_run(&c->loop, UV_RUN_DEFAULT);
    }
    rpc_peer_free(c->peer);
    uv_close((uv_handle_t *)&c->tick, NULL);
    uv_close((uv_handle_t *)&c->interrupt, NULL);
    while (uv_loop_close(&c->loop) == UV_EBUSY) { /* a callback may still stop a run */
        uv_run(&c->loop, UV_RUN_DEFAULT);
    }
    buf_finish(&c->log);
    free(c);
}
