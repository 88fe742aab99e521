#include "protocol/plain.h"

#include "base/clock.h"

#include <sys/queue.h>

#define PROGRESS_MS 100u /* between two job/changed of one call */

/* A call that a plain request started, until both are over. */
struct plain_watch {
    struct plain *plain;
    struct call *call; /* a reference */
    struct call_view view;
    struct rpc_call *rpc; /* NULL once it is answered */
    json_t *request;      /* its id */
    enum call_state told; /* the last reported state */
    uint64_t told_ms;
    bool late; /* progress waits for the timer */
    LIST_ENTRY(plain_watch) link;
};

struct plain {
    const struct face_host *host;
    struct rpc_peer *peer;
    LIST_HEAD(, plain_watch) watches;
    /* NULL until a report must be delayed; outlives the face until the loop has closed
     * it */
    uv_timer_t *ticker;
};

/* --- answers --- */

static void answer_failed(struct rpc_call *rpc, const struct call_failure *f) {
    static const int codes[] = {[CALL_BAD_PARAMS] = RPC_INVALID_PARAMS,
                                [CALL_NOT_FOUND] = RPC_INVALID_PARAMS,
                                [CALL_UNAVAILABLE] = PLAIN_UNAVAILABLE,
                                [CALL_REFUSED] = PLAIN_REFUSED,
                                [CALL_INTERNAL] = RPC_INTERNAL_ERROR};
    rpc_error(rpc, codes[f->fault],
              json_pack("{s:s,s:s*,s:s*}", "reason", f->reason, "hint", f->hint, "path",
                        f->path),
              "%s", f->message);
}

static void answer_cancelled(struct rpc_call *rpc, const char *why) {
    rpc_error(rpc, RPC_REQUEST_CANCELLED, json_pack("{s:s}", "reason", "cancelled"), "%s",
              why);
}

void plain_answer(struct rpc_call *rpc, const struct call *call) {
    if (call_state(call) == CALL_SUCCEEDED) {
        rpc_reply(rpc, json_incref((json_t *)(uintptr_t)call_result(call)));
    } else if (call_state(call) == CALL_FAILED) {
        answer_failed(rpc, call_failure(call));
    } else {
        answer_cancelled(rpc, "the request was cancelled");
    }
}

void plain_answer_job(struct rpc_call *rpc, struct call *call) {
    rpc_reply(rpc, json_pack("{s:s,s:s,s:O*}", "job", call_keep(call), "state",
                             call_state_name(call_state(call)), "work_order",
                             call_work_order(call)));
}

/* --- progress reports --- */

static void tell(struct plain_watch *w) {
    bool ended = call_ended(w->call);
    w->told = call_state(w->call);
    w->told_ms = clock_ms();
    w->late = false;
    json_t *params = json_pack(
        "{s:s*,s:O,s:s,s:o,s:O*}", "job", call_kept(w->call) ? call_keep(w->call) : NULL,
        "request", w->request, "state", call_state_name(w->told), "progress",
        call_progress_json(w->call), "partial", ended ? NULL : call_partial(w->call));
    (ended ? rpc_notify : rpc_notify_droppable)(w->plain->peer, "job/changed", params);
}

static void on_tick(uv_timer_t *timer) {
    struct plain *p = timer->data;
    struct plain_watch *w;
    LIST_FOREACH(w, &p->watches, link) {
        if (w->late) {
            tell(w);
        }
    }
}

static void tell_later(struct plain_watch *w) {
    struct plain *p = w->plain;
    w->late = true;
    if (!p->ticker) {
        p->ticker = xcalloc(1, sizeof *p->ticker);
        uv_timer_init(p->host->origin->loop, p->ticker);
        p->ticker->data = p;
        uv_unref((uv_handle_t *)p->ticker);
    }
    if (!uv_is_active((uv_handle_t *)p->ticker)) {
        uv_timer_start(p->ticker, on_tick, PROGRESS_MS, 0);
    }
}

/* --- watching a call --- */

static void watch_free(struct plain_watch *w) {
    LIST_REMOVE(w, link);
    call_detach(w->call, &w->view);
    call_unref(w->call);
    json_decref(w->request);
    free(w);
}

static void on_progress(struct call *call, void *data) {
    struct plain_watch *w = data;
    if (call_state(call) == CALL_INPUT_REQUIRED && w->rpc) {
        rpc_call_on_cancel(w->rpc, NULL, NULL);
        w->told = CALL_INPUT_REQUIRED;
        plain_answer_job(take(w->rpc), call);
    } else if (call_state(call) != w->told || clock_ms() - w->told_ms >= PROGRESS_MS) {
        tell(w);
    } else {
        tell_later(w);
    }
}

