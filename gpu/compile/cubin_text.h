#pragma once
/* cubin_text: a cubin as base64 (RFC 4648) in JSON. */
#include "base/json.h"

#define CUBIN_TEXT_MAX (6u << 20) /* the maximum size of a cubin in an answer */

/* A new reference; NULL if it is too large. */
json_t *cubin_to_text(const void *cubin, size_t len);
/* malloc'ed. NULL if `text` is missing, not base64 or too large. */
void *cubin_from_text(const json_t *text, size_t *ret_len);
