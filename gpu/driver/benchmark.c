#include "gpu/driver/benchmark.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "gpu/driver/device_lock.h"
#include "gpu/driver/nvml.h"
#include "gpu/driver/sample_statistics.h"

#include <math.h>
#include <time.h>

enum {
    WARMUP_MS = 200,
    WARMUP_LAUNCHES = 3,
    SPIN_MS = 2,      /* a wait polls this long before it sleeps between polls */
    STATE_EVERY = 16, /* samples between two looks at the clocks */
    PAIR_SAMPLES = 5, /* of two events with nothing between */
    GRACE_MS = 200,
    MAX_GRACE_MS = 2000,
    MAX_BATCH = 1024,
    MIN_FLUSH_MIB = 128,
};
#define SHORT_US 20.0  /* below, several launches make one sample */
#define BATCH_US 200.0 /* what they should amount to */

struct bench {
    const struct cuda_benchmark *what;
    const struct cuda_api *api;
    bool warm; /* L2 keeps the previous sample's data; else it is flushed */
    struct err *err;
    int code; /* CUDA's, of what failed */
    cuda_stream_ref stream;
    cuda_event_ref from, to;
    cuda_address flush;
    size_t flush_bytes;
    unsigned flushes;
    cuda_graph_exec_ref graph;
    unsigned batch; /* of what `launch` launches, in one sample */
    bool stuck;     /* something is still running: nothing may be freed */
    unsigned warmup_launches;
    double estimate_us, pair_us;
    double *us;
    size_t count;
    bool in_time;
    struct nvml_state state; /* the last one */
    uint64_t reasons;        /* of all looks */
    unsigned lowest_mhz, highest_mhz;
    json_t *notes;
};

static int failed(struct bench *b, int code, const char *what) {
    b->code = code;
    return err_set(b->err, -EIO, "%s: %s", what, cuda_code_name(code));
}

#define TRY(b, call, what)                                                               \
    do {                                                                                 \
        int code_ = (call);                                                              \
        if (code_ != CUDA_OK) {                                                          \
            return failed(b, code_, what);                                               \
        }                                                                                \
    } while (0)

__attribute__((format(printf, 2, 3))) static void note(struct bench *b, const char *fmt,
                                                       ...) {
    char text[200];
    text_format(text, fmt);
    json_array_append_new(b->notes, json_clean_z(text));
}

static bool time_is_up(const struct bench *b) {
    return clock_ms() >= b->what->until_ms || (b->what->stopped && b->what->stopped());
}

/* --- one measurement --- */

/* How long after the deadline the launch that is under way may still take, by what those
 * before it took. */
static uint64_t grace_ms(const struct bench *b) {
    double usual = b->estimate_us * b->batch / 1e3;
    return b->warmup_launches ? (uint64_t)fmin(GRACE_MS + 10 * usual, MAX_GRACE_MS)
                              : GRACE_MS;
}

/* Nothing more can be done with it, but to end the process. */
static int stuck(struct bench *b, bool strange) {
    b->stuck = true;
    if (b->what->stuck) {
        *b->what->stuck = true;
    }
    return strange ? err_set(b->err, -EDEADLK,
                             "a launch did not end, though those before it took %.3g us",
                             b->estimate_us * b->batch)
                   : err_set(b->err, -ETIMEDOUT,
                             "time ran out while the kernel was timed");
}

