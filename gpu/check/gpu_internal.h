#pragma once
/* gpu_internal: what a gpu is made of, for gpu.c, compilation.c and kernel_check.c alone.
 *
 * All of it is the gpu's own and is touched on the loop's thread only. */
#include "gpu/check/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_cache;
struct check_reader;
struct compilation;

struct gpu {
    uv_loop_t *loop;
    struct pool *pool;
    struct check_reader *reader;
    struct check_cache *cache;
    struct compilation *compilations; /* compilation.c's: those that may be joined */
    unsigned compilation_count;       /* likewise: all that are on their way */
    char **include_dirs;
    char *default_arch;
    const json_t *known_keys; /* of upskilld.yaml; borrowed */
    char *workers;            /* the configured ones, for the cache's key */
    unsigned wall_ms;
    char *compiler; /* what tells this machine's compiler from another */
    uint64_t compiler_seen_ms;
    json_t *places; /* {"toolkits", "missing"}, as last looked for; NULL: never */
    uint64_t places_ms;
    size_t open; /* holders: checks, compilations and the pool */
    bool closing;
    void (*closed)(void *data);
    void *closed_data;
};

/* One more holder: the gpu stays until that one lets go of it. */
void gpu_ref(struct gpu *gpu);
/* The last one frees the gpu and tells that it is closed. */
void gpu_unref(struct gpu *gpu);
/* What tells the compiler from another, for the cache's key: borrowed until the next
 * call, and at most two seconds old. */
const char *gpu_compiler(struct gpu *gpu);
