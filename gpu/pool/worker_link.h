#pragma once
/* worker_link: one worker process, connected by a pair of pipes.
 *
 * Starts the program, skips the output of a login shell or a scheduler before the
 * greeting (`worker/hello`, see compile.h), and then provides the JSON-RPC peer. The
 * worker's stderr goes to the debug log, line by line. Single-threaded: everything runs
 * on the loop's thread.
 *
 * Each worker may clean up: first its input is closed, then it gets SIGTERM, and SIGKILL
 * only after a grace time. A *carrier* (ssh, srun, kubectl) starts the worker elsewhere:
 * if the process group of srun gets SIGKILL, its job, and the GPU, stay allocated. A
 * local worker kills everything that it started and removes its folder, which takes
 * almost no time. */
#include "base/json.h"

#include <uv.h>

struct fd_channel;
struct rpc_peer;
struct worker_link;

#define WORKER_LINK_MAX_BANNER (64u << 10) /* bytes before the greeting */
#define WORKER_LINK_GRACE_MS 10000u        /* from SIGTERM to SIGKILL, for a carrier */
#define WORKER_LINK_LOCAL_GRACE_MS 300u    /* the same for a local worker */

struct worker_link_options {
    const char *const *argv; /* copied */
    unsigned hello_ms;       /* time limit for the greeting */
    bool carrier;
};

struct worker_link_events {
    /* It has sent its greeting; hello is the params, borrowed. */
    void (*ready)(struct worker_link *link, const json_t *hello, void *data);
    /* A notification after the greeting; borrowed. */
    void (*said)(struct worker_link *link, const char *method, const json_t *params,
                 void *data);
    /* Once, last: the process has ended and all handles are closed. Unanswered requests
     * ended with -ECANCELED before. why: the end of a sentence, "ended with status 1".
     * Then the link is freed. */
    void (*ended)(struct worker_link *link, const char *why, void *data);
};

/* 0, or a negative errno: nothing was started. */
int worker_link_start(uv_loop_t *loop, const struct worker_link_options *options,
                      const struct worker_link_events *events, void *data,
                      struct worker_link **ret, struct err *err);
/* NULL before the greeting and after the end. */
struct rpc_peer *worker_link_peer(const struct worker_link *link);
/* For descriptors in both directions; its socket is -1 for a carrier. A worker whose
 * greeting has "memory" holds the other end. */
struct fd_channel *worker_link_channel(struct worker_link *link);
int worker_link_pid(const struct worker_link *link); /* 0 after the end */
/* The last line of its stderr, cleaned; "" if there is none. */
const char *worker_link_words(const struct worker_link *link);
/* Closes its input, and stops it if it still runs two seconds later. */
void worker_link_end(struct worker_link *link);
/* The fastest end that leaves nothing behind: SIGKILL, or as described above for a
 * carrier. */
void worker_link_stop(struct worker_link *link);
/* The same for a process that is about to end itself: a carrier that still runs after
 * `ms` is left to finish alone, and `ended` is called. */
void worker_link_leave(struct worker_link *link, unsigned ms);
