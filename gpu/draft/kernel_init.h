#pragma once
/* kernel_init: the operation kernel/init, which drafts a kernel's check spec
 * (spec_draft.h) and writes it beside the kernel. It compiles nothing. */
#include "protocol/operation.h"

extern const struct operation init_operations[];
extern const size_t init_operation_count;
