#pragma once
/* patch: small, exact edits of a SKILL.md.
 *
 * A teacher changes a skill by a few edits and never rewrites it: a rewrite loses what
 * was learned before. An edit is one of
 *   {"find": text, "replace": text}
 *       The text occurs in the file exactly once.
 *   {"section": heading, "replace": text}
 *       Everything beneath the heading, up to the next one of its level or above.
 *   {"section": heading, "append": text}
 *       At the end of that section; "" is the whole file.
 * All edits refer to the unchanged file and may not overlap, so their order is
 * irrelevant. Either all are applied or none. Of the frontmatter only the description can
 * change. The result is not checked further here. Pure. */
#include "base/json.h"

#define PATCH_MAX_EDITS 8u
#define PATCH_MAX_BYTES 6000u /* that all edits together add, and that they remove */

/* JSON Schema of {"edits": […], "why": text}, the answer requested from a teacher. New
 * reference. */
json_t *patch_schema(void);

/* edits: array as above. *ret is NUL-terminated and freed by the caller. -EINVAL: they
 * cannot be applied; *problems (new reference, else unchanged) then has a sentence for
 * each wrong edit, from which a teacher can correct it. */
int patch_apply(const json_t *edits, const char *text, size_t len, char **ret,
                json_t **problems);
