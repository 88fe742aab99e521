#define LOG_MODULE "kernel"
#include "gpu/check/kernel_check.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strings.h"
#include "gpu/check/check_cache.h"
#include "gpu/check/check_maker.h"
#include "gpu/check/check_merge.h"
#include "gpu/check/check_reader.h"
#include "gpu/check/check_result.h"
#include "gpu/compile/toolkit.h"
#include "gpu/pool/pool.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* The machine's toolkits are looked up again after this. */
#define TOOLKIT_FRESH_MS 2000
#define MAX_COMPILES 128 /* in the pool; what would be compiled next is not read yet */

/* One compilation on its way, and all the checks that wait for it. */
struct compile {
    struct gpu *gpu;
    struct pool_job
        *job; /* NULL: a thread makes a result of its answer, and has these: */
    struct check_input input;
    struct guess_attempts attempts;
    struct kernel_check *waiting; /* linked by next_waiting */
    struct compile *next;         /* of the gpu's */
};

struct kernel_check {
    struct gpu *gpu;
    json_t *params; /* a shallow copy */
    char **roots;
    size_t unit;                   /* of a Python file that is on its way, from 1 on */
    json_t *merged;                /* results of the units before it, or NULL */
    struct check_reading *reading; /* at first */
    uint64_t start_us;
    size_t units; /* of that file; 0: any other */
    json_t *launch;
    struct compile *compile; /* then */
    struct kernel_check *next_waiting;
    struct check_completing *completing; /* at last, when that takes long */
    uv_timer_t later;                    /* ends from the loop what ended inside a call */
    json_t *result;
    struct check_refusal refusal;
    bool refused;
    kernel_check_done *done;
    void *data;
};

struct gpu {
    uv_loop_t *loop;
    struct pool *pool;
    struct check_reader *reader;
    struct check_cache *cache;
    struct compile *compiles;
    unsigned compile_count;
    char **include_dirs;
    char *default_arch;
    char *workers; /* the configured ones, for the cache's key */
    unsigned wall_ms;
    char *compiler; /* what tells this machine's compiler from another */
    uint64_t compiler_seen_ms;
    json_t *places; /* {"toolkits", "missing"}, as last looked for; NULL: never */
    uint64_t places_ms;
    size_t open; /* checks and the pool */
    bool closing;
    void (*closed)(void *data);
    void *closed_data;
};

/* --- the domain's state --- */

static char *workers_identity(const struct pool_config *config) {
    autobuf text = BUF_INIT(64u << 10);
    for (size_t i = 0; i < config->count; i++) {
        for (char **arg = config->workers[i].argv; *arg; arg++) {
            buf_adds(&text, *arg);
            buf_addc(&text, '\n');
        }
    }
    return buf_detach(&text);
}

