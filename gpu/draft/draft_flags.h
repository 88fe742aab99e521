#pragma once
/* draft_flags: what a check spec keeps of the compiler's options. */
#include "base/json.h"

/* What was asked of the program's compiler and matters to its kernels; before "expect",
 * which stands last. */
void draft_name_flags(json_t *spec, const json_t *params);
