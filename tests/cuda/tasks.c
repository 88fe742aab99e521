#include "tests/cuda/queue.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gpu/ptx/machine/machine.h"
#include "tests/cuda/conf.h"

#include <string.h>
#include <time.h>

struct queue queue = {.tail = &queue.head};

void queue_init(void) {
    pthread_condattr_t monotonic;
    queue = (struct queue){.tail = &queue.head};
    pthread_mutex_init(&queue.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* ---- operations ---- */

struct op *op_new(enum op_kind kind) {
    struct op *op = xcalloc(1, sizeof *op);
    op->kind = kind;
    return op;
}

struct op *op_copy(const struct op *op) {
    struct op *copy = op_new(op->kind);
    *copy = *op;
    copy->next = NULL;
    if (op->bytes) {
        copy->bytes = xmalloc(op->len + 1);
        memcpy(copy->bytes, op->bytes, op->len);
    }
    if (op->event) {
        op->event->users++;
    }
    return copy;
}

void op_free(struct op *op) {
    if (op->event && --op->event->users == 0 && op->event->destroyed) {
        free(op->event);
    }
    free(op->bytes);
    free(op);
}

/* ---- the thread ---- */

/* Until `ms` have passed, for ever when 0, or until the library goes. Lock held. */
static void rest(uint64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (!queue.quit) {
        if (ms == 0) {
            pthread_cond_wait(&queue.changed, &queue.lock);
        } else if (pthread_cond_timedwait(&queue.changed, &queue.lock, &until)) {
            return;
        }
    }
}

/* Lock held; released while the kernel runs. */
static int launch_carry_out(const struct op *op) {
    uint64_t number = ++queue.launches;
    const struct launch_rule *fault = conf_launch(LAUNCH_FAULT, number);
    const struct launch_rule *delay = conf_launch(LAUNCH_DELAY, number);
    if (delay) {
        rest(delay->value);
    }
    bool endless = conf_launch(LAUNCH_STUCK, number) != NULL;
    int code = fault ? (int)fault->value : CUDA_OK;
    if (!endless && !fault) {
        code = launch_run(op);
        endless = code == CUDA_NOT_READY;
    }
    if (endless) {
        rest(0);
    }
    queue.clock_us += launch_duration(op);
    queue.flushed = false;
    return code;
}

static int op_carry_out(const struct op *op) {
    if (op->kind == OP_LAUNCH) {
        return launch_carry_out(op);
    }
    if (op->kind == OP_EVENT) {
        op->event->at_us = queue.clock_us;
        return CUDA_OK;
    }
    pthread_mutex_unlock(&queue.lock);
    int code = transfer_run(op);
    pthread_mutex_lock(&queue.lock);
    queue.clock_us += 1 + (double)op->len / conf.bytes_per_us;
    queue.flushed |= op->kind == OP_SET && op->len >= conf.l2;
    return code;
}

static void *queue_main(void *unused) {
    (void)unused;
    pthread_mutex_lock(&queue.lock);
    while (!queue.quit) {
        struct op *op = queue.head;
        if (!op) {
            pthread_cond_wait(&queue.changed, &queue.lock);
            continue;
        }
        int code = queue.error ? CUDA_OK : op_carry_out(op);
        if (code && !queue.error) {
            queue.error = code;
        }
        queue.head = op->next;
        if (!queue.head) {
            queue.tail = &queue.head;
        }
        queue.done = op->number;
        op_free(op);
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}

/* ---- what others ask ---- */

uint64_t queue_add(struct op *op) {
    op->number = ++queue.submitted;
    if (op->event) {
        op->event->number = op->number;
    }
    *queue.tail = op;
    queue.tail = &op->next;
    if (!queue.started) {
        queue.started = pthread_create(&queue.thread, NULL, queue_main, NULL) == 0;
        queue.error = queue.started ? queue.error : CUDA_UNKNOWN;
    }
    pthread_cond_broadcast(&queue.changed);
    return queue.submitted;
}

bool queue_is_done(uint64_t number) {
    return queue.done >= number || queue.error;
}

int queue_wait(uint64_t number) {
    while (!queue_is_done(number)) {
        pthread_cond_wait(&queue.changed, &queue.lock);
    }
    return queue.error;
}

void queue_shutdown(void) {
    pthread_mutex_lock(&queue.lock);
    while (conf.exit_hangs && queue.done < queue.submitted) {
        pthread_cond_wait(&queue.changed, &queue.lock);
    }
    queue.quit = true;
    if (queue.running) {
        machine_stop(queue.running);
    }
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    if (queue.started) {
        pthread_join(queue.thread, NULL);
        queue.started = false;
    }
    while (queue.head) {
        struct op *op = queue.head;
        queue.head = op->next;
        op_free(op);
    }
    queue.tail = &queue.head;
}
