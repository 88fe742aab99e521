#pragma once
/* kernel_template: what a template kernel may be instantiated with, as an example. */
#include <stddef.h>

/* "float, 128, Mode(0)" of "template <typename T, int N, Mode M, int K = N> …": a type
 * for each type, a number for numbers, a first value for all else; of what has a default,
 * nothing. "float" where it is no template itself. Malloc'ed. */
char *kernel_template_example(const char *signature, size_t len);
