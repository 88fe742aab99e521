#pragma once
/* program_save: files that a program wrote, put beneath the workspace. For a thread. */
#include "base/json.h"

/* files: [{"name", "bytes", "data"?}] of kernel/run's result, each of which loses its
 * data and gets "path" where it was written into dir: beneath one of roots (absolute,
 * NULL-terminated), a relative one beneath the first. Returns "saved": {"dir", "files",
 * "error"?}, new. */
json_t *program_save(json_t *files, const char *dir, const char *const *roots);
