#define LOG_MODULE "kernel"
#include "gpu/check/kernel_check.h"

#include "base/clock.h"
#include "base/json_release.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/work.h"
#include "gpu/check/check_cache.h"
#include "gpu/check/check_merge.h"
#include "gpu/check/check_narrow.h"
#include "gpu/check/check_reader.h"
#include "gpu/check/check_result.h"
#include "gpu/check/check_verdict.h"
#include "gpu/check/compilation.h"
#include "gpu/check/gpu_internal.h"
#include "gpu/kernel_check.operation.h"

enum { TELL_FIRST_MS = 2000, TELL_EVERY_MS = 1000 };

struct kernel_check {
    struct gpu *gpu;
    json_t *params;                /* a shallow copy */
    json_t *settings;              /* the editor's, or NULL */
    char **roots, **kernels;       /* which it is about; NULL: all */
    size_t unit;                   /* of a Python file that is on its way, from 1 on */
    json_t *merged;                /* results of the units before it, or NULL */
    struct check_reading *reading; /* at first */
    uint64_t start_us;
    size_t units; /* of that file; 0: any other */
    json_t *launch;
    struct compilation_waiter waiter; /* then */
    struct work *completing;          /* at last, when that takes long: of base */
    json_t *base;
    bool cached, cancelled;
    struct call *told;  /* how long it takes; borrowed, or NULL */
    uv_timer_t later; /* tells that; ends checks from the loop that ended inside a call */
    json_t *result;
    struct check_refusal refusal;
    bool refused;
    kernel_check_done *done;
    void *data;
};

/* --- the end of a check --- */

static void check_closed(uv_handle_t *handle) {
    struct kernel_check *check = container_of(handle, struct kernel_check, later);
    struct gpu *gpu = check->gpu;
    json_decref(check->launch);
    json_decref(check->params);
    json_decref(check->settings);
    json_decref(check->merged);
    strings_free(check->roots);
    strings_free(check->kernels);
    free(check);
    gpu_unref(gpu);
}

/* Reports the outcome: result, or refusal, or neither (cancelled). */
static void check_end(struct kernel_check *check) {
    check->done(take(check->result), check->refused ? &check->refusal : NULL,
                check->data);
    uv_close((uv_handle_t *)&check->later, check_closed);
}

static void check_later(uv_timer_t *timer) {
    check_end(container_of(timer, struct kernel_check, later));
}

static void check_end_later(struct kernel_check *check) {
    uv_timer_start(&check->later, check_later, 0, 0);
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
    if (*check->kernels) {
        check_narrow(check->result, (const char *const *)check->kernels);
    }
    check_verdict_set(check->result, json_get_bool(check->params, "strict", 0),
                      json_get_bool(check->params, "quick", 0));
    check_end(check);
}

static void complete(void *data) {
    struct kernel_check *check = data;
    check->result = check_result_complete(check->base, check->launch, check->cached);
}

static void check_completed(void *data) {
    struct kernel_check *check = data;
    check->completing = NULL;
    json_release(check->gpu->loop, take(check->base));
    if (check->cancelled) {
        json_release(check->gpu->loop, take(check->result));
        check_end(check);
    } else {
        check_unit_end(check);
    }
}

static void check_compiled(struct compilation_waiter *waiter, json_t *base,
                           const struct check_refusal *refusal) {
    struct kernel_check *check = container_of(waiter, struct kernel_check, waiter);
    check->base = json_incref(base);
    if (check_is_long(base)) {
        check->completing =
            work_start(check->gpu->loop, complete, check_completed, check);
    } else if (base) {
        complete(check);
        check_completed(check);
    } else {
        check->refused = refusal != NULL;
        check->refusal = refusal ? *refusal : check->refusal;
        check_end(check);
    }
}

/* --- its beginning --- */

static void check_look_up(struct kernel_check *check, struct check_input *input) {
    struct gpu *gpu = check->gpu;
    autojson *base = check_cache_get(gpu->cache, input->key);
    log_debug("check key=%.12s files=%zu bytes=%zu cached=%d read_us=%llu", input->key,
              input->closure.sources.count, input->closure.sources.bytes, base != NULL,
              (unsigned long long)(clock_us() - check->start_us));
    check->units = input->closure.script_units;
    json_decref(check->launch); /* the unit's before */
    check->launch = json_incref(input->launch);
    check->cached = base != NULL;
    if (base) {
        check_input_finish(input);
        check_compiled(&check->waiter, base, NULL);
    } else {
        compilation_join(gpu, input, &check->waiter);
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
        .settings = check->settings,
        .known_keys = gpu->known_keys,
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
    struct kernel_check *check = xcalloc(1, sizeof *check);
    check->start_us = clock_us();
    check->params = json_copy((json_t *)(uintptr_t)params);
    check->settings = json_incref(call_lent(origin, CLIENT_SETTINGS_LENT));
    check->roots = strings_copy(origin ? origin->roots : NULL);
    check->kernels = strings_copy(wants ? wants->kernels : NULL);
    check->unit = unit;
    check->gpu = gpu;
    check->waiter.done = check_compiled;
    check->done = done;
    check->data = data;
    uv_timer_init(gpu->loop, &check->later);
    gpu_ref(gpu);
    if (gpu->closing) {
        check->refused = true;
        check_refuse(&check->refusal, 0, CALL_UNAVAILABLE, "closing", NULL,
                     "the daemon is ending");
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
    compilation_leave(&check->waiter);
    check->refused = false;
    check->cancelled = true;
    if (check->completing) {
        work_cancel(check->completing); /* check_completed ends it */
        return;
    }
    json_decref(take(check->result));
    check_end_later(check);
}

/* --- the operation --- */

struct gpu *gpu_of(const struct call_origin *origin) {
    return call_lent(origin, GPU_LENT);
}

void gpu_call_end(json_t *result, const struct check_refusal *failure, void *call) {
    if (result) {
        call_reply(call, result);
    } else if (failure) {
        call_fail_at(call, *failure->path ? failure->path : NULL, failure->fault,
                     failure->reason, *failure->hint ? failure->hint : NULL, "%s",
                     failure->message);
    } else {
        call_stopped(call);
    }
    call_unref(call);
}

static void operation_cancelled(struct call *, void *data) {
    kernel_check_cancel(data);
}

/* Nothing says how far the compiler is. */
static void tell_time(uv_timer_t *timer) {
    struct kernel_check *check = container_of(timer, struct kernel_check, later);
    call_report(check->told, 0, 0,
                "compiling, %llu s of at most %u (compile_timeout_s)",
                (unsigned long long)((clock_us() - check->start_us) / 1000000),
                check->gpu->wall_ms / 1000);
}

static void kernel_check_operation(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    if (!gpu) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process checks no kernels");
        return;
    }
    struct kernel_check *check =
        kernel_check_start(gpu, params, origin, gpu_call_end, call_ref(call));
    call_on_cancel(call, operation_cancelled, check);
    if (!uv_is_active((uv_handle_t *)&check->later)) {
        check->told = call;
        uv_timer_start(&check->later, tell_time, TELL_FIRST_MS, TELL_EVERY_MS);
    }
}

const struct operation gpu_operations[] = {
    {KERNEL_CHECK_OPERATION, .start = kernel_check_operation,
     .describe = check_result_describe},
};
const size_t gpu_operation_count = ARRAY_LEN(gpu_operations);
