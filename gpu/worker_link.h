#pragma once
/* worker_link: one worker process at the other end of a pair of pipes.
 *
 * Starts the program, skips what a login shell or a scheduler prints before the greeting
 * (`worker/hello`, see compile.h), and then offers the JSON-RPC peer. What the worker
 * says on stderr goes to the debug log, line by line. Single-threaded: everything runs on
 * the loop's thread. */
#include "base/json.h"

#include <uv.h>

struct err;
struct rpc_peer;
struct worker_link;

#define WORKER_LINK_MAX_BANNER (64u << 10) /* bytes before the greeting */

struct worker_link_events {
    /* It greeted; hello is the greeting's params, borrowed. */
    void (*ready)(struct worker_link *link, const json_t *hello, void *data);
    /* Once, last: the process is gone and every handle closed. Requests that were still
     * open ended with -ECANCELED before. why: a sentence's end, "ended with status 1".
     * The link is freed after. */
    void (*ended)(struct worker_link *link, const char *why, void *data);
};

/* argv is copied. 0, or a negative errno with nothing started. */
int worker_link_start(uv_loop_t *loop, const char *const *argv, unsigned hello_ms,
                      const struct worker_link_events *events, void *data,
                      struct worker_link **ret, struct err *err);
/* NULL before the greeting and after the end. */
struct rpc_peer *worker_link_peer(const struct worker_link *link);
int worker_link_pid(const struct worker_link *link); /* 0 after the end */
/* Ends its input, and kills it should it still be there two seconds later. */
void worker_link_end(struct worker_link *link);
void worker_link_kill(struct worker_link *link);
