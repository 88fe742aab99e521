#pragma once
/* draft_text: turns a teacher's answer into a SKILL.md.
 *
 * Teachers wrap: a fence around everything, text before it, a JSON object. All of that is
 * removed. Files beside it (draft_files.h) are included. A result that is not a SKILL.md,
 * or is too long for a skill, is refused with the reason. */
#include "skills/generation/builtin_skill.h"

/* name: the required name of the skill, or NULL: the draft's. base: the improved skill,
 * whose other fields are kept; or NULL. Citations "[t1 e17]" become evidence and are
 * removed from the text and from its files. -EINVAL says what to correct. */
int draft_text_read(struct skill_draft *ret, const char *answer, size_t len,
                    const char *name, const struct skill_text *base, struct err *err);
/* The reason of an answer that begins with "NOTHING:", else NULL. */
const char *draft_says_nothing(const char *answer);
void draft_rename(struct skill_draft *d, const char *name); /* in its text, too */
