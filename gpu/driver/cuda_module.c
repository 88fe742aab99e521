#include "gpu/driver/cuda_module.h"

#include "base/err.h"
#include "base/text.h"

#include <inttypes.h>

enum { LOG_BYTES = 8192, PORTABLE_CLUSTER = 8, MAX_CLUSTER = 16 };

struct cuda_module {
    struct cuda_context *context;
    cuda_module_ref module;
    const char *form;
};

/* --- architecture --- */

struct target {
    int sm; /* 90 */
    char suffix;
};

/* ".target sm_90a, debug" of the module; sm 0 when it does not say. */
static struct target target_of(const char *ptx) {
    struct target t = {0};
    const char *at = ptx ? strstr(ptx, "\n.target") : NULL;
    int used = 0;
    if (at && sscanf(at, "\n.target sm_%4d%n", &t.sm, &used) == 1 && used) {
        t.suffix = at[used];
    }
    return t;
}

/* sm_90a and sm_100f are for one architecture or family, sm_90 for it and, as PTX, for
 * what is newer. */
static bool target_fits(struct target t, const struct cuda_device *d, bool as_ptx) {
    int have = d->major * 10 + d->minor;
    bool same = t.sm / 10 == d->major && t.sm <= have;
    return !t.sm                        ? true
           : t.suffix == 'a'            ? t.sm == have
           : t.suffix == 'f' || !as_ptx ? same
                                        : t.sm <= have;
}

int cuda_target_check(const struct cuda_device *device, const char *ptx,
                      struct err *err) {
    struct target t = target_of(ptx);
    char suffix[2] = {t.suffix == 'a' || t.suffix == 'f' ? t.suffix : '\0'};
    if (target_fits(t, device, true)) {
        return 0;
    }
    return err_set(err, -EINVAL,
                   "the kernel was compiled for sm_%d%s, the device %s has compute "
                   "capability %d.%d",
                   t.sm, suffix, device->name, device->major, device->minor);
}

/* "13.0" of "// Cuda compilation tools, release 13.0, V13.0.88". */
static void nvrtc_version(const char *ptx, char ret[static 16]) {
    const char *at = ptx ? strstr(ptx, ", release ") : NULL;
    if (!at || sscanf(at, ", release %15[0-9.]", ret) != 1) {
        snprintf(ret, 16, "?");
    }
}

int cuda_version_check(int driver_version, const char *ptx, struct err *err) {
    char driver[16], nvrtc[16];
    nvrtc_version(ptx, nvrtc);
    cuda_version_text(driver_version, driver);
    int major = 0;
    if (sscanf(nvrtc, "%4d.", &major) != 1 || driver_version <= 0 ||
        major <= driver_version / 1000) {
        return 0;
    }
    return err_set(
        err, -EINVAL,
        "the driver supports CUDA %s and cannot read what NVRTC %s generates: update the "
        "driver, or set CUDA_HOME to a toolkit of CUDA %d",
        driver, nvrtc, driver_version / 1000);
}

/* --- loading --- */

static int load(struct cuda_context *c, const void *image, char *log,
                cuda_module_ref *ret) {
    static char info[LOG_BYTES];
    uintptr_t bytes = LOG_BYTES, info_bytes = sizeof info;
    int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES, CUDA_JIT_INFO_LOG,
                     CUDA_JIT_INFO_LOG_BYTES};
    void *values[] = {log, (void *)bytes, info, (void *)info_bytes};
    log[0] = '\0';
    int code = c->api->module_load(ret, image, ARRAY_LEN(options), options, values);
    log[LOG_BYTES - 1] = '\0';
    return code;
}

/* The assembler's words on one line. */
static void log_flatten(char *log) {
    char *to = log;
    for (const char *c = log; *c; c++) {
        bool blank = *c == '\n' || *c == '\r' || *c == '\t' || *c == ' ';
        if (!blank || (to > log && to[-1] != ' ')) {
            *to++ = blank ? ' ' : *c;
        }
    }
    *to = '\0';
}

