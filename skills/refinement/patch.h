#pragma once
/* patch: small, exact edits of a SKILL.md.
 *
 * A teacher changes a skill by a few edits and never writes it anew: a rewrite loses what
 * was learned before. An edit is one of
 *   {"find": text, "replace": text}      the text stands in the file exactly once
 *   {"section": heading, "replace": text}   all beneath the heading, up to the next one
 * of its level or above
 *   {"section": heading, "append": text} at the end of that section; "" is the whole file
 * All edits refer to the file as it was and may not overlap, so their order means
 * nothing. Either all are applied or none. Of the frontmatter only the description can
 * change. The result is not checked any further here. Pure. */
#include "base/json.h"

#include <stddef.h>

#define PATCH_MAX_EDITS 8u
#define PATCH_MAX_BYTES 6000u /* that all edits together add, and that they take away */

/* JSON Schema of {"edits": […], "why": text}, what a teacher is asked for. New reference.
 */
json_t *patch_schema(void);

/* edits: array as above. *ret is NUL-terminated and freed by the caller. -EINVAL: they
 * cannot be applied; *problems (new reference, else untouched) then holds a sentence for
 * each edit that is wrong, in words that a teacher can act on. */
int patch_apply(const json_t *edits, const char *text, size_t len, char **ret,
                json_t **problems);
