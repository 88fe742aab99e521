#include "gpu/runtime/launches.h"

#include "base/clock.h"
#include "base/err.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/api_errors.h"
#include "gpu/runtime/constants.h"
#include "gpu/runtime/host_access.h"
#include "gpu/runtime/latest.h"
#include "gpu/runtime/launch_record.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/registration.h"
#include "gpu/runtime/stop.h"
#include "gpu/runtime/streams.h"
#include "gpu/runtime/unseen.h"

#include <stdalign.h>

/* ---- one launch ---- */

struct runtime_launch {
    struct op op;
    struct kernel *kernel;
    struct launch_shape shape;
    struct host_site site;
    const void *name; /* that the program has for it */
    void **described; /* pointers to its params; NULL: nobody has asked */
    alignas(16) uint8_t params[]; /* as kernel_pack lays them out */
};

/* Bytes that it certainly read or wrote. */
static void launch_used(const struct runtime_launch *l) {
    const struct memory *m = &runtime.device.memory;
    if (!l->op.moment) {
        return;
    }
    struct order_use use = {.bytes = 1, .what = l->kernel->entry->name, .site = &l->site};
    for (uint32_t k = 0; k < m->count; k++) {
        const struct allocation *a = m->table[k];
        if (a->sample[0].launch == m->launch) {
            use.low = a->sample[0].offset;
            use.writes = false;
            order_used(l->op.moment, a, &use);
        }
        if (a->sample[1].launch == m->launch) {
            use.low = a->sample[1].offset;
            use.writes = true;
            order_used(l->op.moment, a, &use);
        }
    }
}

static struct launch_words words_of(const struct runtime_launch *l) {
    return (struct launch_words){l->kernel, &l->shape, l->params};
}

static int launch_perform(struct op *op) {
    struct runtime_launch *l = container_of(op, struct runtime_launch, op);
    struct err err = {0};
    const struct launch_words words = words_of(l);
    if (!runtime.runs_all && repeats_launch(runtime.repeats, &words)) {
        outcome_skipped(l->kernel);
        launch_used(l);
        return CUDART_SUCCESS;
    }
    const struct repeats_before before = repeats_begin(runtime.repeats, &words);
    launch_record_before(l->kernel, &l->shape, l->params);
    stop_running(l->kernel->module->machine);
    enum machine_end end = kernel_launch(l->kernel, &l->shape, l->params, &err);
    repeats_end(runtime.repeats, &words, &before, end);
    latest_note(runtime.device.memory.launch, l->kernel, &l->shape, &l->site);
    if (order_is_on()) {
        launch_used(l);
        host_access_launch(op->moment, l->kernel, &l->site);
    }
    constants_after(l->kernel, &l->site);
    int code = outcome_of(l->kernel->module, end, &err, &l->site);
    stop_running(NULL);
    stop_if_due(&l->site);
    launch_record_after();
    return code;
}

static int launch_run(struct op *op) {
    const struct runtime_launch *l = container_of(op, struct runtime_launch, op);
    if (runtime.launches >= runtime.launch_limit) {
        outcome_limit("launches",
                      "The program launched more kernels than the limit allows");
        return CUDART_TIMEOUT;
    }
    if (runtime.launches++ == 0) {
        runtime.first_launch_us = clock_us();
    }
    outcome_launch(l->kernel, &l->shape, &l->site);
    const struct launch_words words = words_of(l);
    if (unseen_keep(&words, op, launch_perform)) {
        return CUDART_SUCCESS;
    }
    unseen_settle();
    int code = queue_error(&runtime.device.queue);
    return code ? code : launch_perform(op);
}

static void launch_free(struct op *op) {
    struct runtime_launch *l = container_of(op, struct runtime_launch, op);
    free(l->described);
    free(l);
}

static struct op *launch_copy(struct op *op) {
    const struct runtime_launch *from = container_of(op, struct runtime_launch, op);
    size_t bytes = sizeof *from + kernel_param_bytes(from->kernel);
    struct runtime_launch *l = xmalloc(bytes);
    memcpy(l, from, bytes);
    l->described = NULL;
    return &l->op;
}

void launch_describe(struct op *op, struct cudart_kernel_node *ret) {
    struct runtime_launch *l = container_of(op, struct runtime_launch, op);
    const struct ptx_function *entry = l->kernel->entry;
    if (!l->described) {
        l->described = xcalloc(entry->param_count + 1u, sizeof *l->described);
    }
    for (uint32_t n = 0; n < entry->param_count; n++) {
        l->described[n] =
            l->params + l->kernel->module->ptx->variables[entry->params[n]].offset;
    }
    const uint32_t *g = l->shape.grid, *b = l->shape.block;
    *ret = (struct cudart_kernel_node){.function = l->name,
                                       .grid = {g[0], g[1], g[2]},
                                       .block = {b[0], b[1], b[2]},
                                       .shared = l->shape.shared_bytes,
                                       .params = l->described};
}