static char *compiler_identity(const char *workers) {
    autobuf text = BUF_INIT(64u << 10);
    buf_adds(&text, workers);
    size_t count;
    struct toolkit *toolkits = toolkits_find(&count);
    for (size_t i = 0; i < count; i++) {
        struct stat st = {0};
        stat(toolkits[i].nvrtc, &st);
        buf_addf(&text, "%s %lld %lld.%ld\n", toolkits[i].nvrtc, (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    }
    toolkits_free(toolkits, count);
    return buf_detach(&text);
}

static const char *gpu_compiler(struct gpu *gpu) {
    uint64_t now = clock_ms();
    if (!gpu->compiler || now - gpu->compiler_seen_ms > TOOLKIT_FRESH_MS) {
        free(gpu->compiler);
        gpu->compiler = compiler_identity(gpu->workers);
        gpu->compiler_seen_ms = now;
    }
    return gpu->compiler;
}

/* The compiler's start from a cold disk, the wait for a precompiled header and two
 * attempts, each bounded by the worker; the rest is for the way there and back. */
#define COMPILE_GRACE_MS 120000u

static unsigned job_ms(unsigned wall_ms) {
    return wall_ms > (UINT_MAX - COMPILE_GRACE_MS) / 3 ? UINT_MAX
                                                       : 3 * wall_ms + COMPILE_GRACE_MS;
}

struct gpu *gpu_new(uv_loop_t *loop, const struct gpu_config *config) {
    struct pool_config pool = config->pool ? *config->pool : (struct pool_config){0};
    struct gpu *gpu = xcalloc(1, sizeof *gpu);
    gpu->loop = loop;
    gpu->cache = check_cache_new(config->cache_bytes ? config->cache_bytes : 32u << 20);
    gpu->include_dirs = strings_copy(config->include_dirs);
    gpu->default_arch = xstrdup(config->default_arch ? config->default_arch : "sm_90a");
    gpu->workers = workers_identity(&pool);
    gpu->wall_ms = config->compile_wall_ms ? config->compile_wall_ms : 30000;
    pool.job_ms = pool.job_ms ? pool.job_ms : job_ms(gpu->wall_ms);
    gpu->pool = pool_new(loop, &pool);
    gpu->reader = check_reader_new(loop);
    gpu->open = 1;
    return gpu;
}

static void gpu_drop(struct gpu *gpu) {
    if (--gpu->open > 0) {
        return;
    }
    void (*closed)(void *) = gpu->closed;
    void *data = gpu->closed_data;
    check_reader_free(gpu->reader);
    check_cache_free(gpu->cache);
    strings_free(gpu->include_dirs);
    free(gpu->default_arch);
    free(gpu->workers);
    free(gpu->compiler);
    json_decref(gpu->places);
    free(gpu);
    if (closed) {
        closed(data);
    }
}

static void pool_closed(void *data) {
    gpu_drop(data);
}

void gpu_close(struct gpu *gpu, void (*closed)(void *data), void *data) {
    gpu->closing = true;
    gpu->closed = closed;
    gpu->closed_data = data;
    pool_close(gpu->pool, pool_closed, gpu);
}

void gpu_kill(struct gpu *gpu) {
    pool_kill(gpu->pool);
}

struct pool *gpu_pool(struct gpu *gpu) {
    return gpu->pool;
}

static json_t *places_look(void) {
    size_t count;
    struct toolkit *toolkits = toolkits_find(&count);
    json_t *list = json_array(), *missing = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_pack("{s:o, s:o, s:i}", "root",
                                              json_clean_z(toolkits[i].root), "nvrtc",
                                              json_clean_z(toolkits[i].nvrtc), "major",
                                              toolkits[i].major));
    }
    if (!count) {
        json_array_append_new(missing, json_pack("{s:s, s:s}", "what", "CUDA's compiler",
                                                 "hint", TOOLKIT_HINT));
    }
    toolkits_free(toolkits, count);
    return json_pack("{s:o, s:o}", "toolkits", list, "missing", missing);
}

/* Looking asks the disk a hundred times: who polls the status gets an answer that may be
 * two seconds old. */
json_t *gpu_status(struct gpu *gpu) {
    if (!gpu->places || clock_ms() - gpu->places_ms >= TOOLKIT_FRESH_MS) {
        json_decref(gpu->places);
        gpu->places = places_look();
        gpu->places_ms = clock_ms();
    }
    return json_pack("{s:o, s:O, s:o, s:O}", "workers", pool_status(gpu->pool),
                     "toolkits", json_object_get(gpu->places, "toolkits"), "cache",
                     check_cache_status(gpu->cache), "missing",
                     json_object_get(gpu->places, "missing"));
}

/* --- the end of a check --- */

static void check_closed(uv_handle_t *handle) {
    struct kernel_check *check = container_of(handle, struct kernel_check, later);
    struct gpu *gpu = check->gpu;
    json_decref(check->launch);
    json_decref(check->params);
    json_decref(check->merged);
    strings_free(check->roots);
    free(check);
    gpu_drop(gpu);
}

