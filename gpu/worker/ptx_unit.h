#pragma once
/* ptx_unit: passes foreign PTX to NVIDIA's run-time compiler.
 *
 * The library compiles only CUDA, and passes inline assembly on to ptxas unchanged. So
 * the PTX becomes the inline assembly of a kernel of ours: it starts by closing the
 * kernel's body, and ends with the head of a second kernel. The PTX's version, target and
 * address size are replaced by the compiler's; everything else reaches ptxas unchanged,
 * with the same lines. */
#include "base/json.h"

struct source_file;

/* The CUDA source; malloc'ed. */
char *ptx_unit_new(const struct source_file *ptx);
/* The number of lines before the PTX's first in the compiler's output; 0: it is not
 * there. */
int ptx_unit_lines_before(const char *compiled);
/* Removes our two kernels from kernel_facts_new's list. */
void ptx_unit_drop_own(json_t *kernels);

/* The PTX for the backend: its `.file 0` is the PTX itself, so that an instruction
 * without a `.loc` has a place, and files of installed Python packages are <headers>.
 * malloc'ed. */
char *ptx_unit_text(const struct source_file *ptx);

/* An info at `.version`, if the PTX is newer than the compiler's (`compiled` as above);
 * NULL if not. */
json_t *ptx_unit_version_note(const struct source_file *ptx, const char *compiled);
