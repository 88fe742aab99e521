#pragma once
/* unused: "declared but never referenced", said of what host code uses, which the
 * compiler did not see. */
#include "gpu/source/source_set.h"

/* Drops the warning of functions, and of variables at file scope that host code names in
 * the same file or in the one that is checked. */
void unused_drop(json_t *findings, const struct source_set *sources);
