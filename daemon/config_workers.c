#include "daemon/config_workers.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strings.h"
#include "gpu/pool/pool.h"

#include <errno.h>
#include <string.h>

static const json_t *entry_argv(const json_t *entry) {
    const json_t *argv = json_object_get(entry, "argv");
    return argv ? argv : json_object_get(entry, "command");
}

static bool name_occurs(const json_t *workers, size_t before, const char *name) {
    for (size_t i = 0; i < before; i++) {
        if (!strcmp(json_get_string(json_array_get(workers, i), "name", ""), name)) {
            return true;
        }
    }
    return false;
}

int config_workers_check(const json_t *file, struct err *err) {
    const json_t *workers = json_object_get(file, "workers");
    json_each(workers, i, entry) {
        const char *name = json_get_string(entry, "name", NULL);
        if (!json_object_get(entry, "argv") == !json_object_get(entry, "command")) {
            return err_set(err, -EINVAL,
                           "workers[%zu]: its command line is needed, as \"argv\" or "
                           "\"command\"",
                           i);
        }
        if (name && name_occurs(workers, i, name)) {
            return err_set(err, -EINVAL, "workers[%zu]: there are two called \"%s\"", i,
                           name);
        }
    }
    return 0;
}

static enum pool_told told(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return !value ? POOL_UNTOLD : json_is_true(value) ? POOL_YES : POOL_NO;
}

static void worker_read(struct pool_worker_config *ret, const json_t *entry) {
    const json_t *offers = json_object_get(entry, "offers");
    *ret = (struct pool_worker_config){
        .argv = strings_from(entry_argv(entry)),
        .name = json_get_string(entry, "name", NULL),
        .parallel = (unsigned)json_get_integer(entry, "parallel", 0),
        .hello_ms = 1000 * (unsigned)json_get_integer(entry, "start_timeout_s", 0),
        .local = told(entry, "local"),
        .gpu = told(offers, "gpu"),
        .compile = told(offers, "compile"),
    };
}

void config_workers_read(struct pool_config *pool, const json_t *settings) {
    const json_t *workers = json_object_get(settings, "workers");
    pool->add_local = json_get_bool(settings, "local_worker", 1);
    pool->count = json_array_size(workers);
    pool->workers = xcalloc(pool->count, sizeof *pool->workers);
    for (size_t i = 0; i < pool->count; i++) {
        worker_read(&pool->workers[i], json_array_get(workers, i));
    }
}

void config_workers_free(struct pool_config *pool) {
    for (size_t i = 0; i < pool->count; i++) {
        strings_free(pool->workers[i].argv);
    }
    free(pool->workers);
}
