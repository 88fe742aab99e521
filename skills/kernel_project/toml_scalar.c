/* Strings, numbers, booleans, dates and times. */
#include "base/text.h"
#include "skills/kernel_project/toml_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- strings --- */

static bool read_code_point(struct toml_reader *r, size_t digits, struct buf *out) {
    size_t start = r->at;
    uint32_t cp = 0;
    for (size_t i = 0; i < digits; i++, r->at++) {
        int digit = text_hex_digit((char)toml_peek(r, 0));
        if (digit < 0) {
            return toml_fail(r, start, "\\%c needs %zu hexadecimal digits",
                             digits == 4 ? 'u' : 'U', digits);
        }
        cp = cp << 4 | (uint32_t)digit;
    }
    if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff)) {
        return toml_fail(r, start, "U+%04X is not a Unicode scalar value", cp);
    }
    char bytes[4];
    buf_add(out, bytes, text_encode(cp, bytes));
    return true;
}

/* After a backslash at a line's end: everything up to the next text. */
static bool skip_folded(struct toml_reader *r) {
    size_t at = r->at;
    while (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t') {
        r->at++;
    }
    size_t newline = toml_newline(r);
    if (!newline) {
        return toml_fail(r, at, "only a line's end may follow a backslash and blanks");
    }
    while (newline || toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t') {
        r->at += newline ? newline : 1;
        newline = toml_newline(r);
    }
    return true;
}

static bool read_escape(struct toml_reader *r, struct buf *out, bool many_lines) {
    static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    int c = toml_peek(r, 0);
    const char *known = c > 0 ? strchr(letters, c) : NULL;
    if (known) {
        r->at++;
        buf_addc(out, values[known - letters]);
        return true;
    }
    if (c == 'u' || c == 'U') {
        r->at++;
        return read_code_point(r, c == 'u' ? 4 : 8, out);
    }
    if (many_lines && (c == ' ' || c == '\t' || toml_newline(r))) {
        return skip_folded(r);
    }
    if (c > ' ' && c < 0x7f) {
        return toml_fail(
            r, r->at - 1,
            "\\%c is not an escape of TOML; write \\\\ for a backslash, or use "
            "'single quotes'",
            c);
    }
    return toml_fail(r, r->at - 1, "a backslash needs an escape after it");
}

static bool is_control(int c) {
    return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

/* Up to two quotes may stand before the closing three. */
static bool take_close(struct toml_reader *r, int quote, struct buf *out) {
    size_t run = 0;
    while (run < 5 && toml_peek(r, run) == quote) {
        run++;
    }
    for (size_t i = run < 3 ? 0 : 3; i < run; i++) {
        buf_addc(out, (char)quote);
    }
    r->at += run;
    return run >= 3;
}

static bool read_long(struct toml_reader *r, int quote, struct buf *out) {
    size_t start = r->at - 3;
    r->at += toml_newline(r);
    for (;;) {
        int c = toml_peek(r, 0);
        size_t newline = toml_newline(r);
        if (c < 0) {
            return toml_fail(r, start,
                             "the string that begins here has no closing %c%c%c", quote,
                             quote, quote);
        }
        if (newline) {
            r->at += newline;
            buf_addc(out, '\n');
        } else if (c == quote) {
            if (take_close(r, quote, out)) {
                return true;
            }
        } else if (c == '\\' && quote == '"') {
            r->at++;
            if (!read_escape(r, out, true)) {
                return false;
            }
        } else if (is_control(c)) {
            return toml_fail(r, r->at, "control character 0x%02x in a string", c);
        } else {
            buf_addc(out, (char)c);
            r->at++;
        }
    }
}

static bool read_short(struct toml_reader *r, int quote, struct buf *out) {
    size_t start = r->at - 1;
    for (;;) {
        int c = toml_peek(r, 0);
        if (c < 0 || c == '\n' || toml_newline(r)) {
            return toml_fail(r, start,
                             "the string that begins here has no closing %c on "
                             "its line",
                             quote);
        }
        if (is_control(c)) {
            return toml_fail(r, r->at, "control character 0x%02x in a string", c);
        }
        r->at++;
        if (c == quote) {
            return true;
        }
        if (c != '\\' || quote != '"') {
            buf_addc(out, (char)c);
        } else if (!read_escape(r, out, false)) {
            return false;
        }
    }
}

bool toml_read_string(struct toml_reader *r, struct buf *out, bool many_lines) {
    int quote = toml_peek(r, 0);
    if (many_lines && toml_peek(r, 1) == quote && toml_peek(r, 2) == quote) {
        r->at += 3;
        return read_long(r, quote, out);
    }
    r->at++;
    return read_short(r, quote, out);
}

/* --- dates and times --- */

/* Exactly n digits at *s as a number no greater than max; moves *s. */
static bool take_digits(const char **s, int n, int min, int max, int *ret) {
    *ret = 0;
    for (int i = 0; i < n; i++, (*s)++) {
        if (**s < '0' || **s > '9') {
            return false;
        }
        *ret = *ret * 10 + (**s - '0');
    }
    return *ret >= min && *ret <= max;
}

static bool take_char(const char **s, char c) {
    bool there = **s == c;
    *s += there;
    return there;
}

static bool take_date(const char **s) {
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!take_digits(s, 4, 0, 9999, &year) || !take_char(s, '-') ||
        !take_digits(s, 2, 1, 12, &month) || !take_char(s, '-') ||
        !take_digits(s, 2, 1, days[month - 1], &day)) {
        return false;
    }
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month != 2 || day <= 28 || leap;
}

