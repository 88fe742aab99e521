#define LOG_MODULE "pool"
#include "gpu/pool.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "gpu/worker_link.h"
#include "protocol/rpc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CANCEL_GRACE_MS 2000 /* a worker that does not stop a job by then is killed */
#define MAX_START_FAILURES 2 /* in a row; then the slot rests */
#define REST_MS 30000

struct slot {
    struct pool *pool;
    char **argv;
    unsigned parallel, running;
    struct worker_link *link;   /* NULL = not started */
    struct worker_link *ending; /* told to end, not gone yet */
    json_t *hello;
    uv_timer_t idle;
    bool killed; /* by us, for a job that would not stop: the others are not to blame */
    unsigned failures;
    uint64_t failed_ms;
};

struct pool_job {
    struct pool *pool;
    struct slot *slot; /* while it runs */
    struct rpc_request *request;
    char *method;
    json_t *params;
    pool_done *done;
    void *data;
    uv_timer_t
        timer; /* the job's time; the grace after a cancel; its end from the loop */
    bool queued, cancelled;
    bool overdue;    /* its worker is being killed for that */
    unsigned losses; /* workers that vanished or fell silent under it */
    int status;      /* for an end from the timer */
    char why[600];
    struct pool_job *previous, *next; /* of all jobs, in order of submission */
};

struct pool {
    uv_loop_t *loop;
    struct slot *slots;
    size_t slot_count, queued;
    unsigned idle_ms, hello_ms, job_ms;
    struct pool_job *first, *last;
    size_t open;  /* handles and processes that still live */
    bool stopped; /* nothing starts any more */
    bool closing; /* and it is freed with the last handle */
    void (*closed)(void *data);
    void *closed_data;
    char start_failure[600];
    int start_status;
};

static void pool_schedule(struct pool *pool);
static void slot_idled(uv_timer_t *timer);

/* --- where the local worker is --- */

static char *executable_in(const char *dir, size_t len, const char *rest) {
    char *path = xasprintf("%.*s%s", (int)len, dir, rest);
    if (access(path, X_OK) == 0) {
        return path;
    }
    free(path);
    return NULL;
}

/* Beside this program (or where a build tree has it), $UPSKILLD_WORKER, else PATH. */
static char *local_worker_path(void) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    char *path = NULL;
    if (slash) {
        size_t dir = (size_t)(slash - self);
        path = executable_in(self, dir, "/upskilld-worker");
        path = path ? path : executable_in(self, dir, "/../gpu/upskilld-worker");
    }
    const char *named = getenv("UPSKILLD_WORKER");
    if (!path && named && *named) {
        path = xstrdup(named);
    }
    return path ? path : xstrdup("upskilld-worker");
}

/* --- the end of a pool --- */

static void pool_drop(struct pool *pool) {
    if (--pool->open > 0 || !pool->closing) {
        return;
    }
    for (size_t i = 0; i < pool->slot_count; i++) {
        for (char **arg = pool->slots[i].argv; *arg; arg++) {
            free(*arg);
        }
        free(pool->slots[i].argv);
        json_decref(pool->slots[i].hello);
    }
    void (*closed)(void *) = pool->closed;
    void *data = pool->closed_data;
    free(pool->slots);
    free(pool);
    if (closed) {
        closed(data);
    }
}

static void slot_idle_closed(uv_handle_t *handle) {
    pool_drop(container_of(handle, struct slot, idle)->pool);
}

/* --- jobs --- */

static void job_unlink(struct pool_job *job) {
    struct pool *pool = job->pool;
    *(job->previous ? &job->previous->next : &pool->first) = job->next;
    *(job->next ? &job->next->previous : &pool->last) = job->previous;
}

static void job_append(struct pool *pool, struct pool_job *job) {
    job->previous = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = job;
    pool->last = job;
}

static void job_dequeue(struct pool_job *job) {
    if (job->queued) {
        job->queued = false;
        job->pool->queued--;
    }
}

static void job_closed(uv_handle_t *handle) {
    struct pool_job *job = container_of(handle, struct pool_job, timer);
    struct pool *pool = job->pool;
    json_decref(job->params);
    free(job->method);
    free(job);
    pool_drop(pool);
}

