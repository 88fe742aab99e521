#pragma once
/* cubin_text: a cubin as it travels in JSON, in base64 (RFC 4648). */
#include "base/json.h"

#define CUBIN_TEXT_MAX (6u << 20) /* bytes of a cubin that is passed on */

/* A new reference; NULL for one that is too large. */
json_t *cubin_to_text(const void *cubin, size_t len);
/* malloc'ed. NULL when `text` is missing, no base64 or too large. */
void *cubin_from_text(const json_t *text, size_t *ret_len);
