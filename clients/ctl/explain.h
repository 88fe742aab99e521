#pragma once
/* explain: the pages of docs/codes, which are built into the program: what a finding's
 * code means, an example, the fix. */
#include "base/json.h"
#include "clients/ctl/terminal.h"

/* The page of a code, or without one the list of all codes, on standard output. json: as
 * {"code", "text"} and {"codes"}. Exit status: 2 for a code that has no page. */
int explain_run(const struct terminal *t, const char *code, bool json);

/* All codes, as texts. */
json_t *explain_codes(void);
