#pragma once
/* host_conditions: which lines between #if and #endif the compiler sees. */
#include "gpu/host/host_program.h"

/* For each token whether the compiler sees it, as far as the conditions around it tell:
 * #ifdef and defined() of names that the text itself defines, #if 0. All other conditions
 * count as false, and all conditions do if p->certain is set. Malloc'ed. */
bool *host_conditions_read(const struct host_program *p);
