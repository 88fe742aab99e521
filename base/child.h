#pragma once
/* child: run a program, with limits, and hear of its end exactly once.
 *
 * The child leads its own session and process group and dies with the daemon
 * (PR_SET_PDEATHSIG, SIGKILL unless the options say another); its standard output and
 * error are pipes, and it inherits no other descriptor but a channel, no signal
 * disposition and no mask. The end is reported when the process has exited AND its output
 * was read to the end (or DRAIN_MS after the exit, when a grandchild still holds a pipe);
 * what is left of its group is killed then. Single-threaded: everything runs on the
 * thread of the loop, which must not end before the child. SIGPIPE must be ignored by the
 * process (stdio_claim does it). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct err;
struct shared_bytes;
struct child;

struct child_end {
    int exit_status;  /* 0-255 when it exited by itself, else -1 */
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
    int channel; /* a descriptor, above 2, that it gets as FD_CHANNEL_INHERITED; 0 = none.
                    It stays the caller's */
    int death_signal; /* what it gets when this process dies; 0 = SIGKILL */

    /* Bytes as they come, valid during the call only; either may be NULL (then dropped).
     */
    void (*out)(struct child *child, const char *bytes, size_t len, void *data);
    void (*error)(struct child *child, const char *bytes, size_t len, void *data);
    /* Exactly once, from the loop, last of all callbacks. The child frees itself after.
     */
    void (*end)(struct child *child, const struct child_end *end, void *data);
    void *data;
};

/* Returns 0, or a negative errno with nothing started and no callback to come. Options
 * and the strings in them are copied. */
int child_start(uv_loop_t *loop, const struct child_options *options, struct child **ret,
                struct err *err);
/* End it: SIGTERM to its group, SIGKILL after grace_ms. `end` reports -ECANCELED. */
void child_cancel(struct child *child);
void child_kill(struct child *child); /* SIGKILL to its group, now */
/* Look after it no longer, without a signal: `end` reports -ECANCELED from inside, and
 * what it still does, and its zombie, are its own affair. For a process that is about to
 * end and cannot wait for a child that needs a moment to clean up. */
void child_leave(struct child *child);
int child_pid(const struct child *child);
/* Queue bytes for its stdin (copied). Dropped when it no longer reads; with more than 64
 * MiB of copies unread its stdin is closed. */
void child_write(struct child *child, const char *bytes, size_t len);
/* The same without a copy: held until they are written or dropped. */
void child_write_shared(struct child *child, struct shared_bytes *shared);
size_t child_write_queued(const struct child *child);
void child_close_stdin(struct child *child); /* after what is queued */
/* Read its standard output no further until child_resume: what it says waits in the pipe,
 * and `end` waits for that. */
void child_pause(struct child *child);
void child_resume(struct child *child);
