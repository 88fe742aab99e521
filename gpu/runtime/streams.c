#include "gpu/runtime/streams.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/runtime.h"

#include <time.h>

struct stream {
    struct stream *next;
    uint64_t last; /* number of the last operation */
    unsigned flags;
    int priority;
    uint64_t id;
};

struct event {
    struct event *next;
    unsigned users; /* the program, and operations that name it */
    bool destroyed;
    uint64_t number; /* of the last record; 0: never */
    double at_us;    /* when it was reached */
    unsigned flags;
};

static struct {
    struct stream *first;
    struct event *events;
    struct stream legacy; /* NULL, cudaStreamLegacy, cudaStreamPerThread */
    uint64_t count;
} streams;

/* ---- handles; runtime.lock is held ---- */

static struct stream *stream_find(struct stream *handle) {
    if ((uintptr_t)handle <= 2) {
        return &streams.legacy;
    }
    struct stream *s = streams.first;
    while (s && s != handle) {
        s = s->next;
    }
    return s;
}

static struct event *event_find(struct event *handle) {
    struct event *e = streams.events;
    while (e && e != handle) {
        e = e->next;
    }
    return e;
}

static cudart_error no_stream(void) {
    return explain(CUDART_INVALID_HANDLE, "the stream does not exist (any more)");
}

static cudart_error no_event(void) {
    return explain(CUDART_INVALID_HANDLE, "the event does not exist (any more)");
}

bool stream_is_known(struct stream *handle) {
    pthread_mutex_lock(&runtime.lock);
    bool known = stream_find(handle) != NULL;
    pthread_mutex_unlock(&runtime.lock);
    return known;
}

/* ---- operations ---- */

static cudart_error put(struct stream *handle, struct op *op, uint64_t *ret_number) {
    int error = queue_error(&runtime.device.queue);
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    if (s && !error) {
        *ret_number = s->last = queue_add(&runtime.device.queue, op);
    }
    pthread_mutex_unlock(&runtime.lock);
    if (!s || error) {
        op->free(op);
    }
    return error ? error : s ? CUDART_SUCCESS : no_stream();
}

cudart_error stream_put(struct stream *handle, struct op *op) {
    uint64_t number;
    return put(handle, op, &number);
}

cudart_error stream_put_wait(struct stream *handle, struct op *op) {
    uint64_t number;
    cudart_error code = put(handle, op, &number);
    return code ? code : queue_wait(&runtime.device.queue, number);
}

/* ---- streams ---- */

static cudart_error stream_new(struct stream **ret, unsigned flags, int priority) {
    NEED(ret);
    if (flags > 1) {
        return explain(CUDART_INVALID_VALUE, "a stream has no flags 0x%x", flags);
    }
    struct stream *s = xcalloc(1, sizeof *s);
    s->flags = flags;
    s->priority = priority;
    pthread_mutex_lock(&runtime.lock);
    s->id = ++streams.count;
    s->next = streams.first;
    streams.first = s;
    pthread_mutex_unlock(&runtime.lock);
    *ret = s;
    return CUDART_SUCCESS;
}

/* Does not wait: what is in it still runs. */
static cudart_error stream_destroy(struct stream *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct stream **at = &streams.first;
    while (*at && *at != handle) {
        at = &(*at)->next;
    }
    struct stream *s = *at;
    if (s) {
        *at = s->next;
        free(s);
    }
    pthread_mutex_unlock(&runtime.lock);
    return s ? CUDART_SUCCESS : no_stream();
}

static cudart_error stream_last(struct stream *handle, uint64_t *ret) {
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    *ret = !s ? 0 : s == &streams.legacy ? runtime.device.queue.submitted : s->last;
    pthread_mutex_unlock(&runtime.lock);
    return s ? CUDART_SUCCESS : no_stream();
}

static cudart_error stream_wait(struct stream *handle) {
    uint64_t last;
    cudart_error code = stream_last(handle, &last);
    return code ? code : queue_wait(&runtime.device.queue, last);
}

static cudart_error stream_query(struct stream *handle) {
    uint64_t last;
    cudart_error code = stream_last(handle, &last);
    int error = queue_error(&runtime.device.queue);
    return code || error                                ? code | error
           : queue_is_done(&runtime.device.queue, last) ? CUDART_SUCCESS
                                                        : CUDART_NOT_READY;
}

