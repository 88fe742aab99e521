#define LOG_MODULE "rpc"
#include "protocol/rpc/rpc.h"

#include "base/log.h"
#include "protocol/rpc/rpc_peer.h"

#include <stdio.h>

/* The origin of a message, to which its answer is sent. */
struct source {
    enum frame_mode mode;
    struct rpc_batch *batch;
    struct buf *attached; /* or NULL */
    size_t bytes;
};

static struct buf take_attached(struct source from) {
    struct buf attached = from.attached ? *from.attached : BUF_INIT(0);
    if (from.attached) {
        *from.attached = BUF_INIT(0);
    }
    return attached;
}

static void refuse(struct rpc_peer *peer, struct source from, const char *id, int code,
                   const char *why) {
    struct buf out = rpc_write_refusal(peer, id, code, why);
    if (from.batch) {
        rpc_batch_add(from.batch, &out);
    } else {
        rpc_write_send(peer, from.mode, &out, false);
    }
}

static void take_response(struct rpc_peer *peer, json_t *value) {
    const json_t *id = json_object_get(value, "id");
    struct rpc_request *request =
        json_is_integer(id) ? rpc_request_find(peer, json_integer_value(id)) : NULL;
    if (!request) {
        log_debug("response to no request of ours");
        return;
    }
    const json_t *error = json_object_get(value, "error");
    if (!error || json_is_null(error)) {
        json_t *result = json_object_get(value, "result");
        rpc_request_end(request, 0, result ? result : json_null(), NULL);
    } else if (json_is_object(error)) {
        rpc_request_end(request, 0, NULL, error);
    } else {
        json_t *made = json_pack("{s:i,s:s}", "code", RPC_INTERNAL_ERROR, "message",
                                 "the other side failed without a proper error");
        rpc_request_end(request, 0, NULL, made);
        json_decref(made);
    }
}

/* message is borrowed; *id is taken when it becomes a call's. */
static void take_request(struct rpc_peer *peer, struct source from, json_t *message,
                         const struct rpc_message *read, struct rpc_id *id) {
    if (rpc_call_find(peer, id->text)) {
        refuse(peer, from, id->text, RPC_INVALID_REQUEST,
               "a request with this id is still being answered");
        return;
    }
    if (peer->call_count >= RPC_MAX_PENDING ||
        peer->call_bytes + from.bytes > RPC_MAX_PENDING_BYTES) {
        refuse(peer, from, id->text, RPC_INTERNAL_ERROR,
               "too many unanswered requests; wait for answers before sending more");
        return;
    }
    struct rpc_call *call = xcalloc(1, sizeof *call);
    *call = (struct rpc_call){.peer = peer,
                              .mode = from.mode,
                              .batch = from.batch,
                              .id = take(id->text),
                              .message = json_incref(message),
                              .method = read->method,
                              .params = read->params,
                              .attached = take_attached(from),
                              .bytes = from.bytes};
    if (from.batch) {
        from.batch->open++;
    }
    rpc_call_link(peer, call);
    peer->events.request(call, peer->data);
}

static void take_message(struct rpc_peer *peer, struct source from, json_t *value,
                         struct rpc_id *id) {
    struct rpc_message read;
    rpc_message_read(value, id, &read);
    switch (read.kind) {
    case RPC_KIND_REQUEST:
        take_request(peer, from, value, &read, id);
        break;
    case RPC_KIND_NOTIFICATION:
        peer->events.notification(peer, from.mode, read.method, read.params, peer->data);
        break;
    case RPC_KIND_RESPONSE:
        take_response(peer, value);
        break;
    case RPC_KIND_BAD:
        refuse(peer, from, id->text, RPC_INVALID_REQUEST, read.why);
        break;
    }
}

static const char *batch_fault(const struct rpc_peer *peer, const struct rpc_body *body,
                               const struct buf *attached) {
    size_t size = json_array_size(body->root);
    return !peer->batches                                ? "batches are not served here"
           : attached                                    ? "a batch has no attachment"
           : size == 0                                   ? "the batch is empty"
           : size > RPC_MAX_BATCH || size != body->count ? "the batch is too long"
                                                         : NULL;
}

