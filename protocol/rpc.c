#define LOG_MODULE "rpc"
#include "protocol/rpc.h"

#include "base/buf.h"
#include "base/log.h"
#include "protocol/rpc_message.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS 256u    /* of each table of unanswered requests */
#define HEADER_ROOM 32u /* in front of a body, for its Content-Length */
#define MAX_ERROR_TEXT 2048u

/* Requests that came as one array: their replies leave as one. */
struct batch {
    struct rpc_peer *peer; /* NULL once it is gone */
    enum frame_mode mode;
    size_t open;     /* calls without an answer, and 1 while the batch is being read */
    struct buf body; /* "[…,…", or empty */
    struct batch *prev, *next;
};

struct rpc_call {
    struct rpc_peer *peer; /* NULL once it is gone */
    enum frame_mode mode;
    struct batch *batch; /* NULL: on its own */
    char *id;
    json_t *message; /* owns method and params */
    const char *method;
    json_t *params;
    bool cancelled;
    rpc_cancelled *on_cancelled;
    void *on_cancelled_data;
    struct rpc_call *prev, *next; /* peer->calls[…] */
};

struct rpc_request {
    struct rpc_peer *peer;
    json_int_t id;
    rpc_response *cb;
    void *data;
    struct rpc_request *prev, *next; /* peer->requests[…] */
};

struct rpc_parse {
    struct rpc_peer *peer; /* NULL once it is gone */
    enum frame_mode mode;
    char *text;
    size_t len;
    struct rpc_body body;
};

struct rpc_peer {
    struct rpc_events events;
    void *data;
    struct frame_decoder *decoder;
    enum frame_mode mode;
    bool batches, omit_null_id;
    bool dead;        /* rpc_peer_free was called: nothing is sent or told any more */
    unsigned entered; /* functions of ours on the stack; freed when it falls to 0 */
    struct rpc_parse *parse;
    struct rpc_call *calls[BUCKETS];
    struct rpc_request *requests[BUCKETS];
    struct batch *open_batches;
    size_t call_count, request_count;
    json_int_t next_id;
};

static void peer_enter(struct rpc_peer *peer) {
    peer->entered++;
}

static void peer_leave(struct rpc_peer *peer) {
    if (--peer->entered == 0 && peer->dead) {
        frame_decoder_free(peer->decoder);
        free(peer);
    }
}

/* --- writing --- */

static struct buf message_begin(void) {
    struct buf out = BUF_INIT(HEADER_ROOM + FRAME_MAX_BODY + 1);
    buf_reserve(&out, 480);
    buf_commit(&out, HEADER_ROOM);
    buf_adds(&out, "{\"jsonrpc\":\"2.0\"");
    return out;
}

/* Frame what stands behind the header's room, and send it. out is used up. */
static void message_send(struct rpc_peer *peer, enum frame_mode mode, struct buf *out,
                         bool droppable) {
    char head[HEADER_ROOM + 1] = "";
    if (peer->dead) {
        buf_finish(out);
        return;
    }
    size_t len = out->len - HEADER_ROOM, room = 0;
    if (peer->events.trace) {
        peer->events.trace(peer, true, out->data + HEADER_ROOM, len, peer->data);
    }
    if (mode == FRAME_HEADERS) {
        room = (size_t)snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", len);
    }
    memmove(out->data + room, out->data + HEADER_ROOM, len);
    memcpy(out->data, head, room);
    size_t total = room + len;
    if (mode == FRAME_LINES) { /* there is space: the room in front was larger */
        out->data[total++] = '\n';
    }
    out->data[total] = '\0';
    peer->events.send(peer, buf_detach(out), total, droppable, peer->data);
}

static void add_member(struct buf *out, const char *key, const json_t *value) {
    buf_addf(out, ",\"%s\":", key);
    if (!value) {
        buf_adds(out, "null");
    } else if (json_write(out, value) < 0) {
        out->full = true;
    }
}

