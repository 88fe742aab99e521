#include "tests/unit/gpu/standin_room.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void api_fill(struct cuda_api *api, void *library) {
    void *at;
#define CUDA_FUNCTION(member, symbol, needed, args)                                      \
    at = dlsym(library, #symbol);                                                        \
    cr_assert(at, "no %s", #symbol);                                                     \
    memcpy(&api->member, &at, sizeof at);
#include "gpu/driver/cuda_functions.def"
#undef CUDA_FUNCTION
}

static struct standin_room *open_library(const char *variable, const char *conf) {
    struct standin_room *r = xcalloc(1, sizeof *r);
    char conf_path[140];
    const char *library = getenv(variable);
    cr_assert(library, "%s says where the library is", variable);
    strcpy(r->folder, "/tmp/standin-XXXXXX");
    cr_assert(mkdtemp(r->folder));
    snprintf(r->path, sizeof r->path, "%s/library.so.1", r->folder);
    snprintf(conf_path, sizeof conf_path, "%s.conf", r->path);
    cr_assert_eq(symlink(library, r->path), 0);
    FILE *f = fopen(conf_path, "w");
    cr_assert(f);
    fputs(conf, f);
    fclose(f);
    r->library = dlopen(r->path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(r->library, "%s", dlerror());
    unlink(conf_path);
    unlink(r->path);
    rmdir(r->folder);
    return r;
}

struct standin_room *room_load(const char *conf) {
    struct standin_room *r = open_library("CUDA_STANDIN", conf);
    api_fill(&r->api, r->library);
    return r;
}

struct standin_room *room_load_nvml(const char *conf) {
    return open_library("NVML_STANDIN", conf);
}

struct standin_room *room_start(const char *conf, const char *ptx) {
    struct standin_room *r = room_load(conf);
    cuda_context_ref context;
    cr_assert_eq(r->api.init(0), 0);
    cr_assert_eq(r->api.context_retain(&context, 0), 0);
    cr_assert_eq(r->api.context_set_current(context), 0);
    cr_assert_eq(r->api.stream_create(&r->stream, CUDA_STREAM_NON_BLOCKING), 0);
    if (ptx) {
        autofree char *text =
            xasprintf("%s%s",
                      strncmp(ptx, ".version", 8)
                          ? ".version 9.0\n.target sm_90a\n.address_size 64\n"
                          : "",
                      ptx);
        cr_assert_eq(r->api.module_load(&r->module, text, 0, NULL, NULL), 0);
    }
    return r;
}

cuda_function_ref room_function(struct standin_room *r, const char *name) {
    cuda_function_ref f = NULL;
    cr_assert_eq(r->api.module_function(&f, r->module, name), 0, "no kernel %s", name);
    return f;
}

int room_wait(struct standin_room *r) {
    const struct timespec pause = {.tv_nsec = 200000};
    int code;
    while ((code = r->api.stream_query(r->stream)) == CUDA_NOT_READY) {
        nanosleep(&pause, NULL);
    }
    return code;
}

int room_launch(struct standin_room *r, const char *kernel, unsigned blocks,
                unsigned threads, void **params) {
    const struct cuda_launch launch = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = r->stream};
    return r->api.launch(&launch, room_function(r, kernel), params, NULL);
}

void room_end(struct standin_room *r) {
    dlclose(r->library);
    free(r);
}
