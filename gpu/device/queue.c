#include "gpu/device/queue.h"

#include "base/mem.h"

#include <stddef.h>
#include <time.h>

#define NAP_NS 200000 /* between looks at what there is to do */
#define NAPS 50       /* without anything new, before it sleeps */

void queue_init(struct queue *q) {
    *q = (struct queue){.tail = &q->head};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    pthread_cond_init(&q->asked, NULL);
}

/* ---- carrying out; the lock is held ---- */

static void head_run(struct queue *q) {
    struct op *op = q->head;
    q->head = op->next;
    if (!q->head) {
        q->tail = &q->head;
    }
    q->busy = true;
    q->runner = pthread_self();
    int code = q->error;
    pthread_mutex_unlock(&q->lock);
    if (!code) {
        code = op->run(op);
    }
    uint64_t number = op->number;
    op->free(op);
    pthread_mutex_lock(&q->lock);
    q->error = q->error ? q->error : code;
    q->busy = false;
    q->done = number;
    pthread_cond_broadcast(&q->changed);
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
    while (!q->quit) {
        if (q->head && !q->busy) {
            head_run(q);
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
    pthread_mutex_unlock(&q->lock);
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
        q->started = pthread_create(&q->thread, NULL, queue_main, q) == 0;
    } else if (q->idle) {
        pthread_cond_signal(&q->asked);
    }
    uint64_t number = q->submitted;
    pthread_mutex_unlock(&q->lock);
    return number;
}

bool queue_is_done(struct queue *q, uint64_t number) {
    pthread_mutex_lock(&q->lock);
    bool done = q->done >= number;
    pthread_mutex_unlock(&q->lock);
    return done;
}

int queue_wait(struct queue *q, uint64_t number) {
    pthread_mutex_lock(&q->lock);
    __atomic_add_fetch(&q->waiting, 1, __ATOMIC_RELAXED);
    while (q->done < number) {
        if (q->head && !q->busy) {
            head_run(q);
        } else {
            pthread_cond_wait(&q->changed, &q->lock);
        }
    }
    __atomic_sub_fetch(&q->waiting, 1, __ATOMIC_RELAXED);
    int error = q->error;
    pthread_mutex_unlock(&q->lock);
    return error;
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
    struct errand e = {{.run = errand_run, .free = errand_free}, fn, of, 0};
    int error = queue_wait(q, queue_add(q, &e.op));
    return error ? error : e.code;
}

bool queue_is_inside(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    bool inside = q->busy && pthread_equal(q->runner, pthread_self());
    pthread_mutex_unlock(&q->lock);
    return inside;
}

bool queue_host_runs(const struct queue *q) {
    return __atomic_load_n(&q->waiting, __ATOMIC_RELAXED) == 0;
}

int queue_error(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    int error = q->error;
    pthread_mutex_unlock(&q->lock);
    return error;
}

void queue_fail(struct queue *q, int code) {
    pthread_mutex_lock(&q->lock);
    q->error = q->error ? q->error : code;
    pthread_mutex_unlock(&q->lock);
}

void queue_forgive(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    q->error = 0;
    pthread_mutex_unlock(&q->lock);
}

void queue_finish(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    q->quit = true;
    pthread_cond_signal(&q->asked);
    pthread_mutex_unlock(&q->lock);
    if (q->started) {
        pthread_join(q->thread, NULL);
        q->started = false;
    }
    while (q->head) {
        struct op *op = q->head;
        q->head = op->next;
        op->free(op);
    }
    q->tail = &q->head;
}
