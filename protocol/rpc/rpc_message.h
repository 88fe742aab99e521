#pragma once
/* rpc_message: parses one framed body: the JSON tree, and each message's id as it was
 * sent.
 *
 * Pure functions without a peer, so that another thread can parse a large body. The id is
 * found by scanning the text before it is parsed: an id that jansson cannot represent
 * exactly (20 digits, a fraction, an exponent) keeps its text, and the parser sees 0 in
 * its place. The last of equal keys wins, as in jansson. */
#include "base/json.h"

#define RPC_MAX_ID 1024    /* bytes of an id's JSON text */
#define RPC_MAX_BATCH 1024 /* messages of one batch */

enum rpc_id_kind {
    RPC_ID_ABSENT,
    RPC_ID_GOOD, /* a string, or a number without a fraction */
    RPC_ID_BAD,  /* null, a fraction, too long, not a string or number */
};

struct rpc_id {
    enum rpc_id_kind kind;
    char *text; /* GOOD: its JSON text, malloc'ed */
};

struct rpc_body {
    json_t *root;       /* NULL if it could not be parsed; `why` has the reason */
    bool batch;         /* root is an array */
    struct rpc_id *ids; /* one per message: of root, or of each element of the batch */
    size_t count;
    char why[256];
};

/* body is changed in place (see json_parse). */
void rpc_body_read(char *body, size_t len, struct rpc_body *ret);
void rpc_body_finish(struct rpc_body *body);
/* Adds the members of an answer's attachment, a JSON object, to its result; the result's
 * own members win. An invalid attachment turns the answer into an error. Requests are
 * unchanged. */
void rpc_body_attach(struct rpc_body *body, struct buf *attached);

enum rpc_kind {
    RPC_KIND_REQUEST,
    RPC_KIND_NOTIFICATION,
    RPC_KIND_RESPONSE,
    RPC_KIND_BAD
};
struct rpc_message {
    enum rpc_kind kind;
    const char *method; /* borrowed from the tree */
    json_t *params;     /* borrowed; NULL if absent or null */
    const char *why;    /* BAD: a sentence */
};
void rpc_message_read(json_t *value, const struct rpc_id *id, struct rpc_message *ret);

/* The information in the beginning of an incomplete message. */
struct rpc_head {
    struct rpc_id id;
    bool method, response; /* the keys "method", "result" or "error" were seen */
};
void rpc_head_read(const char *head, size_t len, struct rpc_head *ret);
