/* A pool's job: queued, run on a slot, once more where its worker was lost, ended. */
#define LOG_MODULE "pool"
#include "gpu/pool/pool_internal.h"

#include "base/buf.h"
#include "base/fd_channel.h"
#include "base/log.h"
#include "base/shared_bytes.h"
#include "base/work.h"
#include "gpu/pool/open_files.h"
#include "protocol/rpc/rpc.h"

#include <unistd.h>

#define TOO_LARGE "the job is too large for one message"
#define CANCEL_GRACE_MS 2000 /* a worker that does not stop a job by then is ended */

/* --- the beginning --- */

struct pool_job *job_new(struct pool *pool, const char *method, json_t *params,
                         const struct pool_needs *needs) {
    struct pool_job *job = xcalloc(1, sizeof *job);
    job->pool = pool;
    job->method = xstrdup(method);
    job->params = params;
    job->memory = -1;
    if (needs) {
        job->arch = needs->arch ? xstrdup(needs->arch) : NULL;
        job->device = needs->device ? xstrdup(needs->device) : NULL;
        job->needs = *needs;
        job->needs.arch = job->arch;
        job->needs.device = job->device;
        job->needs.files = needs->files ? open_files_ref(needs->files) : NULL;
    }
    uv_timer_init(pool->loop, &job->timer);
    pool->open++;
    return job;
}

/* --- the end of a job --- */

static void job_unlink(struct pool_job *job) {
    struct pool *pool = job->pool;
    *(job->previous ? &job->previous->next : &pool->first) = job->next;
    *(job->next ? &job->next->previous : &pool->last) = job->previous;
}

void job_append(struct pool_job *job) {
    struct pool *pool = job->pool;
    job->previous = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = job;
    pool->last = job;
}

void job_queue(struct pool_job *job) {
    job->queued = true;
    job->pool->queued++;
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
    shared_bytes_unref(job->attached);
    shared_bytes_unref(job->whole);
    if (job->needs.files) {
        open_files_unref(job->needs.files);
    }
    fd_close_p(&job->memory);
    free(job->method);
    free(job->arch);
    free(job->device);
    free(job->why);
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
    if (job->slot->killed) {
        return; /* for another job: its end is on its way */
    }
    job->overdue = !job->cancelled;
    log_warning("a worker did not %s: ended pid=%d",
                job->overdue ? "answer a job in time" : "stop a cancelled job",
                worker_link_pid(job->slot->link));
    job->slot->killed = true;
    worker_link_stop(job->slot->link);
}

void job_end_later(struct pool_job *job, int status, const char *why) {
    job_dequeue(job);
    job->status = status;
    free(job->why);
    job->why = xstrdup(why);
    uv_timer_start(&job->timer, job_timer, 0, 0);
}

/* --- running a job --- */

/* Its worker is gone: once more elsewhere, or the end. */
static void job_lost(struct pool_job *job, const struct slot *slot, bool innocent) {
    if (job->cancelled || job->pool->stopped) {
        job_end_later(job, -ECANCELED, "cancelled");
    } else if (!innocent && ++job->losses > 1) {
        job_end_later(job, -EPIPE,
                      job->overdue
                          ? "two workers in a row vanished or stopped answering on this "
                            "job"
                          : "two workers in a row vanished while running this job");
    } else {
        job->overdue = false;
        job->avoid = innocent ? job->avoid : slot;
        job_queue(job); /* keeps its place in the order of submission */
    }
}

static void job_answered(struct rpc_request *, int status, const json_t *result,
                         const json_t *error, void *data) {
    struct pool_job *job = data;
    struct slot *slot = take(job->slot);
    job->request = NULL;
    slot->running--;
    uv_timer_stop(&job->timer);
    if (status < 0) {
        job_lost(job, slot, slot->killed && !job->overdue);
        return;
    }
    struct pool *pool = job->pool;
    slot_served(slot);
    slot_rest(slot);
    if (job->cancelled) {
        job_end(job, -ECANCELED, NULL, NULL, "cancelled");
    } else {
        job_end(job, error ? -EREMOTEIO : 0, result, error,
                error ? json_get_string(error, "message", "") : "");
    }
    pool_tell_change(pool);
}

static bool job_has_files(const struct pool_job *job) {
    return job->needs.files && job->needs.files->count;
}

/* The params with the files' sizes, where there are any, and the parcel's key. */
static json_t *params_with_files(const struct pool_job *job, uint64_t parcel) {
    const struct open_files *files = job->needs.files;
    json_t *params = json_copy(job->params), *sizes = json_array();
    for (size_t i = 0; files && i < files->count; i++) {
        json_array_append_new(sizes, json_integer((json_int_t)files->sizes[i]));
    }
    if (json_array_size(sizes)) {
        json_object_set(params, "file_bytes", sizes);
    }
    if (parcel) {
        json_object_set_new(params, "parcel", json_integer((json_int_t)parcel));
    }
    json_decref(sizes);
    return params;
}

