#pragma once
/* archive_files: reads archives with libarchive, which is loaded at first use. Only ZIP
 * and tar, the latter plain or with gzip. Blocking. */
#include "base/buf.h"

struct repository_files;

/* Its entries in the format of `git ls-tree -r -z`, with an id for each by its index.
 * -ENOSYS without libarchive, -EBADMSG if it is not such an archive, -EINVAL for a name
 * that leaves the archive or occurs twice, -EFBIG over a limit of archive.h. */
int archive_files_list(const char *bytes, size_t len, struct buf *listing,
                       struct err *err);
/* The contents of the chosen files, in the format of `git cat-file --batch`. */
int archive_files_read(const char *bytes, size_t len,
                       const struct repository_files *files, struct buf *blobs,
                       struct err *err);
