#pragma once
/* rpc: a symmetric JSON-RPC 2.0 peer.
 *
 * One peer stands at each end of a connection: daemon, worker and client use the same. It
 * turns bytes into requests, notifications and responses, keeps every request's id as the
 * raw text that was sent, matches responses to the requests sent from here, and makes
 * sure that each incoming request is answered exactly once. It knows neither MCP nor LSP,
 * does no I/O and starts no threads: bytes come in through rpc_feed and leave through
 * `send`.
 *
 * Malformed input never ends a connection: broken JSON is answered with -32700, anything
 * that is no message with -32600 (id null when it cannot be read), and reading goes on.
 */
#include "base/json.h"
#include "protocol/rpc/frame.h"

#include <stdbool.h>

/* JSON-RPC 2.0, and those that MCP and LSP add. */
enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_REQUEST_CANCELLED = -32800, /* LSP; also our plain methods */
};

struct buf;
struct shared_bytes;
struct rpc_peer;
struct rpc_call;    /* a request that came in; lives until it is answered */
struct rpc_request; /* a request that went out; lives until its response */
struct rpc_parse;   /* a large body on its way through another thread */

struct rpc_events {
    /* A request came in. It must be answered with rpc_reply, rpc_error or rpc_drop, once,
     * now or later. */
    void (*request)(struct rpc_call *call, void *data);
    /* params is NULL when absent, and borrowed. */
    void (*notification)(struct rpc_peer *peer, enum frame_mode mode, const char *method,
                         json_t *params, void *data);
    /* A whole message, framed, or what is attached to the last one. bytes belongs to the
     * callee (malloc). `droppable` marks what may be left out when the reader is slow.
     * Must not free the peer. */
    void (*send)(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                 void *data);
    /* What is attached to the request that was sent last (rpc_request_start_attached,
     * which needs this), borrowed. Must not free the peer. */
    void (*send_shared)(struct rpc_peer *peer, struct shared_bytes *shared, void *data);
    /* Optional. A large body (over RPC_INLINE_PARSE bytes) is to be parsed off the loop:
     * run rpc_parse_run(parse) on any thread, then rpc_parse_done(parse) on the peer's.
     * The peer takes no further message until then. NULL = parse inline. */
    void (*parse)(struct rpc_peer *peer, struct rpc_parse *parse, void *data);
    /* Optional. A message that took long to parse, or a long result, is done with: the
     * callee drops this reference to it, on whatever thread, since freeing it takes long
     * as well. Parts of it may have other holders. NULL = dropped at once. */
    void (*release)(json_t *message, void *data);
    /* Optional. Asked after every message, also after one that was refused: true = take
     * no more until rpc_peer_resume. So a host bounds what it does in one turn of its
     * loop.
     */
    bool (*enough)(struct rpc_peer *peer, void *data);
    /* Optional. There is room for requests again, after there was none (rpc_peer_busy):
     * rpc_peer_resume from the loop takes them. NULL = requests without room are refused.
     */
    void (*room)(struct rpc_peer *peer, void *data);
    /* Optional: a look at every message, framed bodies both ways, for a protocol log. */
    void (*trace)(struct rpc_peer *peer, bool outgoing, const char *body, size_t len,
                  void *data);
};

#define RPC_INLINE_PARSE (256u << 10)
#define RPC_MAX_PENDING 4096 /* unanswered requests per direction; more are refused */
/* Bodies of unanswered requests together: one more that goes beyond is refused. */
#define RPC_MAX_PENDING_BYTES (256u << 20)

/* Outgoing requests and notifications are framed as the latest message received was, at
 * first as told here; a response as its request was. */
struct rpc_peer *rpc_peer_new(enum frame_mode mode, size_t max_body,
                              const struct rpc_events *events, void *data);
/* Ends every outgoing request with -ECANCELED and forgets the incoming ones (their owners
 * hear `cancelled`, and what they answer later goes nowhere). NULL is a no-op. */
void rpc_peer_free(struct rpc_peer *peer);
void rpc_feed(struct rpc_peer *peer, const char *bytes, size_t len);
void rpc_feed_end(struct rpc_peer *peer); /* no more bytes come */
/* True while a large body is parsed elsewhere, after `enough` until rpc_peer_resume, and
 * while there is no room for another request: the host should stop reading. */
