#pragma once
/* ptx_draft: a check spec to begin with, from a kernel's PTX.
 *
 * PTX says how many bytes a parameter has and, by the instructions that use them, which
 * parameters are pointers, what they point to where that is a float, and what is written.
 * It has no host code: grid, shapes and other types are null (spec_draft.h). */
#include "base/json.h"
#include "gpu/ptx/read/module.h"

/* kernel: its name, where the PTX has several; or NULL. *unknown: new. */
json_t *ptx_draft(const struct ptx_module *m, const struct ptx_function *entry,
                  const char *kernel, json_t **unknown);
