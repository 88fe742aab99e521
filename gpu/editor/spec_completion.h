#pragma once
/* spec_completion: completions and explanations for a position in a check spec. */
#include "protocol/document.h"

/* document_kind's functions. */
json_t *spec_completions(const struct document *d, size_t offset);
char *check_hover(const struct document *d, const json_t *result, size_t offset,
                  size_t *start, size_t *end);