void launch_like(struct op *op, struct op *other) {
    struct launch_shape *to = &container_of(op, struct runtime_launch, op)->shape;
    const struct launch_shape *from =
        &container_of(other, struct runtime_launch, op)->shape;
    to->cooperative = from->cooperative;
    memcpy(to->cluster, from->cluster, sizeof to->cluster);
}

static cudart_error dimensions_check(const struct launch_shape *s, const char *name) {
    static const uint32_t most_grid[] = {2147483647, 65535, 65535};
    static const uint32_t most_block[] = {1024, 1024, 64};
    uint64_t threads = 1;
    for (unsigned k = 0; k < 3; k++) {
        if (s->grid[k] == 0 || s->grid[k] > most_grid[k]) {
            return explain(
                CUDART_INVALID_CONFIGURATION,
                "%s is not launched: the grid's dimension %c is %u, it must be 1 to %u",
                name, "xyz"[k], s -> grid[k], most_grid[k]);
        }
        if (s->block[k] == 0 || s->block[k] > most_block[k]) {
            return explain(
                CUDART_INVALID_CONFIGURATION,
                "%s is not launched: the block's dimension %c is %u, it must be 1 to %u",
                name, "xyz"[k], s -> block[k], most_block[k]);
        }
        threads *= s->block[k];
    }
    return threads > 1024
               ? explain(CUDART_INVALID_CONFIGURATION,
                         "%s is not launched: a block of %llu threads, at most 1024",
                         name, (unsigned long long)threads)
               : CUDART_SUCCESS;
}

static cudart_error shape_check(const struct launch_shape *s, const struct kernel *k) {
    autofree char *name = kernel_name_new(k->entry->name);
    cudart_error code = dimensions_check(s, name);
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
    uint64_t cluster = 1;
    if (code) {
        return code;
    }
    if (s->shared_bytes > (uint32_t)k->max_dynamic) {
        return explain(CUDART_INVALID_VALUE,
                       "%s is not launched: %u bytes of dynamic shared memory, the "
                       "kernel may have %d "
                       "(cudaFuncSetAttribute allows up to 227 KiB with its static ones)",
                       name, s->shared_bytes, k->max_dynamic);
    }
    if (threads > (uint64_t)k->max_threads) {
        return explain(
            CUDART_OUT_OF_RESOURCES,
            "%s is not launched: a block of %llu threads, the kernel's bounds allow %d",
            name, (unsigned long long)threads, k->max_threads);
    }
    for (unsigned d = 0; d < 3 && s->cluster[0]; d++) {
        if (!s->cluster[d] || s->grid[d] % s->cluster[d]) {
            return explain(CUDART_INVALID_CLUSTER,
                           "%s is not launched: the grid's dimension %c is not a "
                           "multiple of the cluster's",
                           name, "xyz"[d]);
        }
        cluster *= s->cluster[d];
    }
    return cluster > 16 ? explain(CUDART_INVALID_CLUSTER,
                                  "%s is not launched: a cluster of %llu blocks", name,
                                  (unsigned long long)cluster)
                        : CUDART_SUCCESS;
}

cudart_error launch_make(struct op **ret, const void *name,
                         const struct launch_shape *shape, void **params,
                         const struct host_site *site) {
    struct kernel *k;
    cudart_error code = registered_kernel(name, &k);
    code = code ? code : shape_check(shape, k);
    if (!code && !params && k->entry->param_count) {
        code = explain(CUDART_INVALID_VALUE,
                       "%s is not launched: it has parameters, and there are no values",
                       k->entry->name);
    }
    if (code) {
        return code;
    }
    struct runtime_launch *l = xcalloc(1, sizeof *l + kernel_param_bytes(k));
    l->op = (struct op){.run = launch_run, .free = launch_free, .copy = launch_copy};
    l->kernel = k;
    l->name = name;
    l->shape = *shape;
    l->site = *site;
    kernel_pack(k, params, l->params);
    *ret = &l->op;
    return CUDART_SUCCESS;
}

