#pragma once
/* fix_conditions: whether a place in a function is one that only some threads may reach. */
#include "gpu/fixes/fix_text.h"

/* Behind an if, else, switch, ?:, && or ||, or in a loop whose header names more than its
 * own variable, numbers and macros. What a function's callers do is not looked at, and
 * threads that returned before need not take part. */
bool fix_is_conditional(const struct fix_text *t, size_t token);
