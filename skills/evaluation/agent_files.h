#pragma once
/* agent_files: what an agent left in its working directory.
 *
 * Anything may lie there: only regular files are read, none through a link, and within
 * the bounds of a skill's folder (skill_files.h); version control and caches are left
 * out, and so is the skill that was installed. */
#include "base/json.h"

#define AGENT_FILE_MAX (1u << 20)  /* bytes of one that is read */
#define AGENT_FILES_MAX (8u << 20) /* of all */

/* {path: text; null for what is no text, or is over a limit}, with the path "" where not
 * all was looked at; or NULL when the folder cannot be opened. skill: the installed skill's folder, or NULL. Blocking. New
 * reference. */
json_t *agent_files_read(const char *work, const char *skill);
/* {path: bytes, null as above} of the first 64, for a record; NULL of NULL. */
json_t *agent_files_sizes(const json_t *files);
