#pragma once
/* self_reference: whether a reference kernel is the kernel under test itself. Such a
 * check would only prove that a program equals itself. Pure. */
#include <stdbool.h>

/* Whether two entries have the same instructions. Ignores comments, blanks, `.loc` and
 * `.file` lines, so that the same source under another file name is recognised, and the
 * names of the entries and those derived from them (parameters, labels, static
 * variables), so that a renamed copy is. Entries that call functions are the same only
 * within one module, or if two modules are entirely the same. False if either module has
 * no such entry. */
bool ptx_entry_is_same(const char *a, const char *symbol_a, const char *b,
                       const char *symbol_b);