static bool take_time(const char **s) {
    int n;
    if (!take_digits(s, 2, 0, 23, &n) || !take_char(s, ':') ||
        !take_digits(s, 2, 0, 59, &n) || !take_char(s, ':') ||
        !take_digits(s, 2, 0, 59, &n)) {
        return false;
    }
    if (!take_char(s, '.')) {
        return true;
    }
    size_t fraction = strspn(*s, "0123456789");
    *s += fraction;
    return fraction > 0;
}

static bool take_zone(const char **s) {
    int n;
    if (take_char(s, 'Z') || take_char(s, 'z')) {
        return true;
    }
    return (take_char(s, '+') || take_char(s, '-')) && take_digits(s, 2, 0, 23, &n) &&
           take_char(s, ':') && take_digits(s, 2, 0, 59, &n);
}

static bool is_moment(const char *s) {
    if (s[2] == ':') {
        return take_time(&s) && !*s;
    }
    if (!take_date(&s)) {
        return false;
    }
    if (!*s) {
        return true;
    }
    if (!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' ')) {
        return false;
    }
    return take_time(&s) && (!*s || (take_zone(&s) && !*s));
}

/* --- numbers --- */

/* Digits of one base with single underscores between them; copied without them. */
static bool copy_digits(const char **s, const char *digits, struct buf *out) {
    bool after_digit = false;
    for (;; (*s)++) {
        if (**s && strchr(digits, **s)) {
            buf_addc(out, **s);
            after_digit = true;
        } else if (**s == '_' && after_digit && (*s)[1] && strchr(digits, (*s)[1])) {
            after_digit = false;
        } else {
            return after_digit;
        }
    }
}

static json_t *integer_of(const char *digits, int base, const char **why) {
    errno = 0;
    long long value = strtoll(digits, NULL, base);
    *why = errno == ERANGE ? "does not fit 64 bits" : NULL;
    return errno == ERANGE ? NULL : json_integer(value);
}

static json_t *based_integer(const char *word, const char **why) {
    static const char hex[] = "0123456789abcdefABCDEF";
    const char *s = word + 2;
    autobuf out = BUF_INIT(512);
    char base = word[1];
    const char *digits = base == 'x' ? hex : base == 'o' ? "01234567" : "01";
    if (!copy_digits(&s, digits, &out) || *s || out.full) {
        return NULL;
    }
    return integer_of(out.data, base == 'x' ? 16 : base == 'o' ? 8 : 2, why);
}

