#pragma once
/* kernel_facts: what the compiler told of each kernel, as kernel/check's "kernels".
 *
 * Joins the cubin's attributes with the sizes only the ptxas log gives (spills), and
 * finds the kernel's name and line in the source. */
#include "gpu/facts/cubin.h"
#include "gpu/source/source_set.h"

/* Array of {"name", "symbol", "file", "line", "column", "registers", "spill_store_bytes",
 * "spill_load_bytes", "stack_bytes", "static_shared_bytes", "barriers", "param_bytes",
 * "max_threads", "code_bytes", "required_block"?, "cluster"?}: in order of the source.
 * What is not known is left out (the place of a kernel that a macro made, spills without
 * a log). `usage` is compiler_log's. New reference. */
json_t *kernel_facts_new(const struct cubin *cubin, const json_t *usage,
                         const struct source_set *sources);