/* Until the device has passed the event. */
static int wait_for(struct bench *b, cuda_event_ref event) {
    const struct timespec pause = {.tv_nsec = 100000};
    uint64_t grace = grace_ms(b), spin_until = clock_ms() + SPIN_MS;
    for (;;) {
        int code = b->api->event_query(event);
        if (code == CUDA_OK) {
            return 0;
        }
        if (code != CUDA_NOT_READY) {
            return failed(b, code, "while the kernel ran");
        }
        uint64_t now = clock_ms();
        if (b->what->stopped && b->what->stopped()) {
            return stuck(b, false);
        }
        if (now >= b->what->until_ms + grace) {
            return stuck(b, b->warmup_launches && grace < MAX_GRACE_MS);
        }
        if (now >= spin_until) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

static int enqueue_batch(struct bench *b) {
    if (b->graph) {
        TRY(b, b->api->graph_launch(b->graph, b->stream), "cuGraphLaunch");
        return 0;
    }
    for (unsigned i = 0; i < b->batch; i++) {
        TRY(b, b->what->launch(b->what->data, b->stream), "the launch");
    }
    return 0;
}

/* Persisting lines would survive the write: their share is given back first. */
static int flush_cache(struct bench *b) {
    if (b->api->context_reset_persisting) {
        TRY(b, b->api->context_reset_persisting(), "cuCtxResetPersistingL2Cache");
    }
    TRY(b, b->api->set_words(b->flush, b->flushes++, b->flush_bytes / 4, b->stream),
        "the write that flushes the cache");
    return 0;
}

/* Microseconds between the two events, with one batch between them or nothing. */
static int measure(struct bench *b, bool flushed, bool empty, double *ret_us) {
    float ms = 0;
    int r = flushed ? flush_cache(b) : 0;
    if (r < 0) {
        return r;
    }
    TRY(b, b->api->event_record(b->from, b->stream), "cuEventRecord");
    r = empty ? 0 : enqueue_batch(b);
    if (r < 0) {
        return r;
    }
    TRY(b, b->api->event_record(b->to, b->stream), "cuEventRecord");
    r = wait_for(b, b->to);
    if (r < 0) {
        return r;
    }
    TRY(b, b->api->event_elapsed(&ms, b->from, b->to), "cuEventElapsedTime");
    *ret_us = (double)ms * 1e3 / (empty ? 1 : b->batch);
    return 0;
}

/* --- before the samples --- */

static int begin(struct bench *b) {
    TRY(b, b->api->stream_create(&b->stream, CUDA_STREAM_NON_BLOCKING), "cuStreamCreate");
    TRY(b, b->api->event_create(&b->from, 0), "cuEventCreate");
    TRY(b, b->api->event_create(&b->to, 0), "cuEventCreate");
    return 0;
}

static int take_flush_room(struct bench *b) {
    if (b->warm) {
        return 0;
    }
    size_t least = (size_t)MIN_FLUSH_MIB << 20;
    size_t twice = b->what->l2_bytes ? 2 * (size_t)b->what->l2_bytes : 2 * least;
    b->flush_bytes = ((twice > least ? twice : least) + 3) & ~(size_t)3;
    int code = b->api->memory_alloc(&b->flush, b->flush_bytes);
    if (code != CUDA_OK) {
        b->flush = 0;
        b->code = code;
        return err_set(b->err, code == CUDA_OUT_OF_MEMORY ? -ENOMEM : -EIO,
                       "no %zu MiB of device memory to flush the cache with: %s",
                       b->flush_bytes >> 20, cuda_code_name(code));
    }
    return 0;
}

/* The clocks of an idle GPU are low. A quarter of the time at most goes into this. */
static int warm_up(struct bench *b) {
    unsigned wanted = b->what->warmup_ms ? b->what->warmup_ms : WARMUP_MS;
    uint64_t now = clock_ms(), until = now + wanted;
    uint64_t quarter = now + (b->what->until_ms > now ? b->what->until_ms - now : 0) / 4;
    do {
        double us;
        int r = measure(b, false, false, &us);
        if (r < 0) {
            return r;
        }
        /* The first carries what is loaded lazily. */
        b->estimate_us = b->warmup_launches > 1 ? fmin(b->estimate_us, us) : us;
        b->warmup_launches++;
        now = clock_ms();
    } while ((b->warmup_launches < WARMUP_LAUNCHES || now < until) && now < quarter);
    if (b->warmup_launches < WARMUP_LAUNCHES || now < until) {
        note(b, "the time left did not allow a full warm-up");
    }
    return 0;
}

/* Capture `batch` samples; without a graph they are a loop. Never fails: what the driver
 * cannot capture it can still launch. */
static void make_graph(struct bench *b) {
    const struct cuda_api *api = b->api;
    cuda_graph_ref graph = NULL;
    if (!api->stream_begin_capture || !api->stream_end_capture ||
        !api->graph_instantiate || !api->graph_launch ||
        api->stream_begin_capture(b->stream, CUDA_CAPTURE_THREAD_LOCAL) != CUDA_OK) {
        return;
    }
    int code = CUDA_OK;
    for (unsigned i = 0; i < b->batch && code == CUDA_OK; i++) {
        code = b->what->launch(b->what->data, b->stream);
    }
    int end = api->stream_end_capture(b->stream, &graph);
    if (code != CUDA_OK || end != CUDA_OK ||
        api->graph_instantiate(&b->graph, graph, 0) != CUDA_OK) {
        b->graph = NULL;
    }
    if (end == CUDA_OK && graph && api->graph_destroy) {
        (void)api->graph_destroy(graph);
    }
}

static void choose_batch(struct bench *b) {
    b->batch = 1;
    if (b->warm && b->estimate_us < SHORT_US) {
        double n = ceil(BATCH_US / fmax(b->estimate_us, BATCH_US / MAX_BATCH));
        b->batch = (unsigned)n;
    }
    if (b->batch > 1 || b->what->launches > 1) {
        make_graph(b);
    }
}

/* What the events alone take: the larger part of a very short kernel's time. */
static int measure_pairs(struct bench *b) {
    double us[PAIR_SAMPLES];
    if (b->warm || b->estimate_us >= SHORT_US) {
        return 0;
    }
    for (size_t i = 0; i < PAIR_SAMPLES; i++) {
        int r = measure(b, true, true, &us[i]);
        if (r < 0) {
            return r;
        }
    }
    b->pair_us = sample_median(us, PAIR_SAMPLES);
    return 0;
}

/* --- the samples --- */

static void look_at_clocks(struct bench *b) {
    struct nvml_state *s = &b->state;
    if (!b->what->nvml) {
        return;
    }
    nvml_read(b->what->nvml, s);
    b->reasons |= s->reasons;
    if (s->known & NVML_KNOWS_SM_CLOCK) {
        unsigned mhz = s->sm_clock_mhz;
        b->lowest_mhz = b->lowest_mhz && b->lowest_mhz < mhz ? b->lowest_mhz : mhz;
        b->highest_mhz = b->highest_mhz > mhz ? b->highest_mhz : mhz;
    }
}

/* One more that would be running at the deadline would hold up all that follows. */
static bool another_fits(const struct bench *b) {
    return !time_is_up(b) &&
           (!b->count ||
            clock_ms() + (uint64_t)(b->estimate_us * b->batch / 1e3) < b->what->until_ms);
}

static int take_samples(struct bench *b) {
    unsigned wanted = b->what->how->samples;
    b->us = xcalloc(wanted, sizeof *b->us);
    look_at_clocks(b);
    while (b->count < wanted && another_fits(b)) {
        int r = measure(b, !b->warm, false, &b->us[b->count]);
        if (r == -ETIMEDOUT && b->count) {
            return 0; /* what there is is an answer */
        }
        if (r < 0) {
            return r;
        }
        b->count++;
        if (b->count % STATE_EVERY == 0 || b->count == wanted) {
            look_at_clocks(b);
        }
    }
    b->in_time = b->count == wanted;
    return b->count ? 0
                    : err_set(b->err, -ETIMEDOUT, "time ran out before one sample");
}

/* Freeing waits for what runs: a kernel that does not end keeps everything. */
static void end(struct bench *b) {
    const struct cuda_api *api = b->api;
    free(b->us);
    json_decref(b->notes);
    if (b->stuck || cuda_code_is_sticky(b->code)) {
        return;
    }
    if (b->graph && api->graph_exec_destroy) {
        (void)api->graph_exec_destroy(b->graph);
    }
    if (b->flush) {
        (void)api->memory_free(b->flush);
    }
    if (b->from) {
        (void)api->event_destroy(b->from);
    }
    if (b->to) {
        (void)api->event_destroy(b->to);
    }
    if (b->stream) {
        (void)api->stream_destroy(b->stream);
    }
}

/* --- the answer --- */

/* What NVML does not know is null, or left out. */
static json_t *clocks_json(const struct bench *b) {
    const struct nvml_state *s = &b->state;
    unsigned knows = s->known;
    bool reasons = knows & NVML_KNOWS_REASONS;
    return json_pack(
        "{s:o?, s:o?, s:o?, s:o*, s:o*, s:o*, s:o*, s:o*}", "sm_clock_mhz",
        knows & NVML_KNOWS_SM_CLOCK ? json_integer(s->sm_clock_mhz) : NULL,
        "mem_clock_mhz",
        knows & NVML_KNOWS_MEMORY_CLOCK ? json_integer(s->memory_clock_mhz) : NULL,
        "throttled", reasons ? json_boolean(nvml_reasons_throttle(b->reasons)) : NULL,
        "throttle_reasons", reasons ? nvml_reasons_to_json(b->reasons) : NULL,
        "temperature_c",
        knows & NVML_KNOWS_TEMPERATURE ? json_integer(s->temperature_c) : NULL,
        "power_limit_w",
        knows & NVML_KNOWS_POWER_LIMIT ? json_double(s->power_limit_w) : NULL,
        "persistence",
        knows & NVML_KNOWS_PERSISTENCE ? json_boolean(s->persistence) : NULL,
        "other_processes",
        knows & NVML_KNOWS_OTHERS ? json_integer(s->other_processes) : NULL);
}

static void add_notes(struct bench *b) {
    if (!b->what->nvml) {
        note(b, "clocks and throttling are unknown: %.120s",
             b->what->nvml_absent ? b->what->nvml_absent : "NVML was not asked");
    }
    if (!b->what->lock) {
        note(b, "the device was not locked against other timings: %.120s",
             b->what->lock_absent ? b->what->lock_absent : "no lock was given");
    }
    if (b->highest_mhz > b->lowest_mhz + b->lowest_mhz / 20) {
        note(b, "the SM clock moved between %u and %u MHz", b->lowest_mhz,
             b->highest_mhz);
    }
    if (b->state.known & NVML_KNOWS_OTHERS && b->state.other_processes) {
        note(b, "other processes use the device");
    }
}

static json_t *method_json(const struct bench *b) {
    unsigned launches = b->batch * (b->what->launches ? b->what->launches : 1);
    return launches == 1
               ? json_string("events")
               : json_sprintf("%s of %u launches", b->graph ? "graph" : "loop", launches);
}

static json_t *answer(struct bench *b, uint64_t waited_ms) {
    json_t *json = sample_statistics(b->us, b->count);
    add_notes(b);
    json_object_set_new(json, "cache", json_string(b->what->how->cache));
    autojson *clocks = clocks_json(b);
    autojson *method = json_pack(
        "{s:o, s:o*, s:o*, s:I, s:s, s:o*, s:O*}", "method", method_json(b),
        "flush_bytes", b->flush_bytes ? json_integer((json_int_t)b->flush_bytes) : NULL,
        "event_pair_us", b->pair_us > 0 ? json_double(b->pair_us) : NULL,
        "warmup_launches", (json_int_t)b->warmup_launches, "ended_by",
        b->in_time ? "samples" : "time", "lock_waited_ms",
        b->what->lock ? json_integer((json_int_t)waited_ms) : NULL, "notes",
        json_array_size(b->notes) ? b->notes : NULL);
    json_object_update(json, clocks);
    json_object_update(json, method);
    return json;
}

static int run(struct bench *b) {
    int r = begin(b);
    r = r < 0 ? r : take_flush_room(b);
    b->batch = 1;
    r = r < 0 ? r : warm_up(b);
    if (r == 0) {
        choose_batch(b);
        r = measure_pairs(b);
    }
    return r < 0 ? r : take_samples(b);
}

int cuda_benchmark(const struct cuda_benchmark *what, json_t **ret, int *ret_code,
                   struct err *err) {
    struct bench b = {
        .what = what,
        .api = what->api,
        .warm = strcmp(what->how->cache, "warm") == 0,
        .err = err,
        .notes = json_array(),
    };
    uint64_t waited_ms = 0;
    int r =
        what->lock ? device_lock_wait(what->lock, what->until_ms, &waited_ms, err) : 0;
    r = r < 0 ? r : run(&b);
    if (r == 0) {
        *ret = answer(&b, waited_ms);
    }
    if (what->lock) {
        device_lock_release(what->lock);
    }
    *ret_code = b.code;
    end(&b);
    return r;
}
