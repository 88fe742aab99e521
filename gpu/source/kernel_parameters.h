#pragma once
/* kernel_parameters: what a kernel calls its parameters. */
#include "base/json.h"

/* The names in a parameter list as it is written, from behind the kernel's name on: the
 * last word of each, "" of what has none. Macros are not known. NULL: the list does not
 * end. New reference. */
json_t *kernel_parameter_names(const char *text, size_t len);
