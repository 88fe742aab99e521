#include "gpu/device/queue.h"

#include <time.h>

#define NAP_NS 200000 /* between looks at what there is to do */
#define NAPS 50       /* without anything new, before it sleeps */

void queue_init(struct queue *q) {
    *q = (struct queue){.tail = &q->head, .wanted = UINT64_MAX};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    pthread_cond_init(&q->asked, NULL);
}

/* ---- carrying out ---- */

/* The lock is held. Who waits looks whether it need wait on, and says so again. */
static void wake(struct queue *q) {
    __atomic_store_n(&q->wanted, UINT64_MAX, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&q->changed);
}

/* Without the lock. Who waits is woken only when what it waits for is done. */
static void op_run(struct queue *q, struct op *op) {
    int code = __atomic_load_n(&q->error, __ATOMIC_ACQUIRE);
    uint64_t number = op->number;
    if (!code) {
        code = op->run(op);
    }
    struct moment *moment = op->moment;
    op->free(op);
    free(moment);
    if (code) {
        queue_fail(q, code);
    }
    __atomic_store_n(&q->polls, false, __ATOMIC_RELEASE);
    __atomic_store_n(&q->done, number, __ATOMIC_SEQ_CST);
    if (number >= __atomic_load_n(&q->wanted, __ATOMIC_SEQ_CST)) {
        pthread_mutex_lock(&q->lock);
        wake(q);
        pthread_mutex_unlock(&q->lock);
    }
}

/* Takes what stands in the queue up to `last` at once, so that asking and carrying out
 * meet at the lock once for many operations. The lock is held at both ends. */
static void batch_run(struct queue *q, uint64_t last) {
    struct op *op = q->head, **end = &q->head;
    while (*end && (*end)->number <= last) {
        end = &(*end)->next;
    }
    q->head = *end;
    q->tail = q->head ? q->tail : &q->head;
    *end = NULL;
    q->busy = true;
    q->runner = pthread_self();
    pthread_mutex_unlock(&q->lock);
    while (op) {
        struct op *next = op->next;
        op_run(q, op);
        op = next;
    }
    pthread_mutex_lock(&q->lock);
    q->busy = false;
    wake(q);
}

static void nap(struct queue *q) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&q->asked, &q->lock, &until);
}

static void *queue_main(void *of) {
    struct queue *q = of;
    unsigned naps = 0;
    uint64_t seen = 0;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        if (q->head && !q->busy) {
            batch_run(q, UINT64_MAX);
            continue;
        }
        naps = seen == q->submitted ? naps + 1 : 0;
        seen = q->submitted;
        if (naps < NAPS) {
            nap(q);
        } else {
            q->idle = true;
            pthread_cond_wait(&q->asked, &q->lock);
            q->idle = false;
        }
    }
    return NULL;
}

/* ---- what others ask ---- */

uint64_t queue_add(struct queue *q, struct op *op) {
    pthread_mutex_lock(&q->lock);
    op->next = NULL;
    op->number = ++q->submitted;
    *q->tail = op;
    q->tail = &op->next;
    if (!q->started) {
        pthread_t thread;
        q->started = pthread_create(&thread, NULL, queue_main, q) == 0;
    } else if (q->idle) {
        pthread_cond_signal(&q->asked);
    }
    uint64_t number = q->submitted;
    pthread_mutex_unlock(&q->lock);
    return number;
}

bool queue_is_done(struct queue *q, uint64_t number) {
    return __atomic_load_n(&q->done, __ATOMIC_SEQ_CST) >= number;
}

/* The lock is held; it is given up meanwhile. */
static void wait_for(struct queue *q, uint64_t number) {
    if (number < q->wanted) {
        __atomic_store_n(&q->wanted, number, __ATOMIC_SEQ_CST);
    }
    if (!queue_is_done(q, number)) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
}

/* The lock is held. */
static bool is_runner(const struct queue *q) {
    return q->busy && pthread_equal(q->runner, pthread_self());
}

int queue_wait(struct queue *q, uint64_t number) {
    pthread_mutex_lock(&q->lock);
    if (is_runner(q) && !queue_is_done(q, number)) {
        pthread_mutex_unlock(&q->lock);
        return q->inside;
    }
    __atomic_add_fetch(&q->waiting, 1, __ATOMIC_RELAXED);
    while (!queue_is_done(q, number)) {
        if (q->head && !q->busy) {
            batch_run(q, number);
        } else {
            wait_for(q, number);
        }
    }
    __atomic_sub_fetch(&q->waiting, 1, __ATOMIC_RELAXED);
    int error = q->error;
    pthread_mutex_unlock(&q->lock);
    return error;
}

void queue_linger(struct queue *q, uint64_t number) {
    pthread_mutex_lock(&q->lock);
    pthread_cond_signal(&q->asked);
    while (q->started && !queue_is_done(q, number) &&
           !__atomic_load_n(&q->polls, __ATOMIC_ACQUIRE) &&
           !is_runner(q)) {
        wait_for(q, number);
    }
    pthread_mutex_unlock(&q->lock);
}

void queue_polls(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    __atomic_store_n(&q->polls, true, __ATOMIC_RELEASE);
    wake(q);
    pthread_mutex_unlock(&q->lock);
}

int queue_wait_all(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    uint64_t number = q->submitted;
    pthread_mutex_unlock(&q->lock);
    return queue_wait(q, number);
}

struct errand {
    struct op op;
    int (*fn)(void *);
    void *of;
    int code;
};

static int errand_run(struct op *op) {
    struct errand *e = container_of(op, struct errand, op);
    e->code = e->fn(e->of);
    return 0;
}

static void errand_free(struct op *op) {
    (void)op; /* who waits has it */
}

int queue_do(struct queue *q, int (*fn)(void *), void *of) {
    if (queue_is_inside(q)) {
        return fn(of);
    }
    struct errand e = {{.run = errand_run, .free = errand_free}, fn, of, 0};
    int error = queue_wait(q, queue_add(q, &e.op));
    return error ? error : e.code;
}

bool queue_is_inside(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    bool inside = is_runner(q);
    pthread_mutex_unlock(&q->lock);
    return inside;
}

bool queue_host_runs(const struct queue *q) {
    return __atomic_load_n(&q->waiting, __ATOMIC_RELAXED) == 0;
}

int queue_error(struct queue *q) {
    return __atomic_load_n(&q->error, __ATOMIC_ACQUIRE);
}

void queue_fail(struct queue *q, int code) {
    pthread_mutex_lock(&q->lock);
    __atomic_store_n(&q->error, q->error ? q->error : code, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&q->lock);
}

void queue_forgive(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    __atomic_store_n(&q->error, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&q->lock);
}
