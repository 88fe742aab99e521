#include "gpu/worker/worker_child.h"

#include "base/shared_bytes.h"
#include "gpu/worker/worker_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENOUGH = 1 << 20 }; /* bytes read before others have their turn */

struct worker_child *worker_child_new(struct worker *w, struct parent *p,
                                      int *ret_far_end) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        return NULL;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct worker_child *c = xcalloc(1, sizeof *c);
    c->parent = p;
    c->end_signal = SIGKILL;
    c->socket = ends[0];
    c->head = BUF_INIT(0);
    c->out = BUF_INIT(CHILD_MAX_ANSWER);
    c->next = w->children;
    w->children = c;
    *ret_far_end = ends[1];
    return c;
}

struct buf worker_child_head(json_t *object) {
    struct buf head = BUF_INIT(SIZE_MAX / 4); /* a part of a message that had its limit */
    json_write(&head, object);
    buf_addc(&head, '\n');
    json_decref(object);
    return head;
}

void worker_child_own(struct worker_child *c, const struct worker_child_events *events,
                      void *owner) {
    c->events = events;
    c->owner = owner;
}

void worker_child_give(struct worker_child *c, struct buf *head, enum child_parcel kind,
                       const int *fds, size_t count) {
    c->head = *head;
    *head = BUF_INIT(0);
    if (fd_parcel_send(c->socket, kind, fds, count) < 0) {
        buf_finish(&c->head); /* it gets no job, and ends */
        (void)shutdown(c->socket, SHUT_WR);
    }
    worker_child_write(c);
}

/* --- what came with a request --- */

/* Descriptors, 0 or 1; or -errno. */
static int bytes_take(struct rpc_call *call, int *ret_fd) {
    autobuf bytes = rpc_call_take_attached(call);
    int r = bytes.len ? bytes_seal(bytes.data, bytes.len) : 0;
    *ret_fd = r;
    return bytes.len && r >= 0 ? 1 : r;
}

bool attachment_take(struct worker *w, struct rpc_call *call, struct attachment *ret) {
    const json_t *params = rpc_call_params(call);
    json_int_t parcel = json_get_integer(params, "parcel", 0);
    size_t files = json_array_size(json_object_get(params, "file_bytes"));
    int fds[FD_PARCEL_MAX];
    int kept = parcel ? (int)fd_channel_take(&w->channel, (uint64_t)parcel, fds)
                      : bytes_take(call, fds);
    size_t count = kept < 0 ? 0 : (size_t)kept;
    *ret = (struct attachment){.fds = xcalloc(count ? count : 1, sizeof *fds),
                               .count = count};
    memcpy(ret->fds, fds, count * sizeof *fds);
    if (count && json_is_object(params) && (!parcel || count == 1 + files)) {
        return true;
    }
    attachment_finish(ret);
    if (kept < 0) {
        rpc_error(call, RPC_INTERNAL_ERROR, NULL,
                  "the attachments of this request cannot be kept in memory: %s",
                  strerror(-kept));
    } else {
        rpc_error(call, parcel ? RPC_INTERNAL_ERROR : RPC_INVALID_PARAMS, NULL,
                  "the attachments of this request did not arrive");
    }
    return false;
}

void attachment_finish(struct attachment *a) {
    for (size_t i = 0; i < a->count; i++) {
        close(a->fds[i]);
    }
    free(a->fds);
    *a = (struct attachment){0};
}

/* --- its life --- */

static void child_close(struct worker_child *c) {
    if (c->socket >= 0) {
        close(c->socket);
        c->socket = -1;
    }
    c->eof = true;
}

void worker_child_kill(struct worker_child *c) {
    c->doomed = true;
    if (c->pid > 0 && !c->reaped) {
        (void)kill(-c->pid, c->end_signal);
        (void)kill(c->pid, c->end_signal);
    }
    child_close(c);
}

void worker_child_leave(struct worker_child *c) {
    worker_child_own(c, NULL, NULL);
    worker_child_kill(c);
}

bool stray_take(struct worker *w, int pid, int *ret_status) {
    for (size_t i = 0; i < WORKER_MAX_STRAYS; i++) {
        if (w->strays[i].pid == pid) {
            *ret_status = w->strays[i].status;
            w->strays[i].pid = 0;
            return true;
        }
    }
    return false;
}

/* It may have ended before its parent told us of it. */
void worker_child_pid_known(struct worker *w, struct worker_child *c, int pid) {
    if (pid <= 0) {
        child_close(c);
        c->reaped = true;
        c->doomed = true;
        return;
    }
    c->pid = pid;
    if (stray_take(w, pid, &c->status)) {
        c->reaped = true;
    } else if (c->doomed) {
        worker_child_kill(c);
    }
}

void worker_child_write(struct worker_child *c) {
    while (c->head.len && c->socket >= 0) {
        ssize_t n = send(c->socket, c->head.data + c->written, c->head.len - c->written,
                         MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        c->written += n < 0 ? 0 : (size_t)n;
        if (n < 0 || c->written == c->head.len) { /* closed, or everything is written */
            (void)shutdown(c->socket, SHUT_WR);
            buf_finish(&c->head);
        }
    }
}

/* An answer over the limit can only come from a child that was taken over. */
void worker_child_read(struct worker_child *c) {
    for (size_t taken = 0; c->socket >= 0 && (taken < ENOUGH || c->reaped);) {
        char *at = buf_reserve(&c->out, 65536);
        ssize_t n = at ? recv(c->socket, at, 65536, 0) : 0;
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (n <= 0) {
            child_close(c);
            return;
        }
        buf_commit(&c->out, (size_t)n);
        taken += (size_t)n;
        if (c->events && c->events->said) {
            c->events->said(c->owner, c);
        }
    }
}

bool worker_child_reaped(struct worker *w, int pid, int status) {
    for (struct worker_child *c = w->children; c; c = c->next) {
        if (c->pid == pid && !c->reaped) {
            c->reaped = true;
            c->status = status;
            worker_child_read(c);
            child_close(c);
            return true;
        }
    }
    return false;
}

static void child_free(struct worker_child *c) {
    child_close(c);
    buf_finish(&c->out);
    buf_finish(&c->head);
    free(c);
}

void worker_children_collect(struct worker *w) {
    for (struct worker_child **at = &w->children; *at;) {
        struct worker_child *c = *at;
        if (c->eof && !c->reaped && c->events && c->events->silent &&
            c->events->silent(c->owner, c)) {
            worker_child_leave(c);
        }
        if (!c->eof || !c->reaped) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        if (c->events) {
            c->events->ended(c->owner, c);
        }
        child_free(c);
        at = &w->children; /* the callback may have added some */
    }
}

void worker_children_free(struct worker *w) {
    while (w->children) {
        struct worker_child *c = w->children;
        w->children = c->next;
        child_free(c);
    }
}
