#pragma once
/* ptx_files: rewrites a PTX module's source file names for people.
 *
 * The compiler writes absolute paths in the job's private folder into `.file` lines. They
 * are replaced by the names that findings use: a source's display name, <header> for a
 * toolkit header or a shim, the last component for any other. In PTX made elsewhere,
 * names stay, except that a file of an installed Python package becomes the <header>
 * beneath it. */
#include "gpu/source/source_set.h"

/* Adds the name in quotes. No escape in PTX strings is understood by every reader: a
 * character that would end the string becomes a question mark. */
void ptx_files_add_name(struct buf *out, const char *name);

/* The PTX with its `.file` lines rewritten; malloc'ed, NUL-terminated. folder: the folder
 * of the job's files; NULL: the PTX was made elsewhere, and the other arguments are
 * ignored. include_dirs: the toolkit's, NULL-terminated. */
char *ptx_files_rename(const char *ptx, const char *folder,
                       const struct source_set *sources, char *const *include_dirs);