static void take_batch(struct rpc_peer *peer, struct source from, struct rpc_body *body) {
    const char *fault = batch_fault(peer, body, from.attached);
    if (fault) {
        refuse(peer, from, NULL, RPC_INVALID_REQUEST, fault);
        return;
    }
    from.bytes /= body->count;
    from.batch = xcalloc(1, sizeof *from.batch);
    *from.batch = (struct rpc_batch){.mode = from.mode, .open = 1};
    from.batch->body = BUF_INIT(SIZE_MAX / 4); /* each reply has its own limit */
    rpc_batch_link(peer, from.batch);
    for (size_t i = 0; i < body->count && !peer->dead; i++) {
        take_message(peer, from, json_array_get(body->root, i), &body->ids[i]);
    }
    rpc_batch_settle(from.batch);
}

/* Everything in one body. May end the peer. body is used up. */
static void take_body(struct rpc_peer *peer, struct source from, struct rpc_body *body) {
    if (!body->root) {
        refuse(peer, from, NULL, RPC_PARSE_ERROR, body->why);
    } else if (body->batch) {
        take_batch(peer, from, body);
    } else {
        take_message(peer, from, body->root, &body->ids[0]);
    }
    rpc_peer_release(peer, take(body->root), from.bytes);
    rpc_body_finish(body);
}

static void body_read(char *text, size_t len, struct buf *attached,
                      struct rpc_body *ret) {
    rpc_body_read(text, len, ret);
    if (attached && attached->len) {
        rpc_body_attach(ret, attached);
    }
}

static unsigned parses_running;

unsigned rpc_parses_running(void) {
    return parses_running;
}

static void start_parse(struct rpc_peer *peer, struct source from, const char *text,
                        size_t len) {
    struct rpc_parse *parse = xcalloc(1, sizeof *parse);
    parse->peer = peer;
    parse->mode = from.mode;
    parse->attached = take_attached(from);
    parse->text = xmalloc(len + 1);
    memcpy(parse->text, text, len + 1);
    parse->len = len;
    peer->parse = parse;
    parses_running++;
    peer->events.parse(peer, parse, peer->data);
}

/* False when nothing more is to be taken for now. */
static bool goes_on(struct rpc_peer *peer) {
    if (!peer->dead && !peer->parse && peer->events.enough) {
        peer->held = peer->events.enough(peer, peer->data);
    }
    peer->full = peer->events.room && !peer->refuses && !rpc_peer_has_room(peer);
    return !peer->dead && !peer->parse && !peer->held && !peer->full;
}

static bool on_message(enum frame_mode mode, char *text, size_t len, struct buf *attached,
                       void *data) {
    struct rpc_peer *peer = data;
    struct source from = {.mode = mode,
                          .attached = attached,
                          .bytes = len + (attached ? attached->len : 0)};
    if (peer->dead) {
        return false;
    }
    peer->mode = mode;
    if (peer->events.trace) {
        peer->events.trace(peer, false, text, len, peer->data);
    }
    if (from.bytes > RPC_INLINE_PARSE && peer->events.parse) {
        start_parse(peer, from, text, len);
    } else {
        struct rpc_body body;
        body_read(text, len, attached, &body);
        take_body(peer, from, &body);
    }
    return goes_on(peer);
}

/* A message that was not read: if it was an answer to us, its request must still end. */
static void skipped(struct rpc_peer *peer, enum frame_mode mode, const char *why,
                    const char *bytes, size_t len) {
    struct rpc_head head;
    struct source from = {.mode = mode};
    rpc_head_read(bytes, len, &head);
    const char *id = head.id.kind == RPC_ID_GOOD ? head.id.text : NULL;
    if (head.response && !head.method) {
        struct rpc_request *request =
            id && *id != '"' ? rpc_request_find(peer, strtoll(id, NULL, 10)) : NULL;
        if (request) {
            rpc_request_end(request, -EMSGSIZE, NULL, NULL);
        }
    } else {
        refuse(peer, from, id, RPC_INVALID_REQUEST, why);
    }
    free(head.id.text);
}

static void on_fault(enum frame_mode mode, enum frame_fault fault, const char *head,
                     size_t len, void *data) {
    struct rpc_peer *peer = data;
    struct source from = {.mode = mode};
    if (peer->dead) {
        return;
    }
    switch (fault) {
    case FRAME_TOO_LARGE:
        skipped(peer, mode, "the message is too large", head, len);
        break;
    case FRAME_ATTACHED:
        skipped(peer, mode, "attachments are not taken here: leave Attachment-Length out",
                head, len);
        break;
    case FRAME_BAD_HEADER:
        refuse(peer, from, NULL, RPC_INVALID_REQUEST,
               "a header block needs one Content-Length, with the number of bytes");
        break;
    case FRAME_JUNK:
        refuse(peer, from, NULL, RPC_PARSE_ERROR,
               "neither a JSON object on one line nor a Content-Length header");
        break;
    }
    if (!goes_on(peer)) {
        frame_pause(peer->decoder);
    }
}

