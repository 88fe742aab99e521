#include "tests/cuda/stream.h"

#include "base/mem.h"

static uint64_t legacy_last; /* of the stream NULL */

static bool capturing(void) {
    for (const struct stream *s = object_first(OBJECT_STREAM); s;
         s = (const struct stream *)s->object.next) {
        if (s->capture) {
            return true;
        }
    }
    return false;
}

bool streams_capture_break(void) {
    bool any = false;
    for (struct stream *s = object_first(OBJECT_STREAM); s;
         s = (struct stream *)s->object.next) {
        s->broken = s->broken || s->capture;
        any = any || s->capture;
    }
    return any;
}

static void graph_clear(struct graph *g) {
    while (g->first) {
        struct task *op = g->first;
        g->first = op->next;
        task_free(op);
    }
    g->last = &g->first;
}

static struct graph *graph_new(void) {
    struct graph *g = xcalloc(1, sizeof *g);
    g->last = &g->first;
    return g;
}

static void graph_free(struct graph *g) {
    if (g) {
        graph_clear(g);
        free(g);
    }
}

static void graph_add(struct graph *g, struct task *op) {
    op->in_graph = true;
    *g->last = op;
    g->last = &op->next;
}

int stream_put(cuda_stream_ref handle, struct task *op, uint64_t *ret_number) {
    struct stream *s = object_find(handle, OBJECT_STREAM);
    int code = handle && !s                   ? STANDIN_INVALID_HANDLE
               : !handle && capturing()       ? STANDIN_CAPTURE_IMPLICIT
               : s && s->capture && s->broken ? STANDIN_CAPTURE_INVALIDATED
                                              : CUDA_OK;
    if (ret_number) {
        *ret_number = 0;
    }
    if (code) {
        streams_capture_break();
        task_free(op);
        return code;
    }
    if (s && s->capture) {
        graph_add(s->capture, op);
        return CUDA_OK;
    }
    uint64_t number = tasks_add(op);
    *(s ? &s->last : &legacy_last) = number;
    if (ret_number) {
        *ret_number = number;
    }
    return CUDA_OK;
}

static void stream_free(struct stream *s) {
    object_remove(&s->object);
    graph_free(s->capture);
    free(s);
}

/* ---- streams ---- */

int cuStreamCreate(cuda_stream_ref *ret, unsigned flags) {
    ENTER(cuStreamCreate, NEED_CONTEXT);
    if (!ret || flags > CUDA_STREAM_NON_BLOCKING) {
        return CUDA_INVALID_VALUE;
    }
    struct stream *s = xcalloc(1, sizeof *s);
    s->flags = flags;
    object_add(&s->object, OBJECT_STREAM);
    *ret = (cuda_stream_ref)(void *)s;
    return CUDA_OK;
}

/* Does not wait: what is in it still runs. */
int cuStreamDestroy_v2(cuda_stream_ref stream) {
    ENTER(cuStreamDestroy_v2, NEED_CONTEXT);
    struct stream *s = object_find(stream, OBJECT_STREAM);
    if (!s) {
        return STANDIN_INVALID_HANDLE;
    }
    stream_free(s);
    return CUDA_OK;
}

int cuStreamQuery(cuda_stream_ref stream) {
    ENTER(cuStreamQuery, NEED_CONTEXT);
    struct stream *s = object_find(stream, OBJECT_STREAM);
    if (stream && !s) {
        return STANDIN_INVALID_HANDLE;
    }
    if (s && s->capture) {
        s->broken = true;
        return STANDIN_CAPTURE_UNSUPPORTED;
    }
    return tasks_is_done(s ? s->last : legacy_last) ? CUDA_OK : CUDA_NOT_READY;
}

/* ---- events ---- */

int cuEventCreate(cuda_event_ref *ret, unsigned flags) {
    ENTER(cuEventCreate, NEED_CONTEXT);
    if (!ret || flags > 7) {
        return CUDA_INVALID_VALUE;
    }
    struct event *e = xcalloc(1, sizeof *e);
    object_add(&e->object, OBJECT_EVENT);
    *ret = (cuda_event_ref)(void *)e;
    return CUDA_OK;
}

static void event_free(struct event *e) {
    object_remove(&e->object);
    e->destroyed = true;
    if (e->users == 0) {
        free(e);
    }
}

int cuEventDestroy_v2(cuda_event_ref event) {
    ENTER(cuEventDestroy_v2, NEED_CONTEXT);
    struct event *e = object_find(event, OBJECT_EVENT);
    if (!e) {
        return STANDIN_INVALID_HANDLE;
    }
    event_free(e);
    return CUDA_OK;
}

int cuEventRecord(cuda_event_ref event, cuda_stream_ref stream) {
    ENTER(cuEventRecord, NEED_CONTEXT);
    struct event *e = object_find(event, OBJECT_EVENT);
    if (!e) {
        return STANDIN_INVALID_HANDLE;
    }
    struct task *op = task_new(OP_EVENT);
    op->event = e;
    e->users++;
    return stream_put(stream, op, NULL);
}

