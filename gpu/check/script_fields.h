#pragma once
/* script_fields: a Python file's strings that only a run of it fills.
 *
 * Such a string (gpu/source/python_fields.h) often does not compile as it stands, which
 * is no mistake: then nothing is called wrong, and a finding says what the field is and
 * what the compiler said. */
#include "gpu/check/check_input.h"

/* The answer without its errors, a new reference, and the finding in *ret_note (what was
 * there is released); NULL, and nothing done, when it is no such case. */
json_t *script_fields_settle(const struct check_input *input, const json_t *answer,
                             json_t **ret_note);