static void job_end(struct pool_job *job, int status, const json_t *result,
                    const json_t *error, const char *why) {
    job_dequeue(job);
    job_unlink(job);
    job->done(job, status, result, error, why, job->data);
    uv_close((uv_handle_t *)&job->timer, job_closed);
}

static void job_timer(uv_timer_t *timer) {
    struct pool_job *job = container_of(timer, struct pool_job, timer);
    if (!job->request) {
        job_end(job, job->status, NULL, NULL, job->why);
        return;
    }
    job->overdue = !job->cancelled;
    log_warning("a worker did not %s: killed pid=%d",
                job->overdue ? "answer a job in time" : "stop a cancelled job",
                worker_link_pid(job->slot->link));
    job->slot->killed = true;
    worker_link_kill(job->slot->link);
}

static void job_end_later(struct pool_job *job, int status, const char *why) {
    job_dequeue(job);
    job->status = status;
    snprintf(job->why, sizeof job->why, "%s", why);
    uv_timer_start(&job->timer, job_timer, 0, 0);
}

/* Its worker is gone: once more elsewhere, or the end. */
static void job_lost(struct pool_job *job, bool innocent) {
    if (job->cancelled || job->pool->stopped) {
        job_end_later(job, -ECANCELED, "cancelled");
    } else if (!innocent && ++job->losses > 1) {
        job_end_later(job, -EPIPE,
                      job->overdue
                          ? "two workers in a row vanished or fell silent with this"
                          : "two workers in a row vanished while they ran this");
    } else {
        job->overdue = false;
        job->queued = true; /* keeps its place in the order of submission */
        job->pool->queued++;
    }
}

static void slot_rest(struct slot *slot) {
    if (!slot->running && slot->link && !slot->pool->stopped) {
        uv_timer_start(&slot->idle, slot_idled, slot->pool->idle_ms, 0);
    }
}

static void job_answered(struct rpc_request *request, int status, const json_t *result,
                         const json_t *error, void *data) {
    (void)request;
    struct pool_job *job = data;
    struct slot *slot = take(job->slot);
    job->request = NULL;
    slot->running--;
    uv_timer_stop(&job->timer);
    if (status < 0) {
        job_lost(job, slot->killed && !job->overdue);
        return;
    }
    struct pool *pool = job->pool;
    slot_rest(slot);
    if (job->cancelled) {
        job_end(job, -ECANCELED, NULL, NULL, "cancelled");
    } else {
        job_end(job, error ? -EREMOTEIO : 0, result, error,
                error ? json_get_string(error, "message", "") : "");
    }
    pool_schedule(pool);
}

static void job_run(struct pool_job *job, struct slot *slot) {
    job_dequeue(job);
    job->slot = slot;
    slot->running++;
    uv_timer_stop(&slot->idle);
    job->request = rpc_request_start(worker_link_peer(slot->link), job->method,
                                     json_incref(job->params), job_answered, job);
    uv_timer_start(&job->timer, job_timer, job->pool->job_ms, 0);
}

/* --- workers --- */

static void slot_idled(uv_timer_t *timer) {
    struct slot *slot = container_of(timer, struct slot, idle);
    if (slot->running || !slot->link) {
        return;
    }
    if (slot->ending) {
        worker_link_kill(slot->ending);
    }
    slot->ending = take(slot->link);
    worker_link_end(slot->ending);
}

static bool slot_is_ready(const struct slot *slot) {
    return slot->link && worker_link_peer(slot->link);
}

static void slot_start_failed(struct slot *slot, int status, const char *why) {
    slot->failures++;
    slot->failed_ms = clock_ms();
    slot->pool->start_status = status;
    snprintf(slot->pool->start_failure, sizeof slot->pool->start_failure,
             "the worker \"%s\" %s", slot->argv[0], why);
    log_info("%s", slot->pool->start_failure);
}

static void worker_ready(struct worker_link *link, const json_t *hello, void *data) {
    (void)link;
    struct slot *slot = data;
    slot->failures = 0;
    json_decref(slot->hello);
    slot->hello = json_deep_copy(hello);
    slot_rest(slot);
    pool_schedule(slot->pool);
}

