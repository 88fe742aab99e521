#pragma once
/* rpc: a symmetric JSON-RPC 2.0 peer.
 *
 * There is one peer at each end of a connection, in daemon, worker and client. It
 * turns bytes into requests, notifications and responses, keeps every request's id as the
 * raw text that was received, matches responses to its own requests, and ensures
 * that each incoming request is answered exactly once. It knows neither MCP nor LSP,
 * does no I/O and starts no threads: bytes come in through rpc_feed and leave through
 * `send`.
 *
 * Malformed input never ends a connection: invalid JSON is answered with -32700, anything
 * that is no message with -32600 (id null if it cannot be read), and reading continues.
 */
#include "base/json.h"
#include "protocol/rpc/frame.h"

/* JSON-RPC 2.0, and those that MCP and LSP add. */
enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_REQUEST_CANCELLED = -32800, /* LSP; also our plain methods */
};

struct shared_bytes;
struct rpc_peer;
struct rpc_call;    /* an incoming request; lives until it is answered */
struct rpc_request; /* an outgoing request; lives until its response */
struct rpc_parse;   /* a large body that a thread parses */

struct rpc_events {
    /* An incoming request. Answer it exactly once with rpc_reply, rpc_error or rpc_drop,
     * now or later. */
    void (*request)(struct rpc_call *call, void *data);
    /* params is borrowed; NULL if absent. */
    void (*notification)(struct rpc_peer *peer, enum frame_mode mode, const char *method,
                         json_t *params, void *data);
    /* Sends a complete framed message, or the attachment of the last one. The callee owns
     * bytes (malloc). `droppable`: it may be dropped if the reader is slow.
     * Must not free the peer. */
    void (*send)(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                 void *data);
    /* Sends the attachment of the last request (for rpc_request_start_attached);
     * borrowed. Must not free the peer. */
    void (*send_shared)(struct rpc_peer *peer, struct shared_bytes *shared, void *data);
    /* Optional. Parses a large body (over RPC_INLINE_PARSE bytes) off the loop: run
     * rpc_parse_run(parse) on any thread, then rpc_parse_done(parse) on the peer's.
     * The peer accepts no further message until then. NULL = parse inline. */
    void (*parse)(struct rpc_peer *peer, struct rpc_parse *parse, void *data);
    /* Optional. Releases a large message or result: the callee drops this reference, on
     * any thread, because freeing takes long as well. Other code may hold parts of it.
     * NULL = dropped at once. */
    void (*release)(json_t *message, void *data);
    /* Optional. Called after every message, also a refused one: true = accept no more
     * until rpc_peer_resume. A host can thus bound its work per turn of the loop. */
    bool (*enough)(struct rpc_peer *peer, void *data);
    /* Optional. There is room for requests again after there was none (rpc_peer_busy):
     * call rpc_peer_resume from the loop. NULL = requests without room are refused. */
    void (*room)(struct rpc_peer *peer, void *data);
    /* Optional: called with every message body, in both directions, for a protocol log.
     */
    void (*trace)(struct rpc_peer *peer, bool outgoing, const char *body, size_t len,
                  void *data);
};

#define RPC_INLINE_PARSE (256u << 10)
#define RPC_MAX_PENDING 4096 /* unanswered requests per direction; more are refused */
/* Bytes of the bodies of unanswered requests together; more are refused. */
#define RPC_MAX_PENDING_BYTES (256u << 20)

/* Outgoing requests and notifications use the framing of the latest received message, at
 * first `mode`; a response uses its request's. */
struct rpc_peer *rpc_peer_new(enum frame_mode mode, size_t max_body,
                              const struct rpc_events *events, void *data);
/* Ends every outgoing request with -ECANCELED and forgets the incoming ones (calls their
 * `cancelled` callbacks; later answers are dropped). NULL is a no-op. */
void rpc_peer_free(struct rpc_peer *peer);
void rpc_feed(struct rpc_peer *peer, const char *bytes, size_t len);
void rpc_feed_end(struct rpc_peer *peer); /* no more bytes come */
/* True while a thread parses a large body, after `enough` until rpc_peer_resume, and
 * while there is no room for another request: the host should stop reading. */
bool rpc_peer_busy(const struct rpc_peer *peer);
/* True if only answers to earlier requests can make room. */
bool rpc_peer_full(const struct rpc_peer *peer);
/* Continues after `enough` and `room`; otherwise a no-op. May call `enough` again. */
void rpc_peer_resume(struct rpc_peer *peer);
/* Continues without room, refusing requests until there is some: the next input may
 * be what the earlier requests wait for. */