void rpc_parse_run(struct rpc_parse *parse) {
    body_read(parse->text, parse->len, &parse->attached, &parse->body);
    free(take(parse->text));
}

void rpc_parse_done(struct rpc_parse *parse) {
    struct rpc_peer *peer = parse->peer;
    parses_running--;
    if (peer) {
        struct buf *attached = parse->attached.len ? &parse->attached : NULL;
        struct source from = {.mode = parse->mode,
                              .attached = attached,
                              .bytes = parse->len + parse->attached.len};
        rpc_peer_enter(peer);
        peer->parse = NULL;
        take_body(peer, from, &parse->body);
        if (goes_on(peer)) {
            frame_resume(peer->decoder);
        }
        rpc_peer_leave(peer);
    }
    rpc_body_finish(&parse->body);
    buf_finish(&parse->attached);
    free(parse->text);
    free(parse);
}

/* --- the peer --- */

struct rpc_peer *rpc_peer_new(enum frame_mode mode, size_t max_body,
                              const struct rpc_events *events, void *data) {
    static const struct frame_events frame_events = {on_message, on_fault};
    struct rpc_peer *peer = xcalloc(1, sizeof *peer);
    peer->events = *events;
    peer->data = data;
    peer->mode = mode;
    peer->max_body = max_body;
    peer->decoder = frame_decoder_new(max_body, &frame_events, peer);
    return peer;
}

static void forget_calls(struct rpc_peer *peer) {
    for (unsigned i = 0; i < RPC_BUCKETS; i++) {
        struct rpc_call *call;
        while ((call = LIST_FIRST(&peer->calls[i]))) {
            rpc_call_unlink(call);
            rpc_call_cancel(call);
        }
    }
}

static void end_requests(struct rpc_peer *peer) {
    for (unsigned i = 0; i < RPC_BUCKETS; i++) {
        while (!LIST_EMPTY(&peer->requests[i])) {
            rpc_request_end(LIST_FIRST(&peer->requests[i]), -ECANCELED, NULL, NULL);
        }
    }
}

void rpc_peer_free(struct rpc_peer *peer) {
    if (!peer || peer->dead) {
        return;
    }
    rpc_peer_enter(peer);
    peer->dead = true;
    if (peer->parse) {
        peer->parse->peer = NULL;
        peer->parse = NULL;
    }
    while (!LIST_EMPTY(&peer->open_batches)) {
        rpc_batch_unlink(LIST_FIRST(&peer->open_batches));
    }
    forget_calls(peer);
    end_requests(peer);
    rpc_peer_leave(peer);
}

void rpc_feed(struct rpc_peer *peer, const char *bytes, size_t len) {
    if (peer->dead) {
        return;
    }
    rpc_peer_enter(peer);
    frame_feed(peer->decoder, bytes, len);
    rpc_peer_leave(peer);
}

void rpc_feed_end(struct rpc_peer *peer) {
    if (peer->dead) {
        return;
    }
    rpc_peer_enter(peer);
    frame_end(peer->decoder);
    rpc_peer_leave(peer);
}

bool rpc_peer_busy(const struct rpc_peer *peer) {
    return peer->parse || peer->held || peer->full;
}

bool rpc_peer_full(const struct rpc_peer *peer) {
    return peer->full && !peer->parse && !peer->held;
}

static void go_on(struct rpc_peer *peer) {
    peer->held = peer->full = false;
    if (!peer->parse) {
        rpc_peer_enter(peer);
        frame_resume(peer->decoder);
        rpc_peer_leave(peer);
    }
}

void rpc_peer_resume(struct rpc_peer *peer) {
    bool full = peer->full && !rpc_peer_has_room(peer);
    if ((peer->held || peer->full) && !full && !peer->dead) {
        go_on(peer);
    }
}

void rpc_peer_refuse(struct rpc_peer *peer) {
    if (peer->full && !peer->dead) {
        peer->refuses = true;
        go_on(peer);
    }
}

void rpc_peer_allow_batches(struct rpc_peer *peer, bool allow) {
    peer->batches = allow;
}

void rpc_peer_allow_attachments(struct rpc_peer *peer) {
    frame_decoder_attach(peer->decoder, FRAME_MAX_BODY);
}

void rpc_peer_omit_null_id(struct rpc_peer *peer, bool omit) {
    peer->omit_null_id = omit;
}
