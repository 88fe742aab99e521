/* Which worker takes a job, and in which words nobody can. */
#include "base/find.h"
#include "gpu/pool/pool_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "gpu/pool/open_files.h"

#include <stdarg.h>

/* What an ended worker said counts as true for so long: enough not to start it again for
 * the job that it just turned out to be unfit for. */
#define HEARSAY_MS 5000
#define MAX_SENTENCE 4096
#define MAX_LACK 400

enum fit { FIT_NO, FIT_MAYBE, FIT_YES };

/* --- has it what the job needs? --- */

static enum fit lacks(char *lack, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static enum fit lacks(char *lack, const char *fmt, ...) {
    va_list ap;
    if (lack) {
        va_start(ap, fmt);
        vsnprintf(lack, MAX_LACK, fmt, ap);
        va_end(ap);
    }
    return FIT_NO;
}

static bool is_known(const struct slot *slot) {
    return slot->hello &&
           (slot_is_ready(slot) || clock_ms() - slot->heard_ms < HEARSAY_MS);
}

/* A worker here has greeted before it is known to be one that takes descriptors. */
static enum fit fit_files(const struct slot *slot, const struct pool_needs *needs,
                          char *lack) {
    if (!needs->files || needs->files->bytes <= OPEN_FILES_MAX_SENT ||
        (is_known(slot) ? slot_is_near(slot) : slot->local)) {
        return FIT_YES;
    }
    return lacks(lack, "is elsewhere, and takes %u MiB of arrays: these have %llu",
                 OPEN_FILES_MAX_SENT >> 20,
                 (unsigned long long)(needs->files->bytes >> 20));
}

static enum fit fit_compile(const struct slot *slot, char *lack) {
    if (slot->compile == POOL_NO) {
        return lacks(lack, "is configured not to compile");
    }
    if (!is_known(slot)) {
        return FIT_MAYBE;
    }
    return json_array_size(json_object_get(slot->hello, "toolkits"))
               ? FIT_YES
               : lacks(lack, "has no CUDA compiler");
}

/* "9.0" and [9, 0] as 90; 0 when it says nothing. */
static int device_capability(const json_t *device) {
    const json_t *told = json_object_get(device, "compute_capability");
    int major = 0, minor = 0;
    if (json_is_string(told)) {
        (void)!sscanf(json_string_value(told), "%2d.%1d", &major, &minor);
    } else {
        major = (int)json_integer_value(json_array_get(told, 0));
        minor = (int)json_integer_value(json_array_get(told, 1));
    }
    return 10 * major + minor;
}

/* sm_90a runs on 9.0 alone, sm_100f within its family, others on whatever is newer. */
static bool device_runs(const json_t *device, const char *arch) {
    int wanted = 0, has = device_capability(device);
    char suffix = '\0';
    if (!arch || !has || sscanf(arch, "sm_%3d%c", &wanted, &suffix) < 1) {
        return true;
    }
    return suffix == 'a'   ? has == wanted
           : suffix == 'f' ? has / 10 == wanted / 10 && has >= wanted
                           : has >= wanted;
}

static bool device_is(const json_t *device, size_t ordinal, const char *wanted) {
    char *end;
    if (!wanted) {
        return true;
    }
    unsigned long number = strtoul(wanted, &end, 10);
    if (end != wanted && !*end) {
        return number == ordinal;
    }
    return !strcasecmp(json_get_string(device, "uuid", ""), wanted) ||
           strcasestr(json_get_string(device, "name", ""), wanted) != NULL;
}

static enum fit fit_devices(const struct slot *slot, const struct pool_needs *needs,
                            char *lack) {
    bool named = false;
    json_each(slot->devices, i, device) {
        if (device_is(device, i, needs->device)) {
            named = true;
            if (device_runs(device, needs->arch)) {
                return FIT_YES;
            }
        }
    }
    const char *why = slot->devices_why;
    return !json_array_size(slot->devices)
               ? lacks(lack, "has no GPU%s%s", *why ? ": " : "", why)
           : named ? lacks(lack, "has no GPU that runs %.40s", needs->arch)
                   : lacks(lack, "has no GPU \"%.100s\"", needs->device);
}

/* A worker elsewhere is not started on the off chance that it has what is only
 * preferred. */
static enum fit fit_unknown_gpu(const struct slot *slot, const struct pool_needs *needs,
                                char *lack) {
    return !needs->prefer_gpu || slot->local || slot->gpu == POOL_YES ||
                   json_array_size(slot->devices)
               ? FIT_MAYBE
               : lacks(lack, "is not known to have a GPU");
}

static enum fit fit_gpu(const struct slot *slot, const struct pool_needs *needs,
                        char *lack) {
    if (slot->gpu == POOL_NO) {
        return lacks(lack, "is configured to have no GPU");
    }
    if (!is_known(slot)) {
        return fit_unknown_gpu(slot, needs, lack);
    }
    if (!slot_has_driver(slot)) {
        return lacks(lack, "has no NVIDIA driver");
    }
    return slot->devices ? fit_devices(slot, needs, lack) : FIT_MAYBE;
}

/* lack: MAX_LACK bytes for the end of a sentence about a worker that is unfit; or NULL.
 */
static enum fit slot_fit(const struct slot *slot, const struct pool_needs *needs,
                         char *lack) {
    enum fit compile = needs->compile ? fit_compile(slot, lack) : FIT_YES;
    if (compile == FIT_NO) {
        return compile;
    }
    if (fit_files(slot, needs, lack) == FIT_NO) {
        return FIT_NO;
    }
    enum fit gpu = needs->gpu ? fit_gpu(slot, needs, lack) : FIT_YES;
    return gpu < compile ? gpu : compile;
}

/* --- which one takes it? --- */

/* What the local workers, or the others, could do for a job. */
struct choice {
    struct slot *run;    /* is ready, fits and has most room */
    struct slot *ask;    /* is ready, but its devices are not known */
    struct slot *coming; /* is being started */
    bool wait;           /* one that may fit is busy, or has been starting for long */
};

static void choice_consider(struct choice *c, struct slot *slot, enum fit fit) {
    if (fit == FIT_NO || !slot->link) {
        return;
    }
    if (!slot_is_ready(slot)) {
        c->wait = true;
        c->coming = slot->slow ? c->coming : slot;
    } else if (fit == FIT_MAYBE) {
        c->ask = c->ask ? c->ask : slot;
    } else if (slot->running >= slot->parallel) {
        c->wait = true;
    } else if (!c->run ||
               slot->parallel - slot->running > c->run->parallel - c->run->running) {
        c->run = slot;
    }
}

static struct choice choose(struct pool *pool, const struct pool_needs *needs,
                            const struct slot *avoid, bool local) {
    struct choice c = {0};
    list_each(i, slot, pool->slots, pool->slot_count) {
        if (slot->local == local && slot != avoid) {
            choice_consider(&c, slot, slot_fit(slot, needs, NULL));
        }
    }
    return c;
}

static bool start_one(struct pool *pool, const struct pool_needs *needs,
                      const struct slot *avoid, bool local) {
    return list_any(slot, pool->slots, pool->slot_count,
                    slot->local == local && slot != avoid && !slot->link &&
                        slot_fit(slot, needs, NULL) != FIT_NO && slot_start(slot));
}

/* True: it runs, or something is under way after which it may. */
static bool choice_take(struct pool_job *job, const struct choice *c) {
    if (c->run) {
        job_run(job, c->run);
    } else if (c->ask) {
        slot_ask_devices(c->ask);
    }
    return c->run || c->ask || c->coming;
}

static bool place(struct pool_job *job, const struct pool_needs *needs,
                  const struct slot *avoid, bool may_start) {
    struct pool *pool = job->pool;
    struct choice local = choose(pool, needs, avoid, true);
    struct choice remote = choose(pool, needs, avoid, false);
    if (choice_take(job, &local) ||
        (may_start && !local.wait && start_one(pool, needs, avoid, true))) {
        return true;
    }
    if (remote.run) {
        job_run(job, remote.run);
        return true;
    }
    if (local.wait || choice_take(job, &remote)) {
        return true;
    }
    return (may_start && start_one(pool, needs, avoid, false)) ||
           (may_start && remote.wait);
}

/* Away from where it was lost; but nothing elsewhere is started for what the local worker
 * can do when it is started again. */
static bool place_anew(struct pool_job *job, const struct pool_needs *needs) {
    if (job->avoid && place(job, needs, job->avoid, needs->gpu || !job->avoid->local)) {
        return true;
    }
    return place(job, needs, NULL, true);
}

static bool job_place(struct pool_job *job) {
    struct pool_needs needs = job->needs;
    if (needs.prefer_gpu && !needs.gpu) {
        needs.gpu = true;
        if (place_anew(job, &needs)) {
            return true;
        }
        needs = job->needs;
    }
    needs.prefer_gpu = false;
    return place_anew(job, &needs);
}

/* --- nobody --- */

static void tell_need(struct buf *out, const struct pool_needs *needs) {
    if (needs->gpu && needs->device) {
        buf_addf(out, "no worker has the GPU \"%.100s\"", needs->device);
    } else if (needs->gpu) {
        buf_adds(out, "no worker has a GPU");
    } else if (needs->compile) {
        buf_adds(out, "no worker has a CUDA compiler");
    } else {
        buf_adds(out, "no worker could be started");
    }
    if (needs->gpu && needs->arch) {
        buf_addf(out, " that runs %.40s", needs->arch);
    }
}

/* Says of every worker why it cannot; the status is that of one that should have been
 * able to, but did not start. */
static int tell_nobody(const struct pool *pool, const struct pool_needs *needs,
                       struct buf *out) {
    int status = -ENODEV;
    char only[MAX_LACK];
    tell_need(out, needs);
    if (pool->slot_count == 1 && pool->slots[0].local && needs->compile && !needs->gpu &&
        slot_fit(&pool->slots[0], needs, only) == FIT_NO &&
        strstr(only, "CUDA compiler")) {
        return status; /* the same words again */
    }
    list_each(i, slot, pool->slots, pool->slot_count) {
        char lack[MAX_LACK];
        buf_adds(out, i ? "; " : ": ");
        if (slot_fit(slot, needs, lack) == FIT_NO) {
            buf_addf(out, "the worker \"%s\" %s", slot->name, lack);
        } else {
            buf_adds(out, slot->last_error);
            status = slot->failure;
        }
    }
    return status;
}

static void job_fail(struct pool_job *job) {
    autobuf text = BUF_INIT(MAX_SENTENCE);
    int status = tell_nobody(job->pool, &job->needs, &text);
    job_end_later(job, status, text.data);
}

/* The next job may find mended what failed for these. */
static void slots_forgive(struct pool *pool) {
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (!pool->slots[i].link) {
            pool->slots[i].failures = 0;
        }
    }
}

void pool_schedule(struct pool *pool) {
    bool failed = false;
    if (pool->stopped) {
        return;
    }
    for (struct pool_job *job = pool->first; job; job = job->next) {
        if (job->queued && !job_place(job)) {
            job_fail(job);
            failed = true;
        }
    }
    if (failed) {
        slots_forgive(pool);
    }
}
