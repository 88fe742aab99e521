#include "skills/traces/trace_unicode.h"

#include "base/buf.h"
#include "base/text.h"

bool unicode_is_utf8(struct trace_unicode *u, const char *bytes, size_t *len,
                     const char **ret) {
    if (!u->known) { /* files are read in pieces far longer than a mark */
        const unsigned char *s = (const unsigned char *)bytes;
        u->known = true;
        u->half = -1;
        u->is_big_endian = *len >= 2 && s[0] == 0xfe && s[1] == 0xff;
        u->is_utf16 = u->is_big_endian || (*len >= 2 && s[0] == 0xff && s[1] == 0xfe);
        size_t mark = u->is_utf16                                      ? 2
                      : *len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3
                                                                       : 0;
        bytes += mark;
        *len -= mark;
    }
    *ret = bytes;
    return !u->is_utf16;
}

static void add_code_point(struct buf *out, uint32_t cp) {
    char text[4];
    buf_add(out, text, text_encode(cp, text));
}

static void add_unit(struct trace_unicode *u, struct buf *out, uint32_t unit) {
    bool low = unit >= 0xdc00 && unit < 0xe000;
    if (u->high && low) {
        add_code_point(out, 0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00));
        u->high = 0;
        return;
    }
    if (u->high) {
        add_code_point(out, 0xfffd);
        u->high = 0;
    }
    if (unit >= 0xd800 && unit < 0xdc00) {
        u->high = unit;
    } else {
        add_code_point(out, low ? 0xfffd : unit);
    }
}

void unicode_decode(struct trace_unicode *u, struct buf *out, const char *bytes,
                    size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned byte = (unsigned char)bytes[i];
        if (u->half < 0) {
            u->half = (int)byte;
            continue;
        }
        unsigned first = (unsigned)u->half;
        u->half = -1;
        add_unit(u, out, u->is_big_endian ? first << 8 | byte : byte << 8 | first);
    }
}
