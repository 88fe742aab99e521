#pragma once
/* python_units: which CUDA strings of a Python file are compiled together. Part of
 * python_strings. Each string is a separate unit, unless the script joins it with others:
 * by +, as fields of an f-string or of format(), or in one list. A string without a
 * kernel that is joined with an unknown value (a parameter, a call's result) is added to
 * every unit, since it may be joined with any of them. */
#include "base/mem.h"

#define PYTHON_UNITS_MAX 64 /* a script with more strings is one unit */

struct python_units {
    /* of each unit: bit n is set for the n-th CUDA string */
    uint64_t strings[PYTHON_UNITS_MAX];
    size_t count; /* at least 1 */
};

void python_units_find(const char *text, size_t len, struct python_units *ret);
/* unit: from 1 on; 0 contains every string. string: from 0 on. */
bool python_units_has(const struct python_units *units, size_t unit, size_t string);
