#pragma once
/* host_conditions: which of the lines between #if and #endif the compiler sees. */
#include "gpu/host/host_program.h"

/* For each token whether it does, as far as the conditions around it tell: #ifdef and
 * defined() of what the text defines itself, #if 0. What else they say counts as false,
 * and so does each where certainty is asked for.
 * Malloc'ed. */
bool *host_conditions_read(const struct host_program *p);
