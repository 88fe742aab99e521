#pragma once
/* worker_link: one worker process at the other end of a pair of pipes.
 *
 * Starts the program, skips what a login shell or a scheduler prints before the greeting
 * (`worker/hello`, see compile.h), and then offers the JSON-RPC peer. What the worker
 * says on stderr goes to the debug log, line by line. Single-threaded: everything runs on
 * the loop's thread.
 *
 * Each may clean up: its input is ended first, then it gets SIGTERM, and SIGKILL only
 * after a grace. A *carrier* (ssh, srun, kubectl) starts the worker elsewhere: srun whose
 * process group gets SIGKILL leaves its job, and the GPU, allocated. A local worker kills
 * all that it started and removes its folder, which takes no time to speak of. */
#include "base/json.h"

#include <stdbool.h>
#include <uv.h>

struct err;
struct fd_channel;
struct rpc_peer;
struct worker_link;

#define WORKER_LINK_MAX_BANNER (64u << 10) /* bytes before the greeting */
#define WORKER_LINK_GRACE_MS 10000u        /* from SIGTERM to SIGKILL, for a carrier */
#define WORKER_LINK_LOCAL_GRACE_MS 300u    /* the same for a local worker */

struct worker_link_options {
    const char *const *argv; /* copied */
    unsigned hello_ms;       /* it must have greeted by then */
    bool carrier;
};

struct worker_link_events {
    /* It greeted; hello is the greeting's params, borrowed. */
    void (*ready)(struct worker_link *link, const json_t *hello, void *data);
    /* A notification after the greeting; borrowed. */
    void (*said)(struct worker_link *link, const char *method, const json_t *params,
                 void *data);
    /* Once, last: the process is gone and every handle closed. Requests that were still
     * open ended with -ECANCELED before. why: a sentence's end, "ended with status 1".
     * The link is freed after. */
    void (*ended)(struct worker_link *link, const char *why, void *data);
};

/* 0, or a negative errno with nothing started. */
int worker_link_start(uv_loop_t *loop, const struct worker_link_options *options,
                      const struct worker_link_events *events, void *data,
                      struct worker_link **ret, struct err *err);
/* NULL before the greeting and after the end. */
struct rpc_peer *worker_link_peer(const struct worker_link *link);
/* For descriptors both ways; its socket is -1 with a carrier. A worker that says "memory"
 * in its greeting has the other end. */
struct fd_channel *worker_link_channel(struct worker_link *link);
int worker_link_pid(const struct worker_link *link); /* 0 after the end */
/* The last line that it wrote to stderr, cleaned; "" without one. */
const char *worker_link_words(const struct worker_link *link);
/* Ends its input, and stops it should it still be there two seconds later. */
void worker_link_end(struct worker_link *link);
/* The fastest end that leaves nothing behind: SIGKILL, or a carrier's as above. */
void worker_link_stop(struct worker_link *link);
/* The same for a process that is about to end itself: a carrier that is not gone after
 * `ms` is left alone to finish, and `ended` comes. */
void worker_link_leave(struct worker_link *link, unsigned ms);
