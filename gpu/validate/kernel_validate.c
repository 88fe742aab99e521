#include "gpu/validate/kernel_validate.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "gpu/check/check_verdict.h"
#include "gpu/pool/open_files.h"
#include "gpu/pool/pool.h"
#include "gpu/run/validate_result.h"
#include "gpu/spec/spec_case.h"
#include "gpu/validate/argument_order.h"
#include "gpu/validate/argument_type.h"
#include "gpu/validate/array_load.h"
#include "gpu/validate/array_save.h"
#include "gpu/validate/validate_maker.h"
#include "gpu/validate/validate_verdict.h"

enum { MAX_TEMPLATE_ID = 512, TELL_MS = 1000 };

/* One of the two modules. */
struct validated_module {
    struct kernel_validate *owner;
    struct kernel_check *check;
    json_t *result; /* of the check */
};

struct kernel_validate {
    struct gpu *gpu;
    const struct call_origin *origin;
    struct validate_asked asked;
    bool has_asked;
    struct work *making; /* while a thread reads the spec or writes the request */
    struct validated_module kernel, reference;
    struct array_load *load; /* while the spec's files are read */
    json_t *places;          /* then: which is which */
    struct open_files *files;
    struct pool_job *job;
    struct array_save *save; /* when files are wanted */
    bool saving;             /* they are waited for */
    uv_timer_t later; /* repeats what is going on, and comes once more at the end */
    bool ending;
    double steps, step;  /* trials and one for compiling; those that are done */
    const char *words;   /* what is going on; NULL: the worker tells */
    uint64_t words_ms;   /* clock_ms: since then */
    uint64_t compile_ms; /* at first when it began, then how long it took */
    json_t *result;
    struct check_refusal refusal;
    bool refused, cancelled;
    uint64_t seed;
    kernel_validate_stage *stage;
    kernel_check_done *done;
    void *data;
};

/* --- ends --- */

static void validate_closed(uv_handle_t *handle) {
    struct kernel_validate *v = container_of(handle, struct kernel_validate, later);
    if (v->has_asked) {
        validate_asked_finish(&v->asked, handle->loop);
    }
    json_decref(v->kernel.result);
    json_decref(v->reference.result);
    json_decref(v->places);
    open_files_unref(v->files);
    array_save_free(v->save);
    free(v);
}

static void validate_end(struct kernel_validate *v) {
    bool told = v->refused && !v->cancelled;
    if (v->cancelled) {
        json_decref(take(v->result));
    }
    if (v->result) {
        validate_verdict_set(v->result, v->asked.spec.strict);
    }
    v->done(take(v->result), told ? &v->refusal : NULL, v->data);
    uv_close((uv_handle_t *)&v->later, validate_closed);
}

/* --- what is going on --- */

static void tell(struct kernel_validate *v, const char *words) {
    uv_timer_again(&v->later);
    if (v->stage) {
        v->stage(v, v->step, v->steps, words, v->data);
    }
}

/* False when whoever was told has cancelled it. */
static bool stage(struct kernel_validate *v, const char *words) {
    v->words = words;
    v->words_ms = clock_ms();
    tell(v, words);
    return !v->cancelled;
}

static void tell_again(struct kernel_validate *v) {
    char text[120];
    if (v->words) {
        snprintf(text, sizeof text, "%s, %llu s", v->words,
                 (unsigned long long)((clock_ms() - v->words_ms + 500) / 1000));
        tell(v, text);
    }
}

static void on_later(uv_timer_t *timer) {
    struct kernel_validate *v = container_of(timer, struct kernel_validate, later);
    if (v->ending) {
        validate_end(v);
    } else {
        tell_again(v);
    }
}

/* Nothing of it may still run. */
static void end_later(struct kernel_validate *v) {
    if (!v->making && !v->kernel.check && !v->reference.check && !v->load && !v->job &&
        !v->saving) {
        v->ending = true;
        uv_timer_start(&v->later, on_later, 0, 0);
    }
}

static void on_note(struct pool_job *job, const json_t *note, void *data) {
    struct kernel_validate *v = data;
    const json_t *progress = json_object_get(note, "progress");
    const json_t *file = json_object_get(note, "file");
    if (v->save && !note) {
        array_save_again(v->save);
    } else if (v->save && file) {
        json_int_t key = json_get_integer(file, "memory", 0);
        array_save_part(v->save, file,
                        key > 0 ? pool_job_memory(job, (uint64_t)key) : -1);
    }
    if (progress) {
        double done = json_number_value(json_object_get(progress, "done"));
        double total = json_number_value(json_object_get(progress, "total"));
        v->steps = 1 + (total >= 0 ? total : 0);
        v->step = done >= 0 && done <= total ? 1 + done : v->step;
        v->words = NULL;
        tell(v, json_get_string(progress, "message", "running"));
    }
}

