#pragma once
/* program_missing: where in the workspace the headers and functions lie that a program
 * lacks. */
#include "base/json.h"

/* Whether a program did not compile for want of a header or a function. */
bool program_lacks(const json_t *result);
/* Appends to those diagnostics which folder has the header, or which source in the folder
 * of the program's own defines the function. Looks through the roots (absolute,
 * NULL-terminated): on a thread. params: the request. */
void program_find_missing(json_t *result, const json_t *params, const char *const *roots);
