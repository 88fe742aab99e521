#pragma once
/* agent_files: the files that an agent left in its working directory.
 *
 * Anything may be there: only regular files are read, never through a link, and within
 * the limits for a skill's folder (skill_files.h). Version control, caches and the
 * installed skill are left out. */
#include "base/json.h"

#define AGENT_FILE_MAX (1u << 20)  /* bytes read of one file */
#define AGENT_FILES_MAX (8u << 20) /* bytes read of all files */

/* {path: text; null if it is not text or exceeds a limit}, with the path "" if not
 * everything was read; or NULL if the folder cannot be opened. skill: the installed
 * skill's folder, or NULL. Blocking. New reference. */
json_t *agent_files_read(const char *work, const char *skill);
/* {path: bytes, null as above} of the first 64 files, for a record; NULL if files is. */
json_t *agent_files_sizes(const json_t *files);
