/* A pool's slot: the place of one worker, which is started, asked, rested and ended. */
#define LOG_MODULE "pool"
#include "base/find.h"
#include "gpu/pool/pool_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/text.h"
#include "protocol/rpc/rpc.h"

#include <unistd.h>

#define MAX_START_FAILURES 2 /* in a row; then the slot rests */
#define REST_MS 30000
#define DEVICES_MS 60000 /* a driver's start, on a machine with many GPUs */
#define WORKER_PROGRAM "upskilld-worker"

/* --- where the local worker is --- */

/* $UPSKILLD_WORKER, otherwise beside this program (or its place in a build tree),
 * otherwise PATH. A path from the user is not searched for: if it does not start, that is
 * an error. */
static char *local_worker_path(void) {
    static const char *const places[] = {WORKER_PROGRAM, "../gpu/" WORKER_PROGRAM};
    const char *named = getenv("UPSKILLD_WORKER");
    if (named && *named) {
        return xstrdup(named);
    }
    char *path = beside_program(places, ARRAY_LEN(places), X_OK);
    return path ? path : xstrdup(WORKER_PROGRAM);
}

/* --- from the configuration --- */

/* A script that calls srun is one word, too. */
static bool config_is_local(const struct pool_worker_config *config) {
    return config->local == POOL_UNTOLD
               ? !config->argv[1] &&
                     !strcmp(path_basename(config->argv[0]), WORKER_PROGRAM)
               : config->local == POOL_YES;
}

static unsigned machine_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)cores : 1;
}

static bool name_is_taken(const struct pool *pool, const struct slot *self,
                          const char *name) {
    for (const struct slot *slot = pool->slots; slot < self; slot++) {
        if (!strcmp(slot->name, name)) {
            return true;
        }
    }
    return false;
}

/* "ssh", "ssh-2", … */
static char *name_choose(const struct pool *pool, const struct slot *self,
                         const char *wanted) {
    char *name = xstrdup(wanted);
    for (unsigned i = 2; name_is_taken(pool, self, name); i++) {
        free(name);
        name = xasprintf("%s-%u", wanted, i);
    }
    return name;
}

static void slot_timer_fired(uv_timer_t *timer);

static void slot_init(struct pool *pool, struct slot *slot,
                      const struct pool_worker_config *config, unsigned hello_ms) {
    slot->pool = pool;
    slot->local = config_is_local(config);
    slot->argv = strings_copy((const char *const *)config->argv);
    slot->name = name_choose(pool, slot,
                             config->name  ? config->name
                             : slot->local ? "local"
                                           : path_basename(config->argv[0]));
    slot->gpu = config->gpu;
    slot->compile = config->compile;
    slot->hello_ms = config->hello_ms ? config->hello_ms : hello_ms;
    slot->parallel = config->parallel ? config->parallel
                     : slot->local    ? machine_cores()
                                      : POOL_PARALLEL_ELSEWHERE;
    uv_timer_init(pool->loop, &slot->timer);
    pool->open++;
}

static bool any_is_local(const struct pool_config *config) {
    return any_of(i, 0, config->count, config_is_local(&config->workers[i]));
}

void slots_init(struct pool *pool, const struct pool_config *config) {
    bool add = !config->count || (config->add_local && !any_is_local(config));
    unsigned hello_ms = config->hello_ms ? config->hello_ms : 30000;
    pool->slot_count = config->count + add;
    pool->slots = xcalloc(pool->slot_count, sizeof *pool->slots);
    if (add) {
        autofree char *path = local_worker_path();
        char *argv[] = {path, NULL};
        slot_init(pool, &pool->slots[0],
                  &(struct pool_worker_config){.argv = argv, .local = POOL_YES},
                  hello_ms);
    }
    for (size_t i = 0; i < config->count; i++) {
        slot_init(pool, &pool->slots[i + add], &config->workers[i], hello_ms);
    }
}

