#pragma once
/* kernel_entries: the kernels of a compiled source by the names that a check spec gives.
 */
#include "gpu/spec/kernel_spec.h"

/* The only kernel of `kernels` (kernel/check's) called so: as "ns::k<float>",
 * "k<float>" or by its symbol; wanted NULL: any. Arguments may be spelled as the source
 * has them: half, uint32_t, 128 for 128ul, an alias or enumerator where that leaves one
 * kernel. *ret_count: how many there are. */
const json_t *kernel_entry_find(const json_t *kernels, const char *wanted,
                                size_t *ret_count);
/* {"name as the spec has it, or \"\"": {"symbol", "name"}} of all launches, a new
 * reference; NULL with err, and *ret_code "unknown_kernel" or "ambiguous_kernel". */
json_t *kernel_entries(const json_t *kernels, const struct spec_launch *launches,
                       size_t count, const char **ret_code, struct err *err);
