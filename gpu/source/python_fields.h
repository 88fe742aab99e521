#pragma once
/* python_fields: placeholders in a script's CUDA strings that the script fills at run
 * time. Part of python_strings. "$name" and "${name}" of string.Template, "%(name)s", the
 * fields of f-strings, those of format() in a string that doubles its other braces, and
 * "{% … %}" of templates: their values are unknown here, and they are not valid CUDA. */
#include "base/mem.h"

struct python_field {
    size_t start, end; /* in the script */
};

/* The first one in a string of which `kept` (from python_strings_keep_cuda) keeps a part;
 * both texts have the same length. */
bool python_field_find(const char *script, const char *kept, size_t len,
                       struct python_field *ret);