static void stop_all(struct kernel_validate *v) {
    struct validated_module *modules[] = {&v->kernel, &v->reference};
    for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
        if (modules[i]->check) {
            kernel_check_cancel(modules[i]->check);
        }
    }
    if (v->making) {
        work_cancel(v->making);
    }
    if (v->load) {
        array_load_cancel(v->load);
    }
    if (v->job) {
        pool_cancel(v->job);
    }
    array_save_free(take(v->save));
    v->saving = false;
    end_later(v);
}

static void refuse(struct kernel_validate *v, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    if (v->refused) {
        return;
    }
    v->refused = true;
    check_refuse(&v->refusal, 0, fault, reason, hint, "%s", message);
}

/* A verdict without a run. */
static void conclude(struct kernel_validate *v, const char *stage, const char *code,
                     const char *message, const char *hint) {
    if (!v->result) {
        v->result = validate_not_run("error", stage, code, message, hint);
        json_object_set(v->result, "check", v->kernel.result);
    }
}

/* --- the run --- */

static const char no_gpu_hint[] =
    "check nvidia-smi and CUDA_VISIBLE_DEVICES, configure a worker on a machine with a "
    "GPU (upskillctl worker --help), or omit \"backend\" and \"device\"";

/* --- files that were asked for --- */

static void on_saved(const json_t *written, const struct err *err, void *data) {
    struct kernel_validate *v = data;
    v->saving = false;
    array_save_tell(v->save, v->result, written, err);
    end_later(v);
}

static void save_end(struct kernel_validate *v) {
    if (v->save && !v->cancelled) {
        v->saving = true;
        if (stage(v, "writing files")) {
            array_save_end(v->save, on_saved, v);
        }
    }
}

/* --- the run's end --- */

/* The answer is shared: its findings are copied. What passes has the types it takes. */
static void note_arguments(struct kernel_validate *v) {
    const char *verdict = json_get_string(v->result, "verdict", "");
    const json_t *kernels = json_object_get(v->kernel.result, "kernels");
    json_t *findings = json_copy(json_object_get(v->result, "findings"));
    argument_order_note(&v->asked.spec, kernels, findings);
    if (strcmp(verdict, "pass") != 0) {
        argument_values_note(&v->asked.spec, findings);
        argument_type_note(&v->asked.spec, kernels,
                           !strcmp(verdict, "fail") ? FINDING_ERROR : FINDING_WARNING,
                           findings);
    }
    json_object_set_new(v->result, "findings", findings);
}

/* The worker knows how many parameters the kernel takes, not their names. */
static void hint_at_arguments(struct kernel_validate *v) {
    const json_t *error = json_object_get(v->result, "error");
    bool hinted = json_get_string(error, "hint", NULL);
    autofree char *words =
        error && !hinted ? argument_count_words(
                               &v->asked.spec,
                               json_object_get(v->kernel.result, "kernels"))
                         : NULL;
    if (words) {
        json_t *own = json_copy((json_t *)(uintptr_t)error);
        json_object_set_new(own, "hint", json_string(words));
        json_object_set_new(v->result, "error", own);
    }
}

/* The worker's phases behind the compiler's. */
static void tell_phases(struct kernel_validate *v) {
    json_t *all = json_array();
    json_array_append_new(
        all, json_pack("{s:s, s:f}", "phase", "compile", "ms", (double)v->compile_ms));
    json_array_extend(all, json_object_get(v->result, "phases"));
    json_object_set_new(v->result, "phases", all);
}

static void on_run(struct pool_job *job, int status, const json_t *answer,
                   const json_t *error, const char *why, void *data) {
    struct kernel_validate *v = data;
    const json_t *failed = json_object_get(answer, "error");
    v->job = NULL;
    if (json_says(failed, "code", "no_gpu")) {
        refuse(v, CALL_UNAVAILABLE, "no_gpu", no_gpu_hint,
               json_get_string(failed, "message", "there is no CUDA device"));
    } else if (json_get_string(answer, "verdict", NULL)) {
        /* Files change it within: their places are told there. */
        v->result =
            v->save ? json_deep_copy(answer) : json_copy((json_t *)(uintptr_t)answer);
        json_object_set_new(v->result, "worker", pool_job_worker(job));
        json_object_set(v->result, "check", v->kernel.result);
        note_arguments(v);
        hint_at_arguments(v);
        tell_phases(v);
        save_end(v);
    } else if (answer) {
        refuse(v, CALL_INTERNAL, "worker", NULL, "the worker's answer is invalid");
    } else if (error) {
        refuse(v, CALL_INTERNAL, "worker", NULL,
               json_get_string(error, "message", "the worker failed"));
    } else if (status == -EBUSY) {
        refuse(v, CALL_UNAVAILABLE, "busy", "try again in a few seconds", why);
    } else if (status == -ENODEV) {
        refuse(v, CALL_UNAVAILABLE, "no_gpu", no_gpu_hint, why);
    } else if (status != -ECANCELED) {
        refuse(v, CALL_UNAVAILABLE, "no_worker", POOL_HINT, why);
    }
    end_later(v);
}

