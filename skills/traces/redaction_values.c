/* The forms of values that are secrets, and of those that are only placeholders. */
#include "skills/traces/redaction_secrets.h"

#include "skills/redaction_values_table.h"

#include <ctype.h>

bool secret_is_of(enum secret_alphabet alphabet, char c) {
    bool digit = c >= '0' && c <= '9', upper = c >= 'A' && c <= 'Z';
    bool alnum = digit || upper || (c >= 'a' && c <= 'z');
    switch (alphabet) {
    case SECRET_ALNUM:
        return alnum;
    case SECRET_WORD:
        return alnum || c == '_' || c == '-';
    case SECRET_DOTTED:
        return alnum || (c && strchr("_-./+=", c));
    case SECRET_UPPER:
        return digit || upper;
    }
    return false;
}

size_t secret_run(enum secret_alphabet alphabet, const char *s, size_t len, size_t at) {
    size_t i = at;
    while (i < len && secret_is_of(alphabet, s[i])) {
        i++;
    }
    return i - at;
}

bool secret_starts(const char *s, size_t len, size_t at, const char *word) {
    size_t n = strlen(word);
    return len - at >= n && memcmp(s + at, word, n) == 0;
}

bool secret_is_any(const char *s, size_t n, const char *const *words) {
    while (*words && !(strlen(*words) == n && strncasecmp(s, *words, n) == 0)) {
        words++;
    }
    return *words;
}

size_t secret_blanks(const char *s, size_t len, size_t at) {
    while (at < len && (s[at] == ' ' || s[at] == '\t')) {
        at++;
    }
    return at;
}

size_t secret_newline(const char *s, size_t len, size_t at) {
    if (at < len && (s[at] == '\n' || s[at] == '\r')) {
        return 1;
    }
    return at + 1 < len && s[at] == '\\' && s[at + 1] == 'n' ? 2 : 0;
}

bool secret_begins_line(const char *s, size_t at) {
    return at == 0 || s[at - 1] == '\n' ||
           (at > 1 && s[at - 2] == '\\' && s[at - 1] == 'n');
}

struct secret_mix secret_mix(const char *s, size_t n) {
    struct secret_mix m = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        m.lower = m.lower || islower(c);
        m.upper = m.upper || isupper(c);
        m.digit = m.digit || isdigit(c);
        m.other =
            m.other || !(isalnum(c) || c == '+' || c == '/' || c == '=' || c == '-');
    }
    return m;
}

static bool is_variable(const char *s, size_t n) {
    size_t i = 1;
    while (s[0] == '$' && i < n &&
           (isalnum((unsigned char)s[i]) || strchr("_{}", s[i]))) {
        i++;
    }
    bool member = i > 1 && i + 1 == n && s[i] == '-'; /* PHP's "$a->b", cut at its sign */
    return s[0] == '$' && (i == n || member || s[1] == '{' || s[1] == '(');
}

/* A secret in base64 may begin with a slash too, and has few others. */
static bool is_path(const char *s, size_t n) {
    struct secret_mix m = secret_mix(s, n);
    bool random = n >= 24 && m.lower && m.upper && m.digit && !m.other;
    return (s[0] == '/' && !random) || (n > 1 && s[0] == '~' && s[1] == '/') ||
           (n > 2 && s[0] == '.' && (s[1] == '/' || s[1] == '.'));
}

/* SLACK_WEBHOOK_URL, YOUR_TOKEN_HERE: the name of a variable. */
static bool is_upper_name(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && (isupper((unsigned char)s[i]) || s[i] == '_')) {
        i++;
    }
    return i == n && memchr(s, '_', n);
}

bool secret_is_example(const char *s, size_t n) {
    size_t word = 0, filler = 0;
    for (; n > 1 && s[0] == '\\'; s++, n--) {} /* in JSON, in a pattern */
    while (word < n && (isalnum((unsigned char)s[word]) || s[word] == '_')) {
        word++;
    }
    for (size_t i = 0; i < n; i++) {
        filler += s[i] && strchr("*xX.-_", s[i]) != NULL;
    }
    return n == 0 || secret_is_any(s, word, example_words) || filler == n ||
           strchr("<{", s[0]) || (s[0] == '%' && n > 2 && s[n - 1] == '%') ||
           (s[0] == '@' && n > 1) || is_variable(s, n) || is_upper_name(s, n) ||
           (n > 9 && strncasecmp(s, "[redacted", 9) == 0) || is_path(s, n) ||
           memmem(s, n, "...", 3) || memmem(s, n, "${", 2) || memmem(s, n, "$(", 2) ||
           memmem(s, n, "{{", 2) || memmem(s, n, "\xe2\x80\xa6", 3) ||
           memmem(s, n, "::", 2);
}

bool secret_is_odd(const char *s, size_t n) {
    size_t letters = 0, capitals = 0, digits = 0, signs = 0;
    for (size_t i = 0; i < n; i++) {
        letters += isalpha((unsigned char)s[i]) != 0;
        capitals += i > 0 && isupper((unsigned char)s[i]);
        digits += isdigit((unsigned char)s[i]) != 0;
        signs += s[i] && strchr("!@#$%^&*+?~", s[i]) != NULL;
    }
    bool cases = capitals && capitals + 1 < letters;
    return n >= 4 && letters && (digits || cases || signs);
}

bool secret_is_words(const char *s, size_t n) {
    size_t letters = 0, words = 0, stretch = 0;
    for (size_t i = 0; i < n; i++) {
        bool lower = islower((unsigned char)s[i]), upper = isupper((unsigned char)s[i]);
        letters += lower || upper;
        stretch = lower ? stretch + 1 : upper ? 1 : 0;
        words += stretch == 3 ? 3 : stretch > 3;
    }
    return letters == 0 || words * 2 >= letters;
}
