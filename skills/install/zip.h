#pragma once
/* zip: writes a ZIP archive of stored files without times, so that the same files give
 * the same bytes (APPNOTE 6.3.10, PKWARE). */
#include "base/buf.h"

#include <sys/types.h>

struct zip {
    struct buf *out;      /* borrowed; its limit is the archive's */
    struct buf directory; /* of all files; its limit is the caller's */
    unsigned count;
};

/* name is UTF-8, relative, with '/'; mode: permissions. -EMSGSIZE at a limit. */
int zip_add(struct zip *z, const char *name, mode_t mode, const void *bytes, size_t len);
/* Appends the directory after the files; frees it. */
int zip_end(struct zip *z);
