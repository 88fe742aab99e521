#pragma once
/* self_reference: is a reference kernel the kernel under test itself? Such a check proves
 * that a program equals itself. Pure. */
#include <stdbool.h>

/* Do the entry `symbol` of one module and the entry of the same symbol of the other hold
 * the same instructions? Comments, blanks, `.loc` and `.file` lines do not count, so that
 * the same source under another file's name is seen. An entry that calls functions is
 * the same only where all of the modules is. False when either has no such entry. */
bool ptx_entry_is_same(const char *a, const char *b, const char *symbol);
