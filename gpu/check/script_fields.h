#pragma once
/* script_fields: a Python file's strings with placeholders that the script fills. Such a
 * string (gpu/source/python_fields.h) often does not compile, which is not an error: then
 * no error is reported, and a finding explains the placeholder and quotes the
 * compiler. */
#include "gpu/check/check_input.h"

/* The answer without its errors, a new reference, and the finding in *ret_note (its old
 * value is released); NULL, changing nothing, if the file has no such placeholder. */
json_t *script_fields_settle(const struct check_input *input, const json_t *answer,
                             json_t **ret_note);