/* Tells the outcome: result, or refusal, or neither (cancelled). */
static void check_end(struct kernel_check *check) {
    const struct check_refusal *r = &check->refusal;
    struct kernel_check_failure failure = {r->fault, r->reason, r->hint, r->message};
    check->done(check, take(check->result), check->refused ? &failure : NULL,
                check->data);
    uv_close((uv_handle_t *)&check->later, check_closed);
}

static void check_later(uv_timer_t *timer) {
    check_end(container_of(timer, struct kernel_check, later));
}

static void check_end_later(struct kernel_check *check) {
    uv_timer_start(&check->later, check_later, 0, 0);
}

static void check_refuse(struct kernel_check *check, enum call_fault fault,
                         const char *reason, const char *hint, const char *message) {
    check->refused = true;
    check->refusal.fault = fault;
    check->refusal.reason = reason;
    check->refusal.hint = hint;
    snprintf(check->refusal.message, sizeof check->refusal.message, "%s", message);
}

static void check_begin(struct kernel_check *check, const struct check_wants *wants);

/* With a result: the next unit's turn, or the end. */
static void check_unit_end(struct kernel_check *check) {
    if (check->merged || check->unit < check->units) {
        check->merged = check_results_merge(check->merged, take(check->result));
    }
    if (check->unit && check->unit < check->units) {
        check->unit++;
        check_begin(check, &(struct check_wants){.script_unit = check->unit});
        return;
    }
    if (check->merged) {
        check->result = take(check->merged);
    }
    check_end(check);
}

static void check_completed(json_t *result, void *data) {
    struct kernel_check *check = data;
    check->completing = NULL;
    check->result = result;
    check_unit_end(check);
}

static void check_complete(struct kernel_check *check, json_t *base, bool cached) {
    if (check_is_long(base)) {
        check->completing = check_completing_start(check->gpu->loop, base, check->launch,
                                                   cached, check_completed, check);
    } else {
        check_completed(check_result_complete(base, check->launch, cached), check);
    }
}

/* --- compilations --- */

static void compile_unlist(struct compile *compile) {
    struct compile **link = &compile->gpu->compiles;
    while (*link && *link != compile) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = compile->next;
    }
}

static void fail_from_error(struct kernel_check *check, const json_t *error) {
    const json_t *data = json_object_get(error, "data");
    if (strcmp(json_get_string(data, "reason", ""), "no_compiler") == 0) {
        check_refuse(check, CALL_UNAVAILABLE, "no_compiler", TOOLKIT_HINT,
                     "no CUDA compiler (NVRTC) was found");
    } else {
        check_refuse(check, CALL_INTERNAL, "worker", NULL,
                     json_get_string(error, "message", "the worker failed"));
    }
}

static void fail_from_status(struct kernel_check *check, int status, const char *why) {
    if (status == -EBUSY) {
        check_refuse(check, CALL_UNAVAILABLE, "busy", "try again in some seconds", why);
    } else if (status == -ENODEV) {
        autofree char *text = xasprintf("no CUDA compiler (NVRTC) was found: %s", why);
        check_refuse(check, CALL_UNAVAILABLE, "no_compiler", TOOLKIT_HINT, text);
    } else if (status == -EMSGSIZE) {
        check_refuse(check, CALL_BAD_PARAMS, "too_large", NULL, why);
    } else if (status != -ECANCELED) {
        check_refuse(check, CALL_UNAVAILABLE, "no_worker", POOL_HINT, why);
    }
}

static void compile_done(struct pool_job *job, int status, const json_t *answer,
                         const json_t *error, const char *why, void *data);

/* The next check that waits, if any. */
static struct kernel_check *compile_pop(struct compile *compile) {
    struct kernel_check *check = compile->waiting;
    if (check) {
        compile->waiting = check->next_waiting;
        check->compile = NULL;
    }
    return check;
}

/* Nobody waits for it any more. */
static void compile_end(struct compile *compile) {
    struct gpu *gpu = compile->gpu;
    check_input_finish(&compile->input);
    guess_attempts_finish(&compile->attempts);
    free(compile);
    check_reader_hold(gpu->reader, --gpu->compile_count >= MAX_COMPILES);
    gpu_drop(gpu);
}

