#include "nvrtc_probe.h"

#include "base/mem.h"
#include "gpu/source/shims.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct program *program_handle;

static struct {
    bool tried;
    void *library;
    char *root;
    int (*create)(program_handle *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*destroy)(program_handle *);
    int (*compile)(program_handle, int, const char *const *);
    int (*log_size)(program_handle, size_t *);
    int (*log)(program_handle, char *);
} nvrtc;

/* The first library in dir whose name begins so. */
static void *open_library(const char *dir, const char *prefix) {
    void *library = NULL;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && !library && (e = readdir(d));) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            autofree char *path = xasprintf("%s/%s", dir, e->d_name);
            library = dlopen(path, RTLD_NOW);
        }
    }
    if (d) {
        closedir(d);
    }
    return library;
}

/* NVRTC looks its builtins up by name alone: they are found when already loaded. */
static bool load_from(const char *root, const char *folder) {
    autofree char *dir = xasprintf("%s/%s", root, folder);
    if (!open_library(dir, "libnvrtc-builtins.so.")) {
        return false;
    }
    nvrtc.library = open_library(dir, "libnvrtc.so.");
    if (nvrtc.library) {
        nvrtc.root = xstrdup(root);
    }
    return nvrtc.library;
}

static bool load_root(const char *base, const char *below) {
    if (!base || !*base) {
        return false;
    }
    autofree char *root = xasprintf("%s%s", base, below);
    return load_from(root, "lib64") || load_from(root, "lib");
}

static void load(void) {
    nvrtc.tried = true;
    const char *home = getenv("HOME");
    if (!load_root(getenv("UPSKILLD_CUDA"), "") && !load_root(getenv("CUDA_HOME"), "") &&
        !load_root(getenv("XDG_DATA_HOME"), "/upskilld/cuda/nvidia/cu13") &&
        !load_root(home, "/.local/share/upskilld/cuda/nvidia/cu13") &&
        !load_root("/usr/local", "/cuda")) {
        return;
    }
    *(void **)&nvrtc.create = dlsym(nvrtc.library, "nvrtcCreateProgram");
    *(void **)&nvrtc.destroy = dlsym(nvrtc.library, "nvrtcDestroyProgram");
    *(void **)&nvrtc.compile = dlsym(nvrtc.library, "nvrtcCompileProgram");
    *(void **)&nvrtc.log_size = dlsym(nvrtc.library, "nvrtcGetProgramLogSize");
    *(void **)&nvrtc.log = dlsym(nvrtc.library, "nvrtcGetProgramLog");
}

const char *nvrtc_probe_missing(void) {
    if (!nvrtc.tried) {
        load();
        if (!nvrtc.library) {
            fprintf(stderr, "NOT TESTED: no NVRTC on this machine, so nothing here was "
                            "compiled; set CUDA_HOME or run the set-up\n");
        }
    }
    return nvrtc.library ? NULL : "no NVRTC on this machine";
}

/* 55_GLOBAL__N__00000000_22_namespaces_extern_c_cu_cbe68dda -> 12_GLOBAL__N_1, in place.
 */
static void rename_anonymous(char *log) {
    static const char mark[] = "_GLOBAL__N__", name[] = "12_GLOBAL__N_1";
    for (char *at = log; (at = strstr(at, mark)); at++) {
        char *start = at, *end = strstr(at, "_cu_");
        while (start > log && start[-1] >= '0' && start[-1] <= '9') {
            start--;
        }
        if (end && strcspn(at, "'\n") > (size_t)(end - at) && strlen(end) > 12) {
            memcpy(start, name, strlen(name));
            memmove(start + strlen(name), end + 12, strlen(end + 12) + 1);
            at = start;
        }
    }
}

void nvrtc_probe_compile(const char *name, const char *source, const struct shim *headers,
                         size_t header_count, const char *const *extra,
                         struct nvrtc_probe_result *ret) {
    autofree const char **names = xcalloc(header_count + 1, sizeof *names);
    autofree const char **texts = xcalloc(header_count + 1, sizeof *texts);
    for (size_t i = 0; i < header_count; i++) {
        names[i] = headers[i].name;
        texts[i] = headers[i].text;
    }
    autofree char *include = xasprintf("-I%s/include", nvrtc.root);
    autofree char *cccl = xasprintf("-I%s/include/cccl", nvrtc.root);
    const char *options[32] = {"-arch=sm_90a", include, cccl, "--ptxas-options=-v"};
    int count = 4;
    for (; extra && *extra && count < 32; extra++) {
        options[count++] = *extra;
    }
    *ret = (struct nvrtc_probe_result){0};
    program_handle program = NULL;
    int rc = nvrtc.create(&program, source, name, (int)header_count, texts, names);
    rc = rc ? rc : nvrtc.compile(program, count, options);
    size_t size = 0;
    nvrtc.log_size(program, &size);
    ret->log = xcalloc(size + 1, 1);
    nvrtc.log(program, ret->log);
    rename_anonymous(ret->log);
    ret->ok = rc == 0;
    nvrtc.destroy(&program);
}

void nvrtc_probe_finish(struct nvrtc_probe_result *r) {
    free(r->log);
    r->log = NULL;
}

int nvrtc_probe_registers(const struct nvrtc_probe_result *r, const char *symbol) {
    autofree char *heading = xasprintf("Compiling entry function '%s'", symbol);
    const char *at = strstr(r->log, heading);
    const char *used = at ? strstr(at, ": Used ") : NULL;
    return used ? atoi(used + 7) : -1;
}

int nvrtc_probe_kernels(const struct nvrtc_probe_result *r) {
    int count = 0;
    for (const char *at = r->log; (at = strstr(at, "Compiling entry function '")); at++) {
        count++;
    }
    return count;
}
