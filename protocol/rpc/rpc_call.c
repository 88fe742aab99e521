/* Calls that a peer made: found, answered once, dropped. */
#include "protocol/rpc/rpc_peer.h"

#include "base/text.h"

#define MAX_ERROR_TEXT 2048u

static unsigned text_bucket(const char *text) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *text; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return (h ^ h >> 16) % RPC_BUCKETS;
}

void rpc_call_link(struct rpc_peer *peer, struct rpc_call *call) {
    LIST_INSERT_HEAD(&peer->calls[text_bucket(call->id)], call, link);
    peer->call_count++;
    peer->call_bytes += call->bytes;
}

void rpc_call_unlink(struct rpc_call *call) {
    struct rpc_peer *peer = call->peer;
    if (!peer) {
        return;
    }
    LIST_REMOVE(call, link);
    call->peer = NULL;
    peer->call_count--;
    peer->call_bytes -= call->bytes;
}

struct rpc_call *rpc_call_find(const struct rpc_peer *peer, const char *id) {
    struct rpc_call *call;
    LIST_FOREACH(call, &peer->calls[text_bucket(id)], link) {
        if (strcmp(call->id, id) == 0) {
            break;
        }
    }
    return call;
}

void rpc_peer_release(struct rpc_peer *peer, json_t *message, size_t bytes) {
    if (peer && !peer->dead && bytes > RPC_INLINE_PARSE && peer->events.release) {
        peer->events.release(message, peer->data);
    } else {
        json_decref(message);
    }
}

bool rpc_peer_has_room(const struct rpc_peer *peer) {
    return peer->call_count < RPC_MAX_PENDING &&
           peer->call_bytes + peer->max_body <= RPC_MAX_PENDING_BYTES;
}

/* After a call has gone: the host hears of room that there was not. */
static void tell_room(struct rpc_peer *peer) {
    bool was = peer->full || peer->refuses;
    if (was && rpc_peer_has_room(peer) && !peer->dead) {
        peer->refuses = false;
        peer->events.room(peer, peer->data);
    }
}

static void call_free(struct rpc_call *call) {
    struct rpc_peer *peer = call->peer;
    rpc_call_unlink(call);
    if (call->batch) {
        rpc_batch_settle(call->batch);
    }
    rpc_peer_release(peer, call->message, call->bytes);
    buf_finish(&call->attached);
    free(call->id);
    free(call);
    if (peer) {
        tell_room(peer);
    }
}

static bool call_heard(const struct rpc_call *call) {
    return call->peer && !call->peer->dead;
}

/* Send message as the call's answer, and free the call. */
static void call_answer(struct rpc_call *call, struct buf *message) {
    struct rpc_peer *peer = call->peer;
    if (!call_heard(call)) {
        buf_finish(message);
        call_free(call);
        return;
    }
    if (message->full) {
        buf_finish(message);
        *message = rpc_write_refusal(peer, call->id, RPC_INTERNAL_ERROR,
                                     "the answer is larger than a message may be");
    }
    rpc_peer_enter(peer);
    enum frame_mode mode = call->mode;
    if (call->batch) {
        rpc_batch_add(call->batch, message);
        call_free(call);
    } else {
        call_free(call); /* first: send may be slow, or feed us the same id again */
        rpc_write_send(peer, mode, message, false);
    }
    rpc_peer_leave(peer);
}

static struct buf result_write(const struct rpc_call *call, json_t *result) {
    struct buf out = BUF_INIT(0);
    if (call_heard(call)) {
        out = rpc_write_begin();
        rpc_write_id(call->peer, &out, call->id);
        rpc_write_member(&out, "result", result);
        buf_addc(&out, '}');
    }
    rpc_peer_release(call->peer, result, out.len);
    return out;
}

void rpc_reply(struct rpc_call *call, json_t *result) {
    struct buf out = result_write(call, result);
    call_answer(call, &out);
}

void rpc_reply_attached(struct rpc_call *call, json_t *result, struct buf *attached) {
    struct rpc_peer *peer = call->peer;
    size_t len = attached->len;
    struct buf out = result_write(call, result);
    out.full |= len && call->batch; /* replies that leave as one array have none */
    if (!call_heard(call) || !len || out.full) {
        call_answer(call, &out);
        return;
    }
    rpc_peer_enter(peer);
    call_free(call);
    rpc_write_send_before(peer, &out, len);
    peer->events.send(peer, buf_detach(attached), len, false, peer->data);
    rpc_peer_leave(peer);
}

void rpc_reply_text(struct rpc_call *call, const char *result) {
    struct buf out = BUF_INIT(0);
    if (call_heard(call)) {
        out = rpc_write_begin();
        rpc_write_id(call->peer, &out, call->id);
        buf_adds(&out, ",\"result\":");
        buf_adds(&out, result);
        buf_addc(&out, '}');
    }
    call_answer(call, &out);
}

void rpc_error(struct rpc_call *call, int code, json_t *data, const char *fmt, ...) {
    struct buf out = BUF_INIT(0);
    if (call_heard(call)) {
        char message[MAX_ERROR_TEXT];
        text_format(message, fmt);
        out = rpc_write_begin();
        rpc_write_id(call->peer, &out, call->id);
        rpc_write_error(&out, code, message, data);
        buf_addc(&out, '}');
    }
    json_decref(data);
    call_answer(call, &out);
}

void rpc_drop(struct rpc_call *call) {
    struct rpc_peer *peer = call->peer;
    if (peer) {
        rpc_peer_enter(peer); /* the end of a batch may send */
    }
    call_free(call);
    if (peer) {
        rpc_peer_leave(peer);
    }
}

const char *rpc_call_method(const struct rpc_call *call) {
    return call->method;
}

json_t *rpc_call_params(const struct rpc_call *call) {
    return call->params;
}

struct buf rpc_call_take_attached(struct rpc_call *call) {
    struct buf attached = call->attached;
    call->attached = BUF_INIT(0);
    return attached;
}

const char *rpc_call_id(const struct rpc_call *call) {
    return call->id;
}

struct rpc_peer *rpc_call_peer(const struct rpc_call *call) {
    return call->peer;
}

enum frame_mode rpc_call_mode(const struct rpc_call *call) {
    return call->mode;
}

void rpc_call_cancel(struct rpc_call *call) {
    if (call->cancelled) {
        return;
    }
    call->cancelled = true;
    if (call->on_cancelled) {
        call->on_cancelled(call, call->on_cancelled_data);
    }
}

void rpc_call_on_cancel(struct rpc_call *call, rpc_cancelled *cb, void *data) {
    call->on_cancelled = cb;
    call->on_cancelled_data = data;
}

/* 1e3 and 1000 are the same number; texts are compared first, so this is rare. */
static struct rpc_call *find_by_value(const struct rpc_peer *peer, double value) {
    for (unsigned i = 0; i < RPC_BUCKETS; i++) {
        struct rpc_call *c;
        LIST_FOREACH(c, &peer->calls[i], link) {
            if (*c->id != '"' && strtod(c->id, NULL) == value) {
                return c;
            }
        }
    }
    return NULL;
}

void rpc_cancel(struct rpc_peer *peer, const json_t *id) {
    autobuf text = BUF_INIT(4 * RPC_MAX_ID);
    if (!json_is_string(id) && !json_is_number(id)) {
        return;
    }
    struct rpc_call *call =
        json_write(&text, id) == 0 ? rpc_call_find(peer, text.data) : NULL;
    if (!call && json_is_number(id)) {
        call = find_by_value(peer, json_number_value(id));
    }
    if (call) {
        rpc_call_cancel(call);
    }
}
