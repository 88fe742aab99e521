/* Byte offsets and LSP's positions, in each of its encodings. */
#include "protocol/lsp/lsp_internal.h"

#include "base/text.h"

const char *lsp_encoding_name(enum lsp_encoding encoding) {
    static const char *const names[] = {"utf-16", "utf-8", "utf-32"};
    return names[encoding];
}

/* The start of the code point that holds the byte. */
static size_t align(const char *s, size_t len, size_t at) {
    if (at >= len) {
        return len;
    }
    size_t back = 0;
    while (back < 3 && at > back && ((unsigned char)s[at - back] & 0xC0) == 0x80) {
        back++;
    }
    return at - back;
}

static size_t points_offset(const char *s, size_t len, size_t points) {
    size_t at = 0;
    uint32_t cp;
    for (; points && at < len; points--) {
        at += text_decode(s + at, len - at, &cp);
    }
    return at;
}

static size_t units_offset(enum lsp_encoding encoding, const char *s, size_t len,
                           size_t count) {
    return encoding == LSP_UTF8    ? align(s, len, count)
           : encoding == LSP_UTF32 ? points_offset(s, len, count)
                                   : text_utf16_offset(s, len, count);
}

static size_t units(enum lsp_encoding encoding, const char *s, size_t len) {
    return encoding == LSP_UTF8    ? len
           : encoding == LSP_UTF32 ? text_code_points(s, len)
                                   : text_utf16_units(s, len);
}

/* A line number or character; negative ones count as zero. */
static bool read_count(const json_t *position, const char *key, size_t *ret) {
    const json_t *value = json_object_get(position, key);
    if (!json_is_integer(value)) {
        return false;
    }
    json_int_t n = json_integer_value(value);
    *ret = n < 0 ? 0 : (size_t)n;
    return true;
}

bool lsp_read_position(enum lsp_encoding encoding, const struct lsp_view *view,
                       const json_t *position, size_t *ret) {
    size_t line, character;
    if (!read_count(position, "line", &line) ||
        !read_count(position, "character", &character)) {
        return false;
    }
    if (line >= view->lines->count) {
        *ret = view->len;
        return true;
    }
    size_t start = view->lines->starts[line];
    size_t len = lines_end(view->lines, view->text, line) - start;
    *ret = start + units_offset(encoding, view->text + start, len, character);
    return true;
}

bool lsp_read_range(enum lsp_encoding encoding, const struct lsp_view *view,
                    const json_t *range, size_t *ret_start, size_t *ret_end) {
    size_t start, end;
    if (!lsp_read_position(encoding, view, json_object_get(range, "start"), &start) ||
        !lsp_read_position(encoding, view, json_object_get(range, "end"), &end)) {
        return false;
    }
    *ret_start = start < end ? start : end;
    *ret_end = start < end ? end : start;
    return true;
}

json_t *lsp_position(enum lsp_encoding encoding, const struct lsp_view *view,
                     size_t offset) {
    if (offset > view->len) {
        offset = view->len;
    }
    size_t line = lines_at(view->lines, offset);
    size_t start = view->lines->starts[line];
    size_t len = lines_end(view->lines, view->text, line) - start;
    size_t inside = align(view->text + start, len, offset - start);
    size_t character = units(encoding, view->text + start, inside);
    return json_pack("{s:I, s:I}", "line", (json_int_t)line, "character",
                     (json_int_t)character);
}

json_t *lsp_range(enum lsp_encoding encoding, const struct lsp_view *view, size_t start,
                  size_t end) {
    return json_pack("{s:o, s:o}", "start", lsp_position(encoding, view, start), "end",
                     lsp_position(encoding, view, end < start ? start : end));
}
