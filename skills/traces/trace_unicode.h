#pragma once
/* trace_unicode: converts UTF-16 with a byte order mark (as PowerShell writes it) into
 * UTF-8 while it arrives. Drops a byte order mark of UTF-8. */
#include "base/mem.h"

struct trace_unicode {
    bool known, is_utf16, is_big_endian;
    int half;      /* the first byte of a unit, or -1 */
    uint32_t high; /* a high surrogate whose low one has not arrived, or 0 */
};

/* True if the bytes (then *ret, *len of them) can be used directly; false: call
 * unicode_decode. */
bool unicode_is_utf8(struct trace_unicode *u, const char *bytes, size_t *len,
                     const char **ret);
void unicode_decode(struct trace_unicode *u, struct buf *out, const char *bytes,
                    size_t len);
