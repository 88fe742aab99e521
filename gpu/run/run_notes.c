#include "gpu/run/run_notes.h"

#include "base/clock.h"
#include "base/find.h"
#include "gpu/spec/spec_npy.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { EVERY_MS = 500, CHANGE_MS = 200, LONG_MS = 400, MAX_PLACE = 240 };

struct run_notes {
    run_notes_send *send;
    void *data;
    int arena;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t ends;
    pthread_t thread;
    bool has_thread, ending;
    unsigned total, before; /* trials */
    bool begun;             /* a trial */
    char place[MAX_PLACE];
    enum run_phase phase;
    uint64_t phase_ms, sent_ms; /* clock_ms; 0 = never */
    uint64_t phase_us, spent_us[PHASES];
    const struct backend_class *class;
    const struct backend *backend; /* while it launches */
};

/* The name of a phase, in progress and in the answer, and its share of a trial. */
static const struct {
    const char *words, *name;
    double from, to;
} phases[PHASES] = {
    [PHASE_LOAD] = {"loading the module", "load", 0, 0.02},
    [PHASE_INPUTS] = {"making inputs", "fill", 0.02, 0.1},
    [PHASE_KERNEL] = {"running", "run", 0.1, 0.5},
    [PHASE_REFERENCE_INPUTS] = {"making the reference's inputs", "fill", 0.5, 0.55},
    [PHASE_REFERENCE] = {"computing what is expected", "reference", 0.55, 0.9},
    [PHASE_COMPARE] = {"comparing", "compare", 0.9, 1},
    [PHASE_AGAIN] = {"launching again", "run", 0.95, 1},
    [PHASE_TIMING] = {"timing", "timing", 1, 1},
    [PHASE_SAVE] = {"sending files", "save", 1, 1},
};

/* --- one note; the lock is held --- */

/* {done, total} of a launch; total 0: unknown. */
static uint64_t blocks_begun(const struct run_notes *n, uint64_t *ret_blocks) {
    *ret_blocks = 0;
    return n->backend && n->class->progress ? n->class->progress(n->backend, ret_blocks)
                                            : 0;
}

static void send_progress(struct run_notes *n, uint64_t now) {
    uint64_t blocks, begun = blocks_begun(n, &blocks), ms = now - n->phase_ms;
    double from = phases[n->phase].from, share = phases[n->phase].to - from;
    double done =
        n->before + from + (blocks ? share * (double)begun / (double)blocks : 0);
    char where[64] = "", seconds[32] = "";
    if (blocks > 1) {
        snprintf(where, sizeof where, ", block %llu of %llu", (unsigned long long)begun,
                 (unsigned long long)blocks);
    }
    if (ms >= 2 * EVERY_MS - CHANGE_MS) {
        snprintf(seconds, sizeof seconds, ", %llu s",
                 (unsigned long long)((ms + 500) / 1000));
    }
    autofree char *message = xasprintf("%s%s%s%s%s", n->place, *n->place ? ": " : "",
                                       phases[n->phase].words, where, seconds);
    autojson *note = json_pack("{s:{s:f, s:i, s:o}}", "progress", "done", done, "total",
                               (int)n->total, "message", json_clean_z(message));
    n->sent_ms = now;
    n->send(note, n->data);
}

/* Adds the time until now to the previous phase. */
static void book(struct run_notes *n) {
    uint64_t now = clock_us();
    n->spent_us[n->phase] += n->phase_us ? now - n->phase_us : 0;
    n->phase_us = now;
}

static void change(struct run_notes *n, enum run_phase phase) {
    uint64_t now = clock_ms();
    book(n);
    n->phase = phase;
    n->phase_ms = now;
    if (!n->sent_ms || now - n->sent_ms >= CHANGE_MS) {
        send_progress(n, now);
    }
}

/* --- the thread that repeats them --- */

static void *repeat(void *data) {
    struct run_notes *n = data;
    pthread_mutex_lock(&n->lock);
    while (!n->ending) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += EVERY_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&n->ends, &n->lock, &until);
        uint64_t now = clock_ms();
        if (!n->ending && n->sent_ms && now - n->sent_ms >= LONG_MS) {
            send_progress(n, now);
        }
    }
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

/* Signals are for the other threads: the handler that stops a launch must not run here,
 * because a closing backend does not wait for this thread. Without a thread only changes
 * are reported. */
static void thread_start(struct run_notes *n) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    n->has_thread = pthread_create(&n->thread, NULL, repeat, n) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct run_notes *run_notes_new(run_notes_send *send, void *data, int arena) {
    struct run_notes *n = xcalloc(1, sizeof *n);
    pthread_condattr_t monotonic;
    n->send = send;
    n->data = data;
    n->arena = arena;
    pthread_mutex_init(&n->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&n->ends, &monotonic);
    pthread_condattr_destroy(&monotonic);
    thread_start(n);
    return n;
}

