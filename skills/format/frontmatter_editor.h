#pragma once
/* frontmatter_editor: SKILL.md's frontmatter as it is typed: readable or not yet. */
#include <jansson.h>
#include <stddef.h>

/* What the key at the offset, or the key of the value there, means: Markdown, malloc'ed,
 * about [*start, *end); or NULL. */
char *frontmatter_hover(const char *text, size_t len, size_t offset, size_t *start,
                        size_t *end);
/* Keys that are not there yet, and values: an array as document_kind's completions.
 * folder: name of the skill's, or NULL. New reference. */
json_t *frontmatter_completions(const char *text, size_t len, size_t offset,
                                const char *folder);
