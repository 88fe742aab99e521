#pragma once
/* skill_entry: one skill in the shapes of Skills over MCP. Blocking, for any thread. */
#include "base/json.h"

#include <stdbool.h>

struct err;

/* Where a skill:// URI leads: the skill's part ("skill://bundled/x") and the rest,
 * decoded
 * ("references/a.md", "" for the folder itself). */
struct skill_uri {
    char *base, *rest;
};
/* -EINVAL for what is no such URI. */
int skill_uri_split(struct skill_uri *ret, const char *uri, struct err *err);
void skill_uri_finish(struct skill_uri *u);

/* The Skill object: {"uri", "frontmatter", "resources": [{"uri", "digest", "size"}]};
 * *bytes receives how much was read. -ENOENT when there is no skill, -EINVAL when it
 * cannot be served: its frontmatter needs mending, its name is not the URI's, it is too
 * large. */
int skill_entry_read(const char *base, const char *folder, json_t **ret, size_t *bytes,
                     struct err *err);
/* The direct children of a folder of the skill, by name: [{"uri", "name", "mimeType"}].
 * -EINVAL when it is not a folder. */
int skill_entry_directory(const char *base, const char *folder, const char *rest,
                          json_t **ret, struct err *err);
/* resources/read's result for a file of the skill: text, cleaned, or a blob when it is
 * none. -ENOENT for a file that is no part of the skill. */
int skill_entry_file(const char *uri, const char *folder, const char *rest, json_t **ret,
                     struct err *err);
/* Its modification time and size as text; NULL when there is no such file in the skill.
 */
char *skill_entry_stamp(const char *folder, const char *rest);