void rpc_peer_refuse(struct rpc_peer *peer);
/* Batches are an error unless allowed (MCP 2025-03-26 demands them). */
void rpc_peer_allow_batches(struct rpc_peer *peer, bool allow);
/* Attachments (frame.h) are an error unless allowed; they have at most
 * FRAME_MAX_BODY bytes. A request's attachment is passed to its handler as bytes. An
 * answer's is a JSON object into which the result is merged; it is parsed together with
 * the message, so processes that forward it need not parse it. If it is no object, the
 * answer becomes an error. */
void rpc_peer_allow_attachments(struct rpc_peer *peer);
/* For errors of messages whose id cannot be read: send `"id": null` (default) or leave it
 * out (MCP from 2026-07-28 on). */
void rpc_peer_omit_null_id(struct rpc_peer *peer, bool omit);

void rpc_parse_run(struct rpc_parse *parse);
void rpc_parse_done(struct rpc_parse *parse);
/* The number of bodies, of all peers, that threads are parsing; this cannot be stopped.
 */
unsigned rpc_parses_running(void);

/* --- incoming requests --- */

const char *rpc_call_method(const struct rpc_call *call);
json_t *rpc_call_params(const struct rpc_call *call); /* borrowed; NULL when absent */
/* Takes its attachment; empty the second time. Counts as pending until the answer. */
struct buf rpc_call_take_attached(struct rpc_call *call);
const char *rpc_call_id(const struct rpc_call *call); /* raw JSON text: `7`, `"a"` */
struct rpc_peer *rpc_call_peer(const struct rpc_call *call); /* NULL once it is gone */
enum frame_mode rpc_call_mode(const struct rpc_call *call);
/* Called once when the other side cancels (rpc_cancel) or goes away, never from inside
 * rpc_call_on_cancel. The call must still be ended with one of the three functions below.
 */
typedef void rpc_cancelled(struct rpc_call *call, void *data);
void rpc_call_on_cancel(struct rpc_call *call, rpc_cancelled *cb, void *data);

/* Each ends the call and frees it. Values are stolen (NULL result = null). */
void rpc_reply(struct rpc_call *call, json_t *result);
/* Takes over attached; empty: as above. Answers with an error within a batch. */
void rpc_reply_attached(struct rpc_call *call, json_t *result, struct buf *attached);
/* result is a JSON text on one line, for results that are serialised once. */
void rpc_reply_text(struct rpc_call *call, const char *result);
void rpc_error(struct rpc_call *call, int code, json_t *data, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void rpc_drop(struct rpc_call *call); /* no answer (a cancelled MCP request) */

/* The other side cancels the request with this id (a string or a number); unknown
 * and finished ids are ignored. */
void rpc_cancel(struct rpc_peer *peer, const json_t *id);

/* --- outgoing requests --- */

/* Called exactly once, never from inside rpc_request_start: with `result` on success;
 * with `error` (the error object) if the other side failed; with both NULL and a
 * negative `status` if no answer came (-ECANCELED, or -EMSGSIZE for one too large to
 * read). Both are borrowed. (A `send` that feeds the other end directly, as in tests,
 * can break this: queue the bytes instead.) */
typedef void rpc_response(struct rpc_request *request, int status, const json_t *result,
                          const json_t *error, void *data);
/* params is stolen (NULL = none). Returns NULL, and never calls cb, if
 * RPC_MAX_PENDING requests are unanswered, the peer is being freed, or the message would
 * be too large. */
struct rpc_request *rpc_request_start(struct rpc_peer *peer, const char *method,
                                      json_t *params, rpc_response *cb, void *data);
/* The same with an attachment, sent without a copy. NULL also if it is empty or larger
 * than FRAME_MAX_BODY. */
struct rpc_request *rpc_request_start_attached(struct rpc_peer *peer, const char *method,
                                               json_t *params,
                                               struct shared_bytes *attached,
                                               rpc_response *cb, void *data);
/* Forgets the request: calls cb with -ECANCELED before returning, and ignores a late
 * response. The caller must notify the other side, for example by `$/cancelRequest`. */
void rpc_request_abandon(struct rpc_request *request);
json_int_t rpc_request_id(const struct rpc_request *request);

/* params is stolen (NULL = none). */
void rpc_notify(struct rpc_peer *peer, const char *method, json_t *params);
void rpc_notify_droppable(struct rpc_peer *peer, const char *method, json_t *params);
