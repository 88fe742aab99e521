/* Whatever comes in: every request is answered once, all that is sent is whole valid JSON
 * in its frame, and nothing is left when the peer goes. A host that takes one message at
 * a time sends the same. */
#include "base/buf.h"
#include "base/mem.h"
#include "protocol/rpc/rpc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct host {
    struct rpc_peer *peer;
    struct frame_decoder *reader; /* of what is sent */
    struct rpc_call *held[16];
    size_t held_count;
    bool free_now;
    struct buf sent;
};

static bool on_sent(enum frame_mode mode, char *body, size_t len, struct buf *attached,
                    void *data) {
    (void)mode, (void)attached, (void)data;
    json_error_t error;
    json_t *json =
        json_loadb(body, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    /* Ids are echoed whatever their size; whatever else is refused is our error. */
    if (!json && json_error_code(&error) != json_error_numeric_overflow) {
        abort();
    }
    json_decref(json);
    return true;
}

static void on_bad_frame(enum frame_mode mode, enum frame_fault fault, const char *head,
                         size_t len, void *data) {
    (void)mode, (void)fault, (void)head, (void)len, (void)data;
    abort();
}

static void on_send(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                    void *data) {
    struct host *host = data;
    (void)peer, (void)droppable;
    frame_feed(host->reader, bytes, len);
    buf_add(&host->sent, bytes, len);
    free(bytes);
}

static void on_request(struct rpc_call *call, void *data) {
    struct host *host = data;
    const char *method = rpc_call_method(call);
    json_t *id = json_string(rpc_call_id(call));
    if (!id) {
        abort(); /* an id that is not UTF-8 would be echoed */
    }
    json_decref(id);
    if (*method == 'h' && host->held_count < ARRAY_LEN(host->held)) {
        host->held[host->held_count++] = call;
    } else if (*method == 'd') {
        rpc_drop(call);
    } else if (*method == 'f') {
        host->free_now = true;
        rpc_reply(call, NULL);
    } else if (*method == 'a' && rpc_call_mode(call) == FRAME_HEADERS) {
        struct buf attached = rpc_call_take_attached(call);
        rpc_reply_attached(call, json_object(), &attached);
    } else if (*method == 'e') {
        rpc_error(call, 1, json_incref(rpc_call_params(call)), "%s", method);
    } else {
        rpc_reply(call, json_incref(rpc_call_params(call)));
    }
}

static void on_notification(struct rpc_peer *peer, enum frame_mode mode,
                            const char *method, json_t *params, void *data) {
    (void)mode, (void)method, (void)data;
    rpc_cancel(peer, json_object_get(params, "id"));
}

static void on_response(struct rpc_request *request, int status, const json_t *result,
                        const json_t *error, void *data) {
    (void)request, (void)status, (void)result, (void)error;
    (*(unsigned *)data)++;
}

static bool always_enough(struct rpc_peer *peer, void *data) {
    (void)peer, (void)data;
    return true;
}

/* Feeds all; when it returns, nothing waits any more. */
static void feed(struct host *host, const uint8_t *data, size_t size) {
    size_t step = 1 + (data[0] >> 2);
    for (size_t at = 1; at < size && !host->free_now; at += step) {
        rpc_feed(host->peer, (const char *)data + at,
                 size - at < step ? size - at : step);
        rpc_peer_resume(host->peer); /* one message more; the rest waits */
    }
    while (rpc_peer_busy(host->peer) && !host->free_now) {
        rpc_peer_resume(host->peer);
    }
}

static void end(struct host *host) {
    for (size_t i = 0; i + 1 < host->held_count; i += 2) {
        rpc_reply(host->held[i], NULL);
        host->held[i] = NULL;
    }
    rpc_peer_free(host->peer);
    for (size_t i = 0; i < host->held_count; i++) {
        if (host->held[i]) {
            rpc_reply(host->held[i], NULL);
        }
    }
    frame_decoder_free(host->reader);
}

static void run(const struct rpc_events *events, const uint8_t *data, size_t size,
                struct host *host) {
    static const struct frame_events reading = {on_sent, on_bad_frame};
    unsigned responses = 0;
    *host = (struct host){.sent = BUF_INIT(64u << 20)};
    host->reader = frame_decoder_new(FRAME_MAX_BODY, &reading, NULL);
    frame_decoder_attach(host->reader, FRAME_MAX_BODY);
    host->peer = rpc_peer_new(FRAME_LINES, 4096, events, host);
    rpc_peer_allow_batches(host->peer, data[0] & 1);
    rpc_peer_omit_null_id(host->peer, data[0] & 2);
    if (data[0] & 128) {
        rpc_peer_allow_attachments(host->peer);
    }
    for (int i = 0; i < 3; i++) { /* ids 1 to 3 wait for answers */
        rpc_request_start(host->peer, "q", NULL, on_response, &responses);
    }
    feed(host, data, size);
    end(host);
    if (responses != 3) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct rpc_events events = {
        .request = on_request, .notification = on_notification, .send = on_send};
    static const struct rpc_events one_by_one = {.request = on_request,
                                                 .notification = on_notification,
                                                 .send = on_send,
                                                 .enough = always_enough};
    if (size < 1) {
        return 0;
    }
    struct host all, one;
    run(&events, data, size, &all);
    run(&one_by_one, data, size, &one);
    /* A host that ends in the middle has sent more or less by then. */
    bool same = all.sent.len == one.sent.len &&
                memcmp(all.sent.data, one.sent.data, one.sent.len) == 0;
    if (!all.free_now && !one.free_now && !same) {
        abort();
    }
    buf_finish(&all.sent);
    buf_finish(&one.sent);
    return 0;
}
