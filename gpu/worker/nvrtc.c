#include "gpu/worker/nvrtc.h"

#include "base/clock.h"
#include "base/err.h"
#include "gpu/compile/toolkit.h"

#include <dlfcn.h>
#include <glob.h>

typedef struct program *program; /* nvrtcProgram */

struct nvrtc {
    void *library;
    int major, minor;
    int (*version)(int *major, int *minor);
    const char *(*error_string)(int code);
    int (*create)(program *ret, const char *src, const char *name, int count,
                  const char *const *headers, const char *const *names);
    int (*destroy)(program *p);
    int (*compile)(program p, int count, const char *const *options);
    int (*log_size)(program p, size_t *ret);
    int (*log)(program p, char *ret);
    int (*ptx_size)(program p, size_t *ret);
    int (*ptx)(program p, char *ret);
    int (*cubin_size)(program p, size_t *ret);
    int (*cubin)(program p, char *ret);
    int (*pch_status)(program p); /* from 12.8 on; NULL before */
};

struct symbol {
    const char *name;
    size_t offset;
    bool optional;
};
static const struct symbol symbols[] = {
    {"nvrtcVersion", offsetof(struct nvrtc, version), false},
    {"nvrtcGetErrorString", offsetof(struct nvrtc, error_string), false},
    {"nvrtcCreateProgram", offsetof(struct nvrtc, create), false},
    {"nvrtcDestroyProgram", offsetof(struct nvrtc, destroy), false},
    {"nvrtcCompileProgram", offsetof(struct nvrtc, compile), false},
    {"nvrtcGetProgramLogSize", offsetof(struct nvrtc, log_size), false},
    {"nvrtcGetProgramLog", offsetof(struct nvrtc, log), false},
    {"nvrtcGetPTXSize", offsetof(struct nvrtc, ptx_size), false},
    {"nvrtcGetPTX", offsetof(struct nvrtc, ptx), false},
    {"nvrtcGetCUBINSize", offsetof(struct nvrtc, cubin_size), false},
    {"nvrtcGetCUBIN", offsetof(struct nvrtc, cubin), false},
    {"nvrtcGetPCHCreateStatus", offsetof(struct nvrtc, pch_status), true},
};

static int symbols_load(struct nvrtc *n, const char *path, struct err *err) {
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *address = dlsym(n->library, symbols[i].name);
        if (!address && !symbols[i].optional) {
            return err_set(err, -EINVAL, "%s has no %s", path, symbols[i].name);
        }
        /* POSIX makes data and function pointers convertible for dlsym's sake. */
        memcpy((char *)n + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

/* NVRTC opens its builtins by their bare name, which is found only on the loader's path:
 * so that no LD_LIBRARY_PATH is needed they are loaded first, by their full name. */
static bool builtins_load(const struct toolkit *toolkit) {
    autofree char *pattern =
        xasprintf("%s/libnvrtc-builtins.so.%d.*", toolkit->library_dir, toolkit->major);
    glob_t names = {0};
    bool loaded = true;
    if (!glob(pattern, 0, NULL, &names)) {
        for (size_t i = 0; i < names.gl_pathc && loaded; i++) {
            loaded = dlopen(names.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL) != NULL;
        }
    }
    globfree(&names);
    return loaded;
}

int nvrtc_open(const struct toolkit *toolkit, struct nvrtc **ret, struct err *err) {
    void *library = builtins_load(toolkit) ? dlopen(toolkit->nvrtc, RTLD_NOW) : NULL;
    if (!library) {
        const char *why = dlerror();
        return err_set(err, -ENOENT, "the CUDA compiler cannot be loaded: %s",
                       why ? why : toolkit->nvrtc);
    }
    struct nvrtc *n = xcalloc(1, sizeof *n);
    n->library = library;
    int r = symbols_load(n, toolkit->nvrtc, err);
    if (!r && n->version(&n->major, &n->minor)) {
        r = err_set(err, -EINVAL, "%s does not say its version", toolkit->nvrtc);
    }
    if (r) {
        free(n);
        return r;
    }
    *ret = n;
    return 0;
}

void nvrtc_version(const struct nvrtc *n, int *ret_major, int *ret_minor) {
    *ret_major = n->major;
    *ret_minor = n->minor;
}

/* One of the program's outputs: NULL when it is absent, empty or absurdly large. */
static char *output_take(program p, int (*size)(program, size_t *),
                         int (*get)(program, char *), size_t *ret_len) {
    size_t len = 0;
    if (size(p, &len) || len <= 1 || len > NVRTC_MAX_OUTPUT) {
        return NULL;
    }
    char *bytes = xmalloc(len + 1);
    if (get(p, bytes)) {
        free(bytes);
        return NULL;
    }
    bytes[len] = '\0';
    *ret_len = len;
    return bytes;
}

static void log_take(const struct nvrtc *n, program p, struct nvrtc_output *ret) {
    ret->log = output_take(p, n->log_size, n->log, &ret->log_len);
    if (!ret->log) {
        ret->log = xstrdup("");
        ret->log_len = 0;
        return;
    }
    ret->log_len = strlen(ret->log);
    if (ret->log_len > NVRTC_MAX_LOG) {
        size_t len = NVRTC_MAX_LOG;
        while (len && ret->log[len - 1] != '\n') {
            len--;
        }
        ret->log[len] = '\0';
        ret->log_len = len;
    }
}

static void outputs_take(const struct nvrtc *n, program p, struct nvrtc_output *ret) {
    log_take(n, p, ret);
    ret->ptx = output_take(p, n->ptx_size, n->ptx, &ret->ptx_len);
    if (ret->ptx) {
        ret->ptx_len = strlen(ret->ptx);
    }
    if (ret->code == NVRTC_OK) {
        ret->cubin = output_take(p, n->cubin_size, n->cubin, &ret->cubin_len);
        ret->precompiled = n->pch_status && n->pch_status(p) == 0;
    }
}

void nvrtc_compile(const struct nvrtc *n, const struct nvrtc_input *in,
                   struct nvrtc_output *ret) {
    *ret = (struct nvrtc_output){0};
    program p = NULL;
    uint64_t start = clock_us();
    ret->code = n->create(&p, in->text, in->name, in->header_count, in->header_texts,
                          in->header_names);
    if (ret->code == NVRTC_OK) {
        ret->code = n->compile(p, in->argc, in->argv);
    }
    ret->ms = (double)(clock_us() - start) / 1e3;
    ret->message = n->error_string(ret->code);
    if (p) {
        outputs_take(n, p, ret);
        n->destroy(&p);
    } else {
        ret->log = xstrdup("");
    }
}

void nvrtc_output_finish(struct nvrtc_output *o) {
    free(o->log);
    free(o->cubin);
    free(o->ptx);
    *o = (struct nvrtc_output){0};
}
