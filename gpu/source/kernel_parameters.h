#pragma once
/* kernel_parameters: the names of a kernel's parameters. */
#include "base/json.h"

/* The names in a parameter list as written, from after the kernel's name: the last word
 * of each, "" for one without a name. Macros are not expanded. NULL: the list does not
 * end. New reference. */
json_t *kernel_parameter_names(const char *text, size_t len);
