#pragma once
/* queue: the device: one thread that carries out what was asked of it, in order.
 *
 * All streams share it, which is a legal schedule of independent streams. The thread is
 * started by the first work in the process and joined when the library is unloaded or the
 * process exits. Everything below is guarded by queue.lock; every change is told to
 * queue.changed; every wait is a loop on what it waits for. */
#include "tests/cuda/standin.h"

#include <pthread.h>
#include <sys/types.h>

struct function;

enum op_kind { OP_LAUNCH, OP_COPY_IN, OP_COPY_OUT, OP_COPY, OP_SET, OP_EVENT };

struct launch_shape {
    uint32_t grid[3], block[3], cluster[3], shared_bytes;
    bool cooperative;
};

struct event {
    struct object object;
    uint64_t number; /* of the last record, 0 = never */
    double at_us;    /* the device's clock when it was reached */
    unsigned users;  /* operations that name it */
    bool destroyed;
};

struct op {
    struct op *next;
    enum op_kind kind;
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

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, quit;
    struct op *head, **tail;
    uint64_t submitted, done; /* numbers */
    int error;                /* of the context; stays */
    double clock_us;
    bool flushed;      /* a fill went over all of L2 since the last launch */
    uint64_t launches; /* carried out or begun */
    struct machine *running;
};
extern struct queue queue;

void queue_init(void); /* at load, and in a child of fork */
/* Takes op over (allocated), numbers it and starts the thread where it does not run. */
uint64_t queue_add(struct op *op);
bool queue_is_done(uint64_t number);
/* Waits until `number` is done, for ever if need be; the context's error. */
int queue_wait(uint64_t number);
void queue_shutdown(void); /* the thread ends; what was not begun is dropped */
struct op *op_new(enum op_kind kind);
struct op *op_copy(const struct op *op);
void op_free(struct op *op);

/* Carries out one operation; a code. launch_run gives the lock back while the kernel
 * runs, and says CUDA_NOT_READY of one that never ends; transfer_run is called without
 * the lock. */
int launch_run(const struct op *op);
int transfer_run(const struct op *op);
/* What a launch takes on the device's clock. */
double launch_duration(const struct op *op);
