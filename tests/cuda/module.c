#include "tests/cuda/module.h"

#include "base/err.h"
#include "base/mem.h"
#include "tests/cuda/conf.h"
#include "tests/cuda/device_memory.h"
#include "tests/cuda/output.h"
#include "tests/cuda/queue.h"
#include "tests/cuda/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OPTIN_SHARED (227 << 10)
#define DEFAULT_SHARED (48 << 10)

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

/* The entries that can be run; a module holds others too. NULL-terminated. */
static const char **runnable(const struct ptx_module *ptx,
                             const struct machine_config *config) {
    const char **names = xcalloc(ptx->function_count + 1u, sizeof *names);
    size_t count = 0;
    for (uint32_t k = 0; k < ptx->function_count; k++) {
        const struct ptx_function *f = &ptx->functions[k];
        if (!f->is_entry || f->is_declaration) {
            continue;
        }
        const char *one[] = {f->name, NULL};
        struct machine *m = NULL;
        if (machine_new(&m, ptx, one, config, NULL, NULL) == 0) {
            names[count++] = f->name;
            machine_free(m);
        }
    }
    return names;
}

static int machine_make(struct module *m, const struct load_log *log) {
    const struct machine_config config = {.space = device_space(),
                                          .threads = 1,
                                          .instructions = UINT64_MAX / 4,
                                          .max_printf = (size_t)64 << 20};
    json_t *unsupported = NULL;
    struct err err = {0};
    int r = machine_new(&m->machine, m->ptx, NULL, &config, &unsupported, &err);
    if (r == -ENOTSUP) {
        log_unsupported(log, unsupported);
        autofree const char **names = runnable(m->ptx, &config);
        r = names[0] ? machine_new(&m->machine, m->ptx, names, &config, NULL, &err) : r;
    } else if (r < 0) {
        log_ptx_error(log, err.msg);
    }
    json_decref(unsupported);
    return r == 0          ? CUDA_OK
           : r == -ENOTSUP ? STANDIN_NOT_SUPPORTED
           : r == -ENOMEM  ? CUDA_OUT_OF_MEMORY
                           : CUDA_INVALID_PTX;
}

/* Shared memory that is the function's own or the module's. */
static uint64_t static_shared(const struct ptx_module *ptx, uint32_t function) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < ptx->variable_count; k++) {
        const struct ptx_variable *v = &ptx->variables[k];
        bool its = v->function < 0 || v->function == (int32_t)function;
        if (v->space == PTX_SHARED && v->used && !v->is_extern && its) {
            uint64_t align = v->align ? v->align : 1;
            bytes = (bytes + align - 1) / align * align + v->size;
        }
    }
    return bytes;
}

static int threads_of(const uint32_t v[3]) {
    return v[0] ? (int)(v[0] * (v[1] ? v[1] : 1) * (v[2] ? v[2] : 1)) : 1024;
}

static struct function *function_new(struct module *m, uint32_t index) {
    struct function *f = xcalloc(1, sizeof *f);
    f->module = m;
    f->entry = &m->ptx->functions[index];
    f->static_shared = static_shared(m->ptx, index);
    f->max_threads = f->entry->reqntid[0] ? threads_of(f->entry->reqntid)
                                          : threads_of(f->entry->maxntid);
    f->max_dynamic =
        f->static_shared < DEFAULT_SHARED ? DEFAULT_SHARED - (int)f->static_shared : 0;
    object_add(&f->object, OBJECT_FUNCTION);
    return f;
}

static void module_free(struct module *m) {
    struct function *f, *next;
    for (f = object_first(OBJECT_FUNCTION); f; f = next) {
        next = (struct function *)f->object.next;
        if (f->module == m) {
            object_remove(&f->object);
            free(f);
        }
    }
    for (size_t k = 0; k < m->extra_count; k++) {
        (void)device_memory_free(m->extras[k].address);
    }
    machine_free(m->machine);
    ptx_module_free(m->ptx);
    free(m->extras);
    free(m);
}

static int module_make(struct module **ret, const char *text,
                       const struct load_log *log) {
    struct module *m = xcalloc(1, sizeof *m);
    struct err err = {0};
    int code = CUDA_OK;
    if (ptx_module_read(&m->ptx, text, strlen(text), &err) < 0) {
        log_ptx_error(log, err.msg);
        free(m);
        return CUDA_INVALID_PTX;
    }
    code = target_check(m->ptx);
    code = code ? code : machine_make(m, log);
    if (code) {
        ptx_module_free(m->ptx);
        free(m);
        return code;
    }
    *ret = m;
    return CUDA_OK;
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
        object_add(&m->object, OBJECT_MODULE);
        *ret = (cuda_module_ref)(void *)m;
    }
    return code;
}