bool rpc_peer_busy(const struct rpc_peer *peer);
/* True when only answers to earlier requests let it go on. */
bool rpc_peer_full(const struct rpc_peer *peer);
/* Go on after `enough` and `room`; a no-op otherwise. May ask the former again. */
void rpc_peer_resume(struct rpc_peer *peer);
/* Go on without room, refusing requests until there is some: what would be read next may
 * be what the earlier requests wait for. */
void rpc_peer_refuse(struct rpc_peer *peer);
/* Batches are an error unless allowed (MCP 2025-03-26 demands them). */
void rpc_peer_allow_batches(struct rpc_peer *peer, bool allow);
/* Attachments (frame.h) are an error unless allowed: then they have at most
 * FRAME_MAX_BODY bytes. A request's are bytes for whoever answers it. An answer's are a
 * JSON object of which the result becomes a part, read where the message is: whoever
 * forwards it need not have looked into it, and one that is none makes an error of this
 * answer. */
void rpc_peer_allow_attachments(struct rpc_peer *peer);
/* For errors of messages whose id cannot be read: send `"id": null` (default) or leave it
 * out (MCP from 2026-07-28 on). */
void rpc_peer_omit_null_id(struct rpc_peer *peer, bool omit);

void rpc_parse_run(struct rpc_parse *parse);
void rpc_parse_done(struct rpc_parse *parse);
/* Bodies of any peer on their way through another thread, which nothing can stop. */
unsigned rpc_parses_running(void);

/* --- requests that come in --- */

const char *rpc_call_method(const struct rpc_call *call);
json_t *rpc_call_params(const struct rpc_call *call); /* borrowed; NULL when absent */
/* What came with it, moved: empty the second time. Counts as pending until the answer. */
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
/* attached is moved away; empty: as above. An error when the call is part of a batch. */
void rpc_reply_attached(struct rpc_call *call, json_t *result, struct buf *attached);
/* result is a JSON text on one line: what is always the same is written once. */
void rpc_reply_text(struct rpc_call *call, const char *result);
void rpc_error(struct rpc_call *call, int code, json_t *data, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void rpc_drop(struct rpc_call *call); /* no answer (a cancelled MCP request) */

/* The other side wants the request with this id (a string or a number) cancelled; unknown
 * and finished ids are ignored. */
void rpc_cancel(struct rpc_peer *peer, const json_t *id);

/* --- requests that go out --- */

/* Exactly once, never from inside rpc_request_start: with `result` on success; with
 * `error` (the error object) when the other side failed; with both NULL and a negative
 * `status` when no answer came (-ECANCELED, or -EMSGSIZE for one too large to read). Both
 * are borrowed. (A `send` that feeds the other end directly, as in tests, can make the
 * answer come early: queue the bytes instead.) */
typedef void rpc_response(struct rpc_request *request, int status, const json_t *result,
                          const json_t *error, void *data);
/* params is stolen (NULL = none). Returns NULL, and cb is never called, when
 * RPC_MAX_PENDING requests are unanswered, the peer is being freed, or the message would
 * be larger than a message may be. */
struct rpc_request *rpc_request_start(struct rpc_peer *peer, const char *method,
                                      json_t *params, rpc_response *cb, void *data);
/* The same with bytes behind it, which are sent from where they are. NULL also when they
 * are none, or more than FRAME_MAX_BODY. */
struct rpc_request *rpc_request_start_attached(struct rpc_peer *peer, const char *method,
                                               json_t *params,
                                               struct shared_bytes *attached,
                                               rpc_response *cb, void *data);
/* Forget it: cb is called with -ECANCELED from inside this call, and a late response is
 * ignored. Telling the other side is the caller's: `$/cancelRequest`, for example. */
void rpc_request_abandon(struct rpc_request *request);
json_int_t rpc_request_id(const struct rpc_request *request);

/* params is stolen (NULL = none). */
void rpc_notify(struct rpc_peer *peer, const char *method, json_t *params);
void rpc_notify_droppable(struct rpc_peer *peer, const char *method, json_t *params);