EXPORT cudart_error cudaStreamCreate(struct stream **ret) {
    RETURN(stream_new(ret, 0, 0));
}
EXPORT cudart_error cudaStreamCreateWithFlags(struct stream **ret, unsigned flags) {
    RETURN(stream_new(ret, flags, 0));
}
EXPORT cudart_error cudaStreamCreateWithPriority(struct stream **ret, unsigned flags,
                                                 int priority) {
    RETURN(stream_new(ret, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority));
}
EXPORT cudart_error cudaStreamDestroy(struct stream *s) {
    RETURN(stream_destroy(s));
}
EXPORT cudart_error cudaStreamSynchronize(struct stream *s) {
    RETURN(stream_wait(s));
}
EXPORT cudart_error cudaStreamQuery(struct stream *s) {
    RETURN(stream_query(s));
}
EXPORT cudart_error cudaStreamGetPriority(struct stream *s, int *ret) {
    *ret = stream_is_known(s) && (uintptr_t)s > 2 ? s->priority : 0;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaStreamGetFlags(struct stream *s, unsigned *ret) {
    *ret = stream_is_known(s) && (uintptr_t)s > 2 ? s->flags : 0;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaStreamGetId(struct stream *s, unsigned long long *ret) {
    *ret = stream_is_known(s) && (uintptr_t)s > 2 ? s->id : 0;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaStreamGetDevice(struct stream *s, int *ret) {
    *ret = 0;
    RETURN(stream_is_known(s) ? CUDART_SUCCESS : no_stream());
}
EXPORT cudart_error cudaDeviceSynchronize(void) {
    RETURN(queue_wait_all(&runtime.device.queue));
}
EXPORT cudart_error cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest) {
    *ret_least = 0;
    *ret_greatest = -5;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaStreamSetAttribute(struct stream *s, int attribute,
                                           const void *value) {
    (void)attribute, (void)value; /* hints: caches, priorities */
    RETURN(stream_is_known(s) ? CUDART_SUCCESS : no_stream());
}
EXPORT cudart_error cudaStreamAttachMemAsync(struct stream *s, void *address,
                                             size_t bytes, unsigned flags) {
    (void)address, (void)bytes, (void)flags; /* the host sees managed memory always */
    RETURN(stream_is_known(s) ? CUDART_SUCCESS : no_stream());
}

/* ---- host functions ---- */

struct host_call {
    struct op op;
    void (*function)(void *);
    void (*callback)(struct stream *, cudart_error, void *); /* one of both */
    struct stream *stream;
    void *data;
};

static int host_call_run(struct op *op) {
    struct host_call *h = container_of(op, struct host_call, op);
    if (h->function) {
        h->function(h->data);
    } else {
        h->callback(h->stream, CUDART_SUCCESS, h->data);
    }
    return 0;
}

static void host_call_free(struct op *op) {
    free(container_of(op, struct host_call, op));
}

static struct op *host_call_copy(struct op *op) {
    struct host_call *h = xmalloc(sizeof *h);
    *h = *container_of(op, struct host_call, op);
    return &h->op;
}

static cudart_error host_call_put(const struct host_call *from) {
    struct host_call *h = xmalloc(sizeof *h);
    *h = *from;
    h->op =
        (struct op){.run = host_call_run, .free = host_call_free, .copy = host_call_copy};
    return stream_put(h->stream, &h->op);
}

EXPORT cudart_error cudaLaunchHostFunc(struct stream *s, void (*function)(void *),
                                       void *data) {
    RETURN(function ? host_call_put(&(struct host_call){
                          .function = function, .stream = s, .data = data})
                    : CUDART_INVALID_VALUE);
}
EXPORT cudart_error cudaStreamAddCallback(struct stream *s,
                                          void (*callback)(struct stream *, cudart_error,
                                                           void *),
                                          void *data, unsigned flags) {
    (void)flags;
    RETURN(callback ? host_call_put(&(struct host_call){
                          .callback = callback, .stream = s, .data = data})
                    : CUDART_INVALID_VALUE);
}

/* ---- events ---- */

static cudart_error event_new(struct event **ret, unsigned flags) {
    NEED(ret);
    struct event *e = xcalloc(1, sizeof *e);
    e->flags = flags;
    e->users = 1;
    pthread_mutex_lock(&runtime.lock);
    e->next = streams.events;
    streams.events = e;
    pthread_mutex_unlock(&runtime.lock);
    *ret = e;
    return CUDART_SUCCESS;
}

static void event_drop(struct event *e) {
    pthread_mutex_lock(&runtime.lock);
    bool last = --e->users == 0;
    pthread_mutex_unlock(&runtime.lock);
    if (last) {
        free(e);
    }
}

static cudart_error event_destroy(struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event **at = &streams.events;
    while (*at && *at != handle) {
        at = &(*at)->next;
    }
    struct event *e = *at;
    *at = e ? e->next : *at;
    pthread_mutex_unlock(&runtime.lock);
    if (e) {
        event_drop(e);
    }
    return e ? CUDART_SUCCESS : no_event();
}

struct mark {
    struct op op;
    struct event *event;
};

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int mark_run(struct op *op) {
    container_of(op, struct mark, op)->event->at_us = now_us();
    return 0;
}

static void mark_free(struct op *op) {
    struct mark *m = container_of(op, struct mark, op);
    event_drop(m->event);
    free(m);
}

static struct op *mark_new(struct event *e);

static struct op *mark_copy(struct op *op) {
    return mark_new(container_of(op, struct mark, op)->event);
}

static struct op *mark_new(struct event *e) {
    struct mark *m = xcalloc(1, sizeof *m);
    m->op = (struct op){.run = mark_run, .free = mark_free, .copy = mark_copy};
    m->event = e;
    pthread_mutex_lock(&runtime.lock);
    e->users++;
    pthread_mutex_unlock(&runtime.lock);
    return &m->op;
}

static cudart_error event_record(struct event *handle, struct stream *s) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    pthread_mutex_unlock(&runtime.lock);
    uint64_t number = 0;
    cudart_error code = e ? put(s, mark_new(e), &number) : no_event();
    if (!code && number) {
        e->number = number;
    }
    return code;
}

static cudart_error event_wait(struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    uint64_t number = e ? e->number : 0;
    pthread_mutex_unlock(&runtime.lock);
    return e ? queue_wait(&runtime.device.queue, number) : no_event();
}

static cudart_error event_query(struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    uint64_t number = e ? e->number : 0;
    pthread_mutex_unlock(&runtime.lock);
    int error = queue_error(&runtime.device.queue);
    return !e                                             ? no_event()
           : error                                        ? error
           : queue_is_done(&runtime.device.queue, number) ? CUDART_SUCCESS
                                                          : CUDART_NOT_READY;
}

static cudart_error event_elapsed(float *ret_ms, struct event *from, struct event *to) {
    NEED(ret_ms);
    pthread_mutex_lock(&runtime.lock);
    const struct event *a = event_find(from), *b = event_find(to);
    pthread_mutex_unlock(&runtime.lock);
    if (!a || !b || !a->number || !b->number) {
        return explain(CUDART_INVALID_HANDLE,
                       "an event does not exist or was never recorded");
    }
    if (!queue_is_done(&runtime.device.queue, a->number) ||
        !queue_is_done(&runtime.device.queue, b->number)) {
        return CUDART_NOT_READY;
    }
    *ret_ms = (float)((b->at_us - a->at_us) / 1000);
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaEventCreate(struct event **ret) {
    RETURN(event_new(ret, 0));
}
EXPORT cudart_error cudaEventCreateWithFlags(struct event **ret, unsigned flags) {
    RETURN(event_new(ret, flags));
}
EXPORT cudart_error cudaEventDestroy(struct event *e) {
    RETURN(event_destroy(e));
}
EXPORT cudart_error cudaEventRecord(struct event *e, struct stream *s) {
    RETURN(event_record(e, s));
}
EXPORT cudart_error cudaEventRecordWithFlags(struct event *e, struct stream *s,
                                             unsigned flags) {
    (void)flags;
    RETURN(event_record(e, s));
}
EXPORT cudart_error cudaEventSynchronize(struct event *e) {
    RETURN(event_wait(e));
}
EXPORT cudart_error cudaEventQuery(struct event *e) {
    RETURN(event_query(e));
}
EXPORT cudart_error cudaEventElapsedTime(float *ret_ms, struct event *from,
                                         struct event *to) {
    RETURN(event_elapsed(ret_ms, from, to));
}
/* All streams are served in order: what was recorded is waited for anyway. */
EXPORT cudart_error cudaStreamWaitEvent(struct stream *s, struct event *handle,
                                        unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&runtime.lock);
    const struct event *e = event_find(handle);
    pthread_mutex_unlock(&runtime.lock);
    RETURN(!e ? no_event() : stream_is_known(s) ? CUDART_SUCCESS : no_stream());
}
