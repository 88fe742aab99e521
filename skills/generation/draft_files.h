#pragma once
/* draft_files: the files that a draft has besides its SKILL.md.
 *
 * A line "===== file: references/NAME.md =====" begins a file, which ends at the next
 * such line or at the end. A fence around it is removed. Only texts under references/ are
 * accepted: text that a model wrote is never executed. Pure. */
#include "base/json.h"

#define DRAFT_MAX_FILES 8
#define DRAFT_MAX_FILE (128u << 10)

/* The text before the first file, malloc'ed; the files are added to `files` {path: text}.
 * NULL with -EINVAL in err for a file that is not permitted. */
char *draft_files_split(const char *text, json_t *files, struct err *err);
/* The same for {path: text} of an answer in JSON; other members are ignored. */
int draft_files_take(const json_t *object, json_t *files, struct err *err);
/* The host of the first http or https address in `text` that the material does not
 * contain, malloc'ed; NULL: none. This machine's and example domains (RFC 2606) need no
 * source. */
char *draft_foreign_host(const char *text, const char *material);
/* Lines of text that open or close a fence of at least so many backticks. */
size_t draft_fence_lines(const char *text, size_t ticks);
