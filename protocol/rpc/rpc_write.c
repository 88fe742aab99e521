/* Messages as bytes: members, errors, frames, batches of answers. */
#include "protocol/rpc/rpc_peer.h"

#include <stdio.h>

struct buf rpc_write_begin(void) {
    struct buf out = BUF_INIT(RPC_HEADER_ROOM + FRAME_MAX_BODY + 1);
    buf_reserve(&out, 480);
    buf_commit(&out, RPC_HEADER_ROOM);
    buf_adds(&out, "{\"jsonrpc\":\"2.0\"");
    return out;
}

static void send_framed(struct rpc_peer *peer, enum frame_mode mode, struct buf *out,
                        size_t attached, bool droppable) {
    char head[RPC_HEADER_ROOM + 1] = "";
    if (peer->dead) {
        buf_finish(out);
        return;
    }
    size_t len = out->len - RPC_HEADER_ROOM, room = 0;
    if (peer->events.trace) {
        peer->events.trace(peer, true, out->data + RPC_HEADER_ROOM, len, peer->data);
    }
    if (mode == FRAME_HEADERS) {
        room = (size_t)snprintf(head, sizeof head,
                                attached ? "Content-Length: %zu\r\nAttachment-Length: %zu"
                                         : "Content-Length: %zu",
                                len, attached);
        room += (size_t)snprintf(head + room, sizeof head - room, "\r\n\r\n");
    }
    memmove(out->data + room, out->data + RPC_HEADER_ROOM, len);
    memcpy(out->data, head, room);
    size_t total = room + len;
    if (mode == FRAME_LINES) { /* there is space: the room in front was larger */
        out->data[total++] = '\n';
    }
    out->data[total] = '\0';
    peer->events.send(peer, buf_detach(out), total, droppable, peer->data);
}

void rpc_write_send(struct rpc_peer *peer, enum frame_mode mode, struct buf *out,
                    bool droppable) {
    send_framed(peer, mode, out, 0, droppable);
}

void rpc_write_send_before(struct rpc_peer *peer, struct buf *out, size_t attached) {
    send_framed(peer, FRAME_HEADERS, out, attached, false);
}

void rpc_write_member(struct buf *out, const char *key, const json_t *value) {
    buf_addf(out, ",\"%s\":", key);
    if (!value) {
        buf_adds(out, "null");
    } else if (json_write(out, value) < 0) {
        out->full = true;
    }
}

void rpc_write_error(struct buf *out, int code, const char *message, const json_t *data) {
    autojson *text = json_clean_z(message);
    buf_addf(out, ",\"error\":{\"code\":%d", code);
    rpc_write_member(out, "message", text);
    if (data) {
        rpc_write_member(out, "data", data);
    }
    buf_addc(out, '}');
}

void rpc_write_id(const struct rpc_peer *peer, struct buf *out, const char *id) {
    if (id || !peer->omit_null_id) {
        buf_addf(out, ",\"id\":%s", id ? id : "null");
    }
}

struct buf rpc_write_refusal(const struct rpc_peer *peer, const char *id, int code,
                             const char *why) {
    struct buf out = rpc_write_begin();
    rpc_write_id(peer, &out, id);
    rpc_write_error(&out, code, why, NULL);
    buf_addc(&out, '}');
    return out;
}

void rpc_batch_link(struct rpc_peer *peer, struct rpc_batch *batch) {
    batch->peer = peer;
    LIST_INSERT_HEAD(&peer->open_batches, batch, link);
}

void rpc_batch_unlink(struct rpc_batch *batch) {
    if (batch->peer) {
        LIST_REMOVE(batch, link);
        batch->peer = NULL;
    }
}

void rpc_batch_settle(struct rpc_batch *batch) {
    if (--batch->open) {
        return;
    }
    struct rpc_peer *peer = batch->peer;
    rpc_batch_unlink(batch);
    if (peer && !peer->dead && batch->body.len) {
        buf_addc(&batch->body, ']');
        rpc_write_send(peer, batch->mode, &batch->body, false);
    }
    buf_finish(&batch->body);
    free(batch);
}

void rpc_batch_add(struct rpc_batch *batch, struct buf *message) {
    if (!batch->body.len) {
        buf_add(&batch->body, message->data, RPC_HEADER_ROOM);
    }
    buf_addc(&batch->body, batch->body.len == RPC_HEADER_ROOM ? '[' : ',');
    buf_add(&batch->body, message->data + RPC_HEADER_ROOM,
            message->len - RPC_HEADER_ROOM);
    buf_finish(message);
}
