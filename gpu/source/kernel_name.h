#pragma once
/* kernel_name: compares kernel names, "ns::k<float, 4>(int)", as the compiler, a source
 * and a person write them. */
#include "base/mem.h"

/* "k": without scopes, arguments and parameters. Points into name; the rest follows
 * it. */
const char *kernel_plain_name(const char *name, size_t *ret_len);
bool kernel_same_plain_name(const char *a, const char *b);
/* Whether tail may mean "ns::k<…>": "k", "ns::k" or the like, ignoring arguments and
 * parameters. */
bool kernel_name_ends_with(const char *name, const char *tail);
/* Equal apart from blanks, and the & of functions as arguments: "k<f>", "k<&f>". */
bool kernel_spelt_alike(const char *a, const char *b);