static void on_end(struct call *call, void *data) {
    struct plain_watch *w = data;
    struct rpc_call *rpc = take(w->rpc);
    if (rpc) {
        plain_answer(rpc, call);
    } else {
        tell(w);
    }
    watch_free(w);
}

/* The other side cancels, or is gone. A job that was kept elsewhere continues without
 * us. */
static void on_cancelled(struct rpc_call *rpc, void *data) {
    struct plain_watch *w = data;
    if (rpc_call_peer(rpc) || !call_kept(w->call)) {
        call_cancel(w->call); /* its end answers */
        return;
    }
    rpc_drop(take(w->rpc));
    watch_free(w);
}

static json_t *request_id(const struct rpc_call *rpc) {
    json_t *id = json_loads(rpc_call_id(rpc), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    return id ? id : json_string(rpc_call_id(rpc)); /* more digits than a number holds */
}

/* call's reference is taken. rpc is NULL when it is answered already. */
static void watch_add(struct plain *p, struct call *call, struct rpc_call *rpc,
                      json_t *request) {
    struct plain_watch *w = xcalloc(1, sizeof *w);
    *w =
        (struct plain_watch){.plain = p,
                             .call = call,
                             .rpc = rpc,
                             .request = request,
                             .told = call_state(call),
                             .view = {.progress = on_progress, .end = on_end, .data = w}};
    LIST_INSERT_HEAD(&p->watches, w, link);
    if (rpc) {
        rpc_call_on_cancel(rpc, on_cancelled, w);
    }
    call_attach(call, &w->view);
}

/* --- requests --- */

/* Take "wait" out of params, which are the request's own. A new reference, or NULL when
 * it is not true or false. */
static json_t *split_params(const struct rpc_call *rpc, bool *ret_wait) {
    json_t *params = rpc_call_params(rpc);
    const json_t *wait = json_object_get(params, "wait");
    *ret_wait = json_is_true(wait);
    if (!wait) {
        return params ? json_incref(params) : json_object();
    }
    if (!json_is_boolean(wait)) {
        return NULL;
    }
    json_object_del(params, "wait");
    return json_incref(params);
}

static void start(struct plain *p, const struct operation *op, struct rpc_call *rpc) {
    bool wait;
    json_t *params = split_params(rpc, &wait);
    if (!params) {
        rpc_error(rpc, RPC_INVALID_PARAMS,
                  json_pack("{s:s,s:s}", "reason", "bad_params", "path", "/wait"),
                  "wait: expected true or false");
        return;
    }
    struct call *call = call_start(op, params, p->host->origin);
    bool job = (op->flags & OPERATION_LONG) && !wait;
    bool waits = call_state(call) == CALL_INPUT_REQUIRED;
    if (call_ended(call) && (!job || call_state(call) != CALL_SUCCEEDED)) {
        plain_answer(rpc, call);
        call_unref(call);
    } else if (job || waits) {
        json_t *request = request_id(rpc);
        plain_answer_job(rpc, call);
        watch_add(p, call, NULL, request);
    } else {
        watch_add(p, call, rpc, request_id(rpc));
    }
}

bool plain_request(struct plain *p, struct rpc_call *call) {
    const struct operation_table *table = p->host->tables->operations;
    const char *method = rpc_call_method(call);
    if (strcmp(method, "rpc.discover") == 0) {
        rpc_reply(call, operation_table_discover(table));
        return true;
    }
    const struct operation *op = operation_find(table, method);
    if (op) {
        start(p, op, call);
    }
    return op;
}

bool plain_notification(struct plain *p, const char *method, json_t *params) {
    if (strcmp(method, "$/cancelRequest") != 0) {
        return false;
    }
    rpc_cancel(p->peer, json_object_get(params, "id"));
    return true;
}

/* --- the face --- */

struct plain *plain_new(const struct face_host *host, struct rpc_peer *peer) {
    struct plain *p = xcalloc(1, sizeof *p);
    p->host = host;
    p->peer = peer;
    return p;
}

static void on_ticker_closed(uv_handle_t *handle) {
    free(handle);
}

void plain_free(struct plain *p) {
    if (!p) {
        return;
    }
    struct plain_watch *w;
    while ((w = LIST_FIRST(&p->watches))) {
        struct call *call = call_ref(w->call);
        struct rpc_call *rpc = take(w->rpc);
        watch_free(w);
        if (rpc) {
            rpc_call_on_cancel(rpc, NULL, NULL);
            answer_cancelled(rpc, "the connection is closing; keep the input open until "
                                  "the answer has come");
        }
        if (!call_kept(call)) {
            call_cancel(call);
        }
        call_unref(call);
    }
    if (p->ticker) {
        uv_close((uv_handle_t *)p->ticker, on_ticker_closed);
    }
    free(p);
}
