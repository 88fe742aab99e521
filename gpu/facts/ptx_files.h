#pragma once
/* ptx_files: the source files of a PTX module under the names that people know.
 *
 * The compiler writes absolute paths of the job's private folder into `.file` lines. Here
 * they become what findings call the files: a source's display name, <header> for one of
 * the toolkit's or of the stand-ins that have no path, the last component for anything
 * else. */
#include "gpu/source/source_set.h"

/* The PTX with its `.file` lines rewritten; malloc'ed, NUL-terminated. folder: where the
 * job's files stood. include_dirs: the toolkit's, NULL-terminated. */
char *ptx_files_rename(const char *ptx, const char *folder,
                       const struct source_set *sources, char *const *include_dirs);
