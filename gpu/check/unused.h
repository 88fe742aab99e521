#pragma once
/* unused: corrects "declared but never referenced" warnings for names used in host code,
 * which the compiler did not see. */
#include "gpu/source/source_set.h"

/* Drops the warning for functions, and for variables at file scope that host code names
 * in the same file or in the checked one. */
void unused_drop(json_t *findings, const struct source_set *sources);
