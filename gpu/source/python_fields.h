#pragma once
/* python_fields: places in a script's CUDA strings that a run of it fills. Part of
 * python_strings.
 *
 * "$name" and "${name}" of string.Template, "%(name)s", the fields of f-strings, those of
 * format() in a string that doubles its other braces, and "{% … %}" of templates: what
 * they become is not known here, and no CUDA as they stand. */
#include <stdbool.h>
#include <stddef.h>

struct python_field {
    size_t start, end; /* in the script */
};

/* The first, in the strings of which `kept` (python_strings_keep_cuda's) has something;
 * both texts are as long. */
bool python_field_find(const char *script, const char *kept, size_t len,
                       struct python_field *ret);
