#pragma once
/* source_launches: the blocks with which the checked file launches its kernels. Reads
 * kernel<<<grid, block, bytes>>> if the block is certain (host_program.h): a literal, a
 * macro, a constant or a variable of the function that is written once, and arithmetic
 * and dim3 of those. */
#include "gpu/source/source_set.h"

/* [{"kernel": "ns::k<float,4>", "block": [x, y, z], "grid", "dynamic_shared_bytes",
 * "file", "line", "column"}]; the kernel as written, without blanks; grid and bytes only
 * if they are constant. */
json_t *source_launches_read(const struct source_file *file);
/* Adds "source_launches" to each kernel, with those that are certainly its own. */
void source_launches_add(json_t *kernels, const struct source_set *sources);
