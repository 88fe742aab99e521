#pragma once
/* draft_files: the files that a draft brings beside its SKILL.md.
 *
 * A line "===== file: references/NAME.md =====" begins a file, which ends at the next
 * such line or at the end. A fence around it is taken off. Only texts under references/
 * are taken: what a model wrote is never executed. Pure. */
#include "base/json.h"

struct err;

#define DRAFT_MAX_FILES 8
#define DRAFT_MAX_FILE (128u << 10)

/* What stands before the first file, malloc'ed; the files go to `files` {path: text}.
 * NULL with -EINVAL in err for a file that may not be there. */
char *draft_files_split(const char *text, json_t *files, struct err *err);
/* The same for {path: text} of an answer in JSON; other members are left alone. */
int draft_files_take(const json_t *object, json_t *files, struct err *err);
/* The host of the first http or https address in `text` that the material does not hold,
 * malloc'ed; NULL: none. This machine's and example domains (RFC 2606) need no source. */
char *draft_foreign_host(const char *text, const char *material);
/* Lines of text that open or close a fence of at least so many backticks. */
size_t draft_fence_lines(const char *text, size_t ticks);
