#pragma once
/* ptx_draft: drafts a check spec from a kernel's PTX. PTX gives the size of each
 * parameter and, through the instructions that use them, which parameters are pointers,
 * their element type if it is a float, and which are written. There is no host code:
 * grid, shapes and other types are null (spec_draft.h). */
#include "base/json.h"
#include "gpu/ptx/read/module.h"

/* kernel: its name, if the PTX has several; or NULL. *unknown: new. */
json_t *ptx_draft(const struct ptx_module *m, const struct ptx_function *entry,
                  const char *kernel, json_t **unknown);
