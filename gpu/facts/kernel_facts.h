#pragma once
/* kernel_facts: the compiler's facts about each kernel, as kernel/check's "kernels".
 * Joins the cubin's attributes with the sizes that only ptxas's log gives (spills), and
 * finds the kernel's name and line in the source. */
#include "gpu/facts/cubin.h"
#include "gpu/source/source_set.h"

/* Array of {"name", "symbol", "file", "line", "column", "registers", "spill_store_bytes",
 * "spill_load_bytes", "stack_bytes", "static_shared_bytes", "barriers", "param_bytes",
 * "max_threads", "code_bytes", "required_block"?, "cluster"?}, in the order of the
 * source. Unknown members are left out (the place of a kernel defined by a macro, spills
 * without a log). `usage` is compiler_log's. New reference. */
json_t *kernel_facts_new(const struct cubin *cubin, const json_t *usage,
                         const struct source_set *sources);
