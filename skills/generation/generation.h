#pragma once
/* generation: the operation skill/generate. docs/architecture/generation.md. */
#include "protocol/operation.h"

extern const struct operation generate_operations[];
extern const size_t generate_operation_count;
