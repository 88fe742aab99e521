#pragma once
/* run_page: a page of this room, from its words (the .html files here) and the value that
 * they tell. The page needs no other file and may load nothing; it runs no script but the
 * one whose digest ("sha256-…") the value has as "script". Its title is the value's
 * "name" and "kind". All values are cleaned and escaped. */
#include "base/json.h"

/* Appended; -EMSGSIZE at out's limit. */
int run_page_write(struct buf *out, const char *words, const json_t *value);

extern const char script_marks[]; /* marks.js, the one that the page of marks runs */
