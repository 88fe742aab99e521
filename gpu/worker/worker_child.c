#include "gpu/worker/worker_state.h"

#include "base/mem.h"
#include "gpu/worker/compile_child.h"
#include "gpu/worker/validation.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENOUGH = 1 << 20 }; /* bytes read before others have their turn */

struct child *child_new(struct worker *w, struct parent *p, int *ret_far_end) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        return NULL;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct child *c = xcalloc(1, sizeof *c);
    c->parent = p;
    c->socket = ends[0];
    c->out = BUF_INIT(COMPILE_CHILD_MAX_RESULT);
    c->next = w->children;
    w->children = c;
    *ret_far_end = ends[1];
    return c;
}

void child_give(struct child *c, struct compile_run *run, char *text, size_t len) {
    c->run = run;
    c->text = text;
    c->len = len;
    child_write(c);
}

static void child_close(struct child *c) {
    if (c->socket >= 0) {
        close(c->socket);
        c->socket = -1;
    }
    c->eof = true;
}

void child_kill(struct child *c) {
    c->doomed = true;
    if (c->pid > 0 && !c->reaped) {
        (void)kill(-c->pid, SIGKILL);
        (void)kill(c->pid, SIGKILL);
    }
    child_close(c);
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
void child_pid_known(struct worker *w, struct child *c, int pid) {
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
        child_kill(c);
    }
}

void child_write(struct child *c) {
    while (c->text && c->socket >= 0) {
        ssize_t n =
            send(c->socket, c->text + c->written, c->len - c->written, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        c->written += n > 0 ? (size_t)n : 0;
        if (n < 0 || c->written == c->len) {
            (void)shutdown(c->socket, SHUT_WR);
            free(take(c->text));
        }
    }
}

/* An answer over the limit can only come from a child that was taken over. */
void child_read(struct child *c) {
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
        if (c->validation) {
            validation_child_said(c->validation, c);
        }
    }
}

bool child_reaped(struct worker *w, int pid, int status) {
    for (struct child *c = w->children; c; c = c->next) {
        if (c->pid == pid && !c->reaped) {
            c->reaped = true;
            c->status = status;
            child_read(c);
            child_close(c);
            return true;
        }
    }
    return false;
}

static void child_free(struct child *c) {
    child_close(c);
    buf_finish(&c->out);
    free(c->text);
    free(c);
}

void children_collect(struct worker *w) {
    for (struct child **at = &w->children; *at;) {
        struct child *c = *at;
        if (c->eof && !c->reaped && c->validation &&
            validation_child_silent(w, c->validation, c)) {
            c->validation = NULL;
            child_kill(c); /* it has nothing more to do */
        }
        if (!c->eof || !c->reaped) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        if (c->parent && c->parent->spare == c) {
            c->parent->spare = NULL;
        }
        if (c->run) {
            run_child_ended(w, c->run, c);
        } else if (c->validation) {
            validation_child_ended(w, c->validation, c);
        }
        child_free(c);
        at = &w->children; /* the callback may have added some */
    }
}