static void compile_failed(struct compile *compile, int status, const json_t *error,
                           const char *why) {
    struct kernel_check *check;
    compile_unlist(compile);
    while ((check = compile_pop(compile))) { /* a callback may cancel another of them */
        if (error) {
            fail_from_error(check, error);
        } else {
            fail_from_status(check, status, why);
        }
        check_end(check);
    }
    compile_end(compile);
}

static const struct pool_needs compile_needs = {.compile = true};

static void compile_written(struct json_hold *params, void *data) {
    struct compile *compile = data;
    struct gpu *gpu = compile->gpu;
    if (gpu->closing || !compile->waiting) {
        compile_failed(compile, -ECANCELED, NULL, "cancelled");
        return;
    }
    if (!params) {
        compile_failed(compile, -EMSGSIZE, NULL,
                       "the sources, written as JSON, are larger than a message may be");
        return;
    }
    compile->job = pool_submit_written(gpu->pool, "compile", params, &compile_needs,
                                       compile_done, compile);
}

static void compile_submit(struct compile *compile) {
    struct gpu *gpu = compile->gpu;
    if (check_job_is_long(&compile->input)) {
        check_writing_start(gpu->loop, &compile->input, gpu->wall_ms, compile_written,
                            compile);
        return;
    }
    const struct compile_job job = check_job(&compile->input, gpu->wall_ms);
    compile->job = pool_submit(gpu->pool, "compile", compile_job_to_json(&job),
                               &compile_needs, compile_done, compile);
}

static void compile_made(const struct check_made *made, void *data) {
    struct compile *compile = data;
    struct gpu *gpu = compile->gpu;
    struct kernel_check *check;
    if (made->again && compile->waiting && !gpu->closing) {
        compile_submit(compile);
        return;
    }
    if (made->base && made->keep) {
        check_cache_put(gpu->cache, compile->input.key, made->base);
    }
    compile_unlist(compile);
    while ((check = compile_pop(compile))) {
        if (made->base) {
            check_complete(check, made->base, false);
            continue;
        }
        if (!made->again) {
            check_refuse(check, CALL_INTERNAL, "worker", NULL,
                         "the worker's answer made no sense");
        }
        check_end(check);
    }
    compile_end(compile);
}

static void compile_done(struct pool_job *job, int status, const json_t *answer,
                         const json_t *error, const char *why, void *data) {
    struct compile *compile = data;
    compile->job = NULL;
    if (!answer) {
        compile_failed(compile, status, error, why);
        return;
    }
    const struct check_material material = {
        .input = &compile->input,
        .attempts = &compile->attempts,
        .answer = json_incref((json_t *)(uintptr_t)answer),
        .worker = pool_job_worker(job),
    };
    check_making_start(compile->gpu->loop, &material, compile_made, compile);
}

static struct compile *compile_find(const struct gpu *gpu, const char *key) {
    struct compile *compile = gpu->compiles;
    while (compile && strcmp(compile->input.key, key) != 0) {
        compile = compile->next;
    }
    return compile;
}

/* input is stolen. */
static struct compile *compile_start(struct gpu *gpu, const struct check_input *input) {
    struct compile *compile = xcalloc(1, sizeof *compile);
    compile->gpu = gpu;
    compile->input = *input;
    compile->next = gpu->compiles;
    gpu->compiles = compile;
    check_reader_hold(gpu->reader, ++gpu->compile_count >= MAX_COMPILES);
    gpu->open++;
    compile_submit(compile);
    return compile;
}

/* input is stolen: only the first of equal ones is compiled. */
static void check_join(struct kernel_check *check, struct check_input *input) {
    struct gpu *gpu = check->gpu;
    struct compile *compile = compile_find(gpu, input->key);
    if (compile) {
        check_input_finish(input);
    } else {
        compile = compile_start(gpu, input);
    }
    check->compile = compile;
    check->next_waiting = compile->waiting;
    compile->waiting = check;
}