static void add_error(struct buf *out, int code, const char *message,
                      const json_t *data) {
    json_t *text = json_clean_z(message);
    buf_addf(out, ",\"error\":{\"code\":%d", code);
    add_member(out, "message", text);
    if (data) {
        add_member(out, "data", data);
    }
    buf_addc(out, '}');
    json_decref(text);
}

static void add_id(const struct rpc_peer *peer, struct buf *out, const char *id) {
    if (id || !peer->omit_null_id) {
        buf_addf(out, ",\"id\":%s", id ? id : "null");
    }
}

/* An error for a message that never became a call. */
static struct buf refusal(const struct rpc_peer *peer, const char *id, int code,
                          const char *why) {
    struct buf out = message_begin();
    add_id(peer, &out, id);
    add_error(&out, code, why, NULL);
    buf_addc(&out, '}');
    return out;
}

static void batch_link(struct rpc_peer *peer, struct batch *batch) {
    batch->peer = peer;
    batch->next = peer->open_batches;
    if (batch->next) {
        batch->next->prev = batch;
    }
    peer->open_batches = batch;
}

static void batch_unlink(struct batch *batch) {
    if (!batch->peer) {
        return;
    }
    if (batch->prev) {
        batch->prev->next = batch->next;
    } else {
        batch->peer->open_batches = batch->next;
    }
    if (batch->next) {
        batch->next->prev = batch->prev;
    }
    batch->peer = NULL;
}

/* One call of the batch is over, or its reading. The last one sends the replies. */
static void batch_settle(struct batch *batch) {
    if (--batch->open) {
        return;
    }
    struct rpc_peer *peer = batch->peer;
    batch_unlink(batch);
    if (peer && !peer->dead && batch->body.len) {
        buf_addc(&batch->body, ']');
        message_send(peer, batch->mode, &batch->body, false);
    }
    buf_finish(&batch->body);
    free(batch);
}

static void batch_add(struct batch *batch, struct buf *message) {
    if (!batch->body.len) {
        buf_add(&batch->body, message->data, HEADER_ROOM);
    }
    buf_addc(&batch->body, batch->body.len == HEADER_ROOM ? '[' : ',');
    buf_add(&batch->body, message->data + HEADER_ROOM, message->len - HEADER_ROOM);
    buf_finish(message);
}

static void answer(struct rpc_peer *peer, enum frame_mode mode, struct batch *batch,
                   struct buf *message, bool droppable) {
    if (batch) {
        batch_add(batch, message);
    } else {
        message_send(peer, mode, message, droppable);
    }
}

/* --- requests that come in: answering --- */

static unsigned text_bucket(const char *text) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *text; text++) {
        h = (h ^ (unsigned char)*text) * 16777619u;
    }
    return (h ^ h >> 16) % BUCKETS;
}

static void call_link(struct rpc_peer *peer, struct rpc_call *call) {
    struct rpc_call **head = &peer->calls[text_bucket(call->id)];
    call->next = *head;
    if (call->next) {
        call->next->prev = call;
    }
    *head = call;
    peer->call_count++;
}

static void call_unlink(struct rpc_call *call) {
    struct rpc_peer *peer = call->peer;
    if (!peer) {
        return;
    }
    if (call->prev) {
        call->prev->next = call->next;
    } else {
        peer->calls[text_bucket(call->id)] = call->next;
    }
    if (call->next) {
        call->next->prev = call->prev;
    }
    call->prev = call->next = NULL;
    call->peer = NULL;
    peer->call_count--;
}

static struct rpc_call *call_find(const struct rpc_peer *peer, const char *id) {
    struct rpc_call *call = peer->calls[text_bucket(id)];
    while (call && strcmp(call->id, id) != 0) {
        call = call->next;
    }
    return call;
}

