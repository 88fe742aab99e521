#pragma once
/* spec_lens: runs a kernel's check from an editor, for NAME.cu and NAME.check.json. A
 * lens starts kernel/validate; its answer becomes findings at their lines and a short
 * text for the lens. If there is no NAME.check.json, the kernel's lens drafts one. */
#include "protocol/document.h"

/* The kernel's source for a spec at spec_path: its "path", otherwise NAME.cu beside it.
 * malloc'ed; NULL if it is not such a path. */
char *spec_lens_source_path(const char *spec_path, const json_t *spec);

/* document_kind's functions for the spec: */
json_t *spec_lens_of_spec(const struct document *d, const json_t *result);
json_t *spec_lens_params(const struct document *d, const char *operation,
                         const json_t *params);
void spec_lens_outcome(const struct document *d, const char *operation,
                       const json_t *answer, json_t **ret_findings, json_t **ret_outcome);
