/* YAML as we write it: texts in the plainest style that every reader reads alike. */
#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "base/yaml.h"

#include <strings.h>

/* --- the possible styles of a text --- */

/* Words that some reader of YAML 1.1 or 1.2 does not parse as text. */
static bool is_typed_word(const char *s) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    return any_of(i, 0, ARRAY_LEN(words), strcasecmp(s, words[i]) == 0);
}

/* Numbers, dates, times and versions all begin with a digit and have no space. */
static bool may_be_number(const char *s) {
    return isdigit((unsigned char)*s) && !strchr(s, ' ');
}

static bool is_plain_start(unsigned char c) {
    return isalnum(c) || c == '_' || c == '/' || c == '(' || c == '$';
}

static bool is_printable_ascii(const char *s, size_t len) {
    return !any_of(i, 0, len, (unsigned char)s[i] < 0x20 || (unsigned char)s[i] == 0x7F);
}

/* U+0085, U+2028 and U+2029 break lines in YAML 1.1; U+FEFF may be dropped; the C1
 * controls and noncharacters are refused. */
static bool is_special(uint32_t cp) {
    return (cp >= 0x7F && cp < 0xA0) || cp == 0x2028 || cp == 0x2029 || cp == 0xFEFF ||
           (cp & 0xFFFE) == 0xFFFE;
}

static bool has_special(const char *s, size_t len) {
    uint32_t cp;
    for (size_t i = 0; i < len; i += text_decode(s + i, len - i, &cp)) {
        text_decode(s + i, len - i, &cp);
        if (is_special(cp)) {
            return true;
        }
    }
    return false;
}

static bool is_plain(const char *s, size_t len) {
    return len > 0 && strlen(s) == len && is_plain_start((unsigned char)*s) &&
           !may_be_number(s) && !is_typed_word(s) && is_printable_ascii(s, len) &&
           !has_special(s, len) && !strstr(s, ": ") && !strstr(s, " #") &&
           s[len - 1] != ':' && s[len - 1] != ' ';
}

/* Literal block text: lines that need no escape, the first not indented, at most one line
 * ending at the end (the indicators for more differ among readers). */
static bool is_block(const char *s, size_t len) {
    const char *newline = memchr(s, '\n', len);
    if (!newline || strlen(s) != len || isspace((unsigned char)*s) ||
        has_special(s, len) || (len > 1 && s[len - 1] == '\n' && s[len - 2] == '\n')) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        bool tab_first = s[i] == '\t' && i > 0 && s[i - 1] == '\n';
        if (((unsigned char)s[i] < 0x20 && s[i] != '\n' && s[i] != '\t') || tab_first) {
            return false;
        }
    }
    return true;
}

/* --- writing --- */

static void write_quoted_char(struct buf *out, uint32_t cp, const char *s, size_t len) {
    if (cp == '"' || cp == '\\') {
        buf_addf(out, "\\%c", (int)cp);
    } else if (cp == '\n' || cp == '\t' || cp == '\r') {
        buf_adds(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
    } else if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) {
        buf_addf(out, "\\x%02X", (unsigned)cp);
    } else if (is_special(cp)) {
        buf_addf(out, cp > 0xFFFF ? "\\U%08X" : "\\u%04X", (unsigned)cp);
    } else {
        buf_add(out, s, len);
    }
}

static void write_quoted(struct buf *out, const char *s, size_t len) {
    buf_addc(out, '"');
    size_t i = 0;
    while (i < len) {
        uint32_t cp;
        size_t step = text_decode(s + i, len - i, &cp);
        write_quoted_char(out, cp, s + i, step);
        i += step;
    }
    buf_addc(out, '"');
}

static void write_indent(struct buf *out, unsigned indent, const char *newline) {
    buf_adds(out, newline);
    for (unsigned i = 0; i < indent; i++) {
        buf_addc(out, ' ');
    }
}

static void write_block(struct buf *out, const char *s, size_t len, unsigned indent,
                        const char *newline) {
    bool ended = s[len - 1] == '\n';
    buf_adds(out, ended ? "|" : "|-");
    const char *end = s + len - ended;
    while (s <= end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        stop = stop ? stop : end;
        if (stop > s) {
            write_indent(out, indent, newline);
            buf_add(out, s, (size_t)(stop - s));
        } else {
            buf_adds(out, newline);
        }
        s = stop + 1;
    }
}

static void write_text(struct buf *out, const json_t *value, unsigned indent,
                       const char *newline) {
    const char *s = json_string_value(value);
    size_t len = json_string_length(value);
    if (is_plain(s, len)) {
        buf_add(out, s, len);
    } else if (is_block(s, len)) {
        write_block(out, s, len, indent, newline);
    } else {
        write_quoted(out, s, len);
    }
}

static void write_scalar(struct buf *out, const json_t *value, unsigned indent,
                         const char *newline) {
    buf_addc(out, ' ');
    if (json_is_string(value)) {
        write_text(out, value, indent, newline);
    } else if (json_is_null(value)) {
        buf_adds(out, "null");
    } else {
        json_write(out, value);
    }
}

void yaml_write_key(struct buf *out, const char *key) {
    if (is_plain(key, strlen(key))) {
        buf_adds(out, key);
    } else {
        write_quoted(out, key, strlen(key));
    }
}

void yaml_write_value(struct buf *out, const json_t *value, unsigned indent,
                      const char *newline) {
    if (json_is_object(value) && json_object_size(value)) {
        json_each_member(value, key, item) {
            write_indent(out, indent, newline);
            yaml_write_key(out, key);
            buf_addc(out, ':');
            yaml_write_value(out, item, indent + 2, newline);
        }
    } else if (json_is_array(value) && json_array_size(value)) {
        json_each(value, i, item) {
            write_indent(out, indent, newline);
            buf_addc(out, '-');
            yaml_write_value(out, item, indent + 2, newline);
        }
    } else {
        write_scalar(out, value, indent, newline);
    }
}
