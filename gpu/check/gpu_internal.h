#pragma once
/* gpu_internal: the members of a gpu, for gpu.c, compilation.c and kernel_check.c only.
 * The gpu owns all of them; they are used only on the loop's thread. */
#include "gpu/check/gpu.h"

struct check_cache;
struct check_reader;
struct compilation;

struct gpu {
    uv_loop_t *loop;
    struct pool *pool;
    struct check_reader *reader;
    struct check_cache *cache;
    /* for compilation.c: those that further checks may join */
    struct compilation *compilations;
    unsigned compilation_count; /* for compilation.c: all in progress */
    char **include_dirs;
    char *default_arch;
    const json_t *known_keys; /* of upskilld.yaml; borrowed */
    char *workers;            /* the configured ones, for the cache's key */
    unsigned wall_ms;
    char *compiler; /* identifies this machine's compiler */
    uint64_t compiler_seen_ms;
    /* {"toolkits", "missing"} from the last search; NULL: never searched */
    json_t *places;
    uint64_t places_ms;
    size_t open; /* references: checks, compilations and the pool */
    bool closing;
    void (*closed)(void *data);
    void *closed_data;
};

/* Adds a reference: the gpu exists until gpu_unref. */
void gpu_ref(struct gpu *gpu);
/* The last call frees the gpu and reports that it is closed. */
void gpu_unref(struct gpu *gpu);
/* Identifies the compiler, for the cache's key: borrowed until the next call, and at most
 * two seconds old. */
const char *gpu_compiler(struct gpu *gpu);
