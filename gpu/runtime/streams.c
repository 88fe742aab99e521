#include "gpu/runtime/streams.h"

#include "gpu/runtime/api.h"
#include "gpu/runtime/host_access.h"

static struct {
    struct stream *first;
    struct stream legacy; /* NULL, cudaStreamLegacy, cudaStreamPerThread */
    uint64_t count, captures;
    unsigned capturing; /* captures that go on */
} streams;

/* ---- handles; runtime.lock is held ---- */

struct stream *stream_find(struct stream *handle) {
    if ((uintptr_t)handle <= 2) {
        return &streams.legacy;
    }
    struct stream *s = streams.first;
    while (s && s != handle) {
        s = s->next;
    }
    return s;
}

cudart_error stream_unknown(void) {
    return explain(CUDART_INVALID_HANDLE, "the stream does not exist (any more)");
}

static bool stream_is_known(struct stream *handle) {
    pthread_mutex_lock(&runtime.lock);
    bool known = stream_find(handle) != NULL;
    pthread_mutex_unlock(&runtime.lock);
    return known;
}

bool stream_is_captured(struct stream *handle) {
    pthread_mutex_lock(&runtime.lock);
    const struct stream *s = stream_find(handle);
    bool captured = s && s->capture;
    pthread_mutex_unlock(&runtime.lock);
    return captured;
}

/* ---- capture; runtime.lock is held ---- */

static void tips_set(struct stream *s, struct node *tip) {
    s->tips = xreallocarray(s->tips, 1, sizeof(struct node *));
    s->tips[0] = tip;
    s->tip_count = 1;
}

void stream_add_tips(struct stream *s, struct node *const *tips, size_t count) {
    s->tips = xreallocarray(s->tips, s->tip_count + count + 1, sizeof(struct node *));
    for (size_t k = 0; k < count; k++) {
        s->tips[s->tip_count++] = tips[k];
    }
}

/* Takes op over, if it succeeds. */
static cudart_error capture_put(struct stream *s, enum node_type type, struct op *op) {
    if (s->capture->broken || !op->copy) {
        s->capture->broken = true;
        return CUDART_CAPTURE_INVALIDATED;
    }
    tips_set(s, graph_add(s->capture->graph, type, op, s->tips, s->tip_count));
    return CUDART_SUCCESS;
}

/* Streams leave it; the graph stays. */
static void capture_end(struct capture *c) {
    for (struct stream *s = streams.first; s; s = s->next) {
        if (s->capture == c) {
            s->capture = NULL;
            s->tip_count = 0;
        }
    }
    streams.capturing--;
    free(c);
}

/* ---- operations ---- */

/* The same. branch: of a graph's launch in s; or NULL. */
static cudart_error put(struct stream *s, enum node_type type, struct op *op,
                        struct order_branch *branch, uint64_t *ret_number) {
    int error = queue_error(&runtime.device.queue);
    cudart_error code =
        !s      ? stream_unknown()
        : error ? error
        : s == &streams.legacy && streams.capturing
            ? explain(CUDART_CAPTURE_IMPLICIT,
                      "the default stream is used while another one is captured")
            : CUDART_SUCCESS;
    *ret_number = 0;
    if (!code && s->capture) {
        code = capture_put(s, type, op);
    } else if (!code) {
        if (branch) {
            order_put_branch(branch, op);
        } else {
            order_put(s, &streams.legacy, op);
        }
        *ret_number = s->last = queue_add(&runtime.device.queue, op);
    }
    return code;
}

static cudart_error put_locked(struct stream *handle, enum node_type type, struct op *op,
                               struct order_branch *branch, uint64_t *ret_number) {
    pthread_mutex_lock(&runtime.lock);
    cudart_error code = put(stream_find(handle), type, op, branch, ret_number);
    pthread_mutex_unlock(&runtime.lock);
    if (code) {
        op->free(op); /* of an event's mark, that takes the lock */
    }
    return code;
}

cudart_error stream_put_numbered(struct stream *s, enum node_type type, struct op *op,
                                 uint64_t *ret_number) {
    return put_locked(s, type, op, NULL, ret_number);
}

cudart_error stream_put(struct stream *s, enum node_type type, struct op *op) {
    uint64_t number;
    return put_locked(s, type, op, NULL, &number);
}

cudart_error stream_put_branch(struct stream *s, enum node_type type, struct op *op,
                               struct order_branch *branch, uint64_t *ret_number) {
    return put_locked(s, type, op, branch, ret_number);
}

void stream_put_graph(struct stream *handle, const struct order_clock *end) {
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    if (s && order_is_on()) {
        order_put_graph(s, &streams.legacy, end);
    }
    pthread_mutex_unlock(&runtime.lock);
}

