#pragma once
/* program_save: saves the files that a program wrote beneath the workspace. Runs on a
 * thread. */
#include "base/json.h"

/* files: [{"name", "bytes", "data"?}] of kernel/run's result. Each loses its data, and
 * gets "path" if it was written into dir, which must be beneath one of roots (absolute,
 * NULL-terminated); a relative dir is beneath the first. Returns "saved": {"dir",
 * "files", "error"?}, new. */
json_t *program_save(json_t *files, const char *dir, const char *const *roots);