int cuModuleUnload(cuda_module_ref module) {
    ENTER(cuModuleUnload, NEED_CONTEXT);
    struct module *m = object_find(module, OBJECT_MODULE);
    if (!m) {
        return STANDIN_INVALID_HANDLE;
    }
    int code = queue_wait(queue.submitted);
    if (code == CUDA_OK) {
        output_flush();
        object_remove(&m->object);
        module_free(m);
    }
    return code;
}

void modules_finish(void) {
    struct module *m;
    while ((m = object_first(OBJECT_MODULE))) {
        object_remove(&m->object);
        module_free(m);
    }
}

/* ---- kernels and variables ---- */

static struct function *function_known(const struct module *m, const char *name) {
    struct function *f = object_first(OBJECT_FUNCTION);
    while (f && (f->module != m || strcmp(f->entry->name, name) != 0)) {
        f = (struct function *)f->object.next;
    }
    return f;
}

int cuModuleGetFunction(cuda_function_ref *ret, cuda_module_ref module,
                        const char *name) {
    ENTER(cuModuleGetFunction, NEED_CONTEXT);
    struct module *m = object_find(module, OBJECT_MODULE);
    if (!ret || !name || !m) {
        return m ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    const struct ptx_function *entry = ptx_find_entry(m->ptx, name);
    if (!entry) {
        return CUDA_NOT_FOUND;
    }
    struct function *f = function_known(m, name);
    f = f ? f : function_new(m, (uint32_t)(entry - m->ptx->functions));
    *ret = (cuda_function_ref)(void *)f;
    return CUDA_OK;
}

/* A variable that no kernel uses has memory all the same; zeros, because the reader of
 * PTX drops its first value. */
static int extra_add(struct module *m, const struct ptx_variable *v) {
    struct allocation *a = v->size ? device_memory_new(v->size) : NULL;
    if (!a) {
        return v->size ? CUDA_OUT_OF_MEMORY : CUDA_NOT_FOUND;
    }
    memset(a->host, 0, v->size);
    m->extras = xreallocarray(m->extras, m->extra_count + 1, sizeof *m->extras);
    m->extras[m->extra_count].name = v->name;
    m->extras[m->extra_count].address = a->address;
    m->extras[m->extra_count++].bytes = v->size;
    return CUDA_OK;
}

static int extra_find(struct module *m, const char *name, uint64_t *ret_address,
                      uint64_t *ret_bytes) {
    for (uint32_t k = 0; k < m->ptx->variable_count; k++) {
        const struct ptx_variable *v = &m->ptx->variables[k];
        bool known = false;
        if (v->function >= 0 || (v->space != PTX_GLOBAL && v->space != PTX_CONST) ||
            strcmp(v->name, name) != 0) {
            continue;
        }
        for (size_t e = 0; e < m->extra_count; e++) {
            known = known || m->extras[e].name == v->name;
        }
        int code = known ? CUDA_OK : extra_add(m, v);
        for (size_t e = 0; e < m->extra_count && code == CUDA_OK; e++) {
            if (m->extras[e].name == v->name) {
                *ret_address = m->extras[e].address;
                *ret_bytes = m->extras[e].bytes;
            }
        }
        return code;
    }
    return CUDA_NOT_FOUND;
}

int cuModuleGetGlobal_v2(cuda_address *ret, size_t *ret_bytes, cuda_module_ref module,
                         const char *name) {
    ENTER(cuModuleGetGlobal_v2, NEED_CONTEXT);
    struct module *m = object_find(module, OBJECT_MODULE);
    uint64_t address = 0, bytes = 0;
    void *host;
    if (!m || !name) {
        return m ? CUDA_INVALID_VALUE : STANDIN_INVALID_HANDLE;
    }
    if (machine_global(m->machine, name, &address, &bytes, &host) < 0) {
        int code = extra_find(m, name, &address, &bytes);
        if (code) {
            return code;
        }
    }
    if (ret) {
        *ret = address;
    }
    if (ret_bytes) {
        *ret_bytes = bytes;
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
        *ret = f->max_threads;
        return CUDA_OK;
    case CUDA_FUNCTION_STATIC_SHARED_BYTES:
        *ret = (int)f->static_shared;
        return CUDA_OK;
    case CUDA_FUNCTION_LOCAL_BYTES:
        *ret = (int)f->entry->local_bytes;
        return CUDA_OK;
    case CUDA_FUNCTION_REGISTERS:
        *ret = 32; /* ptxas's matter; a number that fits everywhere */
        return CUDA_OK;
    case CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES:
        *ret = f->max_dynamic;
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
        if (value < 0 || (uint64_t)value + f->static_shared > OPTIN_SHARED) {
            return CUDA_INVALID_VALUE;
        }
        f->max_dynamic = value;
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
    if (!ret_offset || index >= f->entry->param_count) {
        return CUDA_INVALID_VALUE;
    }
    const struct ptx_variable *v = &f->module->ptx->variables[f->entry->params[index]];
    *ret_offset = v->offset;
    if (ret_bytes) {
        *ret_bytes = v->size;
    }
    return CUDA_OK;
}
