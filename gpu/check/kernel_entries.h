#pragma once
/* kernel_entries: finds the kernels of a compiled source by the names in a check spec. */
#include "gpu/spec/kernel_spec.h"

/* The only kernel of `kernels` (from kernel/check) with this name: "ns::k<float>",
 * "k<float>" or its symbol; wanted NULL: any. Arguments may be written as in the source:
 * half, uint32_t, 128 for 128ul, an alias or enumerator if that leaves one kernel.
 * *ret_count: the number of matches. */
const json_t *kernel_entry_find(const json_t *kernels, const char *wanted,
                                size_t *ret_count);
/* {"name as in the spec, or \"\"": {"symbol", "name"}} for all launches, a new reference;
 * NULL with err, and *ret_code "unknown_kernel" or "ambiguous_kernel". */
json_t *kernel_entries(const json_t *kernels, const struct spec_launch *launches,
                       size_t count, const char **ret_code, struct err *err);
