#pragma once
/* model_call: one call and its attempts. Internal to the model client: model_client.c
 * owns the calls and schedules them, model_call.c builds, sends and reads an attempt,
 * model_outcome.c interprets the end of an attempt, counts it and stores the answer. */
#include "base/err.h"
#include "base/hash.h"
#include "base/http.h"
#include "skills/models/endpoint.h"
#include "skills/models/sse.h"

struct schema;

#define CALL_DEADLINE_MS 600000
#define CALL_MAX_TOKENS 4096
#define CALL_ATTEMPTS 6
#define CALL_MAX_WHOLE (8u << 20) /* bytes of an answer that is not streamed */
#define CALL_MAX_STREAM (64u << 20)
#define CALL_MAX_ERROR (256u << 10)

enum model_call_state {
    CALL_QUEUED,  /* in endpoint->queue */
    CALL_WAITING, /* in client->waiting, until `due` */
    CALL_SENT,    /* a request was sent; lingering ones are in client->waiting too */
    CALL_OVER,    /* in client->over: `answer` is final */
};

struct model_call {
    TAILQ_ENTRY(model_call) link; /* client->calls */
    TAILQ_ENTRY(model_call) turn; /* the list of its state */
    struct model_client *client;
    struct endpoint *endpoint;
    enum model_call_state state;
    bool cancelled, lingering;
    uint64_t due, deadline; /* clock_ms; deadline 0 = nothing sent yet */

    struct model model;
    char *system;
    struct model_message *messages; /* owned; a repair round adds two */
    unsigned deadline_ms;
    json_t *schema;
    struct schema *checker;
    char *schema_name, *tool;
    bool cached; /* reads and writes the cache */
    char cache_key[HASH_HEX_SIZE];
    struct model_budget *budget;
    uint64_t reserved;
    double reserved_cost;

    struct http_request *http;
    uint64_t sent_at;
    char *asked_system; /* of the attempt, NULL = system */
    struct api_ask ask; /* form and system belong to the attempt */
    unsigned learned;   /* bits of ask.quirks that this call discovered */
    bool begun;         /* an attempt was made: quirks are set */
    struct sse sse;
    struct api_reply reply;
    struct buf whole;
    enum { BODY_UNKNOWN, BODY_STREAM, BODY_WHOLE } body;
    bool marked_done; /* [DONE] or message_stop arrived */
    int read_failure; /* why reading was stopped, or 0 */
    struct err read_err;
    size_t told; /* bytes of text passed to on_text */

    unsigned soon, busy, odd, relearned; /* failed attempts by kind */
    bool repaired;

    struct model_answer answer;
    struct buf text, message;
    json_t *json;
    char served_model[128], stop_reason[64];
    model_text *on_text;
    model_done *on_done;
    void *data;
};

struct model_client {
    struct http *http;
    struct model_client_options options;
    uv_timer_t timer;
    struct endpoint_list endpoints;
    TAILQ_HEAD(, model_call) calls;
    struct model_queue waiting, over;
    bool closing, woken;
    void (*closed)(void *data);
    void *closed_data;
};

/* model_client.c: moves between states. */
void call_queue(struct model_call *call);              /* next in line */
void call_wait(struct model_call *call, uint64_t due); /* then next in line */
void call_over(struct model_call *call, enum model_outcome outcome, const char *reason,
               const char *hint);
void client_wake(struct model_client *client);

/* model_call.c */
struct model_call *call_new(struct model_client *client, const struct model_request *r,
                            struct err *err);
void call_free(struct model_call *call);
void call_send(struct model_call *call);
uint64_t call_estimate(const struct model_call *call, const char *system);
void call_say(struct model_call *call, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* answer.message, cleaned, without the key */
/* Removes the key from text, and a beginning of the key that was cut off at the text's
 * end. Keys shorter than shortest_key ("none", "ollama") are words, not secrets. */
void call_redact(const struct model_call *call, struct buf *text, size_t shortest_key);
void call_tell(struct model_call *call);             /* passes new text to on_text */
const char *call_key(const struct model_call *call); /* of the environment, or NULL */

/* model_outcome.c */
void call_conclude(struct model_call *call, const struct http_response *response);

bool call_read_cache(struct model_call *call); /* true: the call has ended */
