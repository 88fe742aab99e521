#pragma once
/* ptx_files: the source files of a PTX module under the names that people know.
 *
 * The compiler writes absolute paths of the job's private folder into `.file` lines. Here
 * they become what findings call the files: a source's display name, <header> for one of
 * the toolkit's or of the stand-ins that have no path, the last component for anything
 * else. In PTX that somebody else made names stay, but a file of an installed Python
 * package is the <header> beneath that. */
#include "gpu/source/source_set.h"

struct buf;
/* The name in quotes. A PTX string has no escapes that every reader agrees on: what would
 * end it becomes a question mark. */
void ptx_files_add_name(struct buf *out, const char *name);

/* The PTX with its `.file` lines rewritten; malloc'ed, NUL-terminated. folder: where the
 * job's files stood; NULL: the PTX was made elsewhere, and the rest is not looked at.
 * include_dirs: the toolkit's, NULL-terminated. */
char *ptx_files_rename(const char *ptx, const char *folder,
                       const struct source_set *sources, char *const *include_dirs);