static void call_free(struct rpc_call *call) {
    call_unlink(call);
    if (call->batch) {
        batch_settle(call->batch);
    }
    json_decref(call->message);
    free(call->id);
    free(call);
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
        *message = refusal(peer, call->id, RPC_INTERNAL_ERROR,
                           "the answer is larger than a message may be");
    }
    peer_enter(peer);
    enum frame_mode mode = call->mode;
    if (call->batch) {
        batch_add(call->batch, message);
        call_free(call);
    } else {
        call_free(call); /* first: send may be slow, or feed us the same id again */
        message_send(peer, mode, message, false);
    }
    peer_leave(peer);
}

void rpc_reply(struct rpc_call *call, json_t *result) {
    struct buf out = BUF_INIT(0);
    if (call_heard(call)) {
        out = message_begin();
        add_id(call->peer, &out, call->id);
        add_member(&out, "result", result);
        buf_addc(&out, '}');
    }
    json_decref(result);
    call_answer(call, &out);
}

void rpc_error(struct rpc_call *call, int code, json_t *data, const char *fmt, ...) {
    struct buf out = BUF_INIT(0);
    if (call_heard(call)) {
        char message[MAX_ERROR_TEXT];
        va_list args;
        va_start(args, fmt);
        vsnprintf(message, sizeof message, fmt, args);
        va_end(args);
        out = message_begin();
        add_id(call->peer, &out, call->id);
        add_error(&out, code, message, data);
        buf_addc(&out, '}');
    }
    json_decref(data);
    call_answer(call, &out);
}

void rpc_drop(struct rpc_call *call) {
    struct rpc_peer *peer = call->peer;
    if (peer) {
        peer_enter(peer); /* the end of a batch may send */
    }
    call_free(call);
    if (peer) {
        peer_leave(peer);
    }
}

const char *rpc_call_method(const struct rpc_call *call) {
    return call->method;
}

