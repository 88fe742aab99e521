#pragma once
/* spec_file: a check spec that stands beside its kernel as NAME.check.json. */
#include "base/json.h"

#include <stdbool.h>

struct buf;
struct err;

#define SPEC_FILE_MAX (8u << 20)

/* Is there anything to run in these params, or must a file say it? */
bool spec_file_is_needed(const json_t *params);
/* A descriptor of a regular file beneath one of the roots (absolute, NULL-terminated),
 * for the caller to close; a relative path is looked up in each in turn. -EACCES: it lies
 * outside; -ENOENT; else -errno. */
int spec_file_open(const char *const *roots, const char *path, struct err *err);
/* The same file whole into out (appended). -EFBIG over out's limit. */
int spec_file_read(const char *const *roots, const char *path, struct buf *out,
                   struct err *err);
/* The check spec that a path of the params names or has beside it. Freed by the caller.
 */
char *spec_file_path(const json_t *params);
/* The params with what the file says and they do not. path of the params names the
 * kernel, k.cu or k.ptx, whose spec is k.check.json, or the spec itself, whose "path"
 * (relative to it) is then the kernel; without it k.cu, or k.ptx where only that is there. Files are read beneath roots (absolute,
 * NULL-terminated) only. *ret_folder (malloc'ed) is the spec's own folder, in which the
 * files it names stand. New reference; NULL with err: -ENODATA (a kernel without a spec:
 * err says what to write), -ENOENT (no such file), -EACCES (outside the roots), -EBADMSG
 * (no JSON, or a key stands twice), -EINVAL (no JSON object, or it says where to save).
 */
json_t *spec_file_join(const json_t *params, const char *const *roots, char **ret_folder,
                       struct err *err);
