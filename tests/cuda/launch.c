/* Launches: what they may ask for, and carrying them out. */
#include "base/err.h"
#include "base/mem.h"
#include "tests/cuda/conf.h"
#include "tests/cuda/module.h"
#include "tests/cuda/output.h"
#include "tests/cuda/stream.h"

#include <stdio.h>
#include <string.h>

#define SM_SHARED (228 << 10)
#define SYSTEM_SHARED (1 << 10) /* of each block */

/* ---- what was asked ---- */

static int attributes_read(struct launch_shape *ret, const struct cuda_launch *launch) {
    for (unsigned k = 0; k < launch->attribute_count; k++) {
        const struct cuda_launch_attribute *a = &launch->attributes[k];
        if (a->id == CUDA_LAUNCH_COOPERATIVE) {
            ret->cooperative = a->value.cooperative != 0;
        } else if (a->id == CUDA_LAUNCH_CLUSTER) {
            ret->cluster[0] = a->value.cluster.x;
            ret->cluster[1] = a->value.cluster.y;
            ret->cluster[2] = a->value.cluster.z;
        } else if (a->id != 0) {
            return STANDIN_NOT_SUPPORTED;
        }
    }
    return CUDA_OK;
}

static int cluster_check(const struct launch_shape *s, const struct function *f) {
    uint64_t blocks = 1;
    bool none = !s->cluster[0] && !s->cluster[1] && !s->cluster[2];
    for (unsigned k = 0; k < 3 && !none; k++) {
        if (s->cluster[k] == 0 || s->grid[k] % s->cluster[k]) {
            return CUDA_INVALID_VALUE;
        }
        blocks *= s->cluster[k];
    }
    return blocks > (f->non_portable ? 16 : 8) ? STANDIN_INVALID_CLUSTER : CUDA_OK;
}

static int blocks_per_sm(const struct function *f, uint64_t threads, uint64_t dynamic) {
    uint64_t shared = f->kernel->static_shared + dynamic + SYSTEM_SHARED;
    uint64_t warps = (threads + 31) / 32;
    uint64_t blocks = warps ? 64 / warps : 0;
    blocks = blocks < SM_SHARED / shared ? blocks : SM_SHARED / shared;
    return blocks < 32 ? (int)blocks : 32;
}

