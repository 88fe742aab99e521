#pragma once
/* run_operations: run/list and run/show.
 *
 * Runs are searched in run_default_dir(), or in a folder of the workspace that the caller
 * names. Files are written (`out`) only beneath the workspace's folders, and only with
 * the extension of their format. */
#include "protocol/operation.h"

extern const struct operation run_operations[];
extern const size_t run_operation_count;
