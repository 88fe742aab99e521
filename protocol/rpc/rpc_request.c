#define LOG_MODULE "rpc"
#include "protocol/rpc/rpc_peer.h"

#include "base/log.h"
#include "base/rope.h"

#include <errno.h>
#include <string.h>

static struct rpc_request **request_bucket(struct rpc_peer *peer, json_int_t id) {
    return &peer->requests[(uint64_t)id % RPC_BUCKETS];
}

static void request_unlink(struct rpc_request *request) {
    struct rpc_peer *peer = request->peer;
    if (request->prev) {
        request->prev->next = request->next;
    } else {
        *request_bucket(peer, request->id) = request->next;
    }
    if (request->next) {
        request->next->prev = request->prev;
    }
    peer->request_count--;
}

void rpc_request_end(struct rpc_request *request, int status, const json_t *result,
                     const json_t *error) {
    request_unlink(request);
    request->cb(request, status, result, error, request->data);
    free(request);
}

struct rpc_request *rpc_request_find(struct rpc_peer *peer, json_int_t id) {
    struct rpc_request *request = *request_bucket(peer, id);
    while (request && request->id != id) {
        request = request->next;
    }
    return request;
}

static struct rpc_request *request_add(struct rpc_peer *peer, rpc_response *cb,
                                       void *data) {
    struct rpc_request *request = xcalloc(1, sizeof *request);
    *request =
        (struct rpc_request){.peer = peer, .id = ++peer->next_id, .cb = cb, .data = data};
    struct rpc_request **head = request_bucket(peer, request->id);
    request->next = *head;
    if (request->next) {
        request->next->prev = request;
    }
    *head = request;
    peer->request_count++;
    return request;
}

static void add_method(struct buf *out, const char *method) {
    json_t *name = json_text(method, strlen(method));
    rpc_write_member(out, "method", name);
    json_decref(name);
}

static void add_call(struct buf *out, const char *method, json_t *params) {
    add_method(out, method);
    if (params) {
        rpc_write_member(out, "params", params);
    }
    buf_addc(out, '}');
    json_decref(params);
}

struct rpc_request *rpc_request_start(struct rpc_peer *peer, const char *method,
                                      json_t *params, rpc_response *cb, void *data) {
    if (peer->dead || peer->request_count >= RPC_MAX_PENDING) {
        json_decref(params);
        return NULL;
    }
    struct buf out = rpc_write_begin();
    buf_addf(&out, ",\"id\":%" JSON_INTEGER_FORMAT, peer->next_id + 1);
    add_call(&out, method, params);
    if (out.full) {
        buf_finish(&out);
        return NULL;
    }
    struct rpc_request *request = request_add(peer, cb, data);
    rpc_write_send(peer, peer->mode, &out, false);
    return request;
}

/* --- written elsewhere --- */

static void add_name(struct buf *out, const char *name) {
    json_t *text = json_text(name, strlen(name));
    json_write(out, text);
    buf_addc(out, ':');
    json_decref(text);
}

/* The object with its last member. */
static void add_object(struct rope *rope, const struct rpc_written *params) {
    const char *name, *separator = "{";
    const json_t *text;
    rope_add_text(rope, params->text, params->len - 1); /* without its last brace */
    buf_adds(&rope->own, params->len > strlen("{}") ? "," : "");
    add_name(&rope->own, params->member);
    /* Jansson's iterator takes no const. */
    json_object_foreach((json_t *)(uintptr_t)params->values, name, text) {
        buf_adds(&rope->own, separator);
        separator = ",";
        add_name(&rope->own, name);
        buf_addc(&rope->own, '"');
        rope_add_text(rope, json_string_value(text), json_string_length(text));
        buf_addc(&rope->own, '"');
    }
    buf_adds(&rope->own, *separator == '{' ? "{}}" : "}}");
}

static struct rope rope_of(json_int_t id, const char *method,
                           const struct rpc_written *params) {
    struct rope rope = ROPE_INIT(FRAME_MAX_BODY);
    rope.release = params->release;
    rope.owner = params->owner;
    buf_addf(&rope.own, "{\"jsonrpc\":\"2.0\",\"id\":%" JSON_INTEGER_FORMAT, id);
    add_method(&rope.own, method);
    buf_adds(&rope.own, ",\"params\":");
    if (params->member) {
        add_object(&rope, params);
    } else {
        rope_add_text(&rope, params->text, params->len);
    }
    buf_addc(&rope.own, '}');
    return rope;
}

static void rope_send(struct rpc_peer *peer, struct rope *rope) {
    if (peer->events.send_rope && peer->mode == FRAME_LINES && !peer->events.trace) {
        rope->own.max++; /* the newline is not the body's */
        buf_addc(&rope->own, '\n');
        peer->events.send_rope(peer, rope, peer->data);
        return;
    }
    struct buf out = BUF_INIT(RPC_HEADER_ROOM + FRAME_MAX_BODY + 1);
    buf_reserve(&out, RPC_HEADER_ROOM + rope_len(rope) + 1);
    buf_commit(&out, RPC_HEADER_ROOM);
    rope_write(rope, &out);
    rope_finish(rope);
    rpc_write_send(peer, peer->mode, &out, false);
}

/* rope is moved away. */
static struct rpc_request *rope_start(struct rpc_peer *peer, struct rope *rope,
                                      rpc_response *cb, void *data) {
    if (rope->own.full || peer->dead || peer->request_count >= RPC_MAX_PENDING) {
        rope_finish(rope);
        return NULL;
    }
    struct rpc_request *request = request_add(peer, cb, data);
    rope_send(peer, rope);
    return request;
}

struct rpc_request *rpc_request_start_written(struct rpc_peer *peer, const char *method,
                                              const struct rpc_written *params,
                                              rpc_response *cb, void *data) {
    struct rope rope = rope_of(peer->next_id + 1, method, params);
    return rope_start(peer, &rope, cb, data);
}

void rpc_request_abandon(struct rpc_request *request) {
    rpc_request_end(request, -ECANCELED, NULL, NULL);
}

json_int_t rpc_request_id(const struct rpc_request *request) {
    return request->id;
}

static void notify(struct rpc_peer *peer, const char *method, json_t *params,
                   bool droppable) {
    if (peer->dead) {
        json_decref(params);
        return;
    }
    struct buf out = rpc_write_begin();
    add_call(&out, method, params);
    if (out.full) {
        log_warning("notification larger than a message may be: left out");
        buf_finish(&out);
        return;
    }
    rpc_write_send(peer, peer->mode, &out, droppable);
}

void rpc_notify(struct rpc_peer *peer, const char *method, json_t *params) {
    notify(peer, method, params, false);
}

void rpc_notify_droppable(struct rpc_peer *peer, const char *method, json_t *params) {
    notify(peer, method, params, true);
}
