#pragma once
/* context: the primary contexts, one per device. They share one memory and one queue. */
#include <stdbool.h>

bool context_is_current(void);
/* After this code every call fails. */
bool context_is_sticky(int code);
/* All that contexts hold is given back; nothing may run any more. */
void context_finish(void);
