#pragma once
/* model_names: resolves bare names such as "haiku" or "gpt-5-mini". No model's name is
 * built in: the lists come from the endpoints for which the environment has the required
 * settings (a key, or for generic an address). A name means the model with that id,
 * otherwise the newest whose id contains the name as whole words ("haiku":
 * claude-haiku-4-5-20251001). */
#include "base/json.h"

struct http;

/* Whether it is neither an alias nor "PROVIDER.MODEL", so that lists are needed. */
bool model_name_is_bare(const char *name, const json_t *aliases);

/* lists: [{"provider", "models"?: [{"id", "created_at"? or "created"?}], "problem"?: a
 * sentence}], empty if there is no endpoint to ask; borrowed. Exactly once, from the
 * loop. */
typedef void model_names_listed(const json_t *lists, void *data);
/* http is borrowed; closing it ends this too. -ENOENT if there is no endpoint to ask:
 * then `listed` is not called. */
int model_names_list(struct http *http, model_names_listed *listed, void *data,
                     struct err *err);
/* The model for model_resolve, an alias {"api", "model"}: new reference. NULL with err:
 * -ENOENT, or -ENOTUNIQ if several providers have one. */
json_t *model_names_choose(const json_t *lists, const char *name, struct err *err);
