#pragma once
/* spec_document: NAME.check.json in an editor.
 *
 * Diagnostics are those that kernel/validate would give before it compiles anything, at
 * the member that each is about; completion and hover come from the check spec's schema.
 */
#include "protocol/document.h"

/* What is wrong with the text: findings whose file is `name` (borrowed array). path of
 * the document (may be NULL) leads to the kernel's source, where kernels and the number
 * of their parameters are looked up. */
void spec_document_judge(const char *text, size_t len, const char *path, const char *name,
                         json_t *findings);

extern const struct document_kind spec_document_kind;
