#pragma once
/* cuda_builtins: CUDA's built-in names, with a line about those that people look up: the
 * variables, qualifiers and functions of device code that NVRTC knows without headers
 * (CUDA C++ Programming Guide, sections 10.1 to 10.23, and the CUDA Math API). */
#include <stddef.h>

struct cuda_builtin {
    const char *name;
    const char *signature; /* NULL if the name is enough */
    const char *doc;       /* one line; NULL: only the name is known */
};

const struct cuda_builtin *cuda_builtin_find(const char *name, size_t len);
/* The built-in name nearest to a misspelt one, or NULL if none is near or several are
 * equally near. */
const char *cuda_builtin_nearest(const char *name, size_t len);
