#pragma once
/* line_map: where the lines of a text went when it was edited. */
#include <stddef.h>

/* For each line of before (from 0) its line in after counted from 1, or 0 where it is
 * gone or changed: a longest common subsequence of lines. Where the changed middle parts
 * are both very long, none of their lines is found again. Array of *ret_count, freed by
 * the caller. */
size_t *line_map(const char *before, const char *after, size_t *ret_count);
