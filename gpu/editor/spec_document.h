#pragma once
/* spec_document: NAME.check.json in an editor. Diagnostics are the findings that
 * kernel/validate would report before compiling, each at its member; completion and hover
 * use the check spec's schema. */
#include "protocol/document.h"

/* Appends the findings about the text, with the file `name`, to a borrowed array. path of
 * the document (may be NULL) leads to the kernel's source, which gives the kernels and
 * their numbers of parameters. */
void spec_document_judge(const char *text, size_t len, const char *path, const char *name,
                         json_t *findings);

extern const struct document_kind spec_document_kind;
