#include "gpu/kernel_validate.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/array_load.h"
#include "gpu/check_input.h"
#include "gpu/pool.h"
#include "gpu/toolkit.h"
#include "gpu/validate/check_case.h"
#include "gpu/validate/launch_limits.h"
#include "gpu/validate/spec_file.h"
#include "gpu/validate/validate_result.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define DEVICE_BYTES ((json_int_t)4 << 30)
#define MEMORY_BYTES ((json_int_t)12 << 30) /* address space of the runner */
/* After the limit: the runner stops at it and writes what it has; what does not stop is
 * killed (validate_child.c, validation.c). */
#define GRACE_MS 650
enum { MAX_TEMPLATE_ID = 512 };
#define MAX_REQUEST ((size_t)(64u << 20) - 4096) /* FRAME_MAX_BODY and an envelope */

/* One of the two modules. */
struct module {
    struct kernel_validate *owner;
    struct kernel_check *check;
    json_t *result; /* of the check */
};

struct kernel_validate {
    struct gpu *gpu;
    struct check_spec spec;
    bool has_spec;
    struct module kernel, reference;
    struct array_load *load; /* while the spec's files are read */
    json_t *files;           /* then: for the worker */
    struct pool_job *job;
    uv_timer_t later;
    json_t *result;
    struct check_refusal refusal;
    bool refused, cancelled;
    uint64_t seed;
    kernel_validate_stage *stage;
    kernel_validate_done *done;
    void *data;
};

/* --- ends --- */

static void validate_closed(uv_handle_t *handle) {
    struct kernel_validate *v = container_of(handle, struct kernel_validate, later);
    if (v->has_spec) {
        check_spec_finish(&v->spec);
    }
    json_decref(v->kernel.result);
    json_decref(v->reference.result);
    json_decref(v->files);
    free(v);
}

static void validate_end(struct kernel_validate *v) {
    const struct check_refusal *r = &v->refusal;
    struct kernel_check_failure failure = {r->fault, r->reason, r->hint, r->message};
    bool told = v->refused && !v->cancelled;
    if (v->cancelled) {
        json_decref(take(v->result));
    }
    v->done(v, take(v->result), told ? &failure : NULL, v->data);
    uv_close((uv_handle_t *)&v->later, validate_closed);
}

static void on_later(uv_timer_t *timer) {
    validate_end(container_of(timer, struct kernel_validate, later));
}

/* Nothing of it may still run. */
static void end_later(struct kernel_validate *v) {
    if (!v->kernel.check && !v->reference.check && !v->load && !v->job) {
        uv_timer_start(&v->later, on_later, 0, 0);
    }
}

static void stop_all(struct kernel_validate *v) {
    struct module *modules[] = {&v->kernel, &v->reference};
    for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
        if (modules[i]->check) {
            kernel_check_cancel(modules[i]->check);
        }
    }
    if (v->load) {
        array_load_cancel(v->load);
    }
    if (v->job) {
        pool_cancel(v->job);
    }
    end_later(v);
}

static void refuse(struct kernel_validate *v, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    if (v->refused) {
        return;
    }
    v->refused = true;
    v->refusal.fault = fault;
    v->refusal.reason = reason;
    v->refusal.hint = hint;
    snprintf(v->refusal.message, sizeof v->refusal.message, "%s", message);
}

/* A verdict without a run. */
static void conclude(struct kernel_validate *v, const char *stage, const char *code,
                     const char *message, const char *hint) {
    if (!v->result) {
        v->result = json_object();
        validate_set_error(v->result, "error", stage, code, message, hint);
        json_object_set_new(v->result, "cases", json_array());
        json_object_set_new(v->result, "findings", json_array());
        json_object_set_new(v->result, "omitted", json_integer(0));
        json_object_set(v->result, "check", v->kernel.result);
    }
}

/* --- kernels by name --- */

/* Equal but for blanks. */
static bool same_name(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b) {
            return false;
        }
        if (!*a) {
            return true;
        }
    }
}

/* "ns::k<float>(int)" by "ns::k<float>", "k<float>" or its symbol. */
static bool is_named(const json_t *kernel, const char *wanted) {
    const char *name = json_get_string(kernel, "name", "");
    const char *last = name;
    for (const char *c = name; *c && *c != '<' && *c != '('; c++) {
        last = c[0] == ':' && c[1] == ':' ? c + 2 : last;
    }
    return same_name(name, wanted) || same_name(last, wanted) ||
           !strcmp(json_get_string(kernel, "symbol", ""), wanted);
}

