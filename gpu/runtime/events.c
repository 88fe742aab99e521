/* events: marks in streams, and when they were reached. */
#include "gpu/runtime/events.h"

#include "gpu/runtime/host_access.h"
#include "gpu/runtime/streams.h"

#include <time.h>

struct event {
    struct event *next;
    unsigned users;           /* the program, and operations that name it */
    struct order_clock clock; /* what had ended where it was recorded last */
    uint64_t number;          /* of the last record; 0: never */
    double at_us;             /* when it was reached */
    struct capture *capture;  /* in which it was recorded last; or NULL */
    struct node **tips;       /* what it stands for there */
    size_t tip_count;
};

static struct event *events; /* under runtime.lock */

static struct event *event_find(struct event *handle) {
    struct event *e = events;
    while (e && e != handle) {
        e = e->next;
    }
    return e;
}

static cudart_error no_event(void) {
    return explain(CUDART_INVALID_HANDLE, "the event does not exist (any more)");
}

static cudart_error event_new(struct event **ret, unsigned flags) {
    (void)flags; /* times are always taken */
    NEED(ret);
    struct event *e = xcalloc(1, sizeof *e);
    e->users = 1;
    pthread_mutex_lock(&runtime.lock);
    e->next = events;
    events = e;
    pthread_mutex_unlock(&runtime.lock);
    *ret = e;
    return CUDART_SUCCESS;
}

static void event_drop(struct event *e) {
    pthread_mutex_lock(&runtime.lock);
    bool last = --e->users == 0;
    pthread_mutex_unlock(&runtime.lock);
    if (last) {
        free(e->tips);
        free(e);
    }
}

static cudart_error event_destroy(struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event **at = &events;
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

cudart_error event_mark_make(struct op **ret, struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    pthread_mutex_unlock(&runtime.lock);
    if (!e) {
        return no_event();
    }
    *ret = mark_new(e);
    return CUDART_SUCCESS;
}

struct event *event_of_mark(struct op *op) {
    return container_of(op, struct mark, op)->event;
}

void event_recorded(struct op *mark, uint64_t number, const struct order_clock *clock) {
    struct event *e = event_of_mark(mark);
    e->capture = NULL;
    e->number = number;
    e->clock = *clock;
}

struct order_clock event_clock(struct op *mark) {
    return event_of_mark(mark)->clock;
}

/* In a stream that is captured it is a mark of the capture. runtime.lock is held. */
static bool event_capture(struct event *e, const struct stream *s) {
    e->capture = s ? s->capture : NULL;
    if (!e->capture) {
        return false;
    }
    e->tips = xreallocarray(e->tips, s->tip_count + 1, sizeof(struct node *));
    memcpy(e->tips, s->tips, s->tip_count * sizeof(struct node *));
    e->tip_count = s->tip_count;
    return true;
}

#define EXTERNAL 1u /* of cudaEventRecordExternal and cudaEventWaitExternal */

static cudart_error event_record(struct event *handle, struct stream *stream,
                                 unsigned flags) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    bool captured = e && !(flags & EXTERNAL) && event_capture(e, stream_find(stream));
    pthread_mutex_unlock(&runtime.lock);
    uint64_t number = 0;
    cudart_error code =
        e && !captured ? stream_put_numbered(stream, NODE_RECORD, mark_new(e), &number)
        : e            ? CUDART_SUCCESS
                       : no_event();
    if (number) {
        e->number = number;
        e->clock = stream_clock(stream);
    }
    return code;
}

static cudart_error event_wait(struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    uint64_t number = e ? e->number : 0;
    pthread_mutex_unlock(&runtime.lock);
    if (!e) {
        return no_event();
    }
    const struct order_clock c = e->clock;
    cudart_error code = queue_wait(&runtime.device.queue, number);
    host_access_waited(&c);
    return code;
}

static cudart_error event_query(struct event *handle) {
    pthread_mutex_lock(&runtime.lock);
    struct event *e = event_find(handle);
    uint64_t number = e ? e->number : 0;
    pthread_mutex_unlock(&runtime.lock);
    int error = queue_error(&runtime.device.queue);
    if (!e || error) {
        return e ? error : no_event();
    }
    const struct order_clock c = e->clock;
    bool done = queue_is_done(&runtime.device.queue, number);
    if (done) {
        host_access_waited(&c);
    }
    return done ? CUDART_SUCCESS : CUDART_NOT_READY;
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
        return explain(CUDART_NOT_READY, "nobody has waited for the events");
    }
    *ret_ms = (float)((b->at_us - a->at_us) / 1000);
    const struct order_clock c = b->clock;
    host_access_waited(&c);
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
    RETURN(event_record(e, s, 0));
}
EXPORT cudart_error cudaEventRecordWithFlags(struct event *e, struct stream *s,
                                             unsigned flags) {
    RETURN(event_record(e, s, flags));
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
/* All streams are served in order: what was recorded is waited for anyway. Only captures
 * and clocks have to be told. */
static cudart_error wait_event(struct stream *handle, struct event *event) {
    pthread_mutex_lock(&runtime.lock);
    const struct event *e = event_find(event);
    struct stream *s = stream_find(handle);
    if (e && s && e->capture && (!s->capture || s->capture == e->capture)) {
        s->capture = e->capture;
        stream_add_tips(s, e->tips, e->tip_count);
    } else if (e && s) {
        order_stream_waits(s, &e->clock);
    }
    pthread_mutex_unlock(&runtime.lock);
    return !e ? no_event() : s ? CUDART_SUCCESS : stream_unknown();
}

EXPORT cudart_error cudaStreamWaitEvent(struct stream *s, struct event *e,
                                        unsigned flags) {
    struct op *op;
    if (flags & EXTERNAL && stream_is_captured(s)) {
        cudart_error code = event_mark_make(&op, e);
        RETURN(code ? code : stream_put(s, NODE_WAIT, op));
    }
    RETURN(wait_event(s, e));
}
