#pragma once
/* explain: the pages of docs/codes, which are built into the program: the meaning of a
 * finding's code, an example, the fix. */
#include "clients/ctl/terminal.h"

/* Writes the page of a code, or all codes with a sentence each if code is NULL, to standard
 * output. json: as {"code", "text"} and {"codes"}. Exit status: 2 for a code without a
 * page. */
int explain_run(const struct terminal *t, const char *code, bool json);

/* All codes, as strings. */
json_t *explain_codes(void);
