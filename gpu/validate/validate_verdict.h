#pragma once
/* validate_verdict: derives a validation's verdict from its outputs, findings and
 * warnings, and writes its texts. The lens, the agents' report, the terminal, pull
 * requests and VS Code show them. */
#include "base/json.h"

/* Call it when the rest of kernel/validate's result (including "check") is complete: sets
 * "warnings", and "summary": "pass (2 cases, max error 3e-07)", "fail: 120 wrong
 * elements", "unsupported: foo.s32" … strict: warnings turn a pass into a fail, and
 * "strict" says so. */
void validate_verdict_set(json_t *result, bool strict);
/* Of a sample of an output: "[1, 3] is NaN (never written), should be 2.5". (words.h) */
#define ELEMENT_WORDS                                                                    \
    "[\\[{index/, /:{.}}\\] ]is {actual|0}[ ({state~32})], should be {expected|0}"
/* Of an output. */
#define MISMATCH_WORDS "{mismatches} of [{judged}|{elements}|0] elements are wrong"
/* The result's first finding of severity "error", or NULL. */
const json_t *validate_first_error(const json_t *result);
