#pragma once
/* worker_child: one process that works for the supervisor, and the socket to it.
 *
 * Every process is a direct child of the supervisor, also those that a parent forked. It
 * gets a job (child_io.h) and whoever gave it hears what it says and how it ended. */
#include "base/buf.h"
#include "base/json.h"
#include "gpu/worker/child_io.h"

#include <stdbool.h>
#include <stddef.h>

struct parent;
struct rpc_call;
struct worker;
struct worker_child;

struct worker_child_events {
    /* Optional. It said something: child->out has what was not yet consumed. With it, the
     * child is not read while much waits for a slow reader. */
    void (*said)(void *owner, struct worker_child *child);
    /* Optional. It will say nothing more and has not ended. True: it has nothing more to
     * do, is the owner's no longer, and is killed. */
    bool (*silent)(void *owner, struct worker_child *child);
    /* It ended and was read to its end. It is freed after. */
    void (*ended)(void *owner, struct worker_child *child);
};

struct worker_child {
    struct worker_child *next;                /* worker.children */
    struct parent *parent;                    /* that forked it; NULL once that is gone */
    const struct worker_child_events *events; /* NULL: nobody's any more */
    void *owner;
    int pid;         /* 0 until the parent told it */
    int end_signal;  /* SIGTERM: it ends what it has started, then itself */
    int socket;      /* ours; -1 when closed */
    struct buf head; /* its job, still to be written */
    size_t written;
    struct buf out;
    bool eof, reaped, doomed;
    int status; /* as waitpid gives it */
};

/* What came with a request and goes on to a child, as descriptors (child_io.h): what is
 * attached, then its files. */
struct attachment {
    int *fds;
    size_t count;
};
/* A daemon on this machine sent descriptors, one elsewhere bytes. False, and the call is
 * answered, when something is missing. */
bool attachment_take(struct worker *w, struct rpc_call *call, struct attachment *ret);
void attachment_finish(struct attachment *a); /* also of one that is all zero */

struct worker_child *worker_child_new(struct worker *w, struct parent *p,
                                      int *ret_far_end);
/* The line of its job; object stolen. */
struct buf worker_child_head(json_t *object);
void worker_child_own(struct worker_child *c, const struct worker_child_events *events,
                      void *owner);
/* child_io.h: what is in the parcel stays the caller's, head is moved away. */
void worker_child_give(struct worker_child *c, struct buf *head, enum child_parcel kind,
                       const int *fds, size_t count);
/* Negative: none came. */
void worker_child_pid_known(struct worker *w, struct worker_child *c, int pid);
/* By end_signal. Nothing more is heard of it. */
void worker_child_kill(struct worker_child *c);
/* It is nobody's any more, and killed. */
void worker_child_leave(struct worker_child *c);
void worker_child_write(struct worker_child *c);
void worker_child_read(struct worker_child *c);
bool worker_child_reaped(struct worker *w, int pid, int status);
/* Was a process that is only now made known reaped before? Its pid means nothing then. */
bool stray_take(struct worker *w, int pid, int *ret_status);
/* Those that ended, and their ends. */
void worker_children_collect(struct worker *w);
void worker_children_free(struct worker *w);
