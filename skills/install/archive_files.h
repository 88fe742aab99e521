#pragma once
/* archive_files: what is in an archive, by libarchive, which is loaded when it is first
 * wanted. ZIP and tar, the latter plain or with gzip; nothing else is tried. Blocking. */
#include "base/buf.h"

struct err;
struct repository_files;

/* Its entries as `git ls-tree -r -z` lists them, an id for each by its place. -ENOSYS
 * without libarchive, -EBADMSG for what is no such archive, -EINVAL for a name that leads
 * out or stands there twice, -EFBIG over a limit of archive.h. */
int archive_files_list(const char *bytes, size_t len, struct buf *listing,
                       struct err *err);
/* The bytes of the files that were chosen, as `git cat-file --batch` gives them. */
int archive_files_read(const char *bytes, size_t len,
                       const struct repository_files *files, struct buf *blobs,
                       struct err *err);