/* --- idleness --- */

static void slot_end_idle(struct slot *slot) {
    if (slot->ending) {
        worker_link_stop(slot->ending);
    }
    slot->ending = take(slot->link);
    worker_link_end(slot->ending);
}

static void slot_timer_fired(uv_timer_t *timer) {
    struct slot *slot = container_of(timer, struct slot, timer);
    if (!slot->link || slot->pool->stopped) {
        return;
    }
    if (!slot_is_ready(slot)) {
        slot->slow = true; /* others may be started */
        pool_tell_change(slot->pool);
    } else if (slot->asking) {
        log_warning("the worker \"%s\" did not tell its devices: ended", slot->name);
        worker_link_stop(slot->link);
    } else if (!slot->running) {
        slot_end_idle(slot);
    }
}

void slot_rest(struct slot *slot) {
    if (!slot->running && !slot->asking && slot->link && !slot->pool->stopped) {
        uv_timer_start(&slot->timer, slot_timer_fired, slot->pool->idle_ms, 0);
    }
}

static void slots_free(struct pool *pool) {
    list_each(i, slot, pool->slots, pool->slot_count) {
        strings_free(slot->argv);
        free(slot->name);
        json_decref(slot->hello);
        json_decref(slot->devices);
    }
    free(pool->slots);
}

void pool_drop(struct pool *pool) {
    if (--pool->open > 0 || !pool->closing) {
        return;
    }
    void (*closed)(void *) = pool->closed;
    void *data = pool->closed_data;
    slots_free(pool);
    free(pool);
    if (closed) {
        closed(data);
    }
}

static void slot_timer_closed(uv_handle_t *handle) {
    pool_drop(container_of(handle, struct slot, timer)->pool);
}

void slot_close(struct slot *slot) {
    uv_close((uv_handle_t *)&slot->timer, slot_timer_closed);
}

void slot_served(struct slot *slot) {
    slot->failures = 0;
}

/* --- devices --- */

static void devices_note_error(struct slot *slot, const char *words) {
    autobuf clean = BUF_INIT(4096);
    text_clean(&clean, words, text_cut(words, strlen(words), 200));
    snprintf(slot->devices_why, sizeof slot->devices_why, "%.*s",
             (int)text_cut(clean.data, clean.len, sizeof slot->devices_why - 1),
             clean.data);
}

static void devices_answered(struct rpc_request *, int status, const json_t *result,
                             const json_t *error, void *data) {
    struct slot *slot = data;
    slot->asking = NULL;
    if (status < 0) {
        return; /* its end says the rest */
    }
    const json_t *list = json_object_get(result, "devices");
    json_decref(slot->devices);
    slot->devices = json_is_array(list) ? json_deep_copy(list) : json_array();
    error = error ? error : json_object_get(result, "error");
    devices_note_error(slot, json_get_string(error, "message", ""));
    slot_served(slot);
    slot_rest(slot);
    pool_tell_change(slot->pool);
}

void slot_ask_devices(struct slot *slot) {
    if (!slot->asking) {
        slot->asking = rpc_request_start(worker_link_peer(slot->link), "worker/devices",
                                         json_object(), devices_answered, slot);
        uv_timer_start(&slot->timer, slot_timer_fired, DEVICES_MS, 0);
    }
}

/* --- beginning and end of a process --- */

bool slot_is_ready(const struct slot *slot) {
    return slot->link && worker_link_peer(slot->link);
}

/* Given as a truth value, or as an object with one. */
bool slot_has_driver(const struct slot *slot) {
    const json_t *cuda = json_object_get(slot->hello, "cuda");
    return json_is_true(cuda) || json_get_bool(cuda, "driver", 0);
}

bool slot_is_near(const struct slot *slot) {
    return json_get_bool(slot->hello, "memory", 0);
}

