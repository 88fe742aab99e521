#pragma once
/* pool: the daemon's workers, on this machine and elsewhere.
 *
 * A worker is a process, started by an argv prefix, that speaks compile.h's protocol on
 * its stdio. A job states its needs. A worker's greeting states what it has; the
 * configuration may state it before the worker is ever started. In order of preference, a
 * job runs on a local worker, on a remote one that is ready, or on a remote one that is
 * started for it; no remote worker is started for jobs that a local one can do. Workers
 * start at the first job and end after idle_ms without one; one worker runs several jobs
 * at once. A job whose worker vanished is tried once more, on another suitable worker or
 * else on the same one, started again. Single-threaded: everything runs on the loop's
 * thread. */
#include "base/json.h"

#include <uv.h>

struct open_files;
struct shared_bytes;
struct pool;
struct pool_job;

#define POOL_MAX_QUEUED 2048 /* waiting jobs; further ones end with -EBUSY */
#define POOL_HINT                                                                        \
    "upskilld-worker must be beside upskilld or on PATH; $UPSKILLD_WORKER names it "     \
    "elsewhere; upskillctl worker check NAME tries a configured one"
#define POOL_PARALLEL_ELSEWHERE 4 /* jobs at once in a worker elsewhere, by default */

enum pool_told { POOL_UNTOLD, POOL_YES, POOL_NO };

struct pool_worker_config {
    char **argv;       /* "upskilld-worker", or "ssh", "-T", "host", "upskilld-worker" */
    const char *name;  /* NULL = "local", or the program's name */
    unsigned parallel; /* jobs at once; 0 = the machine's cores (local) or
                          POOL_PARALLEL_ELSEWHERE */
    unsigned hello_ms; /* 0 = the pool's; a scheduler's queue may take longer */
    enum pool_told local;   /* untold: if the program is upskilld-worker itself */
    enum pool_told gpu;     /* whether it has one; untold: its greeting says so */
    enum pool_told compile; /* whether it has a CUDA compiler; likewise */
};

struct pool_config {
    struct pool_worker_config *workers; /* empty = one local worker */
    size_t count;
    bool add_local;    /* a local worker comes first when none of them is local */
    unsigned idle_ms;  /* 60 000 */
    unsigned hello_ms; /* limit for a worker's greeting; 30 000 */
    unsigned slow_ms;  /* without a greeting by then, jobs may use the next one; 5000 */
    unsigned job_ms;   /* limit for a job's answer: then the worker is ended and the job
                          counts as lost; longer than any valid job takes; 600 000 */
};

/* A job's needs; all zero = none. */
struct pool_needs {
    bool compile;       /* a CUDA compiler */
    bool gpu;           /* a CUDA device */
    bool prefer_gpu;    /* a worker known to have one, else any */
    const char *arch;   /* with a GPU: the architecture it must run, "sm_90a"; or NULL */
    const char *device; /* with a GPU: its UUID, ordinal or a part of its name; or NULL */
    /* Files for the worker, or NULL; the job takes a reference. Above OPEN_FILES_MAX_SENT
     * bytes they need a local worker. */
    struct open_files *files;
};

struct pool *pool_new(uv_loop_t *loop, const struct pool_config *config);
/* Ends every worker and, with -ECANCELED, every job. `closed` runs from the loop when the
 * last handle is closed, within 300 ms. A carrier that takes longer got the end of its
 * input and SIGTERM, and is left to finish. */
void pool_close(struct pool *pool, void (*closed)(void *data), void *data);

/* Called exactly once, from the loop: result on success (borrowed, status 0); otherwise
 * a negative status with a sentence in `why`: -EREMOTEIO with the worker's JSON-RPC
 * `error` object (borrowed), -ECANCELED, -EPIPE (the worker died or stopped answering
 * twice, or died before its greeting), -ENOENT (no worker could be started), -ENODEV (no
 * worker meets the needs; the sentence says what each lacks), -EBUSY (POOL_MAX_QUEUED
 * jobs wait), -EMSGSIZE (larger than a message may be), -EIO (a file has become
 * shorter). */
typedef void pool_done(struct pool_job *job, int status, const json_t *result,
                       const json_t *error, const char *why, void *data);
/* params is stolen; needs (NULL = none) and its strings are copied. Attached bytes (NULL
 * = none) are sent without a copy, because copying tens of megabytes would block the
 * loop; the job takes a reference. */
struct pool_job *pool_submit(struct pool *pool, const char *method, json_t *params,
                             struct shared_bytes *attached,
                             const struct pool_needs *needs, pool_done *done, void *data);
/* {"name", "host"} of the job's latest worker: a new reference, NULL before it ran. Valid
 * until `done` returns. */
json_t *pool_job_worker(const struct pool_job *job);
/* A note of the worker on the running job ({"id", …}, borrowed), with `done`'s data; NULL
 * when the job starts again on another worker (and possibly at its first start). Never
 * after pool_cancel or `done`. */
typedef void pool_noted(struct pool_job *job, const json_t *note, void *data);
void pool_on_note(struct pool_job *job, pool_noted *noted); /* right after the submit */
/* The memory that a note names by this key ("memory"): a descriptor that the job owns, or
 * -1. Call from `noted`. */
int pool_job_memory(struct pool_job *job, uint64_t key);
/* Cancels the job, also in the worker; done follows with -ECANCELED. */
void pool_cancel(struct pool_job *job);
/* For daemon/status: [{"name", "argv", "local", "state": "idle|starting|ready|failed",
 * "pid"?, "running", "parallel", "queued" (in the pool), "host"?, "cuda"? (it has a
 * driver), "gpus"?: [what worker/devices told], "greeted_ms"? (from its start), "says"?
 * (while it starts), "last_error"?, "hello"?: {…}}]. New reference. */
json_t *pool_status(const struct pool *pool);
/* For a fast exit: kills local workers with SIGKILL; carriers get the end of their input
 * and SIGTERM. */
void pool_kill(struct pool *pool);