json_t *rpc_call_params(const struct rpc_call *call) {
    return call->params;
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

bool rpc_call_is_cancelled(const struct rpc_call *call) {
    return call->cancelled;
}

static void call_cancel(struct rpc_call *call) {
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
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct rpc_call *c = peer->calls[i]; c; c = c->next) {
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
        json_write(&text, id) == 0 ? call_find(peer, text.data) : NULL;
    if (!call && json_is_number(id)) {
        call = find_by_value(peer, json_number_value(id));
    }
    if (call) {
        call_cancel(call);
    }
}

/* --- requests that go out --- */

static struct rpc_request **request_bucket(struct rpc_peer *peer, json_int_t id) {
    return &peer->requests[(uint64_t)id % BUCKETS];
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

static void request_end(struct rpc_request *request, int status, const json_t *result,
                        const json_t *error) {
    request_unlink(request);
    request->cb(request, status, result, error, request->data);
    free(request);
}

static struct rpc_request *request_find(struct rpc_peer *peer, json_int_t id) {
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

static void add_call(struct buf *out, const char *method, json_t *params) {
    json_t *name = json_text(method, strlen(method));
    add_member(out, "method", name);
    json_decref(name);
    if (params) {
        add_member(out, "params", params);
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
    struct buf out = message_begin();
    buf_addf(&out, ",\"id\":%" JSON_INTEGER_FORMAT, peer->next_id + 1);
    add_call(&out, method, params);
    if (out.full) {
        buf_finish(&out);
        return NULL;
    }
    struct rpc_request *request = request_add(peer, cb, data);
    message_send(peer, peer->mode, &out, false);
    return request;
}

void rpc_request_abandon(struct rpc_request *request) {
    request_end(request, -ECANCELED, NULL, NULL);
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
    struct buf out = message_begin();
    add_call(&out, method, params);
    if (out.full) {
        log_warning("notification larger than a message may be: left out");
        buf_finish(&out);
        return;
    }
    message_send(peer, peer->mode, &out, droppable);
}

void rpc_notify(struct rpc_peer *peer, const char *method, json_t *params) {
    notify(peer, method, params, false);
}

void rpc_notify_droppable(struct rpc_peer *peer, const char *method, json_t *params) {
    notify(peer, method, params, true);
}

/* --- messages that come in --- */

/* Where a message came from and where its answer goes. */
struct source {
    enum frame_mode mode;
    struct batch *batch;
};

static void refuse(struct rpc_peer *peer, struct source from, const char *id, int code,
                   const char *why) {
    struct buf out = refusal(peer, id, code, why);
    answer(peer, from.mode, from.batch, &out, !id);
}

static void take_response(struct rpc_peer *peer, json_t *value) {
    const json_t *id = json_object_get(value, "id");
    struct rpc_request *request =
        json_is_integer(id) ? request_find(peer, json_integer_value(id)) : NULL;
    if (!request) {
        log_debug("response to no request of ours");
        return;
    }
    const json_t *error = json_object_get(value, "error");
    if (!error || json_is_null(error)) {
        request_end(request, 0, json_object_get(value, "result"), NULL);
    } else if (json_is_object(error)) {
        request_end(request, 0, NULL, error);
    } else {
        json_t *made = json_pack("{s:i,s:s}", "code", RPC_INTERNAL_ERROR, "message",
                                 "the other side failed without a proper error");
        request_end(request, 0, NULL, made);
        json_decref(made);
    }
}

/* message is borrowed; *id is taken when it becomes a call's. */
static void take_request(struct rpc_peer *peer, struct source from, json_t *message,
                         const struct rpc_message *read, struct rpc_id *id) {
    if (call_find(peer, id->text)) {
        refuse(peer, from, id->text, RPC_INVALID_REQUEST,
               "a request with this id is still being answered");
        return;
    }
    if (peer->call_count >= RPC_MAX_PENDING) {
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
                              .params = read->params};
    if (from.batch) {
        from.batch->open++;
    }
    call_link(peer, call);
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

static const char *batch_fault(const struct rpc_peer *peer, const struct rpc_body *body) {
    size_t size = json_array_size(body->root);
    return !peer->batches                                ? "batches are not served here"
           : size == 0                                   ? "the batch is empty"
           : size > RPC_MAX_BATCH || size != body->count ? "the batch is too long"
                                                         : NULL;
}

static void take_batch(struct rpc_peer *peer, enum frame_mode mode,
                       struct rpc_body *body) {
    struct source from = {.mode = mode};
    const char *fault = batch_fault(peer, body);
    if (fault) {
        refuse(peer, from, NULL, RPC_INVALID_REQUEST, fault);
        return;
    }
    from.batch = xcalloc(1, sizeof *from.batch);
    *from.batch = (struct batch){.mode = mode, .open = 1};
    from.batch->body = BUF_INIT(SIZE_MAX / 4); /* each reply has its own limit */
    batch_link(peer, from.batch);
    for (size_t i = 0; i < body->count && !peer->dead; i++) {
        take_message(peer, from, json_array_get(body->root, i), &body->ids[i]);
    }
    batch_settle(from.batch);
}

/* Everything in one body. May end the peer. body is used up. */
static void take_body(struct rpc_peer *peer, enum frame_mode mode,
                      struct rpc_body *body) {
    struct source from = {.mode = mode};
    if (!body->root) {
        char why[sizeof body->why + 32];
        snprintf(why, sizeof why, "not valid JSON: %s", body->why);
        refuse(peer, from, NULL, RPC_PARSE_ERROR, why);
    } else if (body->batch) {
        take_batch(peer, mode, body);
    } else {
        take_message(peer, from, body->root, &body->ids[0]);
    }
    rpc_body_finish(body);
}

static void start_parse(struct rpc_peer *peer, enum frame_mode mode, const char *text,
                        size_t len) {
    struct rpc_parse *parse = xcalloc(1, sizeof *parse);
    parse->peer = peer;
    parse->mode = mode;
    parse->text = xmalloc(len + 1);
    memcpy(parse->text, text, len + 1);
    parse->len = len;
    peer->parse = parse;
    peer->events.parse(peer, parse, peer->data);
}

static bool on_message(enum frame_mode mode, char *text, size_t len, void *data) {
    struct rpc_peer *peer = data;
    if (peer->dead) {
        return false;
    }
    peer->mode = mode;
    if (peer->events.trace) {
        peer->events.trace(peer, false, text, len, peer->data);
    }
    if (len > RPC_INLINE_PARSE && peer->events.parse) {
        start_parse(peer, mode, text, len);
    } else {
        struct rpc_body body;
        rpc_body_read(text, len, &body);
        take_body(peer, mode, &body);
    }
    return !peer->dead && !peer->parse;
}

/* A message too large to read: if it was an answer to us, its request must still end. */
static void too_large(struct rpc_peer *peer, enum frame_mode mode, const char *bytes,
                      size_t len) {
    struct rpc_head head;
    struct source from = {.mode = mode};
    rpc_head_read(bytes, len, &head);
    const char *id = head.id.kind == RPC_ID_GOOD ? head.id.text : NULL;
    if (head.response && !head.method) {
        struct rpc_request *request =
            id && *id != '"' ? request_find(peer, strtoll(id, NULL, 10)) : NULL;
        if (request) {
            request_end(request, -EMSGSIZE, NULL, NULL);
        }
    } else {
        refuse(peer, from, id, RPC_INVALID_REQUEST, "the message is too large");
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
        too_large(peer, mode, head, len);
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
}

void rpc_parse_run(struct rpc_parse *parse) {
    rpc_body_read(parse->text, parse->len, &parse->body);
    free(take(parse->text));
}

void rpc_parse_done(struct rpc_parse *parse) {
    struct rpc_peer *peer = parse->peer;
    if (peer) {
        peer_enter(peer);
        peer->parse = NULL;
        take_body(peer, parse->mode, &parse->body);
        if (!peer->dead && !peer->parse) {
            frame_resume(peer->decoder);
        }
        peer_leave(peer);
    }
    rpc_body_finish(&parse->body);
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
    peer->decoder = frame_decoder_new(max_body, &frame_events, peer);
    return peer;
}

static void forget_calls(struct rpc_peer *peer) {
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (peer->calls[i]) {
            struct rpc_call *call = peer->calls[i];
            call_unlink(call);
            call_cancel(call);
        }
    }
}

static void end_requests(struct rpc_peer *peer) {
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (peer->requests[i]) {
            request_end(peer->requests[i], -ECANCELED, NULL, NULL);
        }
    }
}

void rpc_peer_free(struct rpc_peer *peer) {
    if (!peer || peer->dead) {
        return;
    }
    peer_enter(peer);
    peer->dead = true;
    if (peer->parse) {
        peer->parse->peer = NULL;
        peer->parse = NULL;
    }
    while (peer->open_batches) {
        batch_unlink(peer->open_batches);
    }
    forget_calls(peer);
    end_requests(peer);
    peer_leave(peer);
}

void *rpc_peer_data(const struct rpc_peer *peer) {
    return peer->data;
}

void rpc_feed(struct rpc_peer *peer, const char *bytes, size_t len) {
    if (peer->dead) {
        return;
    }
    peer_enter(peer);
    frame_feed(peer->decoder, bytes, len);
    peer_leave(peer);
}

bool rpc_peer_busy(const struct rpc_peer *peer) {
    return peer->parse;
}

enum frame_mode rpc_peer_mode(const struct rpc_peer *peer) {
    return peer->mode;
}

void rpc_peer_allow_batches(struct rpc_peer *peer, bool allow) {
    peer->batches = allow;
}

void rpc_peer_omit_null_id(struct rpc_peer *peer, bool omit) {
    peer->omit_null_id = omit;
}
