#pragma once
/* pool_internal: what the parts of the pool share; nobody else's business.
 *
 *   pool.c         the interface
 *   pool_route.c   which job runs where
 *   pool_job.c     one job: running, losing, ending
 *   pool_slot.c    one worker's life: start, greeting, devices, idle end
 *   pool_status.c  what a person is told
 *
 * Calls go from the first to the last; a job and a worker tell of what may let another
 * job run by pool_tell_change. */
#include "gpu/pool/pool.h"
#include "gpu/pool/worker_link.h"

struct rpc_request;
struct work;

#define POOL_SENTENCE 600

/* One configured worker, running or not. */
struct slot {
    struct pool *pool;
    char **argv, *name;
    bool local;
    enum pool_told gpu, compile; /* as configured */
    unsigned parallel, hello_ms;

    struct worker_link *link;   /* NULL = not running */
    struct worker_link *ending; /* ending, but still running */
    bool greeted;               /* by the current process */
    bool slow;                  /* it starts slowly: jobs need not wait for it */
    bool used;                  /* the current process has had a job */
    /* by us, because one job did not stop: not the fault of its other jobs */
    bool killed;
    unsigned running;
    uint64_t started_ms;
    unsigned greeted_ms; /* duration of the last greeting */

    uint64_t parcels; /* sent to workers */
    json_t *hello;    /* the last greeting */
    uint64_t heard_ms;
    json_t *devices;       /* from worker/devices; NULL = not asked */
    char devices_why[256]; /* the worker's reason for having none */
    struct rpc_request *asking;
    /* for a slow start, then the answer to worker/devices, then idle time */
    uv_timer_t timer;

    unsigned failures; /* consecutive failed starts */
    uint64_t failed_ms;
    int failure; /* the status of the last failure */
    char last_error[POOL_SENTENCE];
};

struct pool_job {
    struct pool *pool;
    struct slot *slot;        /* while it runs */
    const struct slot *place; /* its last worker */
    const struct slot *avoid; /* the worker that was lost while running it */
    struct rpc_request *request;
    char *method, *arch, *device;
    json_t *params;
    struct shared_bytes *attached; /* or NULL */
    struct work *reading;       /* or NULL: reads its files, on a thread, into `whole` */
    struct shared_bytes *whole; /* the attachment with the files after it */
    int memory;                 /* from pool_job_memory, for this key */
    uint64_t memory_key;
    struct pool_needs needs;
    pool_done *done;
    pool_noted *noted; /* or NULL */
    void *data;
    /* The job's time limit; the grace after a cancel; its end from the loop. */
    uv_timer_t timer;
    bool queued, cancelled;
    bool overdue;    /* so its worker is being ended */
    unsigned losses; /* workers that ended or stopped answering while running it */
    int status;      /* of reading; or for an end from the timer */
    char *why;
    struct pool_job *previous, *next; /* of all jobs, in the order of submission */
};

struct pool {
    uv_loop_t *loop;
    struct slot *slots;
    size_t slot_count, queued;
    unsigned idle_ms, job_ms, slow_ms;
    struct pool_job *first, *last;
    void (*changed)(struct pool *pool); /* pool_schedule */
    size_t open;                        /* open handles and running processes */
    bool stopped;                       /* nothing is started any more */
    bool closing;                       /* it will be freed with the last handle */
    void (*closed)(void *data);
    void *closed_data;
};

/* Something has changed that may let a waiting job run. */
static inline void pool_tell_change(struct pool *pool) {
    if (pool->queued) {
        pool->changed(pool);
    }
}

/* --- pool_job.c --- */

/* Takes ownership of params; needs may be NULL. */
struct pool_job *job_new(struct pool *pool, const char *method, json_t *params,
                         const struct pool_needs *needs);
void job_append(struct pool_job *job); /* to the pool's list */
void job_queue(struct pool_job *job);  /* waits for a worker */
void job_run(struct pool_job *job, struct slot *slot);
/* `done` is called from the loop. */
void job_end_later(struct pool_job *job, int status, const char *why);

/* --- pool_slot.c --- */

void slots_init(struct pool *pool, const struct pool_config *config);
/* One handle or process has ended; the last call frees a closing pool. */
void pool_drop(struct pool *pool);
bool slot_is_ready(const struct slot *slot);
/* From its last greeting: whether there is a CUDA driver. */
bool slot_has_driver(const struct slot *slot);
/* From its last greeting: whether it takes descriptors (worker_link_channel). */
bool slot_is_near(const struct slot *slot);
/* Starts its process unless it runs. False: it must wait after a failure. */
bool slot_start(struct slot *slot);
/* Asks a ready worker for its devices, once. */
void slot_ask_devices(struct slot *slot);
/* It has no jobs: its idle time begins. */
void slot_rest(struct slot *slot);
/* A job was answered, so the worker works. */
void slot_served(struct slot *slot);
void slot_close(struct slot *slot); /* its timer; pool_drop follows */

/* --- pool_route.c --- */

/* Runs, starts and asks what the queued jobs need; ends jobs that no worker can run. */
void pool_schedule(struct pool *pool);