static const json_t *kernel_find(const json_t *kernels, const char *wanted,
                                 size_t *ret_count) {
    const json_t *found = NULL, *kernel;
    size_t i;
    *ret_count = 0;
    json_array_foreach(kernels, i, kernel) {
        if (!wanted || is_named(kernel, wanted)) {
            found = kernel;
            ++*ret_count;
        }
    }
    return found;
}

static void tell_names(struct buf *out, const json_t *kernels) {
    const json_t *kernel;
    size_t i;
    json_array_foreach(kernels, i, kernel) {
        if (i < 12) {
            buf_addf(out, "%s%.80s", i ? ", " : " ",
                     json_get_string(kernel, "name", "?"));
        }
    }
}

/* The entries of a list of launches; NULL with the verdict set. */
static json_t *entries_of(struct kernel_validate *v, const struct module *m,
                          const struct spec_launch *launches, size_t count,
                          const char *stage) {
    const json_t *kernels = json_object_get(m->result, "kernels");
    json_t *entries = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *wanted = launches[i].kernel;
        size_t matches;
        const json_t *kernel = kernel_find(kernels, wanted, &matches);
        if (matches != 1) {
            autobuf text = BUF_INIT(2048);
            buf_addf(&text, "%s%.200s%s; the source has:",
                     !wanted   ? "say which kernel is meant with \"kernel\""
                     : matches ? "more than one kernel is called "
                               : "there is no kernel ",
                     wanted ? wanted : "", "");
            tell_names(&text, kernels);
            conclude(v, stage, matches ? "ambiguous_kernel" : "unknown_kernel", text.data,
                     "a template is named with its arguments: \"k<float, 256>\"");
            json_decref(entries);
            return NULL;
        }
        json_object_set_new(entries, wanted ? wanted : "",
                            json_pack("{s:O, s:O}", "symbol",
                                      json_object_get(kernel, "symbol"), "name",
                                      json_object_get(kernel, "name")));
    }
    return entries;
}

/* --- the run --- */

static void stage(struct kernel_validate *v, double done, const char *words) {
    if (v->stage) {
        v->stage(v, done, words, v->data);
    }
}

static const char no_gpu_hint[] =
    "look at nvidia-smi and CUDA_VISIBLE_DEVICES, configure a worker on a machine with a "
    "GPU (docs/guide/remote.md), or leave \"backend\" and \"device\" out";

static void on_run(struct pool_job *job, int status, const json_t *answer,
                   const json_t *error, const char *why, void *data) {
    struct kernel_validate *v = data;
    const json_t *failed = json_object_get(answer, "error");
    v->job = NULL;
    if (!strcmp(json_get_string(failed, "code", ""), "no_gpu")) {
        refuse(v, CALL_UNAVAILABLE, "no_gpu", no_gpu_hint,
               json_get_string(failed, "message", "there is no CUDA device"));
    } else if (answer && json_get_string(answer, "verdict", NULL)) {
        v->result = json_deep_copy(answer);
        json_object_set_new(v->result, "worker", pool_job_worker(job));
        json_object_set(v->result, "check", v->kernel.result);
    } else if (error) {
        refuse(v, CALL_INTERNAL, "worker", NULL,
               json_get_string(error, "message", "the worker failed"));
    } else if (status == -EBUSY) {
        refuse(v, CALL_UNAVAILABLE, "busy", "try again in some seconds", why);
    } else if (status == -ENODEV) {
        refuse(v, CALL_UNAVAILABLE, "no_gpu", no_gpu_hint, why);
    } else if (status != -ECANCELED) {
        refuse(v, CALL_UNAVAILABLE, "no_worker", POOL_HINT, why);
    }
    end_later(v);
}

/* Bytes that a value takes as text, at most. */
static size_t text_bytes(const json_t *value) {
    const char *key, *text = json_string_value(value);
    size_t i, bytes = json_is_real(value) ? 26 : 22; /* the longest number */
    json_t *item;
    for (i = 0; text && i < json_string_length(value); i++) {
        unsigned char c = (unsigned char)text[i];
        bytes += c < 0x20 ? 6 : c == '"' || c == '\\' ? 2 : 1;
    }
    json_array_foreach(value, i, item) {
        bytes += text_bytes(item);
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, item) {
        bytes += text_bytes(item) + strlen(key) * 6 + 4;
    }
    return bytes;
}

