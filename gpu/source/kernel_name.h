#pragma once
/* kernel_name: "ns::k<float, 4>(int)", as the compiler, a source and a person spell it.
 */
#include <stdbool.h>
#include <stddef.h>

/* "k": without scopes, arguments and parameters, which follow it in the text. */
const char *kernel_plain_name(const char *name, size_t *ret_len);
bool kernel_same_plain_name(const char *a, const char *b);
/* Whether "ns::k<…>" may be meant by tail: "k", "ns::k" or the like, arguments and
 * parameters aside. */
bool kernel_name_ends_with(const char *name, const char *tail);
/* Equal but for blanks, and the & of functions that are arguments: "k<f>", "k<&f>". */
bool kernel_spelt_alike(const char *a, const char *b);
