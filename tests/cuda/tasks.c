#include "tests/cuda/tasks.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gpu/ptx/machine/machine.h"
#include "tests/cuda/conf.h"

#include <string.h>
#include <time.h>

struct tasks tasks = {.tail = &tasks.head};

void tasks_init(void) {
    pthread_condattr_t monotonic;
    tasks = (struct tasks){.tail = &tasks.head};
    pthread_mutex_init(&tasks.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&tasks.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* ---- operations ---- */

struct task *task_new(enum task_kind kind) {
    struct task *op = xcalloc(1, sizeof *op);
    op->kind = kind;
    return op;
}

struct task *task_copy(const struct task *op) {
    struct task *copy = task_new(op->kind);
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

void task_free(struct task *op) {
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
    while (!tasks.quit) {
        if (ms == 0) {
            pthread_cond_wait(&tasks.changed, &tasks.lock);
        } else if (pthread_cond_timedwait(&tasks.changed, &tasks.lock, &until)) {
            return;
        }
    }
}

/* Lock held; released while the kernel runs. */
static int launch_carry_out(const struct task *op) {
    uint64_t number = ++tasks.launches;
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
    tasks.clock_us += launch_duration(op);
    tasks.flushed = false;
    return code;
}

static int task_carry_out(const struct task *op) {
    if (op->kind == OP_LAUNCH) {
        return launch_carry_out(op);
    }
    if (op->kind == OP_EVENT) {
        op->event->at_us = tasks.clock_us;
        return CUDA_OK;
    }
    pthread_mutex_unlock(&tasks.lock);
    int code = transfer_run(op);
    pthread_mutex_lock(&tasks.lock);
    tasks.clock_us += 1 + (double)op->len / conf.bytes_per_us;
    tasks.flushed |= op->kind == OP_SET && op->len >= conf.l2;
    return code;
}

static void *tasks_main(void *unused) {
    (void)unused;
    pthread_mutex_lock(&tasks.lock);
    while (!tasks.quit) {
        struct task *op = tasks.head;
        if (!op) {
            pthread_cond_wait(&tasks.changed, &tasks.lock);
            continue;
        }
        int code = tasks.error ? CUDA_OK : task_carry_out(op);
        if (code && !tasks.error) {
            tasks.error = code;
        }
        tasks.head = op->next;
        if (!tasks.head) {
            tasks.tail = &tasks.head;
        }
        tasks.done = op->number;
        task_free(op);
        pthread_cond_broadcast(&tasks.changed);
    }
    pthread_mutex_unlock(&tasks.lock);
    return NULL;
}

/* ---- what others ask ---- */

uint64_t tasks_add(struct task *op) {
    op->number = ++tasks.submitted;
    if (op->event) {
        op->event->number = op->number;
    }
    *tasks.tail = op;
    tasks.tail = &op->next;
    if (!tasks.started) {
        tasks.started = pthread_create(&tasks.thread, NULL, tasks_main, NULL) == 0;
        tasks.error = tasks.started ? tasks.error : CUDA_UNKNOWN;
    }
    pthread_cond_broadcast(&tasks.changed);
    return tasks.submitted;
}

bool tasks_is_done(uint64_t number) {
    return tasks.done >= number || tasks.error;
}

int tasks_wait(uint64_t number) {
    while (!tasks_is_done(number)) {
        pthread_cond_wait(&tasks.changed, &tasks.lock);
    }
    return tasks.error;
}

void tasks_shutdown(void) {
    pthread_mutex_lock(&tasks.lock);
    while (conf.exit_hangs && tasks.done < tasks.submitted) {
        pthread_cond_wait(&tasks.changed, &tasks.lock);
    }
    tasks.quit = true;
    if (tasks.running) {
        machine_stop(tasks.running);
    }
    pthread_cond_broadcast(&tasks.changed);
    pthread_mutex_unlock(&tasks.lock);
    if (tasks.started) {
        pthread_join(tasks.thread, NULL);
        tasks.started = false;
    }
    while (tasks.head) {
        struct task *op = tasks.head;
        tasks.head = op->next;
        task_free(op);
    }
    tasks.tail = &tasks.head;
}
