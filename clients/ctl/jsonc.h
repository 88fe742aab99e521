#pragma once
/* jsonc: one member put into, or taken out of, a JSON text that is a person's: comments,
 * order, indentation and line ends stay as they are.
 *
 * The member is `name` of the object that the root's `outer` is. Taking out what was put
 * in gives the bytes from before. Texts are UTF-8, comments and commas behind a last
 * member are allowed, as editors and agents take them. Results are the caller's to free;
 * every change is read again and compared before it is given back. */
#include "base/json.h"

#include <stdbool.h>

struct err;

/* -EINVAL: this is no JSON object (the message names the line), or outer is not one.
 * -EEXIST: the member is there already, as something else than value.
 * *ret is NULL where nothing has to change. An empty text is an empty object. */
int jsonc_put(const char *text, const char *outer, const char *name, const json_t *value,
              char **ret, struct err *err);
/* *ret is NULL when the member is not there, "" when nothing is left of a text that
 * jsonc_put began. -EEXIST: `ours` says that the member is somebody else's. */
int jsonc_take(const char *text, const char *outer, const char *name,
               bool (*ours)(const json_t *member), char **ret, struct err *err);
