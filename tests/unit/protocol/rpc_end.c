#include "tests/unit/protocol/rpc_end.h"

#include "base/buf.h"
#include "base/shared_bytes.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static void on_cancelled(struct rpc_call *call, void *data) {
    struct end *end = data;
    end->cancelled++;
    end->last_cancelled = call;
}

static void on_request(struct rpc_call *call, void *data) {
    struct end *end = data;
    const char *method = rpc_call_method(call);
    if (strcmp(method, "echo") == 0) {
        rpc_reply(call, json_incref(rpc_call_params(call)));
    } else if (strcmp(method, "back") == 0) {
        struct buf attached = rpc_call_take_attached(call);
        rpc_reply_attached(call, json_pack("{s:i}", "bytes", (int)attached.len),
                           &attached);
        cr_assert(zero(sz, attached.len));
    } else if (strcmp(method, "hold") == 0) {
        rpc_call_on_cancel(call, on_cancelled, end);
        end->held[end->held_count++] = call;
    } else if (strcmp(method, "drop") == 0) {
        rpc_drop(call);
    } else if (strcmp(method, "free") == 0) {
        rpc_peer_free(end->peer);
        cr_assert(zero(ptr, rpc_call_peer(call)));
        rpc_reply(call, NULL);
        rpc_notify(end->peer, "late", json_true());
    } else {
        rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "no method %s", method);
    }
}

static void on_notification(struct rpc_peer *peer, enum frame_mode mode,
                            const char *method, json_t *params, void *data) {
    struct end *end = data;
    (void)peer, (void)mode;
    buf_addf(&end->told, "%s ", method);
    if (params) {
        json_write(&end->told, params);
    }
    buf_addc(&end->told, ';');
}

static void on_send(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                    void *data) {
    struct end *end = data;
    buf_add(&end->sent, bytes, len);
    end->droppable += droppable;
    free(bytes);
    if (end->feed_on_send) {
        const char *text = take(end->feed_on_send);
        rpc_feed(peer, text, strlen(text));
    }
}

static void on_send_shared(struct rpc_peer *peer, struct shared_bytes *shared,
                           void *data) {
    struct end *end = data;
    (void)peer;
    buf_add(&end->sent, shared->data, shared->len);
    end->borrowed = shared->data;
}

static void on_parse(struct rpc_peer *peer, struct rpc_parse *parse, void *data) {
    (void)peer;
    ((struct end *)data)->parse = parse;
}

static void on_drop(json_t *message, void *data) {
    ((struct end *)data)->dropped++;
    json_decref(message);
}

const struct rpc_events inline_events = {.request = on_request,
                                         .notification = on_notification,
                                         .send = on_send,
                                         .send_shared = on_send_shared};
const struct rpc_events threaded_events = {.request = on_request,
                                           .notification = on_notification,
                                           .send = on_send,
                                           .send_shared = on_send_shared,
                                           .parse = on_parse,
                                           .release = on_drop};

void open_end(struct end *end, const struct rpc_events *events) {
    *end = (struct end){.sent = BUF_INIT(SIZE_MAX / 4), .told = BUF_INIT(1u << 20)};
    end->peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, events, end);
}

void close_end(struct end *end) {
    rpc_peer_free(end->peer);
    for (size_t i = 0; i < end->held_count; i++) {
        rpc_reply(end->held[i], NULL); /* goes nowhere */
    }
    buf_finish(&end->sent);
    buf_finish(&end->told);
}

bool starts(const char *text, const char *head) {
    return strncmp(text, head, strlen(head)) == 0;
}

void feed(struct end *end, const char *text) {
    rpc_feed(end->peer, text, strlen(text));
}

char *repeat(const char *head, const char *part, size_t count, const char *tail) {
    size_t n = strlen(part);
    char *s = xmalloc(strlen(head) + n * count + strlen(tail) + 1);
    char *at = stpcpy(s, head);
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(at, part);
    }
    strcpy(at, tail);
    return s;
}
