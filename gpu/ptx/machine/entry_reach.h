#pragma once
/* entry_reach: the functions and variables that an entry uses, directly or through
 * calls. */
#include "gpu/ptx/read/module.h"

struct reach {
    const struct ptx_module *module;
    bool *functions, *variables; /* by index */
    uint32_t *queue;             /* of functions, in the order in which they were found */
    uint32_t queued, done;
};

void reach_entry(struct reach *ret, const struct ptx_module *module, uint32_t entry);
void reach_free(struct reach *r);
/* Bytes of static shared memory of each block of the entry. */
uint64_t entry_static_shared(const struct ptx_module *module, uint32_t entry);