static cudart_error launch_kernel(const void *name, const struct launch_shape *shape,
                                  void **params, struct stream *stream,
                                  const struct host_site *site) {
    struct op *op;
    uint64_t number;
    cudart_error code = launch_make(&op, name, shape, params, site);
    if (code) {
        api_error_place(site);
        return code;
    }
    const struct runtime_launch *l = container_of(op, struct runtime_launch, op);
    bool lingers = order_is_on() && host_access_may(l->kernel, l->params);
    bool records = launch_record_is_open();
    bool waits = (lingers || records) && host_access_waits(l->kernel);
    code = stream_put_numbered(stream, NODE_KERNEL, op, &number);
    /* One that waits for the host may stand before it: then this call must not wait. */
    static uint64_t last_waiting; /* atomic */
    if (lingers && number && waits) {
        __atomic_store_n(&last_waiting, number, __ATOMIC_RELAXED);
    }
    bool held = !queue_is_done(&runtime.device.queue,
                               __atomic_load_n(&last_waiting, __ATOMIC_RELAXED));
    if (lingers && number && (waits || held)) {
        queue_linger(&runtime.device.queue, number);
    } else if (number && (lingers || (records && !waits && !held))) {
        (void)queue_wait(&runtime.device.queue, number);
    }
    if (code) {
        api_error_place(site);
    }
    return code;
}

/* ---- what the program calls ---- */

#define CONFIGURATIONS_MAX 16 /* launches inside arguments of launches */

struct configuration {
    struct dim3 grid, block;
    size_t shared;
    struct stream *stream;
    void *site;
};
static __thread struct configuration configurations[CONFIGURATIONS_MAX];
static __thread unsigned configuration_count;
static __thread void *popped_site;

EXPORT unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
                                            size_t shared, struct stream *stream) {
    if (configuration_count == CONFIGURATIONS_MAX) {
        return 1;
    }
    configurations[configuration_count++] =
        (struct configuration){grid, block, shared, stream, __builtin_return_address(0)};
    return 0;
}

EXPORT cudart_error __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block,
                                               size_t *shared, void *stream) {
    if (configuration_count == 0) {
        return CUDART_MISSING_CONFIGURATION;
    }
    const struct configuration *c = &configurations[--configuration_count];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(struct stream **)stream = c->stream;
    popped_site = c->site;
    return CUDART_SUCCESS;
}

static struct launch_shape shape_of(struct dim3 grid, struct dim3 block, size_t shared) {
    uint32_t bytes = shared < UINT32_MAX ? (uint32_t)shared : UINT32_MAX;
    return (struct launch_shape){.grid = {grid.x, grid.y, grid.z},
                                 .block = {block.x, block.y, block.z},
                                 .shared_bytes = bytes};
}

EXPORT cudart_error __cudaLaunchKernel(const void *kernel, struct dim3 grid,
                                       struct dim3 block, void **params, size_t shared,
                                       struct stream *stream) {
    const struct launch_shape shape = shape_of(grid, block, shared);
    void *site = popped_site ? popped_site : __builtin_return_address(0);
    popped_site = NULL;
    const struct host_site at = host_site_of(site);
    return runtime_return("cudaLaunchKernel",
                          launch_kernel(kernel, &shape, params, stream, &at));
}

static struct host_site site_now(void) {
    struct host_site site = host_site_of(popped_site);
    if (!popped_site) {
        host_site_take(&site);
    }
    popped_site = NULL;
    return site;
}

EXPORT cudart_error cudaLaunchKernel(const void *kernel, struct dim3 grid,
                                     struct dim3 block, void **params, size_t shared,
                                     struct stream *stream) {
    const struct launch_shape shape = shape_of(grid, block, shared);
    const struct host_site site = site_now();
    RETURN(launch_kernel(kernel, &shape, params, stream, &site));
}

EXPORT cudart_error cudaLaunchCooperativeKernel(const void *kernel, struct dim3 grid,
                                                struct dim3 block, void **params,
                                                size_t shared, struct stream *stream) {
    struct launch_shape shape = shape_of(grid, block, shared);
    const struct host_site site = site_now();
    shape.cooperative = true;
    RETURN(launch_kernel(kernel, &shape, params, stream, &site));
}

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

EXPORT cudart_error cudaLaunchKernelExC(const struct cudart_launch_config *c,
                                        const void *kernel, void **params) {
    struct launch_shape shape = shape_of(c->grid, c->block, c->dynamic_shared);
    const struct host_site site = site_now();
    for (unsigned k = 0; k < c->attribute_count; k++) {
        const struct cudart_launch_attribute *a = &c->attributes[k];
        if (a->id == ATTRIBUTE_COOPERATIVE) {
            shape.cooperative = a->value.flag != 0;
        } else if (a->id == ATTRIBUTE_CLUSTER) {
            shape.cluster[0] = a->value.shape.x;
            shape.cluster[1] = a->value.shape.y;
            shape.cluster[2] = a->value.shape.z;
        } /* the others are hints of order, priority and caches */
    }
    RETURN(launch_kernel(kernel, &shape, params, c->stream, &site));
}