/* The part after the integer digits: ".digits", "e±digits", or both. */
static bool copy_fraction(const char **s, struct buf *out) {
    static const char decimal[] = "0123456789";
    if (take_char(s, '.')) {
        buf_addc(out, '.');
        if (!copy_digits(s, decimal, out)) {
            return false;
        }
    }
    if (take_char(s, 'e') || take_char(s, 'E')) {
        buf_addc(out, 'e');
        if (**s == '+' || **s == '-') {
            buf_addc(out, *(*s)++);
        }
        return copy_digits(s, decimal, out);
    }
    return true;
}

static json_t *decimal_number(const char *word, enum toml_kind *ret_kind,
                              const char **why) {
    autobuf out = BUF_INIT(512);
    const char *s = word;
    if (*s == '+' || *s == '-') {
        buf_addc(&out, *s++);
    }
    if (s[0] == '0' && s[1] && strchr("0123456789_", s[1])) {
        *why = "begins with a 0 that TOML does not allow";
        return NULL;
    }
    if (!copy_digits(&s, "0123456789", &out)) {
        return NULL;
    }
    bool integer = !*s;
    if (!copy_fraction(&s, &out) || *s || out.full) {
        return NULL;
    }
    *ret_kind = integer ? TOML_INTEGER : TOML_FLOAT;
    return integer ? integer_of(out.data, 10, why) : json_double(strtod(out.data, NULL));
}

static json_t *special_float(const char *word) {
    const char *s = word + (word[0] == '+' || word[0] == '-');
    if (strcmp(s, "inf") == 0) {
        return json_double(word[0] == '-' ? -INFINITY : INFINITY);
    }
    return strcmp(s, "nan") == 0 ? json_double(NAN) : NULL;
}

static json_t *word_value(const char *word, enum toml_kind *ret_kind, const char **why) {
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        *ret_kind = TOML_BOOLEAN;
        return json_boolean(word[0] == 't');
    }
    size_t digits = strspn(word, "0123456789");
    if ((digits == 4 && word[4] == '-') || (digits == 2 && word[2] == ':')) {
        *ret_kind = TOML_DATE;
        *why = "is not a date or time that exists";
        return is_moment(word) ? json_string(word) : NULL;
    }
    json_t *special = special_float(word);
    if (special) {
        *ret_kind = TOML_FLOAT;
        return special;
    }
    if (word[0] == '0' && word[1] && strchr("xob", word[1])) {
        *ret_kind = TOML_INTEGER;
        return based_integer(word, why);
    }
    return decimal_number(word, ret_kind, why);
}

static bool is_word(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '+' || c == '-' || c == '.' || c == '_' || c == ':';
}

static size_t word_end(const struct toml_reader *r) {
    size_t n = 0;
    while (is_word(toml_peek(r, n))) {
        n++;
    }
    int after = n == 10 && toml_peek(r, 4) == '-' && toml_peek(r, n) == ' '
                    ? toml_peek(r, n + 1)
                    : -1;
    if (after >= '0' && after <= '9') { /* a blank may stand between date and time */
        for (n++; is_word(toml_peek(r, n));) {
            n++;
        }
    }
    return r->at + n;
}

bool toml_read_word(struct toml_reader *r, enum toml_kind *ret_kind, json_t **ret) {
    size_t end = word_end(r), n = end - r->at;
    if (n == 0) {
        return toml_fail(r, r->at, "a value is missing here");
    }
    if (n > 400) {
        return toml_fail(r, r->at, "a number of more than 400 characters");
    }
    autofree char *word = xstrndup(r->text + r->at, n);
    const char *why = NULL;
    *ret = word_value(word, ret_kind, &why);
    if (!*ret && why) {
        return toml_fail(r, r->at, "%.60s %s", word, why);
    }
    if (!*ret) {
        return toml_fail(r, r->at, "%.60s is not a value of TOML; text needs quotes",
                         word);
    }
    r->at = end;
    return true;
}
