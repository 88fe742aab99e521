#pragma once
/* cuda_block: CUDA code in a skill, and whether it is complete or a fragment. */
#include "skills/format/markdown.h"

#include <stdbool.h>

/* By the fence's language, or C++ with CUDA's keywords. */
bool cuda_block_is(const struct markdown_code *code);
/* Why it cannot be compiled by itself ("no kernel or device function", …), or NULL if it
 * is complete. */
const char *cuda_block_fragment(const char *code);
/* Whether it declares or defines a kernel of that name. */
bool cuda_block_defines(const char *code, const char *kernel);
