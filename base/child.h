#pragma once
/* child: runs a program with limits and reports its end exactly once.
 *
 * The child leads its own session and process group and dies with the daemon
 * (PR_SET_PDEATHSIG, SIGKILL unless the options name another signal). Its standard
 * output and error are pipes. It inherits no other descriptor except a channel, no
 * signal disposition and no mask. The end is reported when the process has exited AND
 * its output was read to the end. If a grandchild still holds a pipe DRAIN_MS after the
 * exit, the rest of the group is killed, and the end waits until the pipe is closed, so
 * that nobody of the group writes anything after it; at most KILLED_MS, since one may have
 * left the group. Single-threaded: everything runs
 * on the thread of the loop, which must not end before the child. The process must
 * ignore SIGPIPE (stdio_claim does that). */
#include "base/mem.h"

#include <uv.h>

struct shared_bytes;
struct child;

struct child_end {
    int exit_status;  /* 0-255 if it exited by itself, else -1 */
    int term_signal;  /* the signal that ended it, or 0 */
    int failure;      /* 0, -ETIMEDOUT, -ECANCELED, or -EMSGSIZE (too much output) */
    uint64_t wall_us; /* from start to exit */
};

struct child_options {
    const char *const *argv; /* argv[0] is looked up in the child's PATH (absolute
                                entries) unless it holds a '/' */
    const char *const *env;  /* "NAME=value", NULL-terminated; NULL = a clean minimum:
                                PATH, HOME, LANG, TMPDIR and USER as they are */
    const char *cwd;         /* NULL = inherited */
    unsigned timeout_ms;     /* wall time; 0 = none */
    unsigned grace_ms; /* between SIGTERM and SIGKILL on timeout or cancel; 0 = kill */
    size_t max_output; /* bytes of stdout + stderr together; 0 = no limit (the owner
                          bounds what it keeps) */
    bool want_stdin;   /* give it a pipe to write to; otherwise /dev/null */
    int channel; /* a descriptor above 2 that it inherits as FD_CHANNEL_INHERITED; 0 =
                    none. The caller keeps it */
    int death_signal; /* sent when this process dies; 0 = SIGKILL */

    /* Output as it arrives, valid during the call only; NULL: dropped. */
    void (*out)(struct child *child, const char *bytes, size_t len, void *data);
    void (*error)(struct child *child, const char *bytes, size_t len, void *data);
    /* Exactly once, from the loop, after all other callbacks. Then the child is freed. */
    void (*end)(struct child *child, const struct child_end *end, void *data);
    void *data;
};

/* Returns 0, or a negative errno: nothing was started and no callback follows. Options
 * and their strings are copied. */
int child_start(uv_loop_t *loop, const struct child_options *options, struct child **ret,
                struct err *err);
/* Sends SIGTERM to its group, and SIGKILL after grace_ms. `end` reports -ECANCELED. */
void child_cancel(struct child *child);
void child_kill(struct child *child); /* SIGKILL to its group, now */
/* Stops watching it, without a signal: calls `end` with -ECANCELED before returning; the
 * child continues, and nobody reaps it. For a process that is about to end and cannot
 * wait for a child that needs a moment to clean up. */
void child_leave(struct child *child);
int child_pid(const struct child *child);
/* Queues bytes for its stdin (copied). They are dropped if it no longer reads; with more
 * than 64 MiB of unread copies its stdin is closed. */
void child_write(struct child *child, const char *bytes, size_t len);
/* The same without a copy: keeps a reference until the bytes are written or dropped. */
void child_write_shared(struct child *child, struct shared_bytes *shared);
size_t child_write_queued(const struct child *child);
void child_close_stdin(struct child *child); /* after the queued bytes */
/* Stops reading its standard output until child_resume: output waits in the pipe, and
 * `end` waits for it. */
void child_pause(struct child *child);
void child_resume(struct child *child);
