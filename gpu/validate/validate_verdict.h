#pragma once
/* validate_verdict: what a validation's outputs, findings and warnings come to, and its
 * words. Lens, agents' report, terminal, pull request and VS Code show these. */
#include "base/json.h"

#include <stdbool.h>

/* With all else in kernel/validate's result ("check" too), sets "warnings", and
 * "summary": "pass (2 cases, max error 3e-07)", "fail: 120 wrong elements", "unsupported:
 * foo.s32" … strict: warnings turn a pass into a fail, and "strict" says so. */
void validate_verdict_set(json_t *result, bool strict);
/* The result's first finding of severity "error", or NULL. */
const json_t *validate_first_error(const json_t *result);
