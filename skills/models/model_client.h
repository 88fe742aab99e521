#pragma once
/* model_client: questions to models over HTTP, answered once each.
 *
 * One client for Anthropic Messages and OpenAI-compatible chat completions, on the loop.
 * It streams, retries by error code, keeps an adaptive number of requests in flight per
 * endpoint and key, respects budgets and deadlines, and answers from the cache
 * (answer_cache.h) when the same request was answered before. Cancelling closes the
 * transfer. Keys appear in no log, error, file or cache key.
 *
 * Facts about the endpoints: docs/architecture/models.md. */
#include "skills/models/model.h"

#include <stdint.h>
#include <uv.h>

struct answer_cache;
struct http;
struct model_client;
struct model_call;

/* What a run may still spend. Shared by its calls; counted down as usage comes in. A call
 * that would start with nothing left ends as MODEL_BUDGET. */
struct model_budget {
    uint64_t max_tokens; /* input + output, cached ones too; 0 = no limit */
    double max_cost;     /* 0 = no limit; a model without a price is then refused */
    uint64_t tokens;     /* spent; answers from the cache cost nothing */
    double cost;
    uint64_t reserved; /* the client's: what calls in flight may still spend. A call that
                          would pass the limit with these waits for them, so the limit is
                          passed by one call at most */
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
                             Asked for natively where the endpoint can, else by a tool,
                             else by words; always validated here, one repair round */
    const char *schema_name;
    const char *tool;     /* with a schema: not what the answer must be, but a tool of
                             that name and this description, which the model may use.
                             `json` is then what it was called with, NULL when it was not */
    unsigned run;         /* part of the cache key: repeats are separate draws */
    unsigned deadline_ms; /* from its first request on, retries included; 0 = 600 000 */
    unsigned at_once;     /* how many of the kind the caller wants in flight; 0 = as the
                             endpoint turns out to bear them */
    bool no_cache;        /* neither read nor write it */
    struct model_budget *budget; /* borrowed until `done`, or NULL */
};

enum model_outcome {
    MODEL_ANSWERED,
    MODEL_REFUSED,   /* the model or a filter declined */
    MODEL_TRUNCATED, /* it ran into max_tokens (reason "max_tokens") or filled the context
                        ("context_full"); text is what came */
    MODEL_CONTEXT_CUT, /* the endpoint silently dropped part of the prompt: its count of
                          prompt tokens is far below the estimate */
    MODEL_INVALID,     /* asked for JSON by schema, got something else twice */
    MODEL_FAILED,      /* no answer; `reason` says why */
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
    const char *text;         /* never NULL; NUL-terminated UTF-8 (a U+0000 within ends
                                 it), cleaned of nothing but the
                                 key, should the endpoint echo it. With a schema and a
                                 forced tool: the tool's arguments */
    const json_t *json;       /* when a schema was asked for and the answer fits */
    struct model_usage usage; /* of all attempts of this call */
    const char *served_model; /* as the endpoint named it, or "" */
    const char *stop_reason;  /* the endpoint's word, or "" */
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

/* Exactly once, from the loop, never from inside model_call_start; answer is borrowed
 * during the call. */
typedef void model_done(struct model_call *call, const struct model_answer *answer,
                        void *data);
/* Text as it streams in, untouched; may be NULL. len 0: another attempt begins, forget
 * what came. */
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
/* Cancels what runs, then closes and frees. Before http_close. */
void model_client_close(struct model_client *c, void (*closed)(void *data), void *data);

/* Everything is copied but the budget. Fails only for a request that can never be sent
 * (-EINVAL: no message, an unsupported schema) or after model_client_close (-ECANCELED).
 */
int model_call_start(struct model_client *c, const struct model_request *request,
                     model_text *text, model_done *done, void *data,
                     struct model_call **ret, struct err *err);
void model_call_cancel(struct model_call *call); /* done follows, MODEL_CANCELLED */

/* [{"base_url", "in_flight", "limit", "queued", "requests", "retries", "rate_limited",
 * "learned": {model: [sentence]}}] of the endpoints spoken to: new reference; part of
 * daemon/status. */
json_t *model_client_status(const struct model_client *c);
