#pragma once
/* pool: the daemon's workers, on this machine and elsewhere.
 *
 * A worker is a process started by an argv prefix that speaks compile.h's protocol on its
 * stdio. A job says what it needs, a worker's greeting says what it has, and the
 * configuration may say so before it was ever started. In order of preference a job runs
 * on a local worker, on one elsewhere that is ready, on one elsewhere that is started for
 * it; nothing elsewhere is started for what the local worker can do. Workers start at the
 * first job and end after idle_ms without one; several jobs run in one worker at once.
 * A job whose worker vanished is tried once more, on another that has what it needs, or
 * else on the same, started again. Single-threaded: everything runs on the loop's
 * thread. */
#include "base/json.h"

#include <stdbool.h>
#include <uv.h>

struct open_files;
struct shared_bytes;
struct pool;
struct pool_job;

#define POOL_MAX_QUEUED 2048 /* jobs that wait; one more ends with -EBUSY */
#define POOL_HINT                                                                        \
    "upskilld-worker must stand beside upskilld or on PATH; $UPSKILLD_WORKER names it "  \
    "elsewhere; upskillctl worker check NAME tries a configured one"
#define POOL_PARALLEL_ELSEWHERE 4 /* jobs at once in a worker elsewhere, by default */

enum pool_told { POOL_UNTOLD, POOL_YES, POOL_NO };

struct pool_worker_config {
    char **argv;       /* "upskilld-worker", or "ssh", "-T", "host", "upskilld-worker" */
    const char *name;  /* NULL = "local", or the program's name */
    unsigned parallel; /* jobs at once; 0 = the machine's cores (local) or
                          POOL_PARALLEL_ELSEWHERE */
    unsigned hello_ms; /* 0 = the pool's; a scheduler's queue may take longer */
    enum pool_told local;   /* untold: when the program is upskilld-worker itself */
    enum pool_told gpu;     /* it has one; untold: its greeting tells */
    enum pool_told compile; /* it has a CUDA compiler; likewise */
};

struct pool_config {
    struct pool_worker_config *workers; /* empty = one local worker */
    size_t count;
    bool add_local;    /* a local worker comes first when none of them is local */
    unsigned idle_ms;  /* 60 000 */
    unsigned hello_ms; /* a worker that has not greeted by then is given up; 30 000 */
    unsigned slow_ms;  /* nor by then: the next one need not wait for it; 5000 */
    unsigned job_ms;   /* a worker that has not answered a job by then is ended, and the
                          job counts as lost; more than any honest job takes; 600 000 */
};

/* What a job needs of its worker; all zero = nothing. */
struct pool_needs {
    bool compile;       /* a CUDA compiler */
    bool gpu;           /* a CUDA device */
    bool prefer_gpu;    /* a worker that has one where that is known, else any */
    const char *arch;   /* with a GPU: "sm_90a", what it must run; or NULL */
    const char *device; /* with a GPU: its UUID, ordinal or a part of its name; or NULL */
    /* What it gets besides, or NULL: one more holder. Over OPEN_FILES_MAX_SENT they need
     * a worker here. */
    struct open_files *files;
};

struct pool *pool_new(uv_loop_t *loop, const struct pool_config *config);
/* Ends every worker and, with -ECANCELED, every job. `closed` runs from the loop when the
 * last handle is closed, within 300 ms: a carrier that takes longer to end has had its
 * end of input and SIGTERM, and is left to finish. */
void pool_close(struct pool *pool, void (*closed)(void *data), void *data);

/* Exactly once, from the loop: result on success (borrowed, status 0); else a negative
 * status with a sentence in `why`: -EREMOTEIO with the worker's JSON-RPC `error` object
 * (borrowed), -ECANCELED, -EPIPE (the worker died or fell silent twice, or died before it
 * greeted), -ENOENT (no worker could be started), -ENODEV (no worker has what the job
 * needs; the sentence says what each lacks), -EBUSY (POOL_MAX_QUEUED jobs wait),
 * -EMSGSIZE (more than a message holds). */
typedef void pool_done(struct pool_job *job, int status, const json_t *result,
                       const json_t *error, const char *why, void *data);
/* params stolen; needs (NULL = none) and its strings are copied. Attached bytes (NULL =
 * none) are sent from where they are, for tens of megabytes would hold up the loop; they
 * get one more holder. */
struct pool_job *pool_submit(struct pool *pool, const char *method, json_t *params,
                             struct shared_bytes *attached,
                             const struct pool_needs *needs, pool_done *done, void *data);
/* {"name", "host"} of the worker that the job ran on last: new reference, NULL before it
 * ran. For `done`, and until it returns. */
json_t *pool_job_worker(const struct pool_job *job);
/* What the worker says of the job while it runs ({"id", …}, borrowed), with `done`'s
 * data; NULL when the job begins anew on another worker (and perhaps when it first
 * begins). Never after pool_cancel or `done`. */
typedef void pool_noted(struct pool_job *job, const json_t *note, void *data);
void pool_on_note(struct pool_job *job, pool_noted *noted); /* right after the submit */
/* The memory that a note on the job names by this key ("memory"): a descriptor, of the
 * job's for as long as it lives; -1. For `noted`. */
int pool_job_memory(struct pool_job *job, uint64_t key);
/* Tells the worker; done follows with -ECANCELED. */
void pool_cancel(struct pool_job *job);
/* For daemon/status: [{"name", "argv", "local", "state": "idle|starting|ready|failed",
 * "pid"?, "running", "parallel", "queued" (in the pool), "host"?, "cuda"? (it has a
 * driver), "gpus"?: [what worker/devices told], "greeted_ms"? (from its start), "says"?
 * (while it starts), "last_error"?, "hello"?: {…}}]. New reference. */
json_t *pool_status(const struct pool *pool);
/* For a fast exit: everything is told to end, local workers by SIGKILL, carriers by the
 * end of their input and SIGTERM. */
void pool_kill(struct pool *pool);