/* A message of the worker's protocol holds it. */
static bool request_fits(struct kernel_validate *v, const json_t *request) {
    const char *key;
    size_t bytes = text_bytes(request);
    json_t *file;
    json_object_foreach(v->files, key, file) {
        bytes += json_string_length(file) + strlen(key) * 6 + 8; /* base64 */
    }
    if (bytes < MAX_REQUEST) {
        return true;
    }
    conclude(
        v, "spec", "too_large",
        "the values, the files and the compiled code of this check are more than one "
        "message to a worker holds (64 MiB)",
        "write fewer numbers out: an init like normal, or smaller files");
    return false;
}

/* Against what the compiled kernels need: a launch that is refused needs no run. */
static bool launches_are_possible(struct kernel_validate *v) {
    const struct check_spec *spec = &v->spec;
    for (size_t i = 0; i < spec->case_count * spec->launch_count; i++) {
        const struct spec_launch *launch = &spec->launches[i % spec->launch_count];
        struct check_case c;
        struct err err = {0};
        const char *code;
        size_t matches;
        const json_t *kernel = kernel_find(json_object_get(v->kernel.result, "kernels"),
                                           launch->kernel, &matches);
        if (check_case_resolve(&c, spec, i / spec->launch_count, NULL) < 0) {
            continue;
        }
        int n = launch_limits_check_kernel(&c.launches[i % spec->launch_count],
                                           launch->cooperative, kernel, spec->arch, 0,
                                           &code, &err);
        check_case_finish(&c);
        if (n < 0) {
            autofree char *message =
                xasprintf("case %zu: %s%s", i / spec->launch_count, launch->at, err.msg);
            conclude(v, "launch", code, message, NULL);
            return false;
        }
    }
    return true;
}

static json_t *run_request(struct kernel_validate *v) {
    const struct check_spec *spec = &v->spec;
    json_t *entries =
        entries_of(v, &v->kernel, spec->launches, spec->launch_count, "spec");
    json_t *reference =
        entries && spec->expect == EXPECT_KERNEL
            ? entries_of(v, spec->reference_source ? &v->reference : &v->kernel,
                         spec->reference, spec->reference_count, "reference")
            : json_null();
    if (!entries || !reference || !launches_are_possible(v)) {
        json_decref(entries);
        json_decref(reference);
        return NULL;
    }
    char seed[24];
    snprintf(seed, sizeof seed, "0x%016" PRIx64, v->seed);
    json_t *plain = json_copy(spec->json);
    json_object_del(plain, "source");
    json_object_del(plain, "headers");
    json_t *request =
        json_pack("{s:o, s:o, s:o, s:s, s:{s:I, s:I, s:I}}", "spec", plain, "entries",
                  entries, "reference_entries", reference, "seed", seed, "limits",
                  "wall_ms", (json_int_t)spec->timeout_s * 1000 + GRACE_MS,
                  "memory_bytes", MEMORY_BYTES, "device_bytes", DEVICE_BYTES);
    json_object_set(request, "ptx", json_object_get(v->kernel.result, "ptx"));
    const struct module *m = spec->reference_source ? &v->reference : &v->kernel;
    json_object_set(request, "reference_ptx", json_object_get(m->result, "ptx"));
    json_object_set(request, "cubin", json_object_get(v->kernel.result, "cubin"));
    json_object_set(request, "reference_cubin", json_object_get(m->result, "cubin"));
    json_object_del(v->kernel.result, "ptx");
    json_object_del(v->kernel.result, "cubin");
    if (!request_fits(v, request)) {
        json_decref(request);
        return NULL;
    }
    if (v->files) {
        json_object_set_new(request, "files", take(v->files));
    }
    return request;
}

static void run_begin(struct kernel_validate *v) {
    json_t *request = run_request(v);
    if (!request) {
        end_later(v);
        return;
    }
    stage(v, 0.5, "running");
    const struct pool_needs needs = {
        .gpu = !strcmp(v->spec.backend, "cuda"),
        .prefer_gpu = !strcmp(v->spec.backend, "auto"),
        .arch = json_get_string(v->kernel.result, "arch", NULL),
        .device = v->spec.device,
    };
    v->job = pool_submit(gpu_pool(v->gpu), "validate", request, &needs, on_run, v);
}

static void run_when_ready(struct kernel_validate *v) {
    if (!v->kernel.check && !v->reference.check && !v->load) {
        run_begin(v);
    }
}

/* --- the spec's files --- */