static void slot_start_failed(struct slot *slot, int status, const char *why) {
    slot->failures++;
    slot->failed_ms = clock_ms();
    slot->failure = status;
    snprintf(slot->last_error, sizeof slot->last_error, "the worker \"%s\" (%.100s) %s",
             slot->name, slot->argv[0], why);
    log_info("%s", slot->last_error);
}

static void worker_ready(struct worker_link *, const json_t *hello, void *data) {
    struct slot *slot = data;
    slot->greeted = true;
    json_decref(slot->hello);
    json_decref(slot->devices);
    slot->hello = json_deep_copy(hello);
    slot->devices = NULL; /* a scheduler may have chosen another machine */
    slot->heard_ms = clock_ms();
    slot->greeted_ms = (unsigned)(slot->heard_ms - slot->started_ms);
    log_debug("greeted worker=%s ms=%u", slot->name, slot->greeted_ms);
    slot_rest(slot);
    pool_tell_change(slot->pool);
}

/* One that vanishes without ever having been of use is no better than one that does not
 * start; else it could be started for ever. */
static bool slot_was_useless(const struct slot *slot) {
    return !slot->greeted || (!slot->used && !slot->killed);
}

static void slot_ended(struct slot *slot, const char *why) {
    slot->link = NULL;
    uv_timer_stop(&slot->timer);
    if (!slot->pool->stopped && slot_was_useless(slot)) {
        slot_start_failed(slot, -EPIPE, why);
    } else if (!slot->pool->stopped) {
        slot->failed_ms = clock_ms();
        snprintf(slot->last_error, sizeof slot->last_error, "the worker \"%s\" %s",
                 slot->name, why);
    }
    slot->killed = false;
}

static void worker_ended(struct worker_link *link, const char *why, void *data) {
    struct slot *slot = data;
    struct pool *pool = slot->pool;
    if (link == slot->ending) {
        slot->ending = NULL;
    } else if (link == slot->link) {
        slot_ended(slot, why);
    }
    pool_tell_change(pool);
    pool_drop(pool);
}

/* A worker's note on the job whose request it names. */
static void pool_note(const struct slot *slot, const json_t *note) {
    const json_t *id = json_object_get(note, "id");
    for (struct pool_job *job = slot->pool->first; job; job = job->next) {
        if (job->slot == slot && job->request && job->noted && !job->cancelled &&
            json_is_integer(id) &&
            json_integer_value(id) == rpc_request_id(job->request)) {
            job->noted(job, note, job->data);
            return;
        }
    }
}

static void worker_said(struct worker_link *link, const char *method,
                        const json_t *params, void *data) {
    struct slot *slot = data;
    if (link == slot->link && !strcmp(method, "validate/note")) {
        pool_note(slot, params);
    }
}

static const struct worker_link_events worker_events = {worker_ready, worker_said,
                                                        worker_ended};

/* Not running, and not resting after failures. */
static bool slot_may_start(const struct slot *slot) {
    return !slot->link && (slot->failures < MAX_START_FAILURES ||
                           clock_ms() - slot->failed_ms > REST_MS);
}

static void process_start(struct slot *slot) {
    struct err err = {0};
    struct worker_link_options options = {
        .argv = (const char *const *)slot->argv,
        .hello_ms = slot->hello_ms,
        .carrier = !slot->local,
    };
    slot->greeted = slot->slow = slot->used = slot->killed = false;
    slot->started_ms = clock_ms();
    int r = worker_link_start(slot->pool->loop, &options, &worker_events, slot,
                              &slot->link, &err);
    if (r < 0) {
        slot->link = NULL;
        autofree char *why = xasprintf("could not be started: %s", err.msg);
        slot_start_failed(slot, -ENOENT, why);
        return;
    }
    slot->pool->open++;
    uv_timer_start(&slot->timer, slot_timer_fired, slot->pool->slow_ms, 0);
}

bool slot_start(struct slot *slot) {
    while (slot_may_start(slot)) {
        process_start(slot);
    }
    return slot->link != NULL;
}
