#pragma once
/* jsonc: one member put into, or taken out of, a JSON text that is a person's: comments,
 * order, indentation and line ends stay as they are.
 *
 * The member is `name` of the object that the root's `outer` is. Texts are UTF-8;
 * comments and commas behind a last member are allowed, as editors and agents take them.
 * Both give what the new text would be: whoever asks parses it, and compares. */
#include "base/json.h"

#include <stdbool.h>

struct err;

/* What the text says, a new reference; null where it is blanks and comments alone. NULL
 * with -EINVAL where it is no JSON object; the message begins with the line. */
json_t *jsonc_parse(const char *text, struct err *err);
/* Where its root stands; at the text's end where it has none. */
size_t jsonc_root(const char *text);

/* The text of a file that is begun with the member, all on lines of its own. Freed by the
 * caller, as the others are. */
char *jsonc_begin(const char *outer, const char *name, const json_t *value);
/* NULL where outer is not an object. The text has a root without the member. */
char *jsonc_put(const char *text, const char *outer, const char *name,
                const json_t *value);
/* Ways to take the member out: the first gives the text from before jsonc_put, which also
 * put outer there; the second too, but outer was there; the third is for what somebody
 * has written anew. NULL where this way does not fit. The member is there. */
enum jsonc_way { JSONC_OUTER, JSONC_MEMBER, JSONC_ANYWHERE, JSONC_WAYS };
char *jsonc_take(const char *text, const char *outer, const char *name,
                 const json_t *value, enum jsonc_way way);
