#pragma once
/* frontmatter_editor: SKILL.md's frontmatter in an editor, while it may not be valid
 * yet. */
#include <jansson.h>
#include <stddef.h>

/* Explains the key at the offset, or the key of the value there: Markdown, malloc'ed,
 * about [*start, *end); or NULL. */
char *frontmatter_hover(const char *text, size_t len, size_t offset, size_t *start,
                        size_t *end);
/* Missing keys, and values: an array as in document_kind's completions. folder: name of
 * the skill's folder, or NULL. New reference. */
json_t *frontmatter_completions(const char *text, size_t len, size_t offset,
                                const char *folder);
