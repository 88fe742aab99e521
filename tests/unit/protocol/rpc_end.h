#pragma once
/* rpc_end: one end of a connection for the tests of the JSON-RPC peer. */
#include "base/buf.h"
#include "protocol/rpc/rpc.h"

/* One end of a connection, whose other end is this test. Methods: "echo" answers with its
 * params at once, "back" with what came attached, "hold" is kept in `held`, "drop" is
 * dropped, "free" frees the peer. */
struct end {
    struct rpc_peer *peer;
    struct buf sent; /* all frames */
    struct buf told; /* notifications: "method params;" */
    struct rpc_call *held[8];
    size_t held_count;
    unsigned cancelled, droppable, dropped;
    struct rpc_call *last_cancelled;
    struct rpc_parse *parse;
    const char *feed_on_send;
    const char *borrowed; /* the bytes that were attached last */
};

/* Bodies parsed inside; elsewhere (`parse`, `dropped`). */
extern const struct rpc_events inline_events, threaded_events;

void open_end(struct end *end, const struct rpc_events *events);
/* What is still held is answered, to nobody. */
void close_end(struct end *end);
void feed(struct end *end, const char *text);
bool starts(const char *text, const char *head);
/* head, part `count` times, tail; malloc'ed. */
char *repeat(const char *head, const char *part, size_t count, const char *tail);

#define REQUEST(id)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"echo\",\"params\":[1]}"
#define RESULT(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":[1]}\n"
#define ERROR(id, code) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code