/* As descriptors, to a worker here: its key, or 0 where it takes none. */
static uint64_t parcel_send(const struct pool_job *job) {
    const struct open_files *files = job->needs.files;
    const struct shared_bytes *text = job->attached;
    struct slot *slot = job->slot;
    size_t count = files ? files->count : 0;
    autofd int sealed =
        count && shared_bytes_fd(text) < 0 ? bytes_seal(text->data, text->len) : -1;
    int fds[1 + OPEN_FILES_MAX] = {sealed < 0 ? shared_bytes_fd(text) : sealed};
    if (count) {
        memcpy(fds + 1, files->fds, count * sizeof *fds);
    }
    bool sent = slot_is_near(slot) && fds[0] >= 0 &&
                fd_parcel_send(worker_link_channel(slot->link)->socket, slot->parcels + 1,
                               fds, 1 + count) == 0;
    slot->parcels += sent;
    return sent ? slot->parcels : 0;
}

static void job_leave_slot(struct pool_job *job) {
    struct slot *slot = take(job->slot);
    slot->running--;
    slot_rest(slot);
}

/* On a thread: tens of megabytes, possibly of a slow disk. */
static void files_read(void *data) {
    struct pool_job *job = data;
    autobuf all = BUF_INIT(FRAME_MAX_BODY);
    int r = buf_add(&all, job->attached->data, job->attached->len);
    r = r < 0 ? r : open_files_read(job->needs.files, &all);
    job->status = r;
    job->whole = r < 0 ? NULL : shared_bytes_new(&all);
}

static void files_were_read(void *data) {
    struct pool_job *job = data;
    job->reading = NULL;
    job_leave_slot(job);
    if (job->cancelled || job->pool->stopped) {
        job_end_later(job, -ECANCELED, "cancelled");
    } else if (!job->whole) {
        job_end_later(job, job->status,
                      job->status == -EMSGSIZE ? TOO_LARGE
                                               : "its arrays cannot be read any more");
    } else {
        job_queue(job);
    }
    pool_tell_change(job->pool);
}

static struct rpc_request *job_send(struct pool_job *job, uint64_t parcel) {
    struct rpc_peer *peer = worker_link_peer(job->slot->link);
    json_t *params = params_with_files(job, parcel);
    struct shared_bytes *whole = take(job->whole);
    struct shared_bytes *bytes = parcel ? NULL : whole ? whole : job->attached;
    struct rpc_request *request =
        bytes ? rpc_request_start_attached(peer, job->method, params, bytes, job_answered,
                                           job)
              : rpc_request_start(peer, job->method, params, job_answered, job);
    shared_bytes_unref(whole);
    return request;
}

/* Files that go as bytes are read first; then the job waits for a worker again. Meanwhile
 * it counts as running, so that no more are read than the workers take. */
void job_run(struct pool_job *job, struct slot *slot) {
    job_dequeue(job);
    job->slot = slot;
    slot->running++;
    if (!slot->asking) {
        uv_timer_stop(&slot->timer);
    }
    uint64_t parcel = job->attached ? parcel_send(job) : 0;
    if (job->attached && !parcel && job_has_files(job) && !job->whole) {
        job->reading = work_start(job->pool->loop, files_read, files_were_read, job);
        return;
    }
    job->place = slot;
    slot->used = true;
    job->request = job_send(job, parcel);
    if (!job->request) {
        job_leave_slot(job);
        job_end_later(job, -EMSGSIZE, TOO_LARGE);
        return;
    }
    uv_timer_start(&job->timer, job_timer, job->pool->job_ms, 0);
    if (job->noted) {
        job->noted(job, NULL, job->data);
    }
}

void pool_on_note(struct pool_job *job, pool_noted *noted) {
    job->noted = noted;
}

int pool_job_memory(struct pool_job *job, uint64_t key) {
    int fds[FD_PARCEL_MAX];
    if (job->memory_key == key && job->memory >= 0) {
        return job->memory;
    }
    size_t count =
        job->slot ? fd_channel_take(worker_link_channel(job->slot->link), key, fds) : 0;
    for (size_t i = 1; i < count; i++) {
        close(fds[i]);
    }
    if (count) {
        fd_close_p(&job->memory);
        job->memory = fds[0];
        job->memory_key = key;
    }
    return count ? job->memory : -1;
}

json_t *pool_job_worker(const struct pool_job *job) {
    if (!job->place) {
        return NULL;
    }
    const char *host = json_get_string(job->place->hello, "host", "");
    return json_pack("{s:o, s:o}", "name", json_clean_z(job->place->name), "host",
                     json_clean_z(host));
}

void pool_cancel(struct pool_job *job) {
    if (job->cancelled) {
        return;
    }
    job->cancelled = true;
    if (job->reading) {
        work_cancel(job->reading);
    } else if (job->request) {
        json_t *id = json_integer(rpc_request_id(job->request));
        struct rpc_peer *peer = worker_link_peer(job->slot->link);
        rpc_notify(peer, "$/cancelRequest", json_pack("{s:o}", "id", id));
        uv_timer_start(&job->timer, job_timer, CANCEL_GRACE_MS, 0);
    } else {
        job_end_later(job, -ECANCELED, "cancelled");
    }
}
