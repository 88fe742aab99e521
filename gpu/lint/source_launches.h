#pragma once
/* source_launches: the blocks with which the file that is checked launches its kernels.
 *
 * Of kernel<<<grid, block, bytes>>> where the block is one for certain (host_program.h):
 * a literal, a macro, a constant or a variable of the function that is written once, and
 * arithmetic and dim3 of those. */
#include "gpu/source/source_set.h"

/* [{"kernel": "ns::k<float,4>", "block": [x, y, z], "dynamic_shared_bytes", "file",
 * "line", "column"}]; the kernel as written, without blanks; the bytes only where they
 * are constant. */
json_t *source_launches_read(const struct source_file *file);
/* Gives each kernel "source_launches", those that are plainly its own. */
void source_launches_add(json_t *kernels, const struct source_set *sources);
