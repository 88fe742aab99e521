#pragma once
/* model: who answers: an endpoint, a model's name there, where its key is, what it costs.
 *
 * A model is named as upskill names it, "anthropic.claude-…", "openai.…", "generic.NAME",
 * by an alias of the configuration (`models: {NAME: {api, base_url, model, key_env,
 * price}}`), or by that object itself. Addresses come, in this order, from the request
 * (`base_url`), the alias or object, and the environment (ANTHROPIC_BASE_URL,
 * OPENAI_BASE_URL, GENERIC_BASE_URL; the latter two end in /v1). Keys come from the
 * environment only: ANTHROPIC_API_KEY, OPENAI_API_KEY, GENERIC_API_KEY or the variable
 * that key_env names. A key is read when a request is made and kept nowhere.
 *
 * Which key goes to which address is the user's to say: a key is sent to the provider's
 * own address (or the environment's) and to an address that an alias pairs with it. An
 * address that only a request names gets none: a request may come from an agent that was
 * talked into it. */
#include "base/json.h"

#include <stdbool.h>

struct err;

enum model_api {
    MODEL_MESSAGES,   /* Anthropic Messages: "anthropic" */
    MODEL_CHAT,       /* OpenAI-compatible chat completions: "openai" */
    MODEL_EMBEDDINGS, /* the same endpoints' embeddings: the answer's text is a vector's
                         direction, a JSON list of -127 … 127. Said by who asks, not by
                         a model's name */
};

/* Money per million tokens, in the currency the user thinks in (US dollars by custom).
 * Negative: unknown. */
struct model_price {
    double input, output, cache_read, cache_write;
};

struct model {
    char *name; /* as the caller wrote it (an object: its "name", or api and model):
                   what results call it */
    enum model_api api;
    char *base_url; /* without a trailing slash; never holds credentials */
    char *model;    /* what the endpoint is asked for */
    char *key_env;  /* name of the variable; NULL = no key is sent */
    bool bearer;    /* Messages: "Authorization: Bearer" instead of x-api-key */
    char *version;  /* Messages: anthropic-version, or NULL for the default */
    struct model_price price;
    char *effort;        /* reasoning effort to ask for, or NULL */
    unsigned max_tokens; /* of an answer; 0 = the default of the caller */
};

extern const char *const model_providers[]; /* "anthropic" …, ended by NULL */

/* name_or_object: a string or the object above. aliases: the configuration's `models`
 * object, or NULL; they are trusted. base_url: the request's, or NULL; with it a name
 * without a provider is generic, the endpoint's own. -EINVAL for what is no model (err
 * says how models are named), -ENOKEY with the variable to set when a key is needed and
 * absent (an endpoint on this machine needs none, and "generic" takes one when it is
 * set), -EACCES when an object of the request asks for a key to be sent where the user's
 * configuration and environment send none. ret is untouched on failure.
 */
int model_resolve(struct model *ret, const json_t *name_or_object, const json_t *aliases,
                  const char *base_url, struct err *err);
void model_finish(struct model *m);
void model_copy(struct model *ret, const struct model *m);
/* {"name", "api", "base_url", "model"}: new reference; holds no secret. */
json_t *model_to_json(const struct model *m);
/* Cost of a usage (see model_client.h), negative when a price it needs is unknown. */
struct model_usage;
double model_cost(const struct model *m, const struct model_usage *usage);
