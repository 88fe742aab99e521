#pragma once
/* validate_title: a validation in a few words, for a lens and a report's last line. */
#include "base/json.h"

/* "pass (2 cases, max error 3e-07)", "fail: 120 wrong elements" … of kernel/validate's
 * result; malloc'ed. */
char *validate_title(const json_t *result);
/* The result's first finding of severity "error", or NULL. */
const json_t *validate_first_error(const json_t *result);
