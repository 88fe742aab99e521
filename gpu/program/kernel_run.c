#include "gpu/program/kernel_run.h"

#include "base/strings.h"
#include "base/work.h"
#include "gpu/fixes/consequences.h"
#include "gpu/fixes/fixes.h"
#include "gpu/kernel_run.operation.h"
#include "gpu/program/program_job.h"
#include "gpu/program/program_missing.h"
#include "gpu/program/program_save.h"

struct program_run {
    struct call *call;
    const json_t *params;
    struct program_job *job;
    struct work *work; /* a thread saves files, or looks for missing ones */
    char **roots;
    json_t *result;
    const char *dir; /* to save to */
};

static void run_end(struct program_run *r, const struct check_refusal *refusal) {
    call_on_cancel(r->call, NULL, NULL);
    gpu_call_end(take(r->result), refusal, r->call);
    strings_free(r->roots);
    free(r);
}

/* --- the answer --- */

static void save_on_thread(void *data) {
    struct program_run *r = data;
    json_object_set_new(r->result, "saved",
                        program_save(json_object_get(r->result, "files"), r->dir,
                                     (const char *const *)r->roots));
}

static void find_on_thread(void *data) {
    struct program_run *r = data;
    program_find_missing(r->result, r->params, (const char *const *)r->roots);
}

static void on_worked(void *data) {
    run_end(data, NULL);
}

static bool same_place(const json_t *a, const json_t *b) {
    return json_get_integer(a, "line", 0) == json_get_integer(b, "line", -1) &&
           json_says(a, "file", json_get_string(b, "file", ""));
}

/* The compiler only knows that the file is not there. */
static void tell_refused(json_t *diagnostics, const json_t *refused) {
    json_each(diagnostics, i, finding) {
        json_each(refused, k, why) {
            if (json_says(finding, "severity", "error") && same_place(finding, why)) {
                json_object_set(finding, "message", json_object_get(why, "message"));
            }
        }
    }
}

static void tell_fixes(json_t *diagnostics, const struct program_sources *sources) {
    fixes_name_packages(diagnostics);
    tell_refused(diagnostics, sources->refused);
    fixes_add(diagnostics, &sources->set, "sm_90a");
    consequences_fold(diagnostics);
}

static void on_end(const json_t *answer, json_t *worker,
                   const struct check_refusal *refusal, void *data) {
    struct program_run *r = data;
    const struct program_job *job = take(r->job);
    if (!answer) {
        run_end(r, refusal);
        return;
    }
    r->result = json_deep_copy(answer);
    tell_fixes(json_object_get(r->result, "diagnostics"), program_job_sources(job));
    json_object_set_new(r->result, "worker", worker);
    program_set_summary(r->result);
    program_set_hint(r->result, r->params);
    r->dir = json_get_string(r->params, "save", NULL);
    bool save = r->dir && json_array_size(json_object_get(r->result, "files"));
    if (save || program_lacks(r->result)) {
        r->work = work_start(call_origin(r->call)->loop,
                             save ? save_on_thread : find_on_thread, on_worked, r);
    } else {
        run_end(r, NULL);
    }
}

/* --- the operation --- */

static void run_cancelled(struct call *, void *data) {
    struct program_run *r = data;
    if (r->job) {
        program_job_cancel(r->job);
    } else {
        work_cancel(r->work);
    }
}

static void run_start(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    if (!gpu_of(origin)) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process runs no programs");
        return;
    }
    struct program_run *r = xcalloc(1, sizeof *r);
    *r = (struct program_run){
        .call = call_ref(call), .params = params, .roots = strings_copy(origin->roots)};
    r->job = program_job_start(call, params, on_end, r);
    call_on_cancel(call, run_cancelled, r);
}

const struct operation program_operations[] = {
    {KERNEL_RUN_OPERATION, .start = run_start, .describe = program_describe},
};
const size_t program_operation_count = ARRAY_LEN(program_operations);
