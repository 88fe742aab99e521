#pragma once
/* lower_program: an entry and what it reaches become a program. A family of instructions
 * that is added adds itself to the list in lower_program.c. */
#include "base/json.h"
#include "gpu/ptx/state/program.h"

struct allocation;

/* unsupported: as machine_new's *ret_unsupported. module and variables are borrowed for
 * the program's life. -ENOTSUP when there is something that cannot run. */
int program_new(struct program **ret, const struct ptx_module *module, uint32_t entry,
                struct allocation **variables, json_t *unsupported, struct err *err);
void program_free(struct program *p);
