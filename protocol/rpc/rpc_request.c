/* Requests and notifications that we make of a peer. */
#define LOG_MODULE "rpc"
#include "protocol/rpc/rpc_peer.h"

#include "base/log.h"
#include "base/shared_bytes.h"

static struct rpc_requests *request_bucket(struct rpc_peer *peer, json_int_t id) {
    return &peer->requests[(uint64_t)id % RPC_BUCKETS];
}

void rpc_request_end(struct rpc_request *request, int status, const json_t *result,
                     const json_t *error) {
    LIST_REMOVE(request, link);
    request->peer->request_count--;
    request->cb(request, status, result, error, request->data);
    free(request);
}

struct rpc_request *rpc_request_find(struct rpc_peer *peer, json_int_t id) {
    struct rpc_request *request;
    LIST_FOREACH(request, request_bucket(peer, id), link) {
        if (request->id == id) {
            break;
        }
    }
    return request;
}

static struct rpc_request *request_add(struct rpc_peer *peer, rpc_response *cb,
                                       void *data) {
    struct rpc_request *request = xcalloc(1, sizeof *request);
    *request =
        (struct rpc_request){.peer = peer, .id = ++peer->next_id, .cb = cb, .data = data};
    LIST_INSERT_HEAD(request_bucket(peer, request->id), request, link);
    peer->request_count++;
    return request;
}

static void add_method(struct buf *out, const char *method) {
    autojson *name = json_text(method, strlen(method));
    rpc_write_member(out, "method", name);
}

static void add_call(struct buf *out, const char *method, json_t *params) {
    add_method(out, method);
    if (params) {
        rpc_write_member(out, "params", params);
    }
    buf_addc(out, '}');
    json_decref(params);
}

/* NULL: it cannot be sent, and out is finished. */
static struct rpc_request *begin(struct rpc_peer *peer, const char *method,
                                 json_t *params, rpc_response *cb, void *data,
                                 struct buf *out) {
    if (peer->dead || peer->request_count >= RPC_MAX_PENDING) {
        json_decref(params);
        return NULL;
    }
    *out = rpc_write_begin();
    buf_addf(out, ",\"id\":%" JSON_INTEGER_FORMAT, peer->next_id + 1);
    add_call(out, method, params);
    if (out->full) {
        buf_finish(out);
        return NULL;
    }
    return request_add(peer, cb, data);
}

struct rpc_request *rpc_request_start(struct rpc_peer *peer, const char *method,
                                      json_t *params, rpc_response *cb, void *data) {
    struct buf out;
    struct rpc_request *request = begin(peer, method, params, cb, data, &out);
    if (request) {
        rpc_write_send(peer, peer->mode, &out, false);
    }
    return request;
}

struct rpc_request *rpc_request_start_attached(struct rpc_peer *peer, const char *method,
                                               json_t *params,
                                               struct shared_bytes *attached,
                                               rpc_response *cb, void *data) {
    struct buf out;
    if (!attached->len || attached->len > FRAME_MAX_BODY) {
        json_decref(params);
        return NULL;
    }
    struct rpc_request *request = begin(peer, method, params, cb, data, &out);
    if (request) {
        rpc_write_send_before(peer, &out, attached->len);
        peer->events.send_shared(peer, attached, peer->data);
    }
    return request;
}

void rpc_request_abandon(struct rpc_request *request) {
    rpc_request_end(request, -ECANCELED, NULL, NULL);
}

json_int_t rpc_request_id(const struct rpc_request *request) {
    return request->id;
}

static void notify(struct rpc_peer *peer, const char *method, json_t *params,
                   bool droppable) {
    struct buf out = rpc_write_begin();
    add_call(&out, method, params);
    if (out.full) {
        log_warning("notification larger than a message may be: left out");
    }
    if (peer->dead || out.full) {
        buf_finish(&out);
    } else {
        rpc_write_send(peer, peer->mode, &out, droppable);
    }
}

void rpc_notify(struct rpc_peer *peer, const char *method, json_t *params) {
    notify(peer, method, params, false);
}

void rpc_notify_droppable(struct rpc_peer *peer, const char *method, json_t *params) {
    notify(peer, method, params, true);
}
