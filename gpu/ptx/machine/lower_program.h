#pragma once
/* lower_program: turns an entry and everything that it reaches into a program. Add new
 * families of instructions to the list in lower_program.c. */
#include "base/json.h"
#include "gpu/ptx/state/program.h"

struct allocation;

/* unsupported: as machine_new's *ret_unsupported. module and variables are borrowed for
 * the program's life. -ENOTSUP if it contains something that cannot run. */
int program_new(struct program **ret, const struct ptx_module *module, uint32_t entry,
                struct allocation **variables, json_t *unsupported, struct err *err);
void program_free(struct program *p);
