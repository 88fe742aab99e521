#include "gpu/ptx/read/ptx_lexer.h"

enum { BLANK = 1, NAME_START = 2, NAME = 4, DIGIT = 8 };
#define LETTERS(flags) ['a' ... 'z'] = (flags), ['A' ... 'Z'] = (flags)
static const uint8_t classes[256] = {
    LETTERS(NAME_START | NAME),
    ['0' ... '9'] = NAME | DIGIT,
    ['_'] = NAME_START | NAME,
    ['$'] = NAME_START | NAME,
    ['%'] = NAME_START,
    [' '] = BLANK,
    ['\t'] = BLANK,
    ['\n'] = BLANK,
    ['\r'] = BLANK,
    ['\f'] = BLANK,
    ['\v'] = BLANK,
};

static bool is(char c, int flags) {
    return classes[(uint8_t)c] & flags;
}

void ptx_lexer_init(struct ptx_lexer *l, const char *text, uint32_t len) {
    *l = (struct ptx_lexer){.text = text, .len = len, .line = 1};
}

/* Moves to the first byte of the next line that begins with `{`, or to its end: for the
 * body of a .section, which holds no PTX. */
static void ptx_lexer_skip_line(struct ptx_lexer *l) {
    const char *newline = memchr(l->text + l->at, '\n', l->len - l->at);
    l->at = newline ? (uint32_t)(newline - l->text) : l->len;
}

/* Past a comment that starts here; false when it does not end. */
static bool skip_comment(struct ptx_lexer *l) {
    if (l->text[l->at + 1] == '/') {
        ptx_lexer_skip_line(l);
        return true;
    }
    for (l->at += 2; l->at < l->len; l->at++) {
        if (l->text[l->at] == '\n') {
            l->line++;
        } else if (l->text[l->at] == '*' && l->text[l->at + 1] == '/') {
            l->at += 2;
            return true;
        }
    }
    return false;
}

static bool skip_blanks(struct ptx_lexer *l) {
    for (;;) {
        char c = l->text[l->at];
        if (is(c, BLANK)) {
            l->line += c == '\n';
            l->at++;
        } else if (c == '/' && (l->text[l->at + 1] == '/' || l->text[l->at + 1] == '*')) {
            if (!skip_comment(l)) {
                return false;
            }
        } else {
            return true;
        }
    }
}

static void skip_class(struct ptx_lexer *l, int flags) {
    while (is(l->text[l->at], flags)) {
        l->at++;
    }
}

/* Names of words may hold "::". */
static void skip_word(struct ptx_lexer *l) {
    for (;;) {
        skip_class(l, NAME);
        if (l->text[l->at] != ':' || l->text[l->at + 1] != ':' ||
            !is(l->text[l->at + 2], NAME)) {
            return;
        }
        l->at += 2;
    }
}

/* A decimal float has a point or an exponent, which may have a sign; 0x1e-3 is a
 * difference. */
static void skip_number(struct ptx_lexer *l) {
    const char *start = l->text + l->at;
    bool plain = start[0] != '0' || !strchr("xXbBfFdD", start[1]) || start[1] == '\0';
    if (!plain) {
        skip_class(l, NAME);
        return;
    }
    skip_class(l, DIGIT);
    if (l->text[l->at] == '.') {
        l->at++;
        skip_class(l, DIGIT);
    }
    if (l->text[l->at] == 'e' || l->text[l->at] == 'E') {
        l->at++;
        l->at += l->text[l->at] == '-' || l->text[l->at] == '+';
    }
    skip_class(l, NAME);
}

static struct ptx_token token_of(struct ptx_lexer *l, int kind, uint32_t start) {
    return (struct ptx_token){kind, start, l->at - start, l->line};
}

static struct ptx_token read_string(struct ptx_lexer *l) {
    uint32_t start = ++l->at;
    while (l->at < l->len && l->text[l->at] != '"' && l->text[l->at] != '\n') {
        l->at += l->text[l->at] == '\\' && l->at + 1 < l->len ? 2 : 1;
    }
    if (l->at >= l->len || l->text[l->at] != '"') {
        l->at = l->at > l->len ? l->len : l->at;
        return token_of(l, PTX_TOKEN_BAD, start);
    }
    struct ptx_token t = token_of(l, PTX_TOKEN_STRING, start);
    l->at++;
    return t;
}

