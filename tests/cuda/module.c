#include "tests/cuda/module.h"

#include "base/err.h"
#include "base/mem.h"
#include "tests/cuda/conf.h"
#include "tests/cuda/device_memory.h"
#include "tests/cuda/output.h"
#include "tests/cuda/stream.h"
#include "tests/cuda/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OPTIN_SHARED (227 << 10)

/* ---- the log of a load ---- */

struct load_log {
    char *text;
    size_t room;
    void **ret_bytes;
};

static struct load_log log_find(unsigned count, const int *options, void **values) {
    struct load_log log = {NULL, 0, NULL};
    for (unsigned k = 0; k < count; k++) {
        if (options[k] == CUDA_JIT_ERROR_LOG) {
            log.text = values[k];
        } else if (options[k] == CUDA_JIT_ERROR_LOG_BYTES) {
            log.room = (size_t)(uint32_t)(uintptr_t)values[k];
            log.ret_bytes = &values[k];
        }
    }
    return log;
}

static void log_write(const struct load_log *log, const char *text) {
    if (log->text && log->room) {
        int n = snprintf(log->text, log->room, "%s", text);
        size_t len = n < (int)log->room ? (size_t)n : log->room - 1;
        if (log->ret_bytes) {
            *log->ret_bytes = (void *)(uintptr_t)len;
        }
    }
}

/* "line 12: no such thing" in ptxas's words. */
static void log_ptx_error(const struct load_log *log, const char *message) {
    unsigned line = 0;
    int skip = 0;
    char text[700];
    if (sscanf(message, "line %u: %n", &line, &skip) < 1) {
        skip = 0;
    }
    (void)snprintf(text, sizeof text,
                   "ptxas application ptx input, line %u; error   : %s", line,
                   message + skip);
    log_write(log, text);
}

/* ---- load ---- */

/* The newest PTX that a driver of this version reads: 9.0 with 13.0, 8.x with 12.x
 * (NVIDIA's table of PTX ISA release notes). */
static unsigned newest_ptx(void) {
    static const unsigned of_12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
    unsigned major = (unsigned)conf.driver / 1000,
             minor = (unsigned)conf.driver % 1000 / 10;
    if (major < 12) {
        return 78;
    }
    return major == 12 ? of_12[minor < 9 ? minor : 9] : 90 + minor;
}

static int target_check(const struct ptx_module *ptx) {
    int want = 0;
    (void)sscanf(ptx->target, "sm_%d", &want);
    int have = conf.major * 10 + conf.minor;
    bool exact = strchr(ptx->target, 'a') != NULL;
    if (ptx->version_major * 10 + ptx->version_minor > newest_ptx()) {
        return CUDA_UNSUPPORTED_PTX_VERSION;
    }
    return want > have || (exact && want != have) ? CUDA_NO_BINARY_FOR_GPU : CUDA_OK;
}

static void log_unsupported(const struct load_log *log, const json_t *unsupported) {
    const json_t *first = json_array_get(unsupported, 0);
    const char *opcode = json_string_value(json_object_get(first, "opcode"));
    char text[300];
    (void)snprintf(
        text, sizeof text,
        "stand-in: line %d: %s and %zu more kinds of instructions cannot be run",
        (int)json_integer_value(json_object_get(first, "ptx_line")),
        opcode ? opcode : "?", json_array_size(unsupported) - 1);
    log_write(log, text);
}

/* Makes what can be run ready; a module may hold others too. */
static int kernels_prepare(struct module *m, const struct load_log *log) {
    autojson *unsupported = NULL;
    bool any = false;
    for (uint32_t k = 0; k < m->ptx->function_count; k++) {
        json_t *words = NULL;
        int r = m->kernels[k].entry ? kernel_prepare(&m->kernels[k], &words, NULL) : -1;
        any |= r == 0;
        unsupported = unsupported ? unsupported : json_incref(words);
        json_decref(words);
    }
    if (unsupported) {
        log_unsupported(log, unsupported);
    }
    return any || !unsupported ? CUDA_OK : STANDIN_NOT_SUPPORTED;
}

static struct function *function_new(struct loaded *m, struct kernel *k) {
    struct function *f = xcalloc(1, sizeof *f);
    f->of = m;
    f->kernel = k;
    object_add(&f->object, OBJECT_FUNCTION);
    return f;
}

static void module_free(struct module *m) {
    machine_free(m->machine);
    ptx_module_free(m->ptx);
    free(m->kernels);
    free(m);
}

static void loaded_free(struct loaded *l) {
    struct function *f, *next;
    for (f = object_first(OBJECT_FUNCTION); f; f = next) {
        next = (struct function *)f->object.next;
        if (f->of == l) {
            object_remove(&f->object);
            free(f);
        }
    }
    object_remove(&l->object);
    module_free(l->module);
    free(l);
}

static int module_make(struct module **ret, const char *text,
                       const struct load_log *log) {
    struct err err = {0};
    int r = module_new(ret, device(), text, strlen(text), &err);
    if (r < 0) {
        log_ptx_error(log, err.msg);
        return r == -ENOMEM ? CUDA_OUT_OF_MEMORY : CUDA_INVALID_PTX;
    }
    int code = target_check((*ret)->ptx);
    code = code ? code : kernels_prepare(*ret, log);
    if (code) {
        module_free(*ret);
    }
    return code;
}

