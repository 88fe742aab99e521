#include "gpu/program/program_job.h"

#include "base/buf.h"
#include "base/shared_bytes.h"
#include "base/strings.h"
#include "base/work.h"
#include "gpu/pool/pool.h"
#include "protocol/rpc/frame.h"

struct program_job {
    struct call *call;
    struct gpu *gpu;
    const json_t *params;
    char **roots, **include_dirs;
    struct work *work; /* a thread gathers the sources */
    struct buf request;
    struct program_sources sources;
    struct pool_job *job;
    program_job_end *end;
    void *data;
    struct check_refusal refusal;
    bool refused, cancelled;
};

static void job_end(struct program_job *j, const json_t *answer, json_t *worker) {
    bool told = j->refused && !j->cancelled;
    if (j->cancelled) {
        json_decref(take(worker));
        answer = NULL;
    }
    j->end(answer, worker, told ? &j->refusal : NULL, j->data);
    call_unref(j->call);
    strings_free(j->roots);
    strings_free(j->include_dirs);
    buf_finish(&j->request);
    program_sources_finish(&j->sources);
    free(j);
}

static void refuse(struct program_job *j, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    j->refused = true;
    check_refuse(&j->refusal, 0, fault, reason, hint, "%s", message);
}

static void on_answer(struct pool_job *job, int status, const json_t *answer,
                      const json_t *error, const char *why, void *data) {
    struct program_job *j = data;
    bool good = answer && json_get_string(answer, "verdict", NULL);
    j->job = NULL;
    if (answer && !good) {
        refuse(j, CALL_INTERNAL, "worker", NULL, "the worker's answer is invalid");
    } else if (error) {
        refuse(j, CALL_INTERNAL, "worker", NULL,
               json_get_string(error, "message", "the worker failed"));
    } else if (!answer && status == -EBUSY) {
        refuse(j, CALL_UNAVAILABLE, "busy", "try again in a few seconds", why);
    } else if (!answer && status != -ECANCELED) {
        refuse(j, CALL_UNAVAILABLE, "no_worker", POOL_HINT, why);
    }
    job_end(j, good ? answer : NULL, good ? pool_job_worker(job) : NULL);
}

static void on_note(struct pool_job *, const json_t *note, void *data) {
    struct program_job *j = data;
    const json_t *progress = json_object_get(note, "progress");
    if (progress) {
        call_report(j->call, json_get_number(progress, "done", 0), 2, "%s",
                    json_get_string(progress, "message", "running"));
    }
}

static void gather_on_thread(void *data) {
    struct program_job *j = data;
    const struct check_places places = {.include_dirs =
                                            (const char *const *)j->include_dirs,
                                        .default_arch = "sm_90a",
                                        .compiler = ""};
    j->refused = program_request(j->params, (const char *const *)j->roots, &places,
                                 &j->request, &j->sources, &j->refusal) < 0;
}

const struct program_sources *program_job_sources(const struct program_job *j) {
    return &j->sources;
}

static void on_gathered(void *data) {
    struct program_job *j = data;
    j->work = NULL;
    if (j->refused || j->cancelled || !j->request.len) {
        job_end(j, NULL, NULL);
        return;
    }
    struct shared_bytes *request = shared_bytes_new(&j->request);
    json_t *params = program_params(j->params, gpu_compile_wall_ms(j->gpu));
    j->job =
        pool_submit(gpu_pool(j->gpu), "program", params, request, NULL, on_answer, j);
    pool_on_note(j->job, on_note);
    shared_bytes_unref(request);
}

void program_job_cancel(struct program_job *j) {
    j->cancelled = true;
    if (j->work) {
        work_cancel(j->work);
    } else if (j->job) {
        pool_cancel(j->job);
    }
}

struct program_job *program_job_start(struct call *call, const json_t *params,
                                      program_job_end *end, void *data) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    struct program_job *j = xcalloc(1, sizeof *j);
    *j = (struct program_job){.call = call_ref(call),
                              .gpu = gpu,
                              .params = params,
                              .roots = strings_copy(origin->roots),
                              .include_dirs = strings_copy(gpu_include_dirs(gpu)),
                              .request = BUF_INIT(FRAME_MAX_BODY),
                              .end = end,
                              .data = data};
    j->work = work_start(origin->loop, gather_on_thread, on_gathered, j);
    return j;
}