/* --- checks --- */

static void check_look_up(struct kernel_check *check, struct check_input *input) {
    struct gpu *gpu = check->gpu;
    autojson *base = check_cache_get(gpu->cache, input->key);
    log_debug("check key=%.12s files=%zu bytes=%zu cached=%d read_us=%llu", input->key,
              input->closure.sources.count, input->closure.sources.bytes, base != NULL,
              (unsigned long long)(clock_us() - check->start_us));
    check->units = input->closure.script_units;
    json_decref(check->launch); /* the unit's before */
    check->launch = json_incref(input->launch);
    if (base) {
        check_input_finish(input);
        check_complete(check, base, true);
    } else {
        check_join(check, input);
    }
}

static void check_read(int r, struct check_input *input,
                       const struct check_refusal *refusal, void *data) {
    struct kernel_check *check = data;
    check->reading = NULL;
    if (r == 0 && !check->gpu->closing) {
        check_look_up(check, input);
        return;
    }
    if (r == 0) {
        check_input_finish(input);
    }
    check->refused = r < 0;
    check->refusal = *refusal;
    check_end(check);
}

static void check_begin(struct kernel_check *check, const struct check_wants *wants) {
    struct gpu *gpu = check->gpu;
    const struct check_places places = {
        .include_dirs = (const char *const *)gpu->include_dirs,
        .default_arch = gpu->default_arch,
        .compiler = gpu_compiler(gpu),
    };
    check->reading =
        check_reader_start(gpu->reader, check->params, wants,
                           (const char *const *)check->roots, &places, check_read, check);
}

/* unit: the Python file's first, or 0: wants all together. */
static struct kernel_check *start(struct gpu *gpu, const json_t *params,
                                  const struct check_wants *wants, size_t unit,
                                  const struct call_origin *origin,
                                  kernel_check_done *done, void *data) {
    const union { /* json_copy changes nothing and lacks the const */
        const json_t *params;
        json_t *value;
    } given = {params};
    struct kernel_check *check = xcalloc(1, sizeof *check);
    check->start_us = clock_us();
    check->params = json_copy(given.value);
    check->roots = strings_copy(origin ? origin->roots : NULL);
    check->unit = unit;
    check->gpu = gpu;
    check->done = done;
    check->data = data;
    uv_timer_init(gpu->loop, &check->later);
    gpu->open++;
    if (gpu->closing) {
        check_refuse(check, CALL_UNAVAILABLE, "closing", NULL, "the daemon is ending");
        check_end_later(check);
    } else {
        check_begin(check, wants);
    }
    return check;
}

struct kernel_check *kernel_check_start_for(struct gpu *gpu, const json_t *params,
                                            const struct check_wants *wants,
                                            const struct call_origin *origin,
                                            kernel_check_done *done, void *data) {
    return start(gpu, params, wants, 0, origin, done, data);
}

struct kernel_check *kernel_check_start(struct gpu *gpu, const json_t *params,
                                        const struct call_origin *origin,
                                        kernel_check_done *done, void *data) {
    const struct check_wants first = {.script_unit = 1};
    return start(gpu, params, &first, 1, origin, done, data);
}

void kernel_check_cancel(struct kernel_check *check) {
    if (check->reading) {
        check_reading_cancel(take(check->reading));
    }
    if (check->completing) {
        check_completing_cancel(take(check->completing));
    }
    struct compile *compile = take(check->compile);
    if (compile) {
        struct kernel_check **link = &compile->waiting;
        while (*link != check) {
            link = &(*link)->next_waiting;
        }
        *link = check->next_waiting;
        if (!compile->waiting && compile->job) {
            compile_unlist(compile); /* nobody joins what is being stopped */
            pool_cancel(compile->job);
        }
    }
    json_decref(check->result);
    check->result = NULL;
    check->refused = false;
    check_end_later(check);
}
