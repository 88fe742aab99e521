/* Words that chance wrote. Without anything said of them only such as no person, compiler
 * or package manager writes: letters of both cases and digits, thoroughly mixed. */
#include "skills/traces/redaction_secrets.h"

#include "skills/redaction_values_table.h"

#include <ctype.h>

#define MIN_ALONE 20u
#define MAX_ALONE 100u /* longer: an image, a program, a blob */
#define MIN_TOLD 16u
#define MAX_TOLD 512u

struct looks {
    size_t lower, upper, digits, hex, signs, changes;
    size_t sizes;            /* 128x64 */
    size_t numbers, longest; /* stretches of digits; of small letters the longest */
};

static struct looks looks_of(const char *s, size_t n) {
    struct looks l = {0};
    int before = 0;
    for (size_t i = 0, stretch = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        int kind = islower(c) ? 1 : isupper(c) ? 2 : isdigit(c) ? 3 : 0;
        l.lower += kind == 1;
        l.upper += kind == 2;
        l.digits += kind == 3;
        l.signs += kind == 0;
        l.sizes +=
            c == 'x' && before == 3 && i + 1 < n && isdigit((unsigned char)s[i + 1]);
        l.hex += isxdigit(c) != 0;
        l.numbers += kind == 3 && before != 3;
        l.changes += kind && before && kind != before;
        stretch = kind == 1 ? stretch + 1 : 0;
        l.longest = stretch > l.longest ? stretch : l.longest;
        before = kind ? kind : before;
    }
    return l;
}

static bool is_mixed(const struct looks *l, size_t n) {
    return l->sizes < 2 && l->lower >= 4 && l->upper >= 4 && l->digits >= 2 &&
           l->longest <= 6 &&
           (l->changes * 20 >= n * 9 || (l->numbers > 1 && l->changes * 5 >= n * 2));
}

/* 8-4-4-4-12 */
static bool is_uuid(const char *s, size_t n) {
    return n == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-';
}

/* Digests, public keys, mangled names, what protocols number their messages with. */
static bool is_known(const char *s, size_t at, size_t n) {
    for (size_t i = 0; known_heads[i]; i++) {
        if (secret_starts(s, at + n, at, known_heads[i])) {
            return true;
        }
    }
    for (size_t i = 0; known_digests[i]; i++) {
        size_t k = strlen(known_digests[i]);
        if ((at >= k && memcmp(s + at - k, known_digests[i], k) == 0) ||
            secret_starts(s, at + n, at, known_digests[i])) {
            return true;
        }
    }
    return false;
}

static bool is_of_run(char c) {
    return secret_is_of(SECRET_WORD, c) || c == '+' || c == '/';
}

/* A line of a blob in base64: it fills its line, or the line before is one. */
static bool is_blob(const char *s, size_t len, size_t at, size_t n) {
    bool escaped = at >= 2 && s[at - 2] == '\\' && s[at - 1] == 'n';
    bool fills =
        n >= 60 && (at + n >= len || (s[at + n] && strchr("\n\r\\\"=", s[at + n])));
    size_t line = escaped                       ? at - 2
                  : at > 0 && s[at - 1] == '\n' ? at - 1
                                                : at,
           from = line;
    while (line < at && from > 0 && line - from < 40 && is_of_run(s[from - 1])) {
        from--;
    }
    return (fills && (at == 0 || line < at)) || line - from >= 40;
}

/* X  # my token */
static bool is_told_behind(const char *s, size_t len, size_t at) {
    size_t i = secret_blanks(s, len, at), stop = len - i < 48 ? len : i + 48;
    bool comment = i < stop && (s[i] == '#' || secret_starts(s, stop, i, "//"));
    for (; comment && i < stop && s[i] != '\n'; i++) {
        if (s[i - 1] == ' ' && secret_noun(s, len, i)) {
            return true;
        }
    }
    return false;
}

bool secret_random(const char *s, size_t len, size_t at, bool told, struct secret *ret) {
    size_t end = at, slashes = 0;
    bool newline = at > 0 && s[at - 1] == '\\' && strchr("nrt", s[at]);
    if (newline ||
        (at > 0 && s[at - 1] && (is_of_run(s[at - 1]) || strchr("@.%", s[at - 1])))) {
        return false; /* in the midst of something */
    }
    for (; end < len && is_of_run(s[end]) && end - at <= MAX_TOLD; end++) {
        slashes += s[end] == '/';
    }
    size_t n = end - at;
    while (end < len && s[end] == '=' && end - at - n < 2) {
        end++;
    }
    bool name = end + 1 < len && s[end] == '.' && isalnum((unsigned char)s[end + 1]);
    told = (told && !(at > 0 && s[at - 1] == '=')) || /* the name spoke already */
           is_told_behind(s, len, end);
    bool escaped = at >= 2 && s[at - 2] == '\\' && s[at - 1] == 'n';
    bool blob = is_blob(s, len, at, n) || (escaped && n >= 60);
    if (n < MIN_TOLD || n > MAX_TOLD || name || blob || is_known(s, at, n)) {
        return false;
    }
    struct looks l = looks_of(s + at, n);
    bool odd = is_mixed(&l, n) && !secret_is_words(s + at, n);
    bool hex = l.hex == n && n >= 32 && l.digits >= 4 && l.lower + l.upper >= 4;
    bool alone = odd && !slashes && n >= MIN_ALONE && n <= MAX_ALONE &&
                 l.signs <= n / 8 && !is_uuid(s + at, n);
    *ret = (struct secret){at, end, "<token>", false};
    return alone || (told && (odd || hex || is_uuid(s + at, n)) && slashes <= n / 10);
}