static int load_failed(struct cuda_context *c, const struct cuda_image *image,
                       const char *cubin_code, int code, char *log, struct err *err) {
    char driver[16], nvrtc[16];
    cuda_version_text(c->driver_version, driver);
    nvrtc_version(image->ptx, nvrtc);
    log_flatten(log);
    c->code = code;
    c->lost |= cuda_code_is_sticky(code);
    return err_set(err, -EIO,
                   "the driver (CUDA %s) does not load the module that NVRTC %s made: "
                   "cubin: %s, PTX: %s%s%.300s",
                   driver, nvrtc, cubin_code,
                   image->ptx ? cuda_code_name(code) : "there is none", *log ? ": " : "",
                   log);
}

int cuda_module_load(struct cuda_module **ret, struct cuda_context *c,
                     const struct cuda_image *image, struct err *err) {
    autofree char *log = xcalloc(LOG_BYTES, 1);
    char cubin_code[64] = "there is none";
    cuda_module_ref module = NULL;
    bool cubin_fits = target_fits(target_of(image->ptx), &c->device, false);
    const char *form = "cubin";
    int code = CUDA_NO_BINARY_FOR_GPU;
    int r = cuda_context_usable(c, err);
    if (r < 0) {
        return r;
    }
    if (cuda_target_check(&c->device, image->ptx, err) < 0) {
        c->code = CUDA_NO_BINARY_FOR_GPU;
        return -EINVAL;
    }
    if (image->cubin && cubin_fits) {
        code = load(c, image->cubin, log, &module);
        snprintf(cubin_code, sizeof cubin_code, "%s", cuda_code_name(code));
    } else if (image->cubin) {
        snprintf(cubin_code, sizeof cubin_code, "for another architecture");
    }
    if (code && image->ptx && !cuda_code_is_sticky(code)) {
        form = "ptx";
        code = load(c, image->ptx, log, &module);
    }
    if (code) {
        return load_failed(c, image, cubin_code, code, log, err);
    }
    *ret = xcalloc(1, sizeof **ret);
    **ret = (struct cuda_module){.context = c, .module = module, .form = form};
    return 0;
}

void cuda_module_free(struct cuda_module *m) {
    if (m && !m->context->lost) {
        (void)m->context->api->module_unload(m->module);
    }
    free(m);
}

const char *cuda_module_form(const struct cuda_module *m) {
    return m->form;
}

/* --- what is in it --- */

static int function_find(struct cuda_module *m, const char *entry, cuda_function_ref *ret,
                         struct err *err) {
    struct cuda_context *c = m->context;
    int r = cuda_context_usable(c, err);
    if (r < 0) {
        return r;
    }
    int code = c->api->module_function(ret, m->module, entry);
    if (code == CUDA_NOT_FOUND) {
        c->code = code;
        return err_set(err, -ENOENT, "the module has no kernel '%.200s'", entry);
    }
    return cuda_context_check(c, code, "finding the kernel", err);
}

int cuda_module_global(struct cuda_module *m, const char *name, cuda_address *ret,
                       size_t *ret_bytes, struct err *err) {
    struct cuda_context *c = m->context;
    int r = cuda_context_usable(c, err);
    if (r < 0) {
        return r;
    }
    int code = c->api->module_global(ret, ret_bytes, m->module, name);
    if (code == CUDA_NOT_FOUND) {
        c->code = code;
        return err_set(err, -ENOENT, "the module has no variable '%s' that is used",
                       name);
    }
    return cuda_context_check(c, code, "finding the variable", err);
}

int cuda_module_params(struct cuda_module *m, const char *entry, size_t *ret_offsets,
                       size_t *ret_bytes, size_t max) {
    const struct cuda_api *api = m->context->api;
    cuda_function_ref function;
    size_t count = 0, offset, bytes;
    int r = function_find(m, entry, &function, NULL);
    if (r < 0 || !api->function_param) {
        return r < 0 ? r : -ENOSYS;
    }
    int code = CUDA_OK;
    while (count < max &&
           !(code = api->function_param(function, count, &offset, &bytes))) {
        ret_offsets[count] = offset;
        ret_bytes[count++] = bytes;
    }
    if (code && code != CUDA_INVALID_VALUE) { /* which says that there are no more */
        return cuda_context_check(m->context, code, "the kernel's parameters", NULL);
    }
    return (int)count;
}

