#pragma once
/* model_names: what a bare name such as "haiku" or "gpt-5-mini" means.
 *
 * No model's name is built in: the endpoints for which the environment has what they need
 * (a key, or for generic an address) are asked for their lists. A name means the model of
 * that id, else the newest whose id holds the name as whole words ("haiku":
 * claude-haiku-4-5-20251001). */
#include "base/json.h"

#include <stdbool.h>

struct err;
struct http;

/* Whether it is neither an alias nor "PROVIDER.MODEL", so that lists must be asked. */
bool model_name_is_bare(const char *name, const json_t *aliases);

/* lists: [{"provider", "models"?: [{"id", "created_at"? or "created"?}], "problem"?: a
 * sentence}], empty when no endpoint can be asked; borrowed. Exactly once, from the loop.
 */
typedef void model_names_listed(const json_t *lists, void *data);
/* http is borrowed; closing it ends this too. -ENOENT when no endpoint can be asked:
 * nothing comes then. */
int model_names_list(struct http *http, model_names_listed *listed, void *data,
                     struct err *err);
/* The model as model_resolve takes it, an alias {"api", "model"}: new reference. NULL
 * with err: -ENOENT, or -ENOTUNIQ when several providers have one. */
json_t *model_names_choose(const json_t *lists, const char *name, struct err *err);
