#pragma once
/* slice: a piece of a text, borrowed. */
#include "base/mem.h"

struct slice {
    const char *at;
    size_t len;
};
bool slice_starts(struct slice s, const char *prefix);
bool slice_has(struct slice s, const char *word);
struct slice slice_after(struct slice s, size_t count);
struct slice slice_trim(struct slice s);
/* Leading decimal digits; returns the number of bytes, 0 if there are none or the value
 * does not fit an int. */
size_t slice_number(struct slice s, int *ret);