/* --- limits --- */

__attribute__((format(printf, 4, 5))) static int
refuse(struct cuda_context *c, int code, struct err *err, const char *fmt, ...) {
    char words[240];
    text_format(words, fmt);
    c->code = code;
    return err_set(err, -EINVAL, "%s", words);
}

static int function_value(const struct cuda_context *c, cuda_function_ref function,
                          int what) {
    int value = 0;
    return c->api->function_attribute(&value, what, function) == CUDA_OK ? value : 0;
}

static int check_extents(struct cuda_context *c, const struct cuda_shape *s,
                         struct err *err) {
    for (int i = 0; i < 3; i++) {
        unsigned most_threads = (unsigned)c->device.max_block[i];
        unsigned most_blocks = (unsigned)c->device.max_grid[i];
        if (!s->block[i] || (most_threads && s->block[i] > most_threads)) {
            return refuse(c, CUDA_INVALID_VALUE, err,
                          "block.%c is %u, the device takes 1 to %u", 'x' + i,
                          s->block[i], most_threads);
        }
        if (!s->grid[i] || (most_blocks && s->grid[i] > most_blocks)) {
            return refuse(c, CUDA_INVALID_VALUE, err,
                          "grid.%c is %u, the device takes 1 to %u", 'x' + i, s->grid[i],
                          most_blocks);
        }
    }
    return 0;
}

static int check_threads(struct cuda_context *c, const struct cuda_shape *s,
                         cuda_function_ref function, struct err *err) {
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
    unsigned device = (unsigned)c->device.max_threads;
    unsigned own = (unsigned)function_value(c, function, CUDA_FUNCTION_MAX_THREADS);
    if (device && threads > device) {
        return refuse(c, CUDA_INVALID_VALUE, err,
                      "the block has %" PRIu64 " threads, the device takes at most %u",
                      threads, device);
    }
    if (own && threads > own) {
        return refuse(c, CUDA_LAUNCH_OUT_OF_RESOURCES, err,
                      "the block has %" PRIu64
                      " threads, '%.64s' runs with at most %u (its %d registers, or "
                      "__launch_bounds__)",
                      threads, s->label, own,
                      function_value(c, function, CUDA_FUNCTION_REGISTERS));
    }
    return 0;
}

/* Beyond 48 KB a kernel has to be allowed its dynamic shared memory. */
static int check_shared(struct cuda_context *c, const struct cuda_shape *s,
                        cuda_function_ref function, struct err *err) {
    uint64_t fixed =
        (uint64_t)function_value(c, function, CUDA_FUNCTION_STATIC_SHARED_BYTES);
    uint64_t most = (uint64_t)c->device.shared_optin_bytes;
    if (most && fixed + s->shared_bytes > most) {
        return refuse(
            c, CUDA_INVALID_VALUE, err,
            "the block needs %" PRIu64
            " bytes of shared memory (%u of them dynamic), the device has %" PRIu64
            " for one",
            fixed + s->shared_bytes, s->shared_bytes, most);
    }
    int allowed = function_value(c, function, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES);
    if (s->shared_bytes <= (unsigned)allowed) {
        return 0;
    }
    return cuda_context_check(
        c,
        c->api->function_set_attribute(function, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                                       (int)s->shared_bytes),
        "allowing so much dynamic shared memory", err);
}

static int check_cluster(struct cuda_context *c, const struct cuda_shape *s,
                         cuda_function_ref function, struct err *err) {
    uint64_t blocks = (uint64_t)s->cluster[0] * s->cluster[1] * s->cluster[2];
    if (!blocks || blocks == 1) {
        return 0;
    }
    if (!c->device.clusters) {
        return refuse(c, CUDA_INVALID_CLUSTER_SIZE, err,
                      "the device has no thread block clusters: they need 9.0");
    }
    for (int i = 0; i < 3; i++) {
        if (s->grid[i] % s->cluster[i]) {
            return refuse(c, CUDA_INVALID_CLUSTER_SIZE, err,
                          "grid.%c is %u, not a multiple of cluster.%c, %u", 'x' + i,
                          s->grid[i], 'x' + i, s->cluster[i]);
        }
    }
    if (blocks > MAX_CLUSTER) {
        return refuse(c, CUDA_INVALID_CLUSTER_SIZE, err,
                      "a cluster of %" PRIu64 " blocks; the device takes at most %d",
                      blocks, MAX_CLUSTER);
    }
    return blocks <= PORTABLE_CLUSTER
               ? 0
               : cuda_context_check(c,
                                    c->api->function_set_attribute(
                                        function, CUDA_FUNCTION_NON_PORTABLE_CLUSTER, 1),
                                    "allowing a cluster of more than 8 blocks", err);
}

