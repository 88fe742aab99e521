#include "gpu/worker/worker.h"

#include "base/clock.h"
#include "gpu/compile/toolkit.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/cuda_room.h"
#include "gpu/worker/validation.h"
#include "gpu/worker/worker_internal.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_BYTES = 65536,
    READS_ENOUGH = 16, /* before others have their turn */
    REAP_MS = 100,     /* how long an ending worker waits for those it killed */
    FIXED_POLLS = 6,
};
#define MAX_PENDING (1u << 30)     /* unread output: ends the worker */
#define PENDING_ENOUGH (32u << 20) /* then no more input is taken */

/* --- output --- */

static void output_drop(struct worker *w) {
    struct output *o = w->outputs;
    w->outputs = o->next;
    w->outputs_end = o->next ? w->outputs_end : &w->outputs;
    w->written = 0;
    free(o->bytes);
    free(o);
}

static void output_flush(struct worker *w) {
    while (w->outputs) {
        const struct output *o = w->outputs;
        ssize_t n = write(w->out, o->bytes + w->written, o->len - w->written);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            w->stop |= errno != EAGAIN;
            return;
        }
        w->pending -= (size_t)n;
        w->written += (size_t)n;
        if (w->written == o->len) {
            output_drop(w);
        }
    }
}

static void on_send(struct rpc_peer *, char *bytes, size_t len, bool, void *data) {
    struct worker *w = data;
    struct output *o = xcalloc(1, sizeof *o);
    *o = (struct output){.bytes = bytes, .len = len};
    *w->outputs_end = o;
    w->outputs_end = &o->next;
    w->pending += len;
    w->stop |= w->pending > MAX_PENDING; /* a reader that let this much pile up is gone */
    output_flush(w);
}

/* --- requests --- */

static size_t running_count(const struct worker *w) {
    size_t n = 0;
    for (const struct compile_run *run = w->runs; run; run = run->next) {
        n += run->state == RUN_COMPILING;
    }
    return n;
}

static void status_reply(struct worker *w, struct rpc_call *call) {
    json_t *status =
        json_pack("{s:o, s:I, s:o*}", "parents", parents_to_json(w), "running",
                  (json_int_t)running_count(w), "compiler",
                  w->version[0] ? json_text(w->version, strlen(w->version)) : NULL);
    rpc_reply(call, status);
}

static void on_request(struct rpc_call *call, void *data) {
    struct worker *w = data;
    const char *method = rpc_call_method(call);
    if (!strcmp(method, "compile")) {
        run_start(w, call);
    } else if (!strcmp(method, "validate")) {
        validation_start(w, call);
    } else if (!strcmp(method, "program")) {
        program_start(w, call);
    } else if (!strcmp(method, "worker/devices")) {
        devices_start(w, call);
    } else if (!strcmp(method, "worker/status")) {
        status_reply(w, call);
    } else {
        rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "unknown method %.100s", method);
    }
}

static void on_notification(struct rpc_peer *peer, enum frame_mode, const char *method,
                            json_t *params, void *) {
    if (!strcmp(method, "$/cancelRequest")) {
        rpc_cancel(peer, json_object_get(params, "id"));
    }
}

static json_t *toolkits_to_json(const struct worker *w) {
    json_t *list = json_array();
    for (size_t i = 0; i < w->toolkit_count; i++) {
        const struct toolkit *t = &w->toolkits[i];
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:i}", "root", json_text(t->root, strlen(t->root)),
                      "nvrtc", json_text(t->nvrtc, strlen(t->nvrtc)), "major", t->major));
    }
    return list;
}

static void hello_send(struct worker *w) {
    struct utsname name;
    uname(&name);
    json_t *hello = json_pack(
        "{s:i, s:s, s:o, s:o, s:o, s:o, s:b, s:b}", "protocol", COMPILE_PROTOCOL,
        "version", UPSKILLD_VERSION, "host",
        json_text(name.nodename, strlen(name.nodename)), "machine",
        json_text(name.machine, strlen(name.machine)), "confinement",
        confinement_to_json(confine_available()), "toolkits", toolkits_to_json(w), "cuda",
        (int)cuda_room_has_driver(), "memory", w->channel.socket >= 0);
    rpc_notify(w->peer, "worker/hello", hello);
}

/* --- events --- */

static void input_read(struct worker *w) {
    char bytes[READ_BYTES];
    ssize_t n = sizeof bytes;
    for (int i = 0; i < READS_ENOUGH && n == sizeof bytes && !w->stop; i++) {
        n = read(w->in, bytes, sizeof bytes);
        if (n > 0) {
            rpc_feed(w->peer, bytes, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            w->stop = true;
        }
    }
}

/* A process may end before its parent's word about it is read: keep what it left. */
static void reap(struct worker *w) {
    int status, pid;
    parents_read(w);
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (!worker_child_reaped(w, pid, status) && !parents_reaped(w, pid)) {
            w->strays[w->stray_next] = (struct stray){.pid = pid, .status = status};
            w->stray_next = (w->stray_next + 1) % WORKER_MAX_STRAYS;
        }
    }
}

static void signals_read(struct worker *w) {
    struct signalfd_siginfo info;
    while (read(w->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            reap(w);
        } else {
            w->stop = true;
        }
    }
}

