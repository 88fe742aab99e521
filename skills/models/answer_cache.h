#pragma once
/* answer_cache: model answers by the hash of their request, in
 * $XDG_STATE_HOME/upskilld/answers.db.
 *
 * The key is the SHA-256 of the canonical JSON of the question {api, base_url, model,
 * effort, system, messages, max_tokens, schema, run}: it contains no secret and no
 * header, and does not depend on an endpoint's variant of the API. Only complete answers
 * are kept (no failures, refusals, truncations). Resumed runs, repeated runs and
 * re-grading find their answers here. Over ANSWER_CACHE_BYTES the least recently used are
 * removed. Several daemons share one file. */
#include "base/json.h"

struct answer_cache;

#define ANSWER_CACHE_BYTES (1ull << 30)

/* path NULL = the default. Opens the database at first use; if that fails, answers are
 * not kept and answer_cache_problem says why. */
struct answer_cache *answer_cache_new(const char *path);
void answer_cache_free(struct answer_cache *c);
/* {"text", "usage": {…}, "served_model", "stop_reason", "ms"}: new reference, or NULL. */
json_t *answer_cache_get(struct answer_cache *c, const char *key);
int answer_cache_put(struct answer_cache *c, const char *key, const json_t *answer,
                     struct err *err);
const char *answer_cache_problem(const struct answer_cache *c); /* NULL = none */
