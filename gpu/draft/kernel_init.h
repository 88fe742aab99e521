#pragma once
/* kernel_init: the operation kernel/init, which begins a kernel's check spec
 * (spec_draft.h) and writes it beside the kernel. Nothing is compiled. */
#include "protocol/operation.h"

extern const struct operation init_operations[];
extern const size_t init_operation_count;