static size_t polls_fill(const struct worker *w, struct pollfd *polls) {
    bool full = w->pending > PENDING_ENOUGH;
    size_t n = 0;
    polls[n++] = (struct pollfd){.fd = full ? -1 : w->in, .events = POLLIN};
    polls[n++] = (struct pollfd){.fd = w->signals, .events = POLLIN};
    polls[n++] = (struct pollfd){.fd = w->outputs ? w->out : -1, .events = POLLOUT};
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        polls[n++] = (struct pollfd){.fd = w->parents[i]->socket, .events = POLLIN};
    }
    for (const struct worker_child *c = w->children;
         c && n < FIXED_POLLS + WORKER_MAX_CHILDREN; c = c->next) {
        /* Its files, until a slow line has room. */
        bool waits = full && c->events && c->events->said;
        short events = (short)((waits ? 0 : POLLIN) | (c->head.len ? POLLOUT : 0));
        polls[n++] = (struct pollfd){.fd = c->socket, .events = events};
    }
    return n;
}

/* Parents before children, so that a child's pid is known when it matters; reading what
 * is not ready does no harm. */
static void events_handle(struct worker *w, const struct pollfd *polls, size_t count) {
    size_t i = FIXED_POLLS;
    for (struct worker_child *c = w->children; c && i < count; c = c->next, i++) {
        if (polls[i].revents) {
            worker_child_write(c);
            worker_child_read(c);
        }
    }
    if (polls[2].revents) {
        output_flush(w);
    }
    parents_read(w);
    if (polls[1].revents) {
        signals_read(w);
    }
    if (polls[0].revents) {
        input_read(w);
    }
}

/* Ends what is overdue; the time of the next deadline, or UINT64_MAX. */
static uint64_t overdue_end(struct worker *w, uint64_t now) {
    uint64_t runs = runs_tick(w, now), parents = parents_tick(w, now);
    uint64_t validations = w->validations ? validations_tick(w, now) : UINT64_MAX;
    uint64_t first = runs < parents ? runs : parents;
    return first < validations ? first : validations;
}

static int wait_ms(uint64_t due, uint64_t now) {
    if (due == UINT64_MAX) {
        return -1;
    }
    if (due <= now) {
        return 0;
    }
    return due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

static void loop(struct worker *w) {
    static struct pollfd polls[FIXED_POLLS + WORKER_MAX_CHILDREN];
    while (!w->stop) {
        uint64_t now = clock_ms();
        (void)overdue_end(w, now);
        worker_children_collect(w);
        runs_advance(w);
        if (w->validations) {
            validations_advance(w);
        }
        uint64_t due = overdue_end(w, now); /* with what has just begun */
        size_t count = polls_fill(w, polls);
        int n = poll(polls, count, wait_ms(due, now));
        if (n > 0) {
            events_handle(w, polls, count);
        }
    }
}

/* --- beginning and end --- */

static int signals_open(void) {
    sigset_t set;
    sigemptyset(&set);
    static const int signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        sigaddset(&set, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of what is kept */
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Enough to keep every core busy, few enough for the memory of the machine. */
static void cores_count(struct worker *w) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores > 0 ? (size_t)cores : 1;
    w->cores = n;
    w->max_running = n < 2 ? 4 : n > 16 ? 32 : 2 * n;
}

static void kill_all(struct worker *w) {
    for (struct worker_child *c = w->children; c; c = c->next) {
        worker_child_kill(c);
    }
    parents_kill(w);
}

/* Those whose pid we never learnt die with us (PR_SET_PDEATHSIG). */
static void finish(struct worker *w) {
    kill_all(w);
    uint64_t until = clock_ms() + REAP_MS;
    while (clock_ms() < until) {
        int pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0) {
            break;
        }
        if (pid == 0) {
            struct pollfd signal = {.fd = w->signals, .events = POLLIN};
            struct signalfd_siginfo info;
            (void)poll(&signal, 1, 5);
            (void)!read(w->signals, &info, sizeof info);
        }
    }
    worker_folder_remove(w);
}

static void worker_free(struct worker *w) {
    runs_free(w);
    validations_free(w);
    fd_channel_finish(&w->channel);
    rpc_peer_free(w->peer);
    worker_children_free(w);
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        while (w->parents[i]->asked) {
            struct asked *a = w->parents[i]->asked;
            w->parents[i]->asked = a->next;
            free(a);
        }
    }
    toolkits_free(w->toolkits, w->toolkit_count);
    while (w->outputs) {
        output_drop(w);
    }
    free(w->unusable);
    close(w->signals);
}

int worker_run(int in, int out, int channel) {
    static const struct rpc_events events = {
        .request = on_request, .notification = on_notification, .send = on_send};
    struct worker w = {
        .pid = getpid(), .in = in, .out = out, .channel = {.socket = channel}};
    w.signals = signals_open();
    w.outputs_end = &w.outputs;
    cores_count(&w);
    w.runs_end = &w.runs;
    w.toolkits = toolkits_find(&w.toolkit_count);
    parents_init(&w);
    w.parent_changed = runs_parent_changed;
    int in_flags = fcntl(in, F_GETFL), out_flags = fcntl(out, F_GETFL);
    (void)fcntl(in, F_SETPIPE_SZ,
                READS_ENOUGH * READ_BYTES); /* fewer turns, if it is one */
    (void)fcntl(in, F_SETFL, in_flags | O_NONBLOCK);
    (void)fcntl(out, F_SETFL, out_flags | O_NONBLOCK);
    w.peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &events, &w);
    rpc_peer_allow_attachments(w.peer);
    hello_send(&w);
    loop(&w);
    finish(&w);
    worker_free(&w);
    /* The flags are those of the open file, which a terminal's shell shares with us. */
    (void)fcntl(in, F_SETFL, in_flags);
    (void)fcntl(out, F_SETFL, out_flags);
    return 0;
}