int cuEventQuery(cuda_event_ref event) {
    ENTER(cuEventQuery, NEED_CONTEXT);
    const struct event *e = object_find(event, OBJECT_EVENT);
    if (!e) {
        return STANDIN_INVALID_HANDLE;
    }
    return tasks_is_done(e->number) ? CUDA_OK : CUDA_NOT_READY;
}

int cuEventElapsedTime(float *ret_ms, cuda_event_ref from, cuda_event_ref to) {
    ENTER(cuEventElapsedTime, NEED_CONTEXT);
    const struct event *a = object_find(from, OBJECT_EVENT);
    const struct event *b = object_find(to, OBJECT_EVENT);
    if (!ret_ms) {
        return CUDA_INVALID_VALUE;
    }
    if (!a || !b || !a->number || !b->number) {
        return STANDIN_INVALID_HANDLE;
    }
    if (!tasks_is_done(a->number) || !tasks_is_done(b->number)) {
        return CUDA_NOT_READY;
    }
    *ret_ms = (float)((b->at_us - a->at_us) / 1000);
    return CUDA_OK;
}

/* ---- graphs ---- */

int cuStreamBeginCapture_v2(cuda_stream_ref stream, int mode) {
    ENTER(cuStreamBeginCapture_v2, NEED_CONTEXT);
    struct stream *s = object_find(stream, OBJECT_STREAM);
    if (!s || mode < 0 || mode > 2) {
        return stream ? CUDA_INVALID_VALUE : STANDIN_CAPTURE_UNSUPPORTED;
    }
    if (s->capture) {
        return 401; /* ILLEGAL_STATE */
    }
    s->capture = graph_new();
    s->broken = false;
    return CUDA_OK;
}

int cuStreamEndCapture(cuda_stream_ref stream, cuda_graph_ref *ret) {
    ENTER(cuStreamEndCapture, NEED_CONTEXT);
    struct stream *s = object_find(stream, OBJECT_STREAM);
    if (!s || !ret) {
        return CUDA_INVALID_VALUE;
    }
    if (!s->capture) {
        return 401; /* ILLEGAL_STATE */
    }
    struct graph *g = take(s->capture);
    *ret = NULL;
    if (s->broken) {
        s->broken = false;
        graph_free(g);
        return STANDIN_CAPTURE_INVALIDATED;
    }
    object_add(&g->object, OBJECT_GRAPH);
    *ret = (cuda_graph_ref)(void *)g;
    return CUDA_OK;
}

int cuGraphInstantiateWithFlags(cuda_graph_exec_ref *ret, cuda_graph_ref graph,
                                unsigned long long flags) {
    ENTER(cuGraphInstantiateWithFlags, NEED_CONTEXT);
    const struct graph *g = object_find(graph, OBJECT_GRAPH);
    if (!ret || !g || flags > 15) {
        return CUDA_INVALID_VALUE;
    }
    struct graph *exec = graph_new();
    for (const struct task *op = g->first; op; op = op->next) {
        graph_add(exec, task_copy(op));
    }
    object_add(&exec->object, OBJECT_GRAPH_EXEC);
    *ret = (cuda_graph_exec_ref)(void *)exec;
    return CUDA_OK;
}

int cuGraphLaunch(cuda_graph_exec_ref graph, cuda_stream_ref stream) {
    ENTER(cuGraphLaunch, NEED_CONTEXT);
    const struct graph *g = object_find(graph, OBJECT_GRAPH_EXEC);
    int code = g ? CUDA_OK : CUDA_INVALID_VALUE;
    for (const struct task *op = g ? g->first : NULL; op && code == CUDA_OK;
         op = op->next) {
        bool gone = op->function && !object_find(op->function, OBJECT_FUNCTION);
        code = gone ? STANDIN_INVALID_HANDLE : stream_put(stream, task_copy(op), NULL);
    }
    return code;
}

static int graph_destroy(const void *handle, enum object_kind kind) {
    struct graph *g = object_find(handle, kind);
    if (!g) {
        return CUDA_INVALID_VALUE;
    }
    object_remove(&g->object);
    graph_free(g);
    return CUDA_OK;
}

int cuGraphExecDestroy(cuda_graph_exec_ref graph) {
    ENTER(cuGraphExecDestroy, NEED_CONTEXT);
    return graph_destroy(graph, OBJECT_GRAPH_EXEC);
}

int cuGraphDestroy(cuda_graph_ref graph) {
    ENTER(cuGraphDestroy, NEED_CONTEXT);
    return graph_destroy(graph, OBJECT_GRAPH);
}

void streams_finish(void) {
    struct object *o;
    while ((o = object_first(OBJECT_STREAM))) {
        stream_free((struct stream *)o);
    }
    while ((o = object_first(OBJECT_GRAPH)) || (o = object_first(OBJECT_GRAPH_EXEC))) {
        object_remove(o);
        graph_free((struct graph *)o);
    }
    while ((o = object_first(OBJECT_EVENT))) {
        event_free((struct event *)o);
    }
    legacy_last = 0;
}
