#pragma once
/* run_draft: drafts a check spec from a launch that kernel/run recorded
 * (gpu/runtime/run_report.h, "record").
 *
 * Grid, block, values and extents are those of the launch. An extent that is an integer
 * argument, or a product of two, uses the argument's name as a size; no other sizes are
 * tried, because it is unknown how the rest depends on them ("odd_sizes": false). Floats
 * are random in the recorded range, also near a constant that is only read; integers,
 * sorted floats and structures, on which addresses may depend, are files with the
 * recorded contents. */
#include "gpu/draft/recorded_contents.h"
#include "gpu/host/host_program.h"

/* kernel: of the program; stem: the beginning of files' names. NULL: the record is
 * invalid. *unknown: as in spec_draft. */
json_t *run_draft(struct host_program *p, const struct declaration *kernel, bool named,
                  const json_t *record, const char *stem, struct recorded_files *files,
                  json_t **unknown);
