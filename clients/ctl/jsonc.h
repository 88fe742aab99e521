#pragma once
/* jsonc: adds one member to, or removes it from, a person's JSON text without changing
 * comments, order, indentation or line ends.
 *
 * The member is `name` in the object that is member `outer` of the root. Texts are UTF-8;
 * comments, and commas after a last member, are allowed, as editors and agents accept
 * them. The functions only return a new text; the caller parses it and compares. */
#include "base/json.h"

/* The value of the text, a new reference; null if it is only blanks and comments. NULL
 * with -EINVAL if it is not a JSON object; the message begins with the line. */
json_t *jsonc_parse(const char *text, struct err *err);
/* The offset of its root; the text's end if it has none. */
size_t jsonc_root(const char *text);
/* The offset of a member, or of what would hold it. */
size_t jsonc_place(const char *text, const char *outer, const char *name);

/* The text of a new file with only the member, on separate lines. Freed by the caller, as
 * all texts here are. */
char *jsonc_begin(const char *outer, const char *name, const json_t *value);
/* Adds the member to a text that has a root without it. NULL if outer is not an
 * object. */
char *jsonc_put(const char *text, const char *outer, const char *name,
                const json_t *value);
/* Ways to remove a member that is there. The first two restore the text from before
 * jsonc_put: JSONC_OUTER if it also added outer, JSONC_MEMBER if outer was there;
 * JSONC_ANYWHERE is for a text that was edited since. NULL if the way does not fit. */
enum jsonc_way { JSONC_OUTER, JSONC_MEMBER, JSONC_ANYWHERE, JSONC_WAYS };
char *jsonc_take(const char *text, const char *outer, const char *name,
                 const json_t *value, enum jsonc_way way);
