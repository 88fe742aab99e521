#pragma once
/* worker_child: one process that works for the supervisor, and the socket to it.
 *
 * Every process is a direct child of the supervisor, also those that a parent forked. It
 * gets a job (child_io.h); its owner is called when it writes and when it ends. */
#include "base/buf.h"
#include "gpu/worker/child_io.h"

struct parent;
struct rpc_call;
struct worker;
struct worker_child;

struct worker_child_events {
    /* Optional. It wrote: child->out has the bytes not yet consumed. If set, the child is
     * not read while much output waits for a slow reader. */
    void (*said)(void *owner, struct worker_child *child);
    /* Optional. It closed its output but has not ended. True: it is not needed any more;
     * the owner loses it, and it is killed. */
    bool (*silent)(void *owner, struct worker_child *child);
    /* It ended and its output was read to the end. It is freed afterwards. */
    void (*ended)(void *owner, struct worker_child *child);
};

struct worker_child {
    struct worker_child *next; /* worker.children */
    struct parent *parent;     /* the parent that forked it; NULL once that is gone */
    const struct worker_child_events *events; /* NULL: it has no owner any more */
    void *owner;
    int pid;         /* 0 until the parent reported it */
    int end_signal;  /* SIGTERM: it ends the processes that it started, then itself */
    int socket;      /* ours; -1 when closed */
    struct buf head; /* its job, not yet written */
    size_t written;
    struct buf out;
    bool eof, reaped, doomed;
    int status; /* as waitpid gives it */
};

/* The attachment and the files of a request that are passed on to a child, as descriptors
 * (child_io.h). */
struct attachment {
    int *fds;
    size_t count;
};
/* A daemon on this machine sent descriptors, one elsewhere bytes. False, with the call
 * answered, if something is missing. */
bool attachment_take(struct worker *w, struct rpc_call *call, struct attachment *ret);
void attachment_finish(struct attachment *a); /* also of one that is all zero */

struct worker_child *worker_child_new(struct worker *w, struct parent *p,
                                      int *ret_far_end);
/* The line of its job; object stolen. */
struct buf worker_child_head(json_t *object);
void worker_child_own(struct worker_child *c, const struct worker_child_events *events,
                      void *owner);
/* child_io.h: the parcel's descriptors stay the caller's, head is moved. */
void worker_child_give(struct worker_child *c, struct buf *head, enum child_parcel kind,
                       const int *fds, size_t count);
/* Negative: it was not started. */
void worker_child_pid_known(struct worker *w, struct worker_child *c, int pid);
/* By end_signal. Its owner is not called again. */
void worker_child_kill(struct worker_child *c);
/* Removes its owner and kills it. */
void worker_child_leave(struct worker_child *c);
void worker_child_write(struct worker_child *c);
void worker_child_read(struct worker_child *c);
bool worker_child_reaped(struct worker *w, int pid, int status);
/* Whether a process that is reported only now was reaped before. Then its pid means
 * nothing. */
bool stray_take(struct worker *w, int pid, int *ret_status);
/* Reaps children that ended and calls their owners. */
void worker_children_collect(struct worker *w);
void worker_children_free(struct worker *w);