static int shape_check(const struct launch_shape *s, const struct function *f) {
    static const uint32_t most_grid[] = {2147483647, 65535, 65535};
    static const uint32_t most_block[] = {1024, 1024, 64};
    uint64_t threads = 1, blocks = 1;
    for (unsigned k = 0; k < 3; k++) {
        uint32_t want = f->kernel->entry->reqntid[k];
        if (s->grid[k] == 0 || s->grid[k] > most_grid[k] || s->block[k] == 0 ||
            s->block[k] > most_block[k] || (want && want != s->block[k])) {
            return CUDA_INVALID_VALUE;
        }
        threads *= s->block[k];
        blocks *= s->grid[k];
    }
    if (threads > 1024 || s->shared_bytes > (uint32_t)f->kernel->max_dynamic) {
        return CUDA_INVALID_VALUE;
    }
    if (threads > (uint64_t)f->kernel->max_threads) {
        return CUDA_LAUNCH_OUT_OF_RESOURCES;
    }
    if (s->cooperative &&
        blocks >
            (uint64_t)conf.sms * (uint64_t)blocks_per_sm(f, threads, s->shared_bytes)) {
        return CUDA_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return cluster_check(s, f);
}

/* From an array of pointers, or from {1, buffer, 2, &bytes, 0}. */
static void *params_pack(const struct function *f, void **params, void **extra) {
    const struct ptx_function *entry = f->kernel->entry;
    const void *buffer = NULL;
    const size_t *bytes = NULL;
    uint8_t *block = xcalloc(1, kernel_param_bytes(f->kernel));
    for (uint32_t k = 0; params && k < entry->param_count; k++) {
        if (!params[k]) {
            free(block);
            return NULL;
        }
    }
    if (params) {
        kernel_pack(f->kernel, params, block);
    }
    for (; extra && extra[0]; extra += 2) {
        buffer = (uintptr_t)extra[0] == 1 ? extra[1] : buffer;
        bytes = (uintptr_t)extra[0] == 2 ? extra[1] : bytes;
    }
    if (buffer && bytes && *bytes >= entry->param_bytes &&
        *bytes <= entry->param_bytes + 15) {
        memcpy(block, buffer, entry->param_bytes);
    } else if (entry->param_count && !params) {
        free(block);
        return NULL;
    }
    return block;
}

int cuLaunchKernelEx(const struct cuda_launch *launch, cuda_function_ref function,
                     void **params, void **extra) {
    ENTER(cuLaunchKernelEx, NEED_CONTEXT);
    struct function *f = object_find(function, OBJECT_FUNCTION);
    if (!launch || !f || (params && extra)) {
        return f ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    struct launch_shape shape = {.shared_bytes = launch->shared_bytes};
    memcpy(shape.grid, launch->grid, sizeof shape.grid);
    memcpy(shape.block, launch->block, sizeof shape.block);
    int code = attributes_read(&shape, launch);
    code = code ? code : shape_check(&shape, f);
    void *block = code ? NULL : params_pack(f, params, extra);
    if (!block) {
        return code ? code : CUDA_INVALID_VALUE;
    }
    struct task *op = task_new(OP_LAUNCH);
    op->function = f;
    op->shape = shape;
    op->bytes = block;
    op->len = f->kernel->entry->param_bytes;
    return stream_put(launch->stream, op, NULL);
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, cuda_function_ref function,
                                                int block_threads,
                                                size_t dynamic_shared) {
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor, NEED_CONTEXT);
    const struct function *f = object_find(function, OBJECT_FUNCTION);
    if (!ret || !f || block_threads <= 0) {
        return f ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    bool fits = block_threads <= f->kernel->max_threads &&
                f->kernel->static_shared + dynamic_shared <= SM_SHARED - SYSTEM_SHARED;
    *ret = fits ? blocks_per_sm(f, (uint64_t)block_threads, dynamic_shared) : 0;
    return CUDA_OK;
}

/* ---- carrying out ---- */

/* CUDA's code for what ended a kernel. */
static int code_of_fault(const struct machine *machine) {
    static const struct {
        const char *finding;
        int code;
    } codes[] = {{"assert", CUDA_ASSERT},
                 {"misaligned", CUDA_MISALIGNED_ADDRESS},
                 {"out_of_bounds", CUDA_ILLEGAL_ADDRESS},
                 {"trap", CUDA_LAUNCH_FAILED}};
    autojson *findings = machine_findings(machine, NULL);
    for (size_t k = 0; k < json_array_size(findings); k++) {
        const json_t *finding = json_array_get(findings, k);
        const char *name = json_string_value(json_object_get(finding, "code"));
        for (size_t c = 0; name && c < ARRAY_LEN(codes); c++) {
            if (strcmp(name, codes[c].finding) == 0) {
                output_assertion(finding);
                return codes[c].code;
            }
        }
    }
    return CUDA_LAUNCH_FAILED;
}

static int code_of_end(const struct machine *machine, enum machine_end end,
                       const struct err *err) {
    switch (end) {
    case MACHINE_FAULT:
        return code_of_fault(machine);
    case MACHINE_DEADLOCK: /* on a device it would wait for ever */
    case MACHINE_BUDGET:
        return CUDA_NOT_READY;
    case MACHINE_REFUSED:
        (void)fprintf(stderr, "libcuda stand-in: cannot be run: %s\n", err->msg);
        return STANDIN_NOT_SUPPORTED;
    default:
        return CUDA_OK;
    }
}

static void printed_take(struct module *m, uint64_t number) {
    const struct launch_rule *flood = conf_launch(LAUNCH_PRINT, number);
    const char *text = machine_printf(m->machine);
    size_t len = strlen(text);
    output_add(text + m->printed, len - m->printed);
    m->printed = len;
    if (flood) {
        output_flood(flood->value);
    }
}

int launch_run(const struct task *op) {
    struct module *m = op->function->of->module;
    struct err err = {0};
    uint64_t number = tasks.launches;
    tasks.running = m->machine;
    pthread_mutex_unlock(&tasks.lock);
    enum machine_end end =
        kernel_launch(op->function->kernel, &op->shape, op->bytes, &err);
    int code = code_of_end(m->machine, end, &err);
    pthread_mutex_lock(&tasks.lock);
    tasks.running = NULL;
    if (code == CUDA_OK) {
        printed_take(m, number);
    }
    return code;
}

double launch_duration(const struct task *op) {
    double us = conf.launch_us;
    for (unsigned k = 0; k < conf.time_count; k++) {
        if (strstr(op->function->kernel->entry->name, conf.times[k].name)) {
            us = conf.times[k].us;
        }
    }
    us += conf.jitter_us * (double)(tasks.launches * 7 % 11) / 10;
    us += tasks.flushed ? conf.cold_us : 0;
    return us + (op->in_graph ? 0 : conf.gap_us);
}
