#pragma once
/* tasks: the device: one thread that carries out what was asked of it, in order.
 *
 * All streams share it, which is a legal schedule of independent streams. The thread is
 * started by the first work in the process and joined when the library is unloaded or the
 * process exits. Everything below is guarded by tasks.lock; every change is told to
 * tasks.changed; every wait is a loop on what it waits for. */
#include "gpu/device/module.h"
#include "tests/cuda/standin.h"

#include <pthread.h>
#include <sys/types.h>

struct function;

enum task_kind { OP_LAUNCH, OP_COPY_IN, OP_COPY_OUT, OP_COPY, OP_SET, OP_EVENT };

struct event {
    struct object object;
    uint64_t number; /* of the last record, 0 = never */
    double at_us;    /* the device's clock when it was reached */
    unsigned users;  /* operations that name it */
    bool destroyed;
};

struct task {
    struct task *next;
    enum task_kind kind;
    uint64_t number; /* rises with every operation */
    bool in_graph;
    struct function *function; /* OP_LAUNCH */
    struct launch_shape shape;
    void *bytes; /* owned: parameters, or what is copied in */
    size_t len;
    cuda_address to, from; /* copies, fills */
    void *host;            /* OP_COPY_OUT */
    unsigned value, width; /* OP_SET: width bytes of value, len bytes in all */
    struct event *event;   /* OP_EVENT */
};

struct tasks {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, quit;
    struct task *head, **tail;
    uint64_t submitted, done; /* numbers */
    int error;                /* of the context; stays */
    double clock_us;
    bool flushed;      /* a fill went over all of L2 since the last launch */
    uint64_t launches; /* carried out or begun */
    struct machine *running;
};
extern struct tasks tasks;

void tasks_init(void); /* at load, and in a child of fork */
/* Takes op over (allocated), numbers it and starts the thread where it does not run. */
uint64_t tasks_add(struct task *op);
bool tasks_is_done(uint64_t number);
/* Waits until `number` is done, for ever if need be; the context's error. */
int tasks_wait(uint64_t number);
void tasks_shutdown(void); /* the thread ends; what was not begun is dropped */
struct task *task_new(enum task_kind kind);
struct task *task_copy(const struct task *op);
void task_free(struct task *op);

/* Carries out one operation; a code. launch_run gives the lock back while the kernel
 * runs, and says CUDA_NOT_READY of one that never ends; transfer_run is called without
 * the lock. */
int launch_run(const struct task *op);
int transfer_run(const struct task *op);
/* What a launch takes on the device's clock. */
double launch_duration(const struct task *op);
