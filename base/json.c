#include "base/json.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "base/text.h"

#include <math.h>

/* --- reading --- */

/* The value of the four hex digits at s, or -1. */
static int hex4(const char *s, const char *end) {
    int value = 0;
    if (end - s < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        int digit = text_hex_digit(s[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* s is after a backslash in a string. Rewrites a lone surrogate; returns the position
 * after the escape. */
static char *scan_escape(char *s, const char *end) {
    static const char replacement[4] = {'f', 'f', 'f', 'd'};
    if (s == end) {
        return s;
    }
    int unit = *s == 'u' ? hex4(s + 1, end) : -1;
    if (unit < 0xd800 || unit > 0xdfff) {
        return s + 1;
    }
    if (unit < 0xdc00 && end - s >= 7 && s[5] == '\\' && s[6] == 'u') {
        int low = hex4(s + 7, end);
        if (low >= 0xdc00 && low <= 0xdfff) {
            return s + 11;
        }
    }
    memcpy(s + 1, replacement, sizeof replacement);
    return s + 5;
}

/* s is after an opening quote; returns the position after the closing one. */
static char *scan_string(char *s, const char *end) {
    while (s < end) {
        char c = *s++;
        if (c == '"') {
            break;
        }
        if (c == '\\') {
            s = scan_escape(s, end);
        }
    }
    return s;
}

/* Repairs lone surrogates in place. Returns false when it nests too deeply. */
static bool scan_text(char *s, size_t len) {
    const char *end = s + len;
    size_t depth = 0;
    while (s < end) {
        switch (*s++) {
        case '"':
            s = scan_string(s, end);
            break;
        case '[':
        case '{':
            if (++depth > JSON_MAX_NESTING) {
                return false;
            }
            break;
        case ']':
        case '}':
            depth -= depth > 0;
            break;
        default:
            break;
        }
    }
    return true;
}

static int set_parse_error(struct err *err, const json_error_t *error) {
    if (json_error_code(error) == json_error_numeric_overflow) {
        return err_set(err, -ERANGE,
                       "line %d column %d: the number is out of range (integers have 64 "
                       "bits, others at most 1.8e308)",
                       error->line, error->column);
    }
    autobuf words = BUF_INIT(2 * sizeof error->text);
    text_clean(&words, error->text, strlen(error->text));
    return err_set(err, -EBADMSG, "line %d column %d: %s", error->line, error->column,
                   words.data);
}

static json_t *parse_utf8(char *text, size_t len, size_t flags, struct err *err) {
    json_error_t error;
    if (!scan_text(text, len)) {
        err_set(err, -EBADMSG, "nested more than %d deep", JSON_MAX_NESTING);
        return NULL;
    }
    json_t *value = json_loadb(text, len, flags, &error);
    if (!value) {
        set_parse_error(err, &error);
    }
    return value;
}

static json_t *parse(char *text, size_t len, size_t flags, struct err *err) {
    if (text_is_utf8(text, len)) {
        return parse_utf8(text, len, flags, err);
    }
    autobuf copy = BUF_INIT(SIZE_MAX / 4);
    text_repair(&copy, text, len);
    return parse_utf8(copy.data, copy.len, flags, err);
}

json_t *json_parse(char *text, size_t len, struct err *err) {
    return parse(text, len, JSON_ALLOW_NUL | JSON_DECODE_ANY, err);
}

json_t *json_parse_once(char *text, size_t len, struct err *err) {
    return parse(text, len, JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_REJECT_DUPLICATES,
                 err);
}

/* --- making --- */

static json_t *checked(json_t *value) {
    if (!value) {
        abort(); /* the bytes are known to be valid, so memory is out */
    }
    return value;
}

json_t *json_text(const char *s, size_t len) {
    if (text_is_utf8(s, len)) {
        return checked(json_stringn_nocheck(s, len));
    }
    autobuf good = BUF_INIT(SIZE_MAX / 4);
    text_repair(&good, s, len);
    return checked(json_stringn_nocheck(good.data, good.len));
}

json_t *json_clean(const char *s, size_t len) {
    autobuf good = BUF_INIT(SIZE_MAX / 4);
    text_clean(&good, s, len);
    return checked(json_stringn_nocheck(good.data, good.len));
}

json_t *json_clean_z(const char *s) {
    return s ? json_clean(s, strlen(s)) : json_clean("", 0);
}

static json_t *clean_object(const json_t *value) {
    json_t *copy = json_object();
    json_each_member(value, key, member) {
        autojson *clean = json_clean_z(key);
        json_object_set_new(copy, json_string_value(clean), json_clean_all(member));
    }
    return copy;
}

json_t *json_clean_all(const json_t *value) {
    if (json_is_object(value)) {
        return clean_object(value);
    }
    if (json_is_string(value)) {
        return json_clean(json_string_value(value), json_string_length(value));
    }
    if (!json_is_array(value)) {
        return json_incref((json_t *)(uintptr_t)value);
    }
    return json_map(value, item, json_clean_all(item));
}

json_t *json_double(double value) {
    if (isnan(value)) {
        return checked(json_string("NaN"));
    }
    if (isinf(value)) {
        return checked(json_string(value > 0 ? "Infinity" : "-Infinity"));
    }
    return checked(json_real(value));
}

/* --- writing --- */

/* Writes a byte as it must appear in a string; returns the position after it, at most six
 * bytes on. */
static char *put_byte(char *to, unsigned char c) {
    static const char names[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";
    if (c < 0x20 && !names[c]) {
        memcpy(to, "\\u00", 4);
        to[4] = hex[c >> 4];
        to[5] = hex[c & 15];
        return to + 6;
    }
    if (c < 0x20 || c == '"' || c == '\\') {
        *to++ = '\\';
    }
    *to = c < 0x20 ? names[c] : (char)c;
    return to + 1;
}

/* Whether none of the eight bytes at s needs an escape. Strings of many megabytes are
 * written on the loop; this takes a fifth of the time of a loop over bytes. */
static bool are_plain(const char *s) {
    const uint64_t ones = UINT64_MAX / 255, high = ones * 0x80;
    uint64_t eight;
    memcpy(&eight, s, sizeof eight);
    uint64_t quote = eight ^ ones * '"', escape = eight ^ ones * '\\';
    uint64_t control = (eight - ones * 0x20) & ~eight;
    return !((control | ((quote - ones) & ~quote) | ((escape - ones) & ~escape)) & high);
}

/* Texts with many escapes can be as long as others: short pieces are gathered before they
 * are added. */
static void write_string(struct buf *out, const char *s, size_t len) {
    enum { PIECE = 1024, SHORT = 64, GROUP = sizeof(uint64_t) };
    char piece[PIECE];
    char *to = piece;
    *to++ = '"';
    for (size_t i = 0; i < len;) {
        size_t from = i;
        while (len - i > GROUP && are_plain(s + i)) {
            i += GROUP;
        }
        if (i - from > SHORT || to - piece > PIECE - SHORT - 6 * GROUP - 1) {
            buf_add(out, piece, (size_t)(to - piece));
            buf_add(out, s + from, i - from);
            to = piece;
        } else {
            memcpy(to, s + from, i - from);
            to += i - from;
        }
        for (size_t end = len - i > GROUP ? i + GROUP : len; i < end; i++) {
            to = put_byte(to, (unsigned char)s[i]);
        }
    }
    *to++ = '"';
    buf_add(out, piece, (size_t)(to - piece));
}

/* In as few digits as give the same number back, and always with a point or an exponent,
 * so that it is read as a real one. */
static void write_real(struct buf *out, double value) {
    char digits[40];
    int n = 0;
    for (int precision = 15; precision <= 17; precision++) {
        n = snprintf(digits, sizeof digits - 2, "%.*g", precision, value);
        precision = strtod(digits, NULL) == value ? 17 : precision;
    }
    char *point = strchr(digits, ','); /* the locale's */
    if (point) {
        *point = '.';
    }
    if (!strpbrk(digits, ".e")) {
        memcpy(digits + n, ".0", 3);
    }
    buf_adds(out, digits);
}

static void write_integer(struct buf *out, json_int_t value) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, value);
    buf_add(out, digits, (size_t)n);
}

static int write_value(struct buf *out, const json_t *value, unsigned depth);

static int write_array(struct buf *out, const json_t *value, unsigned depth) {
    size_t count = json_array_size(value);
    buf_addc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i) {
            buf_addc(out, ',');
        }
        int rc = write_value(out, json_array_get(value, i), depth);
        if (rc < 0) {
            return rc;
        }
    }
    return buf_addc(out, ']');
}

static int write_object(struct buf *out, const json_t *value, unsigned depth) {
    /* Jansson's iterator takes no const. */
    json_t *object = (json_t *)(uintptr_t)value;
    const char *separator = "{";
    for (void *at = json_object_iter(object); at;
         at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        buf_adds(out, separator);
        separator = ",";
        write_string(out, key, strlen(key));
        buf_addc(out, ':');
        int rc = write_value(out, json_object_iter_value(at), depth);
        if (rc < 0) {
            return rc;
        }
    }
    return buf_adds(out, *separator == '{' ? "{}" : "}");
}

static int write_value(struct buf *out, const json_t *value, unsigned depth) {
    if (depth > 2 * JSON_MAX_NESTING) {
        return -ELOOP;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return write_object(out, value, depth + 1);
    case JSON_ARRAY:
        return write_array(out, value, depth + 1);
    case JSON_STRING:
        write_string(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        write_integer(out, json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_adds(out, json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        buf_adds(out, "null");
    }
    return out->full ? -EMSGSIZE : 0;
}

int json_write(struct buf *out, const json_t *value) {
    size_t before = out->len;
    int rc = value ? write_value(out, value, 0) : -EINVAL;
    if (rc < 0 && out->cap) {
        out->len = before;
        out->data[before] = '\0';
    }
    return rc;
}

char *json_shown(const json_t *value, size_t flags) {
    for (size_t precision = 15;; precision++) {
        char *text =
            json_dumps(value, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(precision));
        autojson *again = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
        if (precision == 17 || json_equal(value, again)) {
            return text;
        }
        free(text);
    }
}

/* --- looking up --- */

const char *json_get_string(const json_t *obj, const char *key, const char *fallback) {
    const json_t *value = json_object_get(obj, key);
    return json_is_string(value) ? json_string_value(value) : fallback;
}

bool json_says(const json_t *obj, const char *key, const char *text) {
    return strcmp(json_get_string(obj, key, ""), text) == 0;
}

json_int_t json_get_integer(const json_t *obj, const char *key, json_int_t fallback) {
    const json_t *value = json_object_get(obj, key);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

int json_get_bool(const json_t *obj, const char *key, int fallback) {
    const json_t *value = json_object_get(obj, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

double json_get_number(const json_t *obj, const char *key, double fallback) {
    const json_t *value = json_object_get(obj, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

json_t *json_finite(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

bool json_is_texts(const json_t *array) {
    return !json_any(array, item, !json_is_string(item)) && json_is_array(array);
}

bool json_has_text(const json_t *array, const char *text) {
    return json_any(array, item,
                    json_is_string(item) && strcmp(json_string_value(item), text) == 0);
}

json_t *json_keys(const json_t *object) {
    json_t *list = json_array();
    json_each_member(object, key, member) {
        json_array_append_new(list, json_string(key));
    }
    return list;
}

void json_copy_members(json_t *to, const json_t *from, const char *const *keys) {
    for (; *keys; keys++) {
        json_object_set(to, *keys, json_object_get(from, *keys));
    }
}

void json_tell(struct buf *out, const json_t *value) {
    if (json_is_string(value)) {
        buf_adds(out, json_string_value(value));
    } else if (json_is_integer(value)) {
        buf_addf(out, "%lld", (long long)json_integer_value(value));
    } else {
        buf_addf(out, "%.9g", json_number_value(value));
    }
}

void json_pointer_add(struct buf *out, const char *name) {
    buf_addc(out, '/');
    for (const char *p = name; *p; p++) {
        buf_adds(out, *p == '~' ? "~0" : *p == '/' ? "~1" : (char[]){*p, '\0'});
    }
}
