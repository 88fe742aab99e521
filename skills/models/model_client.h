#pragma once
/* model_client: asks models questions over HTTP; each gets exactly one answer.
 *
 * One client for Anthropic Messages and OpenAI-compatible chat completions, on the loop.
 * It streams, retries by error code, adapts the number of parallel requests per
 * endpoint and key, respects budgets and deadlines, and answers from the cache
 * (answer_cache.h) if the same request was answered before. Cancelling closes the
 * transfer. Keys appear in no log, error, file or cache key.
 *
 * Facts about the endpoints: docs/architecture/models.md. */
#include "skills/models/model.h"

#include <uv.h>

struct answer_cache;
struct http;
struct model_client;
struct model_call;

/* A budget shared by calls; spending is recorded as usage arrives. A call that would
 * start with nothing left ends as MODEL_BUDGET. */
struct model_budget {
    uint64_t max_tokens; /* input + output, cached ones too; 0 = no limit */
    double max_cost;     /* 0 = no limit; a model without a price is then refused */
    uint64_t tokens;     /* spent; answers from the cache cost nothing */
    double cost;
    uint64_t reserved; /* the client's: what calls in flight may still spend. A call that
                          would exceed the limit together with these waits for them, so at
                          most one call exceeds it */
    double reserved_cost;
};

bool model_budget_is_spent(const struct model_budget *b); /* NULL never is */

struct model_message {
    const char *role; /* "user", "assistant" */
    const char *text;
};

struct model_request {
    const struct model *model; /* copied */
    const char *system;        /* or NULL */
    const struct model_message *messages;
    size_t message_count;
    unsigned max_tokens;  /* of the answer; 0 = 4096 */
    const json_t *schema; /* the answer must be JSON that fits this schema; NULL = text.
                             Requested natively if the endpoint supports it, else by a
                             tool, else in the prompt; always validated here, with one
                             repair round */
    const char *schema_name;
    const char *tool;     /* with a schema: the description of an optional tool with that
                             schema, instead of a required form. `json` is then the
                             tool's arguments, NULL if it was not called */
    unsigned run;         /* part of the cache key: repeats are separate draws */
    unsigned deadline_ms; /* from its first request on, retries included; 0 = 600 000 */
    unsigned at_once;     /* how many of its kind the caller wants in flight; 0 = adapt to
                             the endpoint */
    bool no_cache;        /* neither read nor write it */
    struct model_budget *budget; /* borrowed until `done`, or NULL */
};

enum model_outcome {
    MODEL_ANSWERED,
    MODEL_REFUSED,   /* the model or a filter declined */
    MODEL_TRUNCATED, /* it reached max_tokens (reason "max_tokens") or filled the context
                        ("context_full"); text is partial */
    MODEL_CONTEXT_CUT, /* the endpoint silently dropped part of the prompt: its count of
                          prompt tokens is far below the estimate */
    MODEL_INVALID,     /* the answer did not match the schema, twice */
    MODEL_FAILED,      /* no answer; see `reason` */
    MODEL_BUDGET,      /* not asked: the budget is spent */
    MODEL_CANCELLED,
};
const char *model_outcome_name(enum model_outcome outcome);

struct model_usage {
    uint64_t input;  /* the whole prompt: uncached + cache written + cache read */
    uint64_t output; /* with thinking */
    uint64_t cache_read, cache_write, thinking; /* parts of the above */
    bool reported; /* by the endpoint; otherwise estimated (tokens.h) */
};

struct model_answer {
    enum model_outcome outcome;
    const char *text;         /* never NULL; NUL-terminated UTF-8 (cut at a U+0000); not
                                 cleaned, except that an echoed key is removed. With a
                                 schema and a forced tool: the tool's arguments */
    const json_t *json;       /* if there was a schema and the answer matches */
    struct model_usage usage; /* of all attempts of this call */
    const char *served_model; /* as the endpoint named it, or "" */
    const char *stop_reason;  /* as the endpoint gave it, or "" */
    unsigned requests;        /* HTTP requests sent, retries included; 0 = cached */
    bool cached;
    double ms;                /* of the attempt that answered, queueing not included */
    uint64_t prompt_estimate; /* tokens.h over system and messages */
    /* "" when ANSWERED. Otherwise a stable word, a sentence, and the next step: of FAILED
     * "rate_limited", "overloaded", "out_of_money", "unauthorized", "forbidden",
     * "model_not_found", "not_found", "context_too_long", "bad_request", "bad_answer",
     * "answer_too_large", "timeout", "unreachable", "connection_lost", "insecure",
     * "redirected", "conflict", "server_error", "no_http" (no libcurl); of the others
     * "context_cut", "refused", "max_tokens", "context_full", "schema_mismatch",
     * "budget_spent", "price_unknown", "cancelled". */
    const char *reason, *message, *hint;
    long status; /* HTTP status of the last attempt, 0 without */
};

/* Called exactly once, from the loop, never from inside model_call_start; answer is
 * borrowed during the call. */
typedef void model_done(struct model_call *call, const struct model_answer *answer,
                        void *data);
/* Receives streamed text unchanged; may be NULL. len 0: another attempt begins, so
 * discard the earlier text. */
typedef void model_text(struct model_call *call, const char *piece, size_t len,
                        void *data);

struct model_client_options {
    unsigned max_in_flight;     /* per endpoint and key, upper bound; 0 = 64 */
    unsigned start_in_flight;   /* 0 = 20 */
    unsigned max_attempts;      /* of one call; 0 = 6 */
    struct answer_cache *cache; /* borrowed, or NULL */
};
struct model_client *model_client_new(uv_loop_t *loop, struct http *http,
                                      const struct model_client_options *options);
/* Cancels running calls, then closes and frees. Call before http_close. */
void model_client_close(struct model_client *c, void (*closed)(void *data), void *data);

/* Copies everything except the budget. Fails only for a request that can never be sent
 * (-EINVAL: no message, an unsupported schema) or after model_client_close (-ECANCELED).
 */
int model_call_start(struct model_client *c, const struct model_request *request,
                     model_text *text, model_done *done, void *data,
                     struct model_call **ret, struct err *err);
void model_call_cancel(struct model_call *call); /* done follows, MODEL_CANCELLED */

/* [{"base_url", "in_flight", "limit", "queued", "requests", "retries", "rate_limited",
 * "learned": {model: [sentence]}}] of the endpoints used so far: a new reference; part of
 * daemon/status. */
json_t *model_client_status(const struct model_client *c);
