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
 * job run by pool->changed. */
#include "gpu/pool/open_files.h"
#include "gpu/pool/pool.h"
#include "gpu/pool/worker_link.h"

#include <stdint.h>

struct shared_bytes;
struct rpc_request;
struct work;

#define POOL_SENTENCE 600

/* One configured worker, whether its process lives or not. */
struct slot {
    struct pool *pool;
    char **argv, *name;
    bool local;
    enum pool_told gpu, compile; /* as configured */
    unsigned parallel, hello_ms;

    struct worker_link *link;   /* NULL = not started */
    struct worker_link *ending; /* told to end, not gone yet */
    bool greeted;               /* by this process */
    bool slow;                  /* to start: others need not wait for it */
    bool used;                  /* this process was given a job */
    bool killed; /* by us, for a job that would not stop: the others are not to blame */
    unsigned running;
    uint64_t started_ms;
    unsigned greeted_ms; /* how long the last greeting took */

    uint64_t parcels; /* sent to workers */
    json_t *hello;    /* the last greeting */
    uint64_t heard_ms;
    json_t *devices;       /* what worker/devices listed since; NULL = not asked */
    char devices_why[256]; /* why there are none, as the worker told */
    struct rpc_request *asking;
    uv_timer_t timer; /* slow start, then the answer to worker/devices, then idleness */

    unsigned failures; /* to start, in a row */
    uint64_t failed_ms;
    int failure; /* the last one's status */
    char last_error[POOL_SENTENCE];
};

struct pool_job {
    struct pool *pool;
    struct slot *slot;        /* while it runs */
    const struct slot *place; /* where it ran last */
    const struct slot *avoid; /* where it was lost */
    struct rpc_request *request;
    char *method, *arch, *device;
    json_t *params;
    struct shared_bytes *attached; /* or NULL */
    struct work *reading;          /* or NULL: its files, on a thread, into: */
    struct shared_bytes *whole;    /* what is attached with the files behind it */
    int memory;                    /* pool_job_memory's, of this key */
    uint64_t memory_key;
    struct pool_needs needs;
    pool_done *done;
    pool_noted *noted; /* or NULL */
    void *data;
    /* The job's time; the grace after a cancel; its end from the loop. */
    uv_timer_t timer;
    bool queued, cancelled;
    bool overdue;    /* its worker is being ended for that */
    unsigned losses; /* workers that vanished or fell silent under it */
    int status;      /* of reading; for an end from the timer */
    char *why;
    struct pool_job *previous, *next; /* of all jobs, in order of submission */
};

struct pool {
    uv_loop_t *loop;
    struct slot *slots;
    size_t slot_count, queued;
    unsigned idle_ms, job_ms, slow_ms;
    struct pool_job *first, *last;
    void (*changed)(struct pool *pool); /* pool_schedule */
    size_t open;                        /* handles and processes that still live */
    bool stopped;                       /* nothing starts any more */
    bool closing;                       /* and it is freed with the last handle */
    void (*closed)(void *data);
    void *closed_data;
};

/* --- pool_job.c --- */

/* Takes the reference to params; needs may be NULL. */
struct pool_job *job_new(struct pool *pool, const char *method, json_t *params,
                         const struct pool_needs *needs);
void job_append(struct pool_job *job); /* to the pool's */
void job_queue(struct pool_job *job);  /* waits for a worker */
void job_run(struct pool_job *job, struct slot *slot);
/* `done` comes from the loop. */
void job_end_later(struct pool_job *job, int status, const char *why);

/* --- pool_slot.c --- */

void slots_init(struct pool *pool, const struct pool_config *config);
/* One handle or process less; the last one takes a pool that is closing with it. */
void pool_drop(struct pool *pool);
bool slot_is_ready(const struct slot *slot);
/* By its last greeting: there is a CUDA driver. */
bool slot_has_driver(const struct slot *slot);
/* Likewise: it takes descriptors (worker_link_channel). */
bool slot_is_near(const struct slot *slot);
/* Its process, until it runs or rests. False: it rests. */
bool slot_start(struct slot *slot);
/* Asks a ready worker for its devices, once. */
void slot_ask_devices(struct slot *slot);
/* It has no job: the idle time begins. */
void slot_rest(struct slot *slot);
/* A job was answered, so it works. */
void slot_served(struct slot *slot);
void slot_close(struct slot *slot); /* its timer; pool_drop follows */

/* --- pool_route.c --- */

/* Runs, starts and asks whatever the queued jobs need; ends those that nobody can run. */
void pool_schedule(struct pool *pool);