void run_notes_free(struct run_notes *n) {
    if (!n) {
        return;
    }
    pthread_mutex_lock(&n->lock);
    n->ending = true;
    pthread_cond_signal(&n->ends);
    pthread_mutex_unlock(&n->lock);
    if (n->has_thread) {
        pthread_join(n->thread, NULL);
    }
    pthread_cond_destroy(&n->ends);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

/* --- for the run --- */

void run_notes_plan(struct run_notes *n, unsigned total) {
    if (n) {
        n->total = total; /* before anything is sent */
    }
}

/* "case 2 of 5 (rows 3, cols 1000), trial 1 of 3" */
static void tell_place(struct run_notes *n, const struct spec_case *c, const char *what,
                       size_t i, size_t cases, unsigned k, unsigned trials) {
    size_t used = 0, size = sizeof n->place;
    char *to = n->place;
    used += (size_t)snprintf(to, size, "%s %zu of %zu", what, i + 1, cases);
    for (size_t s = 0; s < c->size_list.count && used < MAX_PLACE / 2; s++) {
        int len = snprintf(to + used, size - used, "%s%.40s %lld", s ? ", " : " (",
                           c->sizes[s].name, (long long)c->sizes[s].value);
        used += (size_t)len;
    }
    snprintf(to + used, size - used, "%s, trial %u of %u", c->size_list.count ? ")" : "",
             k + 1, trials);
}

void run_notes_trial(struct run_notes *n, const struct spec_case *c, size_t i,
                     size_t cases, unsigned k, unsigned trials, bool added) {
    if (!n) {
        return;
    }
    pthread_mutex_lock(&n->lock);
    n->before += n->begun && n->before < n->total;
    n->begun = true;
    tell_place(n, c, added ? "added case" : "case", i, cases, k, trials);
    change(n, PHASE_LOAD);
    pthread_mutex_unlock(&n->lock);
}

void run_notes_phase(struct run_notes *n, enum run_phase phase) {
    if (n) {
        pthread_mutex_lock(&n->lock);
        change(n, phase);
        pthread_mutex_unlock(&n->lock);
    }
}

static uint64_t spent_us(const struct run_notes *n, const char *name) {
    return total_of(uint64_t, i, 0, PHASES,
                  strcmp(phases[i].name, name) ? 0 : n->spent_us[i]);
}

json_t *run_notes_times(struct run_notes *n) {
    if (!n) {
        return NULL;
    }
    json_t *list = json_array();
    pthread_mutex_lock(&n->lock);
    book(n);
    for (size_t i = 0; i < PHASES; i++) {
        const char *name = phases[i].name;
        uint64_t us = spent_us(n, name);
        bool told = i == PHASE_REFERENCE_INPUTS || i == PHASE_AGAIN; /* under its name */
        if (us && !told) {
            json_array_append_new(list, json_pack("{s:s, s:f}", "phase", name, "ms",
                                                  (double)(us / 10) / 100));
        }
    }
    pthread_mutex_unlock(&n->lock);
    return list;
}

void run_notes_launch(struct run_notes *n, const struct backend_class *class,
                      const struct backend *b) {
    if (n) {
        pthread_mutex_lock(&n->lock);
        n->class = class;
        n->backend = b;
        pthread_mutex_unlock(&n->lock);
    }
}

int run_notes_arena(const struct run_notes *n) {
    return n ? n->arena : -1;
}

void run_notes_file_at(struct run_notes *n, const char *name, uint64_t bytes,
                       uint64_t at) {
    autojson *note = json_pack("{s:{s:s, s:I, s:I}}", "file", "name", name, "bytes",
                               (json_int_t)bytes, "at", (json_int_t)at);
    pthread_mutex_lock(&n->lock);
    n->send(note, n->data);
    pthread_mutex_unlock(&n->lock);
}

void run_notes_file(struct run_notes *n, const char *name, const void *bytes,
                    size_t len) {
    size_t at = 0;
    if (!n) {
        return;
    }
    pthread_mutex_lock(&n->lock);
    do {
        size_t part = len - at < NOTES_PART_BYTES ? len - at : NOTES_PART_BYTES;
        json_t *data = spec_array_encode((const char *)bytes + at, part);
        at += part;
        autojson *note =
            json_pack("{s:{s:s, s:I, s:o, s:b}}", "file", "name", name, "bytes",
                      (json_int_t)len, "data", data, "last", at == len);
        n->send(note, n->data);
    } while (at < len);
    pthread_mutex_unlock(&n->lock);
}
