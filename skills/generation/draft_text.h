#pragma once
/* draft_text: what a teacher answered, made a SKILL.md.
 *
 * Teachers wrap: a fence around the whole, words before it, a JSON object. All that is
 * taken off. Files beside it (draft_files.h) are taken along. What is then no SKILL.md,
 * or is longer than a skill may be, is refused with what is wrong. */
#include "skills/generation/builtin_skill.h"

struct err;

/* name: what the skill must be called, or NULL: as the draft says. base: the improved
 * skill, whose other fields are kept; or NULL. Citations "[t1 e17]" become evidence and
 * leave the text. -EINVAL says what to mend. */
int draft_text_read(struct skill_draft *ret, const char *answer, size_t len,
                    const char *name, const struct skill_text *base, struct err *err);
