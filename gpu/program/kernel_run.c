#include "gpu/program/kernel_run.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json_release.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/work.h"
#include "gpu/check/check_input.h"
#include "gpu/kernel_run.operation.h"
#include "gpu/pool/pool.h"
#include "gpu/program/program_request.h"
#include "gpu/program/program_save.h"
#include "protocol/rpc/frame.h"

#include <errno.h>
#include <string.h>

enum { TELL_MS = 1000 };

struct run {
    struct call *call;
    struct gpu *gpu;
    const json_t *params;
    char **roots, **include_dirs;
    struct work *work; /* a thread gathers the sources, or saves files */
    struct buf request;
    struct pool_job *job;
    json_t *result;
    const char *dir; /* to save to, or NULL */
    struct check_refusal refusal;
    bool refused, cancelled;
    uint64_t begun_ms;
};

static void run_end(struct run *r) {
    bool told = r->refused && !r->cancelled;
    if (r->cancelled) {
        json_decref(take(r->result));
    }
    call_on_cancel(r->call, NULL, NULL);
    gpu_call_end(told ? NULL : take(r->result), told ? &r->refusal : NULL, r->call);
    json_decref(r->result);
    strings_free(r->roots);
    strings_free(r->include_dirs);
    buf_finish(&r->request);
    free(r);
}

static void refuse(struct run *r, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    r->refused = true;
    check_refuse(&r->refusal, 0, fault, reason, hint, "%s", message);
}

/* --- the answer --- */

static void save_on_thread(void *data) {
    struct run *r = data;
    json_object_set_new(r->result, "saved",
                        program_save(json_object_get(r->result, "files"), r->dir,
                                     (const char *const *)r->roots));
}

static void on_saved(void *data) {
    struct run *r = data;
    r->work = NULL;
    run_end(r);
}

static void take_answer(struct run *r, const json_t *answer, json_t *worker) {
    r->result = json_deep_copy(answer);
    json_object_set_new(r->result, "worker", worker);
    r->dir = json_get_string(r->params, "save", NULL);
    bool wrote = json_array_size(json_object_get(r->result, "files")) > 0;
    if (r->dir && wrote && !r->cancelled) {
        r->work = work_start(call_origin(r->call)->loop, save_on_thread, on_saved, r);
    } else {
        run_end(r);
    }
}

static void on_answer(struct pool_job *job, int status, const json_t *answer,
                      const json_t *error, const char *why, void *data) {
    struct run *r = data;
    r->job = NULL;
    if (answer && json_get_string(answer, "verdict", NULL)) {
        take_answer(r, answer, pool_job_worker(job));
        return;
    }
    if (answer) {
        refuse(r, CALL_INTERNAL, "worker", NULL, "the worker's answer made no sense");
    } else if (error) {
        refuse(r, CALL_INTERNAL, "worker", NULL,
               json_get_string(error, "message", "the worker failed"));
    } else if (status == -EBUSY) {
        refuse(r, CALL_UNAVAILABLE, "busy", "try again in some seconds", why);
    } else if (status != -ECANCELED) {
        refuse(r, CALL_UNAVAILABLE, "no_worker", POOL_HINT, why);
    }
    run_end(r);
}

static void on_note(struct pool_job *job, const json_t *note, void *data) {
    struct run *r = data;
    const json_t *progress = json_object_get(note, "progress");
    (void)job;
    if (progress) {
        call_report(r->call, json_get_number(progress, "done", 0), 2, "%s",
                    json_get_string(progress, "message", "running"));
    }
}

/* --- the request --- */

static void gather_on_thread(void *data) {
    struct run *r = data;
    const struct check_places places = {.include_dirs =
                                            (const char *const *)r->include_dirs,
                                        .default_arch = "sm_90a",
                                        .compiler = ""};
    r->refused = program_request(r->params, (const char *const *)r->roots, &places,
                                 &r->request, &r->refusal) < 0;
}

static void on_gathered(void *data) {
    struct run *r = data;
    r->work = NULL;
    if (r->refused || r->cancelled || !r->request.len) {
        run_end(r);
        return;
    }
    struct shared_bytes *request = shared_bytes_new(&r->request);
    json_t *params = program_params(r->params, gpu_compile_wall_ms(r->gpu));
    r->job =
        pool_submit(gpu_pool(r->gpu), "program", params, request, NULL, on_answer, r);
    pool_on_note(r->job, on_note);
    shared_bytes_unref(request);
}

/* --- the operation --- */

static void run_cancelled(struct call *call, void *data) {
    struct run *r = data;
    (void)call;
    r->cancelled = true;
    if (r->work) {
        work_cancel(r->work);
    } else if (r->job) {
        pool_cancel(r->job);
    }
}

static void run_start(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    if (!gpu) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process runs no programs");
        return;
    }
    struct run *r = xcalloc(1, sizeof *r);
    *r = (struct run){.call = call_ref(call),
                      .gpu = gpu,
                      .params = params,
                      .roots = strings_copy(origin->roots),
                      .include_dirs = strings_copy(gpu_include_dirs(gpu)),
                      .request = BUF_INIT(FRAME_MAX_BODY)};
    r->work = work_start(origin->loop, gather_on_thread, on_gathered, r);
    call_on_cancel(call, run_cancelled, r);
}

const struct operation program_operations[] = {
    {KERNEL_RUN_OPERATION, .start = run_start, .describe = program_describe},
};
const size_t program_operation_count = ARRAY_LEN(program_operations);
