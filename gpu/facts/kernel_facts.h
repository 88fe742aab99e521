#pragma once
/* kernel_facts: what the compiler told of each kernel, as kernel/check's "kernels".
 *
 * Joins the cubin's attributes with the sizes only the ptxas log gives (spills), finds
 * the kernel's name and line in the source, and judges launches. */
#include "gpu/facts/cubin.h"
#include "gpu/source/source_set.h"

/* Array of {"name", "symbol", "file", "line", "column", "registers", "spill_store_bytes",
 * "spill_load_bytes", "stack_bytes", "static_shared_bytes", "barriers", "param_bytes",
 * "max_threads", "code_bytes", "required_block"?, "cluster"?}: in order of the source.
 * What is not known is left out (the place of a kernel that a macro made, spills without
 * a log). `usage` is compiler_log's. New reference. */
json_t *kernel_facts_new(const struct cubin *cubin, const json_t *usage,
                         const struct source_set *sources);

/* Adds "occupancy" to each kernel: for the launch given ({"block": [x,y,z],
 * "dynamic_shared_bytes", "cluster"}; NULL = the usual block sizes), and appends the
 * launch's and resource warnings to findings, with the codes block_exceeds_launch_bounds,
 * block_differs_from_required, shared_memory_exceeds_block,
 * dynamic_shared_needs_attribute, register_spills,
 * cluster_too_large and not_launchable. A launch that would fail is an error when there
 * is one kernel, a warning when it may be meant for another. Each finding names its
 * "kernel". */
void kernel_facts_judge(json_t *kernels, const char *arch, const json_t *launch,
                        json_t *findings);
