#pragma once
/* trace_unicode: UTF-16 with a byte order mark (what PowerShell writes) into UTF-8, as
 * the bytes arrive. A byte order mark of UTF-8 is dropped. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct trace_unicode {
    bool known, is_utf16, is_big_endian;
    int half;      /* the first byte of a unit, or -1 */
    uint32_t high; /* a high surrogate that waits for its low one, or 0 */
};

/* True when the bytes (then *ret, *len of them) can be taken as they are; false:
 * unicode_decode them. */
bool unicode_is_utf8(struct trace_unicode *u, const char *bytes, size_t *len,
                     const char **ret);
void unicode_decode(struct trace_unicode *u, struct buf *out, const char *bytes,
                    size_t len);
