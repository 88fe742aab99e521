#pragma once
/* check_merge: merges the check results of a Python file's units. */
#include "base/json.h"

/* Merges the next unit's completed result into the earlier ones (NULL at first); takes
 * both. A unit without a kernel is not reported if another has one. A finding in a string
 * that several units share is reported once. */
json_t *check_results_merge(json_t *before, json_t *next);
