#pragma once
/* gpu: the state that all checks and validations of a daemon share.
 *
 * It owns the pool of workers, the reader of inputs, the cache of answers and the list of
 * compilations, and copies its configuration. It lives until gpu_close
 * was called and every check and compilation has ended. Single-threaded: everything runs
 * on the loop's thread. */
#include "base/json.h"

#include <uv.h>

struct gpu;
struct pool;
struct pool_config;

struct gpu_config {
    const struct pool_config *pool;
    /* absolute folders of the configuration; also roots */
    const char *const *include_dirs;
    const char *default_arch; /* "sm_90a" */
    const json_t *known_keys; /* an object whose keys are the configuration's; borrowed
                                 for the life of the process */
    size_t cache_bytes;       /* 32 MiB */
    unsigned compile_wall_ms; /* 120 000 */
};

struct gpu *gpu_new(uv_loop_t *loop, const struct gpu_config *config);
/* Ends the workers and cancels everything that waits for them. `closed` (may be NULL)
 * runs from the loop when nothing is left. */
void gpu_close(struct gpu *gpu, void (*closed)(void *data), void *data);
void gpu_kill(struct gpu *gpu); /* every child, at once; before a fast exit */
/* The pool of workers, for other jobs; borrowed. */
struct pool *gpu_pool(struct gpu *gpu);
/* The configuration's include folders, borrowed; and the time limit of a compilation. */
const char *const *gpu_include_dirs(const struct gpu *gpu);
unsigned gpu_compile_wall_ms(const struct gpu *gpu);
/* {"workers", "toolkits", "cache": {"entries", "bytes", "hits", "misses"}, "missing":
 * [{"what", "hint"}]}: new reference; part of daemon/status. */
json_t *gpu_status(struct gpu *gpu);
