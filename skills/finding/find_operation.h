#pragma once
/* find_operation: the operations skill/find and skill/list. docs/architecture/skills.md.
 */
#include "protocol/operation.h"

extern const struct operation find_operations[];
extern const size_t find_operation_count;
