#pragma once
/* install_diff: what an install would change or lose, for a person to read. */
#include "base/json.h"

struct install_tree;

#define INSTALL_DIFF_MAX 8192

/* A unified diff from the files in folder `now` to the skill in folder `source`; bounded
 * and cleaned. Freed by the caller. */
char *install_diff(int now, const struct install_tree *is, int source,
                   const struct install_tree *shall);
/* The same for one file's text; NULL when nothing changed. */
char *install_text_diff(const char *path, const char *was, const char *now);
/* One line for each file that differs from the entry. */
char *install_changes(const struct install_tree *is, const json_t *entry);
