#pragma once
/* skill_entry: one skill in the formats of Skills over MCP. Blocking; usable on any
 * thread. */
#include "base/json.h"

/* The parts of a skill:// URI: the skill ("skill://bundled/x") and the rest, decoded
 * ("references/a.md", "" for the folder itself). */
struct skill_uri {
    char *base, *rest;
};
/* -EINVAL if it is not such a URI. */
int skill_uri_split(struct skill_uri *ret, const char *uri, struct err *err);
void skill_uri_finish(struct skill_uri *u);

/* The Skill object: {"uri", "frontmatter", "resources": [{"uri", "digest", "size"}]};
 * *bytes is the number of bytes read. -ENOENT if there is no skill; -EINVAL if it cannot
 * be served: its frontmatter needs repair, its name differs from the URI's, or it is too
 * large. */
int skill_entry_read(const char *base, const char *folder, json_t **ret, size_t *bytes,
                     struct err *err);
/* The direct children of a folder of the skill, sorted by name: [{"uri", "name",
 * "mimeType"}]. -EINVAL if it is not a folder. */
int skill_entry_directory(const char *base, const char *folder, const char *rest,
                          json_t **ret, struct err *err);
/* resources/read's result for a file of the skill: cleaned text, or a blob if it is not
 * text. -ENOENT for a file that is not part of the skill. */
int skill_entry_file(const char *uri, const char *folder, const char *rest, json_t **ret,
                     struct err *err);
/* Its modification time and size as text; NULL if the skill has no such file. */
char *skill_entry_stamp(const char *folder, const char *rest);
