#pragma once
/* skill_files: the walk over a skill's folder, and over what an agent left in its own.
 *
 * Everything is opened relative to its parent's descriptor with O_NOFOLLOW, looked at
 * before and after, and read only when it is a regular file: neither a link put there
 * meanwhile nor a FIFO can lead astray or hold up the reader. */
#include "skills/format/skill.h"

/* Fills files, file_count, bytes and problems of a skill whose folder is open as fd
 * (borrowed). The text of SKILL.md is appended to text. Returns the name of the file that
 * holds it, or NULL. */
const char *skill_files_read(struct skill *s, int fd, bool digests, struct buf *text);
