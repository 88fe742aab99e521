#pragma once
/* spec_file: a check spec beside its kernel, NAME.check.json. */
#include "base/json.h"

#define SPEC_FILE_MAX (8u << 20)

/* Whether the spec file beside the kernel completes these params. With `launch` and no
 * `args` it does if it is there: the kernel may have no parameters (-ENODATA of
 * spec_file_join). */
bool spec_file_is_needed(const json_t *params);
/* Opens a regular file beneath one of the roots (absolute, NULL-terminated); the caller
 * closes the descriptor. A relative path is looked up in each root in turn. -EACCES:
 * outside the roots; -ENOENT; otherwise -errno. */
int spec_file_open(const char *const *roots, const char *path, struct err *err);
/* Appends the whole file to out. -EFBIG over out's limit. */
int spec_file_read(const char *const *roots, const char *path, struct buf *out,
                   struct err *err);
/* The check spec named by the params' path, or beside the file that it names. Freed by
 * the caller. */
char *spec_file_path(const json_t *params);
/* Merges the file's members into the params, which take precedence. path names the
 * kernel, k.cu or k.ptx, whose spec is k.check.json, or the spec itself, whose "path"
 * (relative to it) is then the kernel; without "path" it is k.cu, or k.ptx if only that
 * exists. Only files beneath roots (absolute, NULL-terminated) are read. *ret_folder
 * (malloc'ed) is the spec's folder, to which the files it names are relative. New
 * reference; NULL with err: -ENODATA (a kernel without a spec: err says what to write),
 * -ENOENT (no such file), -EACCES (outside the roots), -EBADMSG (invalid JSON, or a
 * repeated key), -EINVAL (not a JSON object, or it says where to save). */
json_t *spec_file_join(const json_t *params, const char *const *roots, char **ret_folder,
                       struct err *err);
