#include "skills/format/tokens.h"

#include <stdbool.h>

/* Counts of the class-sum formula; docs/architecture/skills.md says what each class is
 * and how the weights were found. */
struct classes {
    size_t words, chunks, digits, punctuation, breaks, others;
};

static bool is_letter(unsigned char c) {
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(unsigned char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t run(const unsigned char *s, size_t len, bool belongs(unsigned char c)) {
    size_t n = 0;
    while (n < len && belongs(s[n])) {
        n++;
    }
    return n;
}

/* A run of white space costs a token when it breaks a line: blanks before a word belong
 * to the word. */
static size_t count_blank(struct classes *c, const unsigned char *s, size_t len) {
    size_t n = run(s, len, is_blank);
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\n' || s[i] == '\r') {
            c->breaks++;
            break;
        }
    }
    return n;
}

static size_t count_run(struct classes *c, const unsigned char *s, size_t len) {
    size_t n;
    if (is_letter(*s)) {
        n = run(s, len, is_letter);
        c->words++;
        c->chunks += (n + 6) / 7 - 1;
        return n;
    }
    if (is_digit(*s)) {
        n = run(s, len, is_digit);
        c->digits += (n + 2) / 3;
        return n;
    }
    if (is_blank(*s)) {
        return count_blank(c, s, len);
    }
    c->punctuation += *s > 0x20 && *s < 0x7F;
    c->others += *s >= 0xC0; /* the first byte of a character */
    return 1;
}

size_t tokens_estimate(const char *text, size_t len) {
    const unsigned char *s = (const unsigned char *)text;
    struct classes c = {0};
    for (size_t i = 0; i < len;) {
        i += count_run(&c, s + i, len - i);
    }
    double sum = 1.055 * (double)c.words + 0.540 * (double)c.chunks +
                 2.07 * (double)c.digits + 0.359 * (double)c.punctuation +
                 1.365 * (double)c.breaks + 2.12 * (double)c.others;
    return (size_t)(sum + 0.5);
}
