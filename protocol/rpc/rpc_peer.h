#pragma once
/* rpc_peer: the internals of a peer, shared by rpc.c (incoming messages), rpc_call.c (the
 * other side's requests and their answers), rpc_request.c (our requests) and rpc_write.c
 * (writing messages). */
#include "base/buf.h"
#include "protocol/rpc/rpc.h"
#include "protocol/rpc/rpc_message.h"

#include <sys/queue.h>

#define RPC_BUCKETS 256u    /* of each table of unanswered requests */
#define RPC_HEADER_ROOM 96u /* in front of a body, for its lengths */

/* Requests that came as one array: their replies are sent as one array. */
struct rpc_batch {
    struct rpc_peer *peer; /* NULL once it is freed */
    enum frame_mode mode;
    size_t open;     /* calls without an answer, and 1 while the batch is being read */
    struct buf body; /* "[…,…", or empty */
    LIST_ENTRY(rpc_batch) link; /* peer->open_batches */
};

struct rpc_call {
    struct rpc_peer *peer; /* NULL once it is freed */
    enum frame_mode mode;
    struct rpc_batch *batch; /* NULL: not in a batch */
    char *id;
    json_t *message; /* owns method and params */
    struct buf attached;
    size_t bytes; /* its share of the body's size */
    const char *method;
    json_t *params;
    bool cancelled;
    rpc_cancelled *on_cancelled;
    void *on_cancelled_data;
    LIST_ENTRY(rpc_call) link; /* peer->calls[…] */
};

struct rpc_request {
    struct rpc_peer *peer;
    json_int_t id;
    rpc_response *cb;
    void *data;
    LIST_ENTRY(rpc_request) link; /* peer->requests[…] */
};

struct rpc_parse {
    struct rpc_peer *peer; /* NULL once it is freed */
    enum frame_mode mode;
    char *text;
    size_t len;
    struct buf attached;
    struct rpc_body body;
};

struct rpc_peer {
    struct rpc_events events;
    void *data;
    struct frame_decoder *decoder;
    enum frame_mode mode;
    bool batches, omit_null_id;
    bool dead; /* rpc_peer_free was called: nothing is sent or reported any more */
    /* functions of ours on the stack; a dead peer is freed when it falls to 0 */
    unsigned entered;
    struct rpc_parse *parse;
    bool held;          /* the host has paused it */
    bool full, refuses; /* no room for requests: reading stops, or they are refused */
    size_t max_body;
    LIST_HEAD(rpc_calls, rpc_call) calls[RPC_BUCKETS];
    LIST_HEAD(rpc_requests, rpc_request) requests[RPC_BUCKETS];
    LIST_HEAD(, rpc_batch) open_batches;
    size_t call_count, call_bytes, request_count;
    json_int_t next_id;
};

/* Around everything that may call out: a peer that is freed meanwhile is released by the
 * last leave. */
static inline void rpc_peer_enter(struct rpc_peer *peer) {
    peer->entered++;
}
static inline void rpc_peer_leave(struct rpc_peer *peer) {
    if (--peer->entered == 0 && peer->dead) {
        frame_decoder_free(peer->decoder);
        free(peer);
    }
}

/* --- rpc_write.c: begin a message, add its members and a '}', send it --- */

struct buf rpc_write_begin(void);
/* NULL writes null. A value that cannot be written makes out full. */
void rpc_write_member(struct buf *out, const char *key, const json_t *value);
void rpc_write_error(struct buf *out, int code, const char *message, const json_t *data);
/* id NULL: null, or left out if the peer wants that. */
void rpc_write_id(const struct rpc_peer *peer, struct buf *out, const char *id);
/* A whole error message, for a request that never became a call. */
struct buf rpc_write_refusal(const struct rpc_peer *peer, const char *id, int code,
                             const char *why);
/* Frames the bytes after the header's room, and sends them. Consumes out. */
void rpc_write_send(struct rpc_peer *peer, enum frame_mode mode, struct buf *out,
                    bool droppable);
/* The same for a message that is followed by `attached` bytes from the caller. */
void rpc_write_send_before(struct rpc_peer *peer, struct buf *out, size_t attached);

void rpc_batch_link(struct rpc_peer *peer, struct rpc_batch *batch);
void rpc_batch_unlink(struct rpc_batch *batch);
/* Adds one whole message to the batch's answer. Consumes message. */
void rpc_batch_add(struct rpc_batch *batch, struct buf *message);
/* One call of the batch, or its reading, has ended. The last one sends the replies. */
void rpc_batch_settle(struct rpc_batch *batch);

/* --- rpc_call.c --- */

/* Drops a message, or a part of one, that came in a body of that many bytes. peer may be
 * NULL. */
void rpc_peer_release(struct rpc_peer *peer, json_t *message, size_t bytes);
bool rpc_peer_has_room(const struct rpc_peer *peer); /* for one more request */
void rpc_call_link(struct rpc_peer *peer, struct rpc_call *call);
void rpc_call_unlink(struct rpc_call *call);
struct rpc_call *rpc_call_find(const struct rpc_peer *peer, const char *id);
void rpc_call_cancel(struct rpc_call *call);

/* --- rpc_request.c --- */

struct rpc_request *rpc_request_find(struct rpc_peer *peer, json_int_t id);
void rpc_request_end(struct rpc_request *request, int status, const json_t *result,
                     const json_t *error);