int cuModuleLoadDataEx(cuda_module_ref *ret, const void *image, unsigned option_count,
                       int *options, void **option_values) {
    ENTER(cuModuleLoadDataEx, NEED_CONTEXT);
    if (!ret || !image || (option_count && (!options || !option_values))) {
        return CUDA_INVALID_VALUE;
    }
    if (strncmp(image, "\x7f\x45LF", 4) == 0 ||
        strncmp(image, "\x50\xed\x55\xba", 4) == 0) { /* a cubin, a fat binary */
        return conf.cubin;
    }
    const struct load_log log = log_find(option_count, options, option_values);
    struct module *m = NULL;
    int code = module_make(&m, image, &log);
    if (code == CUDA_OK) {
        struct loaded *l = xcalloc(1, sizeof *l);
        l->module = m;
        object_add(&l->object, OBJECT_MODULE);
        *ret = (cuda_module_ref)(void *)l;
    }
    return code;
}

int cuModuleUnload(cuda_module_ref module) {
    ENTER(cuModuleUnload, NEED_CONTEXT);
    struct loaded *m = object_find(module, OBJECT_MODULE);
    if (!m) {
        return STANDIN_INVALID_HANDLE;
    }
    int code = tasks_wait(tasks.submitted);
    if (code == CUDA_OK) {
        output_flush();
        loaded_free(m);
    }
    return code;
}

void modules_finish(void) {
    struct loaded *m;
    while ((m = object_first(OBJECT_MODULE))) {
        loaded_free(m);
    }
}

/* ---- kernels and variables ---- */

static struct function *function_known(const struct kernel *k) {
    struct function *f = object_first(OBJECT_FUNCTION);
    while (f && f->kernel != k) {
        f = (struct function *)f->object.next;
    }
    return f;
}

int cuModuleGetFunction(cuda_function_ref *ret, cuda_module_ref module,
                        const char *name) {
    ENTER(cuModuleGetFunction, NEED_CONTEXT);
    struct loaded *m = object_find(module, OBJECT_MODULE);
    if (!ret || !name || !m) {
        return m ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    struct kernel *k = module_kernel(m->module, name);
    if (!k) {
        return CUDA_NOT_FOUND;
    }
    struct function *f = function_known(k);
    f = f ? f : function_new(m, k);
    *ret = (cuda_function_ref)(void *)f;
    return CUDA_OK;
}

int cuModuleGetGlobal_v2(cuda_address *ret, size_t *ret_bytes, cuda_module_ref module,
                         const char *name) {
    ENTER(cuModuleGetGlobal_v2, NEED_CONTEXT);
    struct loaded *m = object_find(module, OBJECT_MODULE);
    if (!m || !name) {
        return m ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    const struct allocation *a = module_variable(m->module, name);
    if (!a) {
        return CUDA_NOT_FOUND;
    }
    if (ret) {
        *ret = a->address;
    }
    if (ret_bytes) {
        *ret_bytes = a->bytes;
    }
    return CUDA_OK;
}

int cuFuncGetAttribute(int *ret, int attribute, cuda_function_ref function) {
    ENTER(cuFuncGetAttribute, NEED_CONTEXT);
    const struct function *f = object_find(function, OBJECT_FUNCTION);
    if (!ret || !f) {
        return f ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    switch (attribute) {
    case CUDA_FUNCTION_MAX_THREADS:
        *ret = f->kernel->max_threads;
        return CUDA_OK;
    case CUDA_FUNCTION_STATIC_SHARED_BYTES:
        *ret = (int)f->kernel->static_shared;
        return CUDA_OK;
    case CUDA_FUNCTION_LOCAL_BYTES:
        *ret = (int)f->kernel->entry->local_bytes;
        return CUDA_OK;
    case CUDA_FUNCTION_REGISTERS:
        *ret = 32; /* ptxas's matter; a number that fits everywhere */
        return CUDA_OK;
    case CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES:
        *ret = f->kernel->max_dynamic;
        return CUDA_OK;
    case CUDA_FUNCTION_NON_PORTABLE_CLUSTER:
        *ret = f->non_portable;
        return CUDA_OK;
    default:
        *ret = 0;
        return attribute >= 0 && attribute < 16 ? CUDA_OK : CUDA_INVALID_VALUE;
    }
}

int cuFuncSetAttribute(cuda_function_ref function, int attribute, int value) {
    ENTER(cuFuncSetAttribute, NEED_CONTEXT);
    struct function *f = object_find(function, OBJECT_FUNCTION);
    if (!f) {
        return STANDIN_INVALID_HANDLE;
    }
    if (attribute == CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES) {
        if (value < 0 || (uint64_t)value + f->kernel->static_shared > OPTIN_SHARED) {
            return CUDA_INVALID_VALUE;
        }
        f->kernel->max_dynamic = value;
    } else if (attribute == CUDA_FUNCTION_NON_PORTABLE_CLUSTER) {
        f->non_portable = value;
    } else if (attribute != 9) { /* the preferred carve-out is a hint */
        return CUDA_INVALID_VALUE;
    }
    return CUDA_OK;
}

int cuFuncGetParamInfo(cuda_function_ref function, size_t index, size_t *ret_offset,
                       size_t *ret_bytes) {
    ENTER(cuFuncGetParamInfo, NEED_CONTEXT);
    const struct function *f = object_find(function, OBJECT_FUNCTION);
    if (!f) {
        return STANDIN_INVALID_HANDLE;
    }
    if (!ret_offset || index >= f->kernel->entry->param_count) {
        return CUDA_INVALID_VALUE;
    }
    const struct ptx_variable *v =
        &f->of->module->ptx->variables[f->kernel->entry->params[index]];
    *ret_offset = v->offset;
    if (ret_bytes) {
        *ret_bytes = v->size;
    }
    return CUDA_OK;
}
