#pragma once
/* spec_file: a check spec that stands beside its kernel as NAME.check.json. */
#include "base/json.h"

#include <stdbool.h>

struct err;

#define SPEC_FILE_MAX (8u << 20)

/* Is there anything to run in these params, or must a file say it? */
bool spec_file_is_needed(const json_t *params);
/* The params with what the file says and they do not. path of the params names the
 * kernel, k.cu, whose spec is k.check.json, or the spec itself, whose "path" (relative to
 * it) or k.cu is then the kernel. Files are read beneath roots (absolute, NULL-terminated)
 * only. New reference; NULL with err: -ENOENT (no such file: err says what to write),
 * -EACCES (outside the roots), -EINVAL (not a JSON object). */
json_t *spec_file_join(const json_t *params, const char *const *roots, struct err *err);