/* --- the run --- */

static void run_begin(struct kernel_validate *v, struct shared_bytes *request) {
    const struct kernel_spec *spec = &v->asked.spec;
    v->step = 1;
    if (!stage(v, "starting the run")) {
        return;
    }
    const struct pool_needs needs = {
        .gpu = !strcmp(spec->backend, "cuda"),
        .prefer_gpu = !strcmp(spec->backend, "auto"),
        .arch = json_get_string(v->kernel.result, "arch", NULL),
        .device = spec->device,
        .files = v->files,
    };
    v->job = pool_submit(gpu_pool(v->gpu), "validate", validate_params(spec, v->seed),
                         request, &needs, on_run, v);
    pool_on_note(v->job, on_note);
}

static void on_written(struct shared_bytes *request,
                       const struct request_problem *problem, void *data) {
    struct kernel_validate *v = data;
    v->making = NULL;
    if (v->cancelled) {
        end_later(v);
    } else if (request) {
        run_begin(v, request);
    } else {
        conclude(v, problem->stage, problem->code, problem->err->msg, problem->hint);
        end_later(v);
    }
}

static void write_begin(struct kernel_validate *v) {
    argument_types_settle(&v->asked.spec, v->kernel.result);
    const struct validate_material material = {
        .spec = &v->asked.spec,
        .kernel = v->kernel.result,
        .reference = v->reference.result,
        .places = v->places,
    };
    v->making = validate_writing_start(v->origin->loop, &material, on_written, v);
}

static void run_when_ready(struct kernel_validate *v) {
    if (!v->kernel.check && !v->reference.check && !v->load) {
        v->compile_ms = clock_ms() - v->compile_ms;
        write_begin(v);
    }
}

/* --- the spec's files --- */

static void on_loaded(json_t *places, struct open_files *files, const struct err *err,
                      void *data) {
    struct kernel_validate *v = data;
    v->load = NULL;
    v->places = places;
    v->files = files;
    if (err && err->code != -ECANCELED) {
        refuse(v,
               err->code == -EACCES || err->code == -EXDEV ? CALL_REFUSED
                                                           : CALL_BAD_PARAMS,
               "bad_file", NULL, err->msg);
        stop_all(v);
    } else if (v->refused || v->cancelled || v->result) {
        end_later(v);
    } else {
        run_when_ready(v);
    }
}

/* --- compiling --- */

static void on_checked(json_t *result, const struct check_refusal *failure, void *data) {
    struct validated_module *m = data;
    struct kernel_validate *v = m->owner;
    m->check = NULL;
    m->result = result;
    if (failure) {
        refuse(v, failure->fault, failure->reason, failure->hint, failure->message);
    }
    if (v->refused || v->cancelled || v->result) {
        end_later(v);
        return;
    }
    if (!json_get_bool(result, "ok", 0) || !json_object_get(result, "ptx")) {
        bool is_kernel = m == &v->kernel;
        autobuf words = BUF_INIT(4096);
        json_object_del(result, "ptx");
        json_object_del(result, "cubin");
        buf_adds(&words, is_kernel ? "" : "the reference: ");
        check_verdict_explain(result, &words);
        conclude(v, is_kernel ? "compile" : "reference", "not_compiled", words.data,
                 NULL);
        if (!is_kernel) {
            json_object_set(v->result, "reference_diagnostics",
                            json_object_get(result, "diagnostics"));
        }
        stop_all(v);
        return;
    }
    run_when_ready(v);
}

static bool is_template_id(const char *name) {
    size_t len = name ? strlen(name) : 0;
    return len && len < MAX_TEMPLATE_ID && strchr(name, '<') &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
                        ":<>, *&()-+.'") == len;
}

static void check_begin(struct validated_module *m, const json_t *params,
                        const struct spec_launch *launches, size_t count) {
    const char *ids[SPEC_MAX_LAUNCHES + 1] = {0}, *names[SPEC_MAX_LAUNCHES + 1] = {0};
    size_t n = 0;
    bool all_named = true;
    for (size_t i = 0; i < count; i++) {
        names[i] = launches[i].kernel;
        all_named &= names[i] != NULL;
        if (is_template_id(launches[i].kernel)) {
            ids[n++] = launches[i].kernel;
        }
    }
    const struct check_wants wants = {
        .ptx = true,
        .cubin = strcmp(m->owner->asked.spec.backend, "emulator") != 0,
        .instantiate = ids,
        .kernels = all_named ? names : NULL,
    };
    m->check = kernel_check_start_for(m->owner->gpu, params, &wants, m->owner->origin,
                                      on_checked, m);
}

