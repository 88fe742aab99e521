#pragma once
/* skill_files: walks a skill's folder, or the folder of an agent.
 *
 * Everything is opened relative to its parent's descriptor with O_NOFOLLOW, checked
 * before and after, and read only if it is a regular file: neither a link created in the
 * meantime nor a FIFO can redirect or block the reader. */
#include "skills/format/skill.h"

/* Fills files, file_count, bytes and problems of a skill whose folder is open as fd
 * (borrowed). Appends SKILL.md to text. Returns the name of its file, or NULL. */
const char *skill_files_read(struct skill *s, int fd, bool digests, struct buf *text);