static struct ptx_token read_punctuation(struct ptx_lexer *l) {
    static const struct {
        char first, second;
        int kind;
    } pairs[] = {
        {'<', '<', PTX_TOKEN_SHIFT_LEFT}, {'>', '>', PTX_TOKEN_SHIFT_RIGHT},
        {'<', '=', PTX_TOKEN_LESS_EQUAL}, {'>', '=', PTX_TOKEN_GREATER_EQUAL},
        {'=', '=', PTX_TOKEN_EQUAL},      {'!', '=', PTX_TOKEN_NOT_EQUAL},
        {'&', '&', PTX_TOKEN_AND},        {'|', '|', PTX_TOKEN_OR},
    };
    uint32_t start = l->at++;
    char c = l->text[start];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (c == pairs[i].first && l->text[l->at] == pairs[i].second) {
            l->at++;
            return token_of(l, pairs[i].kind, start);
        }
    }
    bool known = c > ' ' && c < 127 && !strchr("\"'#\\`", c);
    return token_of(l, known ? c : PTX_TOKEN_BAD, start);
}

struct ptx_token ptx_lexer_next(struct ptx_lexer *l) {
    if (!skip_blanks(l)) {
        return token_of(l, PTX_TOKEN_BAD, l->at);
    }
    uint32_t start = l->at;
    char c = l->text[start];
    if (start >= l->len) {
        return token_of(l, PTX_TOKEN_END, start);
    }
    if (c == '.' && is(l->text[start + 1], NAME)) {
        l->at++;
        skip_word(l);
        return token_of(l, PTX_TOKEN_WORD, start + 1);
    }
    if (is(c, DIGIT)) {
        skip_number(l);
        return token_of(l, PTX_TOKEN_NUMBER, start);
    }
    if (is(c, NAME_START) && (c != '%' || is(l->text[start + 1], NAME))) {
        l->at++;
        skip_class(l, NAME);
        return token_of(l, PTX_TOKEN_NAME, start);
    }
    return c == '"' ? read_string(l) : read_punctuation(l);
}

static bool read_hex(const char *s, size_t len, uint64_t *ret) {
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        char low = (char)(c | 0x20);
        unsigned digit;
        if (is(c, DIGIT)) {
            digit = (unsigned)(c - '0');
        } else if (low >= 'a' && low <= 'f') {
            digit = (unsigned)(low - 'a') + 10;
        } else {
            return false;
        }
        value = value << 4 | digit;
    }
    *ret = value;
    return len > 0 && len <= 16;
}

static bool read_digits(const char *s, size_t len, unsigned base, uint64_t *ret) {
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(s[i] - '0');
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *ret = value;
    return len > 0;
}

static bool read_decimal_float(const char *s, size_t len, struct ptx_number *ret) {
    char copy[64];
    if (len >= sizeof copy) {
        return false;
    }
    memcpy(copy, s, len);
    copy[len] = '\0';
    char *end;
    double value = strtod(copy, &end);
    ret->kind = PTX_NUMBER_DOUBLE;
    memcpy(&ret->bits, &value, sizeof value);
    return *end == '\0';
}

static bool read_integer(const char *s, size_t len, struct ptx_number *ret) {
    bool is_unsigned = s[len - 1] == 'U';
    len -= is_unsigned;
    char second = len > 1 && s[0] == '0' ? s[1] : '\0';
    bool ok = second == 'x' || second == 'X' ? read_hex(s + 2, len - 2, &ret->bits)
              : second == 'b' || second == 'B'
                  ? read_digits(s + 2, len - 2, 2, &ret->bits)
                  : read_digits(s, len, second ? 8 : 10, &ret->bits);
    ret->kind =
        is_unsigned || ret->bits > INT64_MAX ? PTX_NUMBER_UNSIGNED : PTX_NUMBER_SIGNED;
    return ok;
}

bool ptx_number_read(const char *s, size_t len, struct ptx_number *ret) {
    *ret = (struct ptx_number){0};
    if (len == 0) {
        return false;
    }
    if (len == 10 && s[0] == '0' && (s[1] == 'f' || s[1] == 'F')) {
        ret->kind = PTX_NUMBER_SINGLE;
        return read_hex(s + 2, 8, &ret->bits);
    }
    if (len == 18 && s[0] == '0' && (s[1] == 'd' || s[1] == 'D')) {
        ret->kind = PTX_NUMBER_DOUBLE;
        return read_hex(s + 2, 16, &ret->bits);
    }
    bool hex = len > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    bool is_float =
        !hex && (memchr(s, '.', len) || memchr(s, 'e', len) || memchr(s, 'E', len));
    return is_float ? read_decimal_float(s, len, ret) : read_integer(s, len, ret);
}
