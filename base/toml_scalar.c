/* Strings, numbers, booleans, dates and times. */
#include "base/text.h"
#include "base/toml_reader.h"

#include <pthread.h>
#include <regex.h>

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
        return toml_fail(r, at,
                         "only the end of the line may follow a backslash and blanks");
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

/* Up to two quotes may precede the closing three. */
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

/* --- numbers, booleans, dates and times --- */

#define DIGITS "[0-9](_?[0-9])*"
#define WHOLE "[+-]?(0|[1-9](_?[0-9])*)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?"
#define ZONE "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"

/* A word is of the first form that fits it; no base: no integer. */
static const struct form {
    const char *regex;
    enum toml_kind kind;
    int base;
} forms[] = {
    {"true|false", TOML_BOOLEAN, 0},
    {TIME "|[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([Tt ]" TIME ZONE "?)?",
     TOML_DATE, 0},
    {"0x[0-9A-Fa-f](_?[0-9A-Fa-f])*", TOML_INTEGER, 16},
    {"0o[0-7](_?[0-7])*", TOML_INTEGER, 8},
    {"0b[01](_?[01])*", TOML_INTEGER, 2},
    {WHOLE, TOML_INTEGER, 10},
    {WHOLE "(\\." DIGITS ")?([eE][+-]?" DIGITS ")?|[+-]?(inf|nan)", TOML_FLOAT, 0},
};
/* The C library's, so that programs with no other need of PCRE2 go without. */
static regex_t patterns[ARRAY_LEN(forms)], looks_like_date, begins_with_zero;
static pthread_once_t patterns_once = PTHREAD_ONCE_INIT;

/* The text is ours: only memory can be missing. */
static void make(regex_t *pattern, const char *regex) {
    if (regcomp(pattern, regex, REG_EXTENDED | REG_NOSUB) != 0) {
        abort();
    }
}

static void make_patterns(void) {
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        autofree char *whole = xasprintf("^(%s)$", forms[i].regex);
        make(&patterns[i], whole);
    }
    make(&looks_like_date, "^([0-9]{4}-|[0-9]{2}:)");
    make(&begins_with_zero, "^[+-]?0[0-9_]");
}

static bool fits(const regex_t *pattern, const char *word) {
    return regexec(pattern, word, 0, NULL, 0) == 0;
}

/* The 31st of April is of the form of a date; a time alone exists always. */
static bool day_exists(const char *word) {
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (word[4] != '-') {
        return true;
    }
    int year = atoi(word), month = atoi(word + 5), day = atoi(word + 8);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] && (month != 2 || day <= 28 || leap);
}

static json_t *integer_of(const char *digits, int base, const char **why) {
    errno = 0;
    long long value = strtoll(digits + (base == 10 ? 0 : 2), NULL, base);
    *why = errno == ERANGE ? "does not fit 64 bits" : NULL;
    return errno == ERANGE ? NULL : json_integer(value);
}

static json_t *value_of(const struct form *form, const char *word, const char **why) {
    autofree char *digits = xstrdup(word);
    size_t n = 0;
    for (const char *c = word; *c; c++) {
        digits[n] = *c;
        n += *c != '_';
    }
    digits[n] = '\0';
    return form->kind == TOML_BOOLEAN ? json_boolean(word[0] == 't')
           : form->kind == TOML_DATE  ? json_string(word)
           : form->base               ? integer_of(digits, form->base, why)
                                      : json_double(strtod(digits, NULL));
}

static json_t *word_value(const char *word, enum toml_kind *ret_kind, const char **why) {
    pthread_once(&patterns_once, make_patterns);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (fits(&patterns[i], word) &&
            (forms[i].kind != TOML_DATE || day_exists(word))) {
            *ret_kind = forms[i].kind;
            return value_of(&forms[i], word, why);
        }
    }
    *why = fits(&looks_like_date, word)    ? "is not a date or time that exists"
           : fits(&begins_with_zero, word) ? "begins with a 0 that TOML does not allow"
                                           : NULL;
    return NULL;
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
    if (after >= '0' && after <= '9') { /* a blank is allowed between date and time */
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
