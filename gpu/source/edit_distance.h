#pragma once
/* edit_distance: how far two names are apart. */
#include <stddef.h>

/* Edits (insert, delete, change, swap neighbours) from a to b; `limit` + 1 when more than
 * limit. Names of up to 63 bytes; longer ones are farther than any limit. */
unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len,
                       unsigned limit);
