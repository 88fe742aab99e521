#pragma once
/* self_reference: is a reference kernel the kernel under test itself? Such a check proves
 * that a program equals itself. Pure. */
#include <stdbool.h>

/* Do two entries hold the same instructions? Comments, blanks, `.loc` and `.file` lines
 * do not count, so that the same source under another file's name is seen; nor do the
 * names of the entries and those made of them (parameters, labels, static variables), so
 * that a copy under another name is. Entries that call functions are the same only in one
 * module, or where all of two modules is. False when either module has no such entry. */
bool ptx_entry_is_same(const char *a, const char *symbol_a, const char *b,
                       const char *symbol_b);