/* kernel/check's part of the params. */
static json_t *compile_params(const json_t *params) {
    static const char *const members[] = {
        "source",  "path",    "name",          "arch",    "std",
        "defines", "headers", "include_roots", "options", "fast_math"};
    json_t *own = json_object();
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        json_object_set(own, members[i], json_object_get(params, members[i]));
    }
    return own;
}

/* The first case's launch, for exact occupancy. */
static void add_launch(const struct kernel_validate *v, json_t *own) {
    struct spec_case first;
    if (v->asked.spec.launch_count != 1 ||
        spec_case_resolve(&first, &v->asked.spec, 0, NULL) < 0) {
        return;
    }
    const struct case_launch *l = &first.launches[0];
    json_object_set_new(own, "launch",
                        json_pack("{s:[I,I,I], s:I}", "block", (json_int_t)l->block[0],
                                  (json_int_t)l->block[1], (json_int_t)l->block[2],
                                  "dynamic_shared_bytes", (json_int_t)l->shared_bytes));
    spec_case_finish(&first);
}

static void compile_begin(struct kernel_validate *v) {
    const struct kernel_spec *spec = &v->asked.spec;
    autojson *own = compile_params(v->asked.params);
    add_launch(v, own);
    v->compile_ms = clock_ms();
    if (!stage(v, "compiling")) {
        return;
    }
    check_begin(&v->kernel, own, spec->launches, spec->launch_count);
    if (spec->reference_source) {
        autojson *reference = json_copy(own);
        json_object_del(reference, "path");
        json_object_del(reference, "launch");
        json_object_set_new(reference, "source", json_string(spec->reference_source));
        json_object_set_new(reference, "name", json_string("reference.cu"));
        check_begin(&v->reference, reference, spec->reference, spec->reference_count);
    } else if (spec->expect == EXPECT_KERNEL) {
        /* Kernels of the same source: their template-ids too. */
        for (size_t i = 0; i < spec->reference_count; i++) {
            if (is_template_id(spec->reference[i].kernel)) {
                refuse(
                    v, CALL_BAD_PARAMS, "bad_spec", NULL,
                    "a reference that is a template needs its own expect.kernel.source");
            }
        }
    }
}

/* --- start --- */

static bool save_is_possible(struct kernel_validate *v) {
    const struct call_origin *origin = v->origin;
    struct err err = {0};
    if (!v->asked.spec.save.dir ||
        array_save_new(&v->save, origin->loop, v->asked.spec.save.dir, origin->roots,
                       &err) == 0) {
        return true;
    }
    refuse(v, err.code == -EACCES || err.code == -EXDEV ? CALL_REFUSED : CALL_BAD_PARAMS,
           "bad_folder", NULL, err.msg);
    return false;
}

static void pick_seed(struct kernel_validate *v) {
    char text[17];
    v->seed = v->asked.spec.seed;
    if (!v->asked.spec.has_seed) {
        random_hex(8, text);
        v->seed = strtoull(text, NULL, 16);
    }
}

static void on_read(int r, const struct validate_asked *asked,
                    const struct check_refusal *refusal, void *data) {
    struct kernel_validate *v = data;
    v->making = NULL;
    v->has_asked = r == 0;
    v->asked = *asked;
    if (r < 0 && r != -ECANCELED) {
        v->refused = true;
        v->refusal = *refusal;
    }
    if (r == 0 && !v->cancelled && save_is_possible(v)) {
        v->steps = 1 + (double)asked->spec.case_count * asked->spec.trials;
        pick_seed(v);
        if (asked->spec.array_count) {
            v->load = array_load_start(v->origin->loop, &v->asked.spec, asked->folder,
                                       v->origin->roots, on_loaded, v);
        }
        compile_begin(v);
    }
    end_later(v);
}

struct kernel_validate *kernel_validate_start(struct gpu *gpu, const json_t *params,
                                              const struct call_origin *origin,
                                              kernel_validate_stage *on_stage,
                                              kernel_check_done *done, void *data) {
    struct kernel_validate *v = xcalloc(1, sizeof *v);
    *v = (struct kernel_validate){
        .gpu = gpu, .origin = origin, .stage = on_stage, .done = done, .data = data};
    v->kernel.owner = v->reference.owner = v;
    uv_timer_init(origin->loop, &v->later);
    uv_timer_start(&v->later, on_later, TELL_MS, TELL_MS);
    v->making = validate_reading_start(origin->loop, params, origin->roots, on_read, v);
    return v;
}

void kernel_validate_cancel(struct kernel_validate *v) {
    v->cancelled = true;
    stop_all(v);
}
