#pragma once
/* spec_lens: running a kernel's check from an editor, for the two documents that show
 * it, NAME.cu and NAME.check.json.
 *
 * A lens starts kernel/validate; its answer becomes findings at their lines and a few
 * words for the lens. Without NAME.check.json the lens of a kernel drafts one. */
#include "protocol/document.h"

/* The kernel's source that a spec at spec_path is about: its "path", else NAME.cu beside
 * it. malloc'ed; NULL when it is no such path. */
char *spec_lens_source_path(const char *spec_path, const json_t *spec);

/* document_kind's functions of the spec: */
json_t *spec_lens_of_spec(const struct document *d, const json_t *result);
json_t *spec_lens_params(const struct document *d, const char *operation,
                         const json_t *params);
void spec_lens_outcome(const struct document *d, const char *operation,
                       const json_t *answer, json_t **ret_findings, json_t **ret_outcome);
