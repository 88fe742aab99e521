#pragma once
/* ptx_unit: PTX that somebody else made, as NVIDIA's run-time compiler takes it.
 *
 * The library compiles CUDA only, and passes inline assembly on to ptxas as it is. So the
 * PTX becomes the assembly of a kernel of ours whose body it closes at once, and a second
 * kernel's head ends it. The PTX's own version, target and address size make way for the
 * compiler's; everything else reaches ptxas byte for byte, line for line. */
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct source_file;

/* The CUDA source; malloc'ed. */
char *ptx_unit_new(const struct source_file *ptx);
/* Lines in front of the PTX's first in what the compiler made of it; 0: it is not there.
 */
int ptx_unit_lines_before(const char *compiled);
/* Takes our two kernels out of kernel_facts_new's list. */
void ptx_unit_drop_own(json_t *kernels);

/* The PTX for who runs it: its `.file 0` is the PTX itself, so that an instruction
 * without a `.loc` has a place, and files of installed Python packages are <headers>.
 * malloc'ed. */
char *ptx_unit_text(const struct source_file *ptx);

/* An info at `.version`, for PTX newer than that of the compiler (`compiled` as above);
 * NULL where it is not. */
json_t *ptx_unit_version_note(const struct source_file *ptx, const char *compiled);
