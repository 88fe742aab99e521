#pragma once
/* kernel_template: example arguments for instantiating a template kernel. */
#include <stddef.h>

/* "float, 128, Mode(0)" for "template <typename T, int N, Mode M, int K = N> …": a type
 * for each type, a number for numbers, a first value for others; nothing for parameters
 * with a default. "float" if it is not itself a template. Malloc'ed. */
char *kernel_template_example(const char *signature, size_t len);
