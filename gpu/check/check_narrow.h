#pragma once
/* check_narrow: reduces a check to the kernels that will be run. */
#include "base/json.h"

/* Drops findings about other kernels (their "kernel") and about kernels that were not
 * compiled. names: as in a spec, NULL-terminated; drops nothing if the list is NULL or
 * one name does not match exactly one kernel. */
void check_narrow(json_t *result, const char *const *names);
