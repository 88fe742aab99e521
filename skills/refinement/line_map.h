#pragma once
/* line_map: maps the lines of a text to those of its edited version. */
#include <stddef.h>

/* For each line of before (from 0) its line in after, counted from 1, or 0 if it was
 * removed or changed: a longest common subsequence of lines. If the changed middle parts
 * are both very long, their lines are not matched. Array of *ret_count, freed by the
 * caller. */
size_t *line_map(const char *before, const char *after, size_t *ret_count);