/* After the shared memory was allowed: the driver counts with it. */
static int check_cooperative(struct cuda_context *c, const struct cuda_shape *s,
                             cuda_function_ref function, struct err *err) {
    int blocks = 0, threads = (int)(s->block[0] * s->block[1] * s->block[2]);
    uint64_t grid = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
    if (!s->cooperative) {
        return 0;
    }
    if (!c->device.cooperative) {
        return refuse(c, CUDA_NOT_SUPPORTED, err,
                      "the device has no cooperative launches");
    }
    if (!c->api->active_blocks ||
        c->api->active_blocks(&blocks, function, threads, s->shared_bytes) != CUDA_OK ||
        grid <= (uint64_t)blocks * (uint64_t)c->device.sms) {
        return 0; /* or the driver says it at the launch */
    }
    return refuse(
        c, CUDA_COOPERATIVE_LAUNCH_TOO_LARGE, err,
        "a cooperative grid of %" PRIu64 " blocks: the device holds %d on each of %d "
        "multiprocessors, %" PRIu64 " at once",
        grid, blocks, c->device.sms, (uint64_t)blocks * (uint64_t)c->device.sms);
}

/* --- launches --- */

static void attribute_add(struct cuda_prepared *p, struct cuda_launch_attribute a) {
    p->attributes[p->launch.attribute_count++] = a;
    p->launch.attributes = p->attributes;
}

static void launch_fill(struct cuda_prepared *p, const struct cuda_shape *s, void *params,
                        size_t param_bytes) {
    memcpy(p->launch.grid, s->grid, sizeof p->launch.grid);
    memcpy(p->launch.block, s->block, sizeof p->launch.block);
    p->launch.shared_bytes = s->shared_bytes;
    if (s->cooperative) {
        attribute_add(p, (struct cuda_launch_attribute){.id = CUDA_LAUNCH_COOPERATIVE,
                                                        .value.cooperative = 1});
    }
    if (s->cluster[0]) {
        struct cuda_launch_attribute a = {.id = CUDA_LAUNCH_CLUSTER};
        a.value.cluster.x = s->cluster[0];
        a.value.cluster.y = s->cluster[1];
        a.value.cluster.z = s->cluster[2];
        attribute_add(p, a);
    }
    p->param_bytes = param_bytes;
    p->extra[0] = CUDA_LAUNCH_PARAM_BUFFER;
    p->extra[1] = params;
    p->extra[2] = CUDA_LAUNCH_PARAM_BUFFER_BYTES;
    p->extra[3] = &p->param_bytes;
    p->extra[4] = CUDA_LAUNCH_PARAM_END;
}

int cuda_module_prepare(struct cuda_module *m, const struct cuda_shape *shape,
                        void *params, size_t param_bytes, struct cuda_prepared *ret,
                        struct err *err) {
    struct cuda_context *c = m->context;
    *ret = (struct cuda_prepared){.api = c->api};
    int r = function_find(m, shape->entry, &ret->function, err);
    r = r ? r : check_extents(c, shape, err);
    r = r ? r : check_threads(c, shape, ret->function, err);
    r = r ? r : check_cluster(c, shape, ret->function, err);
    r = r ? r : check_shared(c, shape, ret->function, err);
    r = r ? r : check_cooperative(c, shape, ret->function, err);
    if (r == 0) {
        launch_fill(ret, shape, params, param_bytes);
    }
    return r;
}

int cuda_prepared_launch(struct cuda_prepared *p, cuda_stream_ref stream) {
    p->launch.stream = stream;
    return p->api->launch(&p->launch, p->function, NULL,
                          p->param_bytes ? p->extra : NULL);
}
