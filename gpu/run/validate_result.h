#pragma once
/* validate_result: what everyone adds to kernel/validate's result in the same way. */
#include "base/json.h"

/* {"stage", "code", "message", "hint"?} into result with verdict. Used by everyone
 * who ends a validation early. */
void validate_set_error(json_t *result, const char *verdict, const char *stage,
                        const char *code, const char *message, const char *hint);
/* A result of a validation in which nothing ran: new reference. */
json_t *validate_not_run(const char *verdict, const char *stage, const char *code,
                         const char *message, const char *hint);