static void on_loaded(json_t *files, const struct err *err, void *data) {
    struct kernel_validate *v = data;
    v->load = NULL;
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

static void on_checked(struct kernel_check *check, json_t *result,
                       const struct kernel_check_failure *failure, void *data) {
    struct module *m = data;
    struct kernel_validate *v = m->owner;
    (void)check;
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
        json_object_del(result, "ptx");
        json_object_del(result, "cubin");
        conclude(v, is_kernel ? "compile" : "reference", "not_compiled",
                 is_kernel ? "the source does not compile: see check.diagnostics"
                           : "the reference kernel does not compile",
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

static void check_begin(struct module *m, const json_t *params,
                        const struct spec_launch *launches, size_t count,
                        const struct call_origin *origin) {
    const char *ids[SPEC_MAX_LAUNCHES + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_template_id(launches[i].kernel)) {
            ids[n++] = launches[i].kernel;
        }
    }
    const struct check_wants wants = {
        .ptx = true,
        .cubin = strcmp(m->owner->spec.backend, "emulator") != 0,
        .instantiate = ids,
    };
    m->check =
        kernel_check_start_for(m->owner->gpu, params, &wants, origin, on_checked, m);
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
    struct check_case first;
    if (v->spec.launch_count != 1 || check_case_resolve(&first, &v->spec, 0, NULL) < 0) {
        return;
    }
    const struct case_launch *l = &first.launches[0];
    json_object_set_new(own, "launch",
                        json_pack("{s:[I,I,I], s:I}", "block", (json_int_t)l->block[0],
                                  (json_int_t)l->block[1], (json_int_t)l->block[2],
                                  "dynamic_shared_bytes", (json_int_t)l->shared_bytes));
    check_case_finish(&first);
}

static void compile_begin(struct kernel_validate *v, const json_t *params,
                          const struct call_origin *origin) {
    const struct check_spec *spec = &v->spec;
    autojson *own = compile_params(params);
    add_launch(v, own);
    stage(v, 0.1, "compiling");
    check_begin(&v->kernel, own, spec->launches, spec->launch_count, origin);
    if (spec->reference_source) {
        autojson *reference = json_copy(own);
        json_object_del(reference, "path");
        json_object_del(reference, "launch");
        json_object_set_new(reference, "source", json_string(spec->reference_source));
        json_object_set_new(reference, "name", json_string("reference.cu"));
        check_begin(&v->reference, reference, spec->reference, spec->reference_count,
                    origin);
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

static bool cases_are_possible(struct kernel_validate *v) {
    struct err err = {0};
    for (size_t i = 0; i < v->spec.case_count; i++) {
        struct check_case c;
        if (check_case_resolve(&c, &v->spec, i, &err) < 0) {
            refuse(v, CALL_BAD_PARAMS, "bad_spec", NULL, err.msg);
            return false;
        }
        check_case_finish(&c);
    }
    return true;
}

static void pick_seed(struct kernel_validate *v) {
    v->seed = v->spec.seed;
    if (!v->spec.has_seed && getrandom(&v->seed, sizeof v->seed, 0) != sizeof v->seed) {
        v->seed = (uint64_t)uv_hrtime();
    }
}

struct kernel_validate *kernel_validate_start(struct gpu *gpu, const json_t *params,
                                              const struct call_origin *origin,
                                              kernel_validate_stage *on_stage,
                                              kernel_validate_done *done, void *data) {
    struct kernel_validate *v = xcalloc(1, sizeof *v);
    struct err err = {0};
    *v = (struct kernel_validate){
        .gpu = gpu, .stage = on_stage, .done = done, .data = data};
    v->kernel.owner = v->reference.owner = v;
    uv_timer_init(origin->loop, &v->later);
    autojson *joined = NULL;
    autofree char *folder = NULL;
    if (spec_file_is_needed(params)) {
        joined = spec_file_join(params, origin->roots, &folder, &err);
        if (!joined) {
            refuse(v, err.code == -EACCES ? CALL_REFUSED : CALL_BAD_PARAMS, "no_spec",
                   NULL, err.msg);
            end_later(v);
            return v;
        }
        params = joined;
    }
    if (check_spec_read(&v->spec, params, &err) < 0) {
        refuse(v, CALL_BAD_PARAMS, "bad_spec", NULL, err.msg);
        end_later(v);
        return v;
    }
    v->has_spec = true;
    pick_seed(v);
    if (cases_are_possible(v)) {
        if (v->spec.array_count) {
            v->load = array_load_start(origin->loop, &v->spec, folder, origin->roots,
                                       on_loaded, v);
        }
        compile_begin(v, params, origin);
    }
    end_later(v);
    return v;
}

void kernel_validate_cancel(struct kernel_validate *v) {
    v->cancelled = true;
    stop_all(v);
}
