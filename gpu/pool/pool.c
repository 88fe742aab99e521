#define LOG_MODULE "pool"
#include "gpu/pool/pool.h"

#include "base/shared_bytes.h"
#include "gpu/pool/pool_internal.h"

#define LEAVE_MS 200 /* how long the end of a pool waits for carriers */

struct pool *pool_new(uv_loop_t *loop, const struct pool_config *config) {
    struct pool *pool = xcalloc(1, sizeof *pool);
    pool->loop = loop;
    pool->idle_ms = config->idle_ms ? config->idle_ms : 60000;
    pool->job_ms = config->job_ms ? config->job_ms : 600000;
    pool->slow_ms = config->slow_ms ? config->slow_ms : 5000;
    pool->changed = pool_schedule;
    slots_init(pool, config);
    return pool;
}

static void pool_stop(struct pool *pool, void (*stop)(struct worker_link *link)) {
    pool->stopped = true;
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].link) {
            stop(pool->slots[i].link);
        }
        if (pool->slots[i].ending) {
            stop(pool->slots[i].ending);
        }
    }
}

void pool_kill(struct pool *pool) {
    pool_stop(pool, worker_link_stop);
}

static void leave(struct worker_link *link) {
    worker_link_leave(link, LEAVE_MS);
}

void pool_close(struct pool *pool, void (*closed)(void *data), void *data) {
    pool->closing = true;
    pool->closed = closed;
    pool->closed_data = data;
    for (struct pool_job *job = pool->first; job; job = job->next) {
        if (job->queued) {
            job_end_later(job, -ECANCELED, "cancelled");
        }
    }
    pool_stop(pool, leave);
    for (size_t i = 0; i < pool->slot_count; i++) {
        slot_close(&pool->slots[i]);
    }
}

struct pool_job *pool_submit(struct pool *pool, const char *method, json_t *params,
                             struct shared_bytes *attached,
                             const struct pool_needs *needs, pool_done *done,
                             void *data) {
    struct pool_job *job = job_new(pool, method, params, needs);
    job->attached = attached ? shared_bytes_ref(attached) : NULL;
    job->done = done;
    job->data = data;
    job_append(job);
    if (pool->stopped) {
        job_end_later(job, -ECANCELED, "cancelled");
    } else if (pool->queued >= POOL_MAX_QUEUED) {
        job_end_later(job, -EBUSY,
                      "too many jobs wait for a worker already; try again "
                      "when some are done");
    } else {
        job_queue(job);
        pool_schedule(pool);
    }
    return job;
}
