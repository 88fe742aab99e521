#pragma once
/* check_merge: one result of the checks of a Python file's units. */
#include "base/json.h"

/* Adds the next unit's completed result to what came before, NULL at first; takes both. A
 * unit without a kernel is nothing to speak of where another has one. What is wrong in a
 * string that several units hold is told once. */
json_t *check_results_merge(json_t *before, json_t *next);
