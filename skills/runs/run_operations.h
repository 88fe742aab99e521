#pragma once
/* run_operations: run/list and run/show.
 *
 * Runs are looked for in run_default_dir(), or in a folder of the workspace that the
 * caller names. Files are written (`out`) beneath the workspace's folders only, and only
 * with the ending of their format. */
#include "protocol/operation.h"

extern const struct operation run_operations[];
extern const size_t run_operation_count;