struct order_clock stream_clock(struct stream *handle) {
    pthread_mutex_lock(&runtime.lock);
    const struct stream *s = stream_find(handle);
    struct order_clock c = {0};
    if (s && order_is_on()) {
        c = order_of_stream(s, &streams.legacy);
    }
    pthread_mutex_unlock(&runtime.lock);
    return c;
}

/* Waits, and the host knows then that what came in front has ended. */
static cudart_error wait_for(struct stream *handle, uint64_t number) {
    const struct order_clock c = stream_clock(handle);
    cudart_error code = queue_wait(&runtime.device.queue, number);
    host_access_waited(&c);
    return code;
}

cudart_error stream_put_wait(struct stream *handle, enum node_type type, struct op *op) {
    uint64_t number;
    cudart_error code = stream_put_numbered(handle, type, op, &number);
    return code || !number ? code : wait_for(handle, number);
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
    order_begin();
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
        free(s->tips);
        free(s);
    }
    pthread_mutex_unlock(&runtime.lock);
    return s ? CUDART_SUCCESS : stream_unknown();
}

static cudart_error stream_last(struct stream *handle, uint64_t *ret) {
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    *ret = !s ? 0 : s == &streams.legacy ? runtime.device.queue.submitted : s->last;
    bool captured = s && s->capture;
    if (captured) {
        s->capture->broken = true;
    }
    pthread_mutex_unlock(&runtime.lock);
    return captured ? explain(CUDART_CAPTURE_UNSUPPORTED, "the stream is being captured")
           : s      ? CUDART_SUCCESS
                    : stream_unknown();
}

static cudart_error stream_wait(struct stream *handle) {
    uint64_t last;
    cudart_error code = stream_last(handle, &last);
    return code ? code : wait_for(handle, last);
}

