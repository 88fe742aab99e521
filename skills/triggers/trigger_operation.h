#pragma once
/* trigger_operation: the table's entry of skill/trigger. */
#include "protocol/operation.h"

extern const struct operation trigger_operations[];
extern const size_t trigger_operation_count;
