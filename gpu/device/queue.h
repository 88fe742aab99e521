#pragma once
/* queue: the operations requested from the device, executed in the order of the requests.
 *
 * All streams share it, which is a legal schedule of independent streams. A background
 * thread executes operations that nobody waits for; a waiting thread executes the rest
 * itself, so that a program that requests and waits never switches threads. While
 * operations arrive frequently the background thread polls, so a request costs no system
 * call. One operation runs at a time, without the lock; waiting operations are taken
 * together. The first error stays, and later operations are dropped. */
#include "base/mem.h"

#include <pthread.h>

struct op {
    struct op *next;
    uint64_t number;         /* rises with every operation */
    int (*run)(struct op *); /* a code; 0 is success */
    void (*free)(struct op *);
    struct moment *moment; /* freed with it: who asked knows what it means; or NULL */
    struct op *(*copy)(struct op *); /* for graphs; NULL: cannot stand in one */
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed, asked; /* by what was done; by what is to be done */
    pthread_t runner;              /* who runs an operation, while busy */
    bool started, busy, idle;      /* idle: the thread sleeps until it is asked */
    unsigned waiting;              /* atomic: threads of the program in queue_wait */
    bool polls;                    /* atomic: what runs waits for the host */
    struct op *head, **tail;
    uint64_t submitted, done; /* numbers; done: atomic, as are wanted, error */
    uint64_t wanted;          /* the lowest number that somebody waits for, or more */
    int error;                /* stays */
    int inside;               /* what waiting from inside an operation gives; 0: nothing */
};

/* It lives as long as its process, as its thread does. */
void queue_init(struct queue *q);
/* Takes op over and numbers it. */
uint64_t queue_add(struct queue *q, struct op *op);
bool queue_is_done(struct queue *q, uint64_t number);
/* Waits until `number` is done, for ever if need be; the queue's error, or `inside` where
 * an operation would wait for itself. */
int queue_wait(struct queue *q, uint64_t number);
/* Lets the queue's thread carry it out; comes back before only when what runs waits for
 * the host. */
void queue_linger(struct queue *q, uint64_t number);
void queue_polls(struct queue *q); /* what runs waits for the host */
/* Runs fn when everything before it is done, and waits; its code, or the queue's error.
 * From inside an operation: at once. */
int queue_do(struct queue *q, int (*fn)(void *), void *of);
int queue_wait_all(struct queue *q);
/* Is this thread inside an operation (a callback)? It must not wait then. */
bool queue_is_inside(struct queue *q);
/* Could a thread of the program still change what the running operation looks at? */
bool queue_host_runs(const struct queue *q);
int queue_error(struct queue *q);
void queue_fail(struct queue *q, int code);
void queue_forgive(struct queue *q); /* no error any more */