static cudart_error stream_query(struct stream *handle) {
    uint64_t last;
    cudart_error code = stream_last(handle, &last);
    int error = queue_error(&runtime.device.queue);
    const struct order_clock c = stream_clock(handle);
    bool done = queue_is_done(&runtime.device.queue, last);
    if (done) {
        host_access_waited(&c);
    }
    return code || error ? code | error : done ? CUDART_SUCCESS : CUDART_NOT_READY;
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
    RETURN(stream_is_known(s) ? CUDART_SUCCESS : stream_unknown());
}
EXPORT cudart_error cudaDeviceSynchronize(void) {
    cudart_error code = queue_wait_all(&runtime.device.queue);
    host_access_waited(NULL);
    RETURN(code);
}
EXPORT cudart_error cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest) {
    *ret_least = 0;
    *ret_greatest = -5;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaStreamSetAttribute(struct stream *s, int attribute,
                                           const void *value) {
    (void)attribute, (void)value; /* hints: caches, priorities */
    RETURN(stream_is_known(s) ? CUDART_SUCCESS : stream_unknown());
}
EXPORT cudart_error cudaStreamAttachMemAsync(struct stream *s, void *address,
                                             size_t bytes, unsigned flags) {
    (void)address, (void)bytes, (void)flags; /* the host sees managed memory always */
    RETURN(stream_is_known(s) ? CUDART_SUCCESS : stream_unknown());
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
    if (op->moment) { /* it may have told the host's threads */
        host_access_waited(&op->moment->seen);
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

static struct op *host_call_new(const struct host_call *from) {
    struct host_call *h = xmalloc(sizeof *h);
    *h = *from;
    h->op =
        (struct op){.run = host_call_run, .free = host_call_free, .copy = host_call_copy};
    return &h->op;
}

struct op *host_call_make(void (*function)(void *), void *data) {
    return host_call_new(&(struct host_call){.function = function, .data = data});
}

void host_call_describe(struct op *op, struct cudart_host_node *ret) {
    const struct host_call *h = container_of(op, struct host_call, op);
    *ret = (struct cudart_host_node){h->function, h->data};
}

static cudart_error host_call_put(const struct host_call *from) {
    return stream_put(from->stream, NODE_HOST, host_call_new(from));
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
                                          void *data, unsigned) {
    RETURN(callback ? host_call_put(&(struct host_call){
                          .callback = callback, .stream = s, .data = data})
                    : CUDART_INVALID_VALUE);
}

/* ---- capture ---- */

/* into: a graph that gets the operations, behind some of its nodes; NULL: a new one. */
static cudart_error capture_begin(struct stream *handle, struct graph *into,
                                  struct node *const *needs, size_t count) {
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    cudart_error code =
        !s ? stream_unknown()
        : s == &streams.legacy
            ? explain(CUDART_CAPTURE_UNSUPPORTED, "the default stream is not captured")
        : s->capture ? CUDART_ILLEGAL_STATE
        : into && !graph_find(into)
            ? explain(CUDART_INVALID_VALUE, "the graph does not exist (any more)")
            : CUDART_SUCCESS;
    if (!code) {
        s->capture = xcalloc(1, sizeof *s->capture);
        *s->capture = (struct capture){.graph = into ? into : graph_new(),
                                       .origin = s,
                                       .is_given = into != NULL,
                                       .id = ++streams.captures};
        if (!into) {
            graph_know(s->capture->graph);
        }
        s->tip_count = 0;
        stream_add_tips(s, needs, count);
        streams.capturing++;
    }
    pthread_mutex_unlock(&runtime.lock);
    return code;
}

static cudart_error capture_finish(struct stream *handle, struct graph **ret) {
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    struct capture *c = s ? s->capture : NULL;
    cudart_error code = !s               ? stream_unknown()
                        : !c             ? CUDART_ILLEGAL_STATE
                        : c->origin != s ? explain(CUDART_CAPTURE_UNMATCHED,
                                                   "the capture began in another stream")
                        : c->broken      ? CUDART_CAPTURE_INVALIDATED
                                         : CUDART_SUCCESS;
    if (ret) {
        *ret = code ? NULL : c->graph;
    }
    if (code == CUDART_CAPTURE_INVALIDATED && !c->is_given) {
        graph_forget(c->graph);
        graph_free(c->graph);
    }
    if (!code || code == CUDART_CAPTURE_INVALIDATED) {
        capture_end(c);
    }
    pthread_mutex_unlock(&runtime.lock);
    return code;
}

enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_BROKEN };

static cudart_error capture_status(struct stream *handle, int *ret,
                                   unsigned long long *ret_id, struct graph **ret_graph) {
    pthread_mutex_lock(&runtime.lock);
    const struct stream *s = stream_find(handle);
    const struct capture *c = s ? s->capture : NULL;
    *ret = !c ? CAPTURE_NONE : c->broken ? CAPTURE_BROKEN : CAPTURE_ACTIVE;
    if (c && ret_id) {
        *ret_id = c->id;
    }
    if (c && ret_graph) {
        *ret_graph = c->graph;
    }
    pthread_mutex_unlock(&runtime.lock);
    return s ? CUDART_SUCCESS : stream_unknown();
}

EXPORT cudart_error cudaStreamBeginCapture(struct stream *s, int mode) {
    RETURN(mode < 0 || mode > 2 ? CUDART_INVALID_VALUE
                                : capture_begin(s, NULL, NULL, 0));
}
EXPORT cudart_error cudaStreamBeginCaptureToGraph(struct stream *s, struct graph *into,
                                                  struct node *const *needs, const void *,
                                                  size_t count, int mode) {
    RETURN(mode < 0 || mode > 2 || !into || (count && !needs)
               ? CUDART_INVALID_VALUE
               : capture_begin(s, into, needs, count));
}

static cudart_error capture_depend(struct stream *handle, struct node *const *needs,
                                   size_t count, bool only) {
    pthread_mutex_lock(&runtime.lock);
    struct stream *s = stream_find(handle);
    cudart_error code = !s           ? stream_unknown()
                        : !s->capture ? CUDART_ILLEGAL_STATE
                                      : CUDART_SUCCESS;
    if (!code) {
        s->tip_count = only ? 0 : s->tip_count;
        stream_add_tips(s, needs, count);
    }
    pthread_mutex_unlock(&runtime.lock);
    return code;
}

EXPORT cudart_error cudaStreamUpdateCaptureDependencies(struct stream *s,
                                                        struct node *const *needs,
                                                        const void *, size_t count,
                                                        unsigned flags) {
    RETURN(flags > 1 || (count && !needs)
               ? CUDART_INVALID_VALUE
               : capture_depend(s, needs, count, flags == 1));
}
EXPORT cudart_error cudaStreamEndCapture(struct stream *s, struct graph **ret) {
    RETURN(capture_finish(s, ret));
}
EXPORT cudart_error cudaStreamIsCapturing(struct stream *s, int *ret) {
    RETURN(capture_status(s, ret, NULL, NULL));
}
EXPORT cudart_error cudaStreamGetCaptureInfo(struct stream *s, int *ret,
                                             unsigned long long *ret_id,
                                             struct graph **ret_graph,
                                             struct node *const **ret_tips,
                                             const void **ret_edges, size_t *ret_count) {
    cudart_error code = capture_status(s, ret, ret_id, ret_graph);
    if (ret_edges) {
        *ret_edges = NULL;
    }
    if (!code && *ret && ret_tips) {
        *ret_tips = s->tips;
    }
    if (!code && *ret && ret_count) {
        *ret_count = s->tip_count;
    }
    RETURN(code);
}
/* Captures hinder nobody here, whatever the mode. */
EXPORT cudart_error cudaThreadExchangeStreamCaptureMode(int *mode) {
    static __thread int own;
    int old = own;
    own = *mode;
    *mode = old;
    RETURN(CUDART_SUCCESS);
}
