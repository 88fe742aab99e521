#pragma once
/* check_narrow: a check for those who are going to run one of a file's kernels. */
#include "base/json.h"

/* Drops the findings that are about other kernels (their "kernel"), and about kernels
 * that were not compiled. names: as a spec has them, NULL-terminated; one that is not
 * exactly one kernel, or NULL instead of the list: nothing is dropped. */
void check_narrow(json_t *result, const char *const *names);
