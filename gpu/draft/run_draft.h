#pragma once
/* run_draft: a check spec from a launch that took place: what kernel/run recorded of it
 * (gpu/runtime/run_report.h, "record").
 *
 * Grid, block, values and extents are the launch's own. An extent that is an integer
 * argument, or a product of two, has its name as a size; no other sizes are tried, since
 * nothing says how the rest follows from them ("odd_sizes": false). Floats are random in
 * the range that they had; integers, sorted floats and structures, on which addresses may
 * depend, are files with what they were. */
#include "gpu/draft/recorded_contents.h"
#include "gpu/host/host_program.h"

/* kernel: of the program; stem: what files' names begin with. NULL: the record makes no
 * sense. *unknown: as spec_draft has it. */
json_t *run_draft(struct host_program *p, const struct declaration *kernel, bool named,
                  const json_t *record, const char *stem, struct recorded_files *files,
                  json_t **unknown);
