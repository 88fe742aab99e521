#include "gpu/check/gpu.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/strings.h"
#include "gpu/check/check_cache.h"
#include "gpu/check/check_reader.h"
#include "gpu/check/gpu_internal.h"
#include "gpu/compile/toolkit.h"
#include "gpu/pool/pool.h"

#include <limits.h>
#include <sys/stat.h>

/* The machine's toolkits are looked up again after this. */
#define TOOLKIT_FRESH_MS 2000

/* --- which compiler answers --- */

static char *workers_identity(const struct pool_config *config) {
    autobuf text = BUF_INIT(64u << 10);
    for (size_t i = 0; i < config->count; i++) {
        for (char **arg = config->workers[i].argv; *arg; arg++) {
            buf_adds(&text, *arg);
            buf_addc(&text, '\n');
        }
    }
    return buf_detach(&text);
}

static char *compiler_identity(const char *workers) {
    autobuf text = BUF_INIT(64u << 10);
    buf_adds(&text, workers);
    size_t count;
    struct toolkit *toolkits = toolkits_find(&count);
    for (size_t i = 0; i < count; i++) {
        struct stat st = {0};
        stat(toolkits[i].nvrtc, &st);
        buf_addf(&text, "%s %lld %lld.%ld\n", toolkits[i].nvrtc, (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    }
    toolkits_free(toolkits, count);
    return buf_detach(&text);
}

const char *gpu_compiler(struct gpu *gpu) {
    uint64_t now = clock_ms();
    if (!gpu->compiler || now - gpu->compiler_seen_ms > TOOLKIT_FRESH_MS) {
        free(gpu->compiler);
        gpu->compiler = compiler_identity(gpu->workers);
        gpu->compiler_seen_ms = now;
    }
    return gpu->compiler;
}

/* --- from the first to the last holder --- */

/* The compiler's start from a cold disk, the wait for a precompiled header and two
 * attempts, each bounded by the worker; the rest is for the way there and back. */
#define COMPILE_GRACE_MS 120000u

static unsigned job_ms(unsigned wall_ms) {
    return wall_ms > (UINT_MAX - COMPILE_GRACE_MS) / 3 ? UINT_MAX
                                                       : 3 * wall_ms + COMPILE_GRACE_MS;
}

struct gpu *gpu_new(uv_loop_t *loop, const struct gpu_config *config) {
    struct pool_config pool = config->pool ? *config->pool : (struct pool_config){0};
    struct gpu *gpu = xcalloc(1, sizeof *gpu);
    gpu->loop = loop;
    gpu->cache = check_cache_new(config->cache_bytes ? config->cache_bytes : 32u << 20);
    gpu->include_dirs = strings_copy(config->include_dirs);
    gpu->known_keys = config->known_keys;
    gpu->default_arch = xstrdup(config->default_arch ? config->default_arch : "sm_90a");
    gpu->workers = workers_identity(&pool);
    gpu->wall_ms = config->compile_wall_ms ? config->compile_wall_ms : 120000;
    pool.job_ms = pool.job_ms ? pool.job_ms : job_ms(gpu->wall_ms);
    gpu->pool = pool_new(loop, &pool);
    gpu->reader = check_reader_new(loop);
    gpu->open = 1;
    return gpu;
}

void gpu_ref(struct gpu *gpu) {
    gpu->open++;
}

void gpu_unref(struct gpu *gpu) {
    if (--gpu->open > 0) {
        return;
    }
    void (*closed)(void *) = gpu->closed;
    void *data = gpu->closed_data;
    check_reader_free(gpu->reader);
    check_cache_free(gpu->cache);
    strings_free(gpu->include_dirs);
    free(gpu->default_arch);
    free(gpu->workers);
    free(gpu->compiler);
    json_decref(gpu->places);
    free(gpu);
    if (closed) {
        closed(data);
    }
}

static void pool_closed(void *data) {
    gpu_unref(data);
}

void gpu_close(struct gpu *gpu, void (*closed)(void *data), void *data) {
    gpu->closing = true;
    gpu->closed = closed;
    gpu->closed_data = data;
    pool_close(gpu->pool, pool_closed, gpu);
}

void gpu_kill(struct gpu *gpu) {
    pool_kill(gpu->pool);
}

struct pool *gpu_pool(struct gpu *gpu) {
    return gpu->pool;
}

const char *const *gpu_include_dirs(const struct gpu *gpu) {
    return (const char *const *)gpu->include_dirs;
}

unsigned gpu_compile_wall_ms(const struct gpu *gpu) {
    return gpu->wall_ms;
}

/* --- status --- */

static json_t *places_look(void) {
    size_t count;
    struct toolkit *toolkits = toolkits_find(&count);
    json_t *list = json_array(), *missing = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_pack("{s:o, s:o, s:i}", "root",
                                              json_clean_z(toolkits[i].root), "nvrtc",
                                              json_clean_z(toolkits[i].nvrtc), "major",
                                              toolkits[i].major));
    }
    if (!count) {
        json_array_append_new(missing, json_pack("{s:s, s:s}", "what", "CUDA's compiler",
                                                 "hint", TOOLKIT_HINT));
    }
    toolkits_free(toolkits, count);
    return json_pack("{s:o, s:o}", "toolkits", list, "missing", missing);
}

/* Looking asks the disk a hundred times: who polls the status gets an answer that may be
 * two seconds old. */
json_t *gpu_status(struct gpu *gpu) {
    if (!gpu->places || clock_ms() - gpu->places_ms >= TOOLKIT_FRESH_MS) {
        json_decref(gpu->places);
        gpu->places = places_look();
        gpu->places_ms = clock_ms();
    }
    return json_pack("{s:o, s:O, s:o, s:O}", "workers", pool_status(gpu->pool),
                     "toolkits", json_object_get(gpu->places, "toolkits"), "cache",
                     check_cache_status(gpu->cache), "missing",
                     json_object_get(gpu->places, "missing"));
}
