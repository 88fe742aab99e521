#pragma once
/* host_conditions: which of the lines between #if and #endif the compiler sees. */
#include "gpu/draft/host_program.h"

/* Whether it sees token i, as far as the conditions around it tell: #ifdef and defined()
 * of what the text defines itself, #if 0. What else they say counts as false. */
bool host_is_active(const struct host_program *p, size_t i);
