#pragma once
/* model: a model: an endpoint, the model's name there, where its key is, and its price.
 *
 * A model is named as in upskill, "anthropic.claude-…", "openai.…", "generic.NAME", by an
 * alias of the configuration (`models: {NAME: {api, base_url, model, key_env, price}}`),
 * or by that object itself. The address is taken, in this order, from the request
 * (`base_url`), the alias or object, and the environment (ANTHROPIC_BASE_URL,
 * OPENAI_BASE_URL, GENERIC_BASE_URL; the latter two end in /v1). Keys come only from the
 * environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, GENERIC_API_KEY or the variable that
 * key_env names. A key is read for each request and not stored.
 *
 * The user decides which key goes to which address: a key is sent to the provider's own
 * address (or the environment's) and to an address that an alias pairs with it. An
 * address that only a request names gets no key, because the request may come from an
 * agent that was manipulated. */
#include "base/json.h"

enum model_api {
    MODEL_MESSAGES, /* Anthropic Messages: "anthropic" */
    MODEL_CHAT,     /* OpenAI-compatible chat completions: "openai" */
    /* the same endpoints' embeddings: the answer's text is a vector's direction, a JSON
     * list of -127 … 127. Chosen by the caller, not by a model's name */
    MODEL_EMBEDDINGS,
};

/* Money per million tokens, in the user's currency (US dollars by custom). Negative:
 * unknown. */
struct model_price {
    double input, output, cache_read, cache_write;
};

struct model {
    /* as the caller wrote it (for an object: its "name", or api and model); used in
     * results */
    char *name;
    enum model_api api;
    char *base_url; /* without a trailing slash; never contains credentials */
    char *model;    /* the name sent to the endpoint */
    char *key_env;  /* name of the variable; NULL = no key is sent */
    bool bearer;    /* Messages: "Authorization: Bearer" instead of x-api-key */
    char *version;  /* Messages: anthropic-version, or NULL for the default */
    struct model_price price;
    char *effort;        /* the requested reasoning effort, or NULL */
    unsigned max_tokens; /* of an answer; 0 = the caller's default */
};

extern const char *const model_providers[]; /* "anthropic" …, NULL-terminated */

/* url where the name is "generic.…", which has no address of its own, else NULL: what is
 * given as the address of other models serves it, too. */
const char *model_shared_url(const json_t *name_or_object, const char *url);
/* name_or_object: a string or the object above. aliases: the configuration's `models`
 * object, or NULL; they are trusted. base_url: the request's, or NULL; with it a name
 * without a provider is generic, the endpoint's own. -EINVAL if it is not a model (err
 * explains how models are named); -ENOKEY with the variable to set if a required key is
 * missing (an endpoint on this machine needs none, and "generic" uses one if it is set);
 * -EACCES if an object of the request would send a key to an address to which the user's
 * configuration and environment send none. ret is unchanged on failure. */
int model_resolve(struct model *ret, const json_t *name_or_object, const json_t *aliases,
                  const char *base_url, struct err *err);
void model_finish(struct model *m);
void model_copy(struct model *ret, const struct model *m);
/* {"name", "api", "base_url", "model"}: new reference; contains no secret. */
json_t *model_to_json(const struct model *m);
/* Cost of a usage (see model_client.h), negative if a required price is unknown. */
struct model_usage;
double model_cost(const struct model *m, const struct model_usage *usage);
