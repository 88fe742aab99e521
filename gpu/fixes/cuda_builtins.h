#pragma once
/* cuda_builtins: CUDA's built-in names, with a line on those that people look up.
 *
 * What NVRTC knows without any header: variables, qualifiers and functions of device code
 * (CUDA C++ Programming Guide, sections 10.1 to 10.23, and the CUDA Math API). */
#include <stddef.h>

struct cuda_builtin {
    const char *name;
    const char *signature; /* NULL when the name says it all */
    const char *doc;       /* one line; NULL: known by name only */
};

const struct cuda_builtin *cuda_builtin_find(const char *name, size_t len);
/* The one built-in name that a misspelt one is nearest to, or NULL when none is near or
 * several are equally near. */
const char *cuda_builtin_nearest(const char *name, size_t len);