static void worker_ended(struct worker_link *link, const char *why, void *data) {
    struct slot *slot = data;
    struct pool *pool = slot->pool;
    if (link == slot->ending) {
        slot->ending = NULL;
    } else if (link == slot->link) {
        slot->link = NULL;
        slot->killed = false;
        uv_timer_stop(&slot->idle);
        if (!slot->hello && !pool->stopped) {
            slot_start_failed(slot, -EPIPE, why);
        }
    }
    pool_schedule(pool);
    pool_drop(pool);
}

static const struct worker_link_events worker_events = {worker_ready, worker_ended};

static bool slot_may_start(const struct slot *slot) {
    return !slot->link && (slot->failures < MAX_START_FAILURES ||
                           clock_ms() - slot->failed_ms > REST_MS);
}

static void slot_start(struct slot *slot) {
    struct err err = {0};
    json_decref(slot->hello);
    slot->hello = NULL;
    const char *const *argv = (const char *const *)slot->argv;
    int r = worker_link_start(slot->pool->loop, argv, slot->pool->hello_ms,
                              &worker_events, slot, &slot->link, &err);
    if (r < 0) {
        slot->link = NULL;
        autofree char *why = xasprintf("could not be started: %s", err.msg);
        slot_start_failed(slot, -ENOENT, why);
    } else {
        slot->pool->open++;
    }
}

/* --- who runs what --- */

/* The ready worker with the most room, or NULL when all are full. */
static struct slot *slot_with_room(struct pool *pool) {
    struct slot *best = NULL;
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        if (slot_is_ready(slot) && slot->running < slot->parallel &&
            (!best || slot->parallel - slot->running > best->parallel - best->running)) {
            best = slot;
        }
    }
    return best;
}

static void jobs_assign(struct pool *pool) {
    struct slot *slot;
    for (struct pool_job *job = pool->first, *next; job; job = next) {
        next = job->next;
        if (!job->queued) {
            continue;
        }
        if (!(slot = slot_with_room(pool))) {
            return;
        }
        job_run(job, slot);
    }
}

/* Start a worker for what is still queued. False: none runs and none could be started. */
static bool workers_start(struct pool *pool) {
    bool alive = false;
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        if (slot->link && !slot_is_ready(slot)) {
            return true; /* one on its way is enough */
        }
        alive |= slot->link != NULL;
    }
    for (size_t i = 0; i < pool->slot_count; i++) {
        struct slot *slot = &pool->slots[i];
        while (slot_may_start(slot)) {
            slot_start(slot);
        }
        if (slot->link && !slot_is_ready(slot)) {
            return true;
        }
    }
    return alive;
}

static void queue_fail(struct pool *pool) {
    for (struct pool_job *job = pool->first; job; job = job->next) {
        if (job->queued) {
            job_end_later(job, pool->start_status, pool->start_failure);
        }
    }
    for (size_t i = 0; i < pool->slot_count; i++) {
        pool->slots[i].failures = 0; /* the next job may find it mended */
    }
}

static void pool_schedule(struct pool *pool) {
    if (pool->stopped || !pool->queued) {
        return;
    }
    jobs_assign(pool);
    if (pool->queued && !workers_start(pool)) {
        queue_fail(pool);
    }
}

/* --- the interface --- */

static char **argv_copy(char *const *argv) {
    size_t count = 0;
    while (argv[count]) {
        count++;
    }
    char **copy = xcalloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = xstrdup(argv[i]);
    }
    return copy;
}

static unsigned machine_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

static void slot_init(struct pool *pool, struct slot *slot,
                      const struct pool_worker_config *config) {
    slot->pool = pool;
    if (config) {
        bool local = config->argv[0] && !config->argv[1];
        slot->argv = argv_copy(config->argv);
        slot->parallel = config->parallel ? config->parallel
                         : local          ? machine_cores()
                                          : 1;
    } else {
        slot->argv = xcalloc(2, sizeof *slot->argv);
        slot->argv[0] = local_worker_path();
        slot->parallel = machine_cores();
    }
    uv_timer_init(pool->loop, &slot->idle);
    pool->open++;
}

