#pragma once
/* validate_result: shared parts of kernel/validate's result. */
#include "base/json.h"

/* Sets the verdict and "error": {"stage", "code", "message", "hint"?} of a validation
 * that ends early. hint may be NULL. */
void validate_set_error(json_t *result, const char *verdict, const char *stage,
                        const char *code, const char *message, const char *hint);
/* The result of a validation in which nothing ran; a new reference. */
json_t *validate_not_run(const char *verdict, const char *stage, const char *code,
                         const char *message, const char *hint);
