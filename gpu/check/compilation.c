#include "gpu/check/compilation.h"

#include "base/json_release.h"
#include "base/shared_bytes.h"
#include "base/work.h"
#include "gpu/check/check_cache.h"
#include "gpu/check/check_reader.h"
#include "gpu/check/check_result.h"
#include "gpu/check/gpu_internal.h"
#include "gpu/compile/toolkit.h"
#include "gpu/pool/pool.h"

#define MAX_COMPILATIONS 128 /* in the pool; the next answer would not be read */

struct compilation {
    struct gpu *gpu;
    struct pool_job *job;       /* NULL: a thread writes the message or makes a result */
    struct check_making making; /* a thread's while one works on it */
    struct shared_bytes *sources;
    struct compilation_waiter *waiting;
    struct compilation *next; /* of the gpu's */
};

/* --- who waits --- */

static void unlist(struct compilation *c) {
    struct compilation **link = &c->gpu->compilations;
    while (*link && *link != c) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = c->next;
    }
}

/* Passes base, or refusal, or neither to all waiting checks, and frees c. */
static void compilation_end(struct compilation *c, json_t *base,
                            const struct check_refusal *refusal) {
    struct gpu *gpu = c->gpu;
    struct compilation_waiter *waiter;
    unlist(c);
    while ((waiter = c->waiting)) { /* a callback may make another of them leave */
        c->waiting = waiter->next;
        waiter->compilation = NULL;
        waiter->done(waiter, base, refusal);
    }
    check_making_finish(&c->making);
    free(c);
    check_reader_hold(gpu->reader, --gpu->compilation_count >= MAX_COMPILATIONS);
    gpu_unref(gpu);
}

/* --- how it fails --- */

static void refuse(struct compilation *c, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    struct check_refusal refusal;
    check_refuse(&refusal, 0, fault, reason, hint, "%s", message);
    compilation_end(c, NULL, &refusal);
}

static void fail_from_error(struct compilation *c, const json_t *error) {
    const json_t *data = json_object_get(error, "data");
    if (json_says(data, "reason", "no_compiler")) {
        refuse(c, CALL_UNAVAILABLE, "no_compiler", TOOLKIT_HINT,
               json_get_string(error, "message", "no CUDA compiler (NVRTC) was found"));
    } else {
        refuse(c, CALL_INTERNAL, "worker", NULL,
               json_get_string(error, "message", "the worker failed"));
    }
}

static void fail_from_status(struct compilation *c, int status, const char *why) {
    if (status == -EBUSY) {
        refuse(c, CALL_UNAVAILABLE, "busy", "try again in a few seconds", why);
    } else if (status == -ENODEV) {
        const char *workers = strchr(why, ':'); /* which ones have none */
        autofree char *named = toolkit_named();
        autofree char *text = xasprintf("no CUDA compiler (NVRTC) was found%s%s",
                                        named ? named : "", workers ? workers : "");
        refuse(c, CALL_UNAVAILABLE, "no_compiler", TOOLKIT_HINT, text);
    } else if (status == -EMSGSIZE) {
        refuse(c, CALL_BAD_PARAMS, "too_large", NULL, why);
    } else if (status == -ECANCELED) {
        compilation_end(c, NULL, NULL);
    } else {
        refuse(c, CALL_UNAVAILABLE, "no_worker", POOL_HINT, why);
    }
}

/* --- to a worker and back --- */

static const struct pool_needs compile_needs = {.compile = true};
static const char too_large[] =
    "the sources, written as JSON, are larger than a message may be";

static void on_answer(struct pool_job *job, int status, const json_t *answer,
                      const json_t *error, const char *why, void *data);

static void write_sources(void *data) {
    struct compilation *c = data;
    c->sources = check_input_sources(&c->making.input);
}

static void prepare_sources(void *data) {
    check_input_prepare(&((struct compilation *)data)->making.input);
    write_sources(data);
}

static void on_written(void *data) {
    struct compilation *c = data;
    struct gpu *gpu = c->gpu;
    struct shared_bytes *sources = take(c->sources);
    if (gpu->closing || !c->waiting) {
        compilation_end(c, NULL, NULL);
    } else if (!sources) {
        fail_from_status(c, -EMSGSIZE, too_large);
    } else {
        json_t *params = check_input_params(&c->making.input, gpu->wall_ms);
        c->job = pool_submit(gpu->pool, "compile", params, sources, &compile_needs,
                             on_answer, c);
    }
    shared_bytes_unref(sources);
}

static void make_result(void *data) {
    check_make(&((struct compilation *)data)->making);
}

static void on_made(void *data) {
    struct compilation *c = data;
    struct gpu *gpu = c->gpu;
    uv_loop_t *loop = gpu->loop;
    json_t *base = take(c->making.base);
    json_release(loop, take(c->making.answer));
    json_decref(take(c->making.worker));
    if (c->making.again && c->waiting && !gpu->closing) {
        work_start(loop, write_sources, on_written, c);
        return;
    }
    if (base && c->making.keep) {
        check_cache_put(gpu->cache, c->making.input.key, base);
    }
    if (base || c->making.again) {
        compilation_end(c, base, NULL);
    } else {
        refuse(c, CALL_INTERNAL, "worker", NULL, "the worker's answer is invalid");
    }
    json_release(loop, base);
}

static void on_answer(struct pool_job *job, int status, const json_t *answer,
                      const json_t *error, const char *why, void *data) {
    struct compilation *c = data;
    c->job = NULL;
    if (answer) {
        c->making.answer = json_incref((json_t *)(uintptr_t)answer);
        c->making.worker = pool_job_worker(job);
        if (check_making_is_long(&c->making)) {
            work_start(c->gpu->loop, make_result, on_made, c);
        } else {
            make_result(c);
            on_made(c);
        }
    } else if (error) {
        fail_from_error(c, error);
    } else {
        fail_from_status(c, status, why);
    }
}

/* --- joining and leaving --- */

static struct compilation *find(const struct gpu *gpu, const char *key) {
    struct compilation *c = gpu->compilations;
    while (c && strcmp(c->making.input.key, key) != 0) {
        c = c->next;
    }
    return c;
}

/* input is stolen. */
static struct compilation *start(struct gpu *gpu, const struct check_input *input) {
    struct compilation *c = xcalloc(1, sizeof *c);
    c->gpu = gpu;
    c->making.input = *input;
    c->next = gpu->compilations;
    gpu->compilations = c;
    check_reader_hold(gpu->reader, ++gpu->compilation_count >= MAX_COMPILATIONS);
    gpu_ref(gpu);
    work_start(gpu->loop, prepare_sources, on_written, c);
    return c;
}

void compilation_join(struct gpu *gpu, struct check_input *input,
                      struct compilation_waiter *waiter) {
    struct compilation *c = find(gpu, input->key);
    if (c) {
        check_input_finish(input);
    } else {
        c = start(gpu, input);
    }
    waiter->compilation = c;
    waiter->next = c->waiting;
    c->waiting = waiter;
}

void compilation_leave(struct compilation_waiter *waiter) {
    struct compilation *c = take(waiter->compilation);
    if (!c) {
        return;
    }
    struct compilation_waiter **link = &c->waiting;
    while (*link != waiter) {
        link = &(*link)->next;
    }
    *link = waiter->next;
    if (!c->waiting && c->job) {
        unlist(c); /* no check joins one that is being stopped */
        pool_cancel(c->job);
    }
}
