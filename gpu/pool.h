#pragma once
/* pool: the daemon's workers.
 *
 * A worker is a process started by an argv prefix that speaks compile.h's protocol on its
 * stdio. Workers start at the first job and end after idle_ms without one; a job whose
 * worker vanished is tried once more on another; several jobs run in one worker at once.
 * Single-threaded: everything runs on the loop's thread. */
#include "base/json.h"

#include <stdbool.h>
#include <uv.h>

struct err;
struct pool;
struct pool_job;

#define POOL_MAX_QUEUED 256 /* jobs that wait; one more ends with -EBUSY */

struct pool_worker_config {
    char **argv;       /* "upskilld-worker", or "ssh", "-T", "host", "upskilld-worker" */
    unsigned parallel; /* jobs at once; 0 = the machine's cores (local) or 1 */
};

struct pool_config {
    struct pool_worker_config *workers; /* empty = one local worker */
    size_t count;
    unsigned idle_ms;  /* 60 000 */
    unsigned hello_ms; /* a worker that has not greeted by then is given up; 30 000 */
    unsigned job_ms;   /* a worker that has not answered a job by then is killed, and the
                          job counts as lost; more than any honest job takes; 600 000 */
};

struct pool *pool_new(uv_loop_t *loop, const struct pool_config *config);
/* Kills every worker, ends every job with -ECANCELED. `closed` runs from the loop when
 * the last handle is closed. */
void pool_close(struct pool *pool, void (*closed)(void *data), void *data);

/* Exactly once, from the loop: result on success (borrowed, status 0); else a negative
 * status with a sentence in `why`: -EREMOTEIO with the worker's JSON-RPC `error` object
 * (borrowed), -ECANCELED, -EPIPE (the worker died or fell silent twice, or died before it
 * greeted), -ENOENT
 * (no worker could be started), -EBUSY (POOL_MAX_QUEUED jobs wait). */
typedef void pool_done(struct pool_job *job, int status, const json_t *result,
                       const json_t *error, const char *why, void *data);
/* params stolen. */
struct pool_job *pool_submit(struct pool *pool, const char *method, json_t *params,
                             pool_done *done, void *data);
/* Tells the worker; done follows with -ECANCELED. */
void pool_cancel(struct pool_job *job);
/* For daemon/status: [{"argv", "state": "idle|starting|ready", "pid", "running",
 * "queued", "hello": {…}}]. New reference. */
json_t *pool_status(const struct pool *pool);
/* Processes that are alive, for a fast exit: SIGKILL to all groups, at once. */
void pool_kill(struct pool *pool);
