#include "base/parts.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum {
    MOST_THREADS = 64,
    PIECES = 8,        /* for each thread, or more: the last ones end together */
    MOST_LEASTS = 256, /* of a piece: `stopped` is asked between */
};

struct loop {
    parts_body *body;
    parts_stopped *stopped;
    void *data;
    int64_t count, piece;
    int64_t next; /* atomic: turns that were given away */
    int result;   /* atomic */
};

static void *run(void *data) {
    struct loop *l = data;
    int64_t from;
    while ((from = __atomic_fetch_add(&l->next, l->piece, __ATOMIC_RELAXED)) < l->count &&
           !__atomic_load_n(&l->result, __ATOMIC_RELAXED)) {
        int64_t to = l->count - from < l->piece ? l->count : from + l->piece;
        int r = l->stopped && l->stopped() ? -ETIME : l->body(l->data, from, to);
        if (r < 0) {
            __atomic_store_n(&l->result, r, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

int parts_cores(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Signals are the caller's. A thread that cannot be had is done without. */
static void run_on(struct loop *l, int threads) {
    pthread_t others[MOST_THREADS];
    sigset_t all, before;
    int started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started + 1 < threads && pthread_create(&others[started], NULL, run, l) == 0) {
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    run(l);
    while (started > 0) {
        pthread_join(others[--started], NULL);
    }
}

int parts_run(int64_t count, int64_t least, parts_body *body, void *data,
              parts_stopped *stopped) {
    least = least > 0 ? least : 1;
    int64_t most = (count + least - 1) / least;
    int threads = most > 1 ? parts_cores() : 1;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    threads = most < threads ? (int)most : threads;
    int64_t piece = count / ((int64_t)(threads ? threads : 1) * PIECES);
    piece = piece < MOST_LEASTS * least ? piece : MOST_LEASTS * least;
    struct loop l = {body, stopped, data, count, piece > least ? piece : least, 0, 0};
    if (count) {
        run_on(&l, threads);
    }
    return l.result;
}