struct pool *pool_new(uv_loop_t *loop, const struct pool_config *config) {
    struct pool *pool = xcalloc(1, sizeof *pool);
    pool->loop = loop;
    pool->idle_ms = config->idle_ms ? config->idle_ms : 60000;
    pool->hello_ms = config->hello_ms ? config->hello_ms : 30000;
    pool->job_ms = config->job_ms ? config->job_ms : 600000;
    pool->slot_count = config->count ? config->count : 1;
    pool->slots = xcalloc(pool->slot_count, sizeof *pool->slots);
    for (size_t i = 0; i < pool->slot_count; i++) {
        slot_init(pool, &pool->slots[i], config->count ? &config->workers[i] : NULL);
    }
    return pool;
}

void pool_kill(struct pool *pool) {
    pool->stopped = true;
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (pool->slots[i].link) {
            worker_link_kill(pool->slots[i].link);
        }
        if (pool->slots[i].ending) {
            worker_link_kill(pool->slots[i].ending);
        }
    }
}

void pool_close(struct pool *pool, void (*closed)(void *data), void *data) {
    pool->stopped = true;
    pool->closing = true;
    pool->closed = closed;
    pool->closed_data = data;
    for (struct pool_job *job = pool->first; job; job = job->next) {
        if (job->queued) {
            job_end_later(job, -ECANCELED, "cancelled");
        }
    }
    pool_kill(pool);
    for (size_t i = 0; i < pool->slot_count; i++) {
        uv_close((uv_handle_t *)&pool->slots[i].idle, slot_idle_closed);
    }
}

struct pool_job *pool_submit(struct pool *pool, const char *method, json_t *params,
                             pool_done *done, void *data) {
    struct pool_job *job = xcalloc(1, sizeof *job);
    job->pool = pool;
    job->method = xstrdup(method);
    job->params = params;
    job->done = done;
    job->data = data;
    uv_timer_init(pool->loop, &job->timer);
    pool->open++;
    job_append(pool, job);
    if (pool->stopped) {
        job_end_later(job, -ECANCELED, "cancelled");
    } else if (pool->queued >= POOL_MAX_QUEUED) {
        job_end_later(job, -EBUSY,
                      "too many jobs wait for a worker already; try again "
                      "when some are done");
    } else {
        job->queued = true;
        pool->queued++;
        pool_schedule(pool);
    }
    return job;
}

void pool_cancel(struct pool_job *job) {
    if (job->cancelled) {
        return;
    }
    job->cancelled = true;
    if (job->request) {
        json_t *id = json_integer(rpc_request_id(job->request));
        struct rpc_peer *peer = worker_link_peer(job->slot->link);
        rpc_notify(peer, "$/cancelRequest", json_pack("{s:o}", "id", id));
        uv_timer_start(&job->timer, job_timer, CANCEL_GRACE_MS, 0);
    } else {
        job_end_later(job, -ECANCELED, "cancelled");
    }
}

static json_t *slot_status(const struct slot *slot) {
    json_t *argv = json_array();
    for (char **arg = slot->argv; *arg; arg++) {
        json_array_append_new(argv, json_text(*arg, strlen(*arg)));
    }
    const char *state = slot_is_ready(slot) ? "ready" : slot->link ? "starting" : "idle";
    json_t *status = json_pack("{s:o, s:s, s:i, s:i, s:i}", "argv", argv, "state", state,
                               "running", (int)slot->running, "parallel",
                               (int)slot->parallel, "queued", (int)slot->pool->queued);
    if (slot->link) {
        json_object_set_new(status, "pid", json_integer(worker_link_pid(slot->link)));
    }
    if (slot->hello) {
        json_object_set(status, "hello", slot->hello);
    }
    return status;
}

json_t *pool_status(const struct pool *pool) {
    json_t *list = json_array();
    for (size_t i = 0; i < pool->slot_count; i++) {
        json_array_append_new(list, slot_status(&pool->slots[i]));
    }
    return list;
}
