/* What a sentence says a secret is: "the password is hunter2", „das Passwort lautet …“,
 * «le mot de passe est …», «la contraseña es …», 密码是…; and "use hunter2 as password".
 */
#include "base/find.h"
#include "skills/traces/redaction_secrets.h"

#include <ctype.h>

#define MAX_FILLER 56u /* bytes between the noun and the link to its value */
#define MAX_WORD 256u

enum strength {
    WORDY,  /* key: as the next, and only behind a word */
    WEAK,   /* token, key: only what is odd, and long */
    STRONG, /* password: also a plain word */
    PAIR,   /* credentials: a name and a secret */
};
struct secret_noun {
    const char *noun;
    enum strength strength;
};
#include "skills/redaction_prose_table.h"

/* --- words --- */

static bool is_letter(char c) {
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static size_t noun_at(const char *s, size_t len, size_t at, enum strength *ret) {
    for (size_t i = 0; i < ARRAY_LEN(secret_nouns) - 1 && !(at > 0 && s[at - 1] == '<');
         i++) {
        if (tolower((unsigned char)s[at]) != (unsigned char)secret_nouns[i].noun[0]) {
            continue;
        }
        size_t n = strlen(secret_nouns[i].noun);
        if (len - at < n || strncasecmp(s + at, secret_nouns[i].noun, n) != 0) {
            continue;
        }
        bool latin = (unsigned char)secret_nouns[i].noun[n - 1] < 0x80;
        bool goes_on = at + n < len && latin &&
                       (is_letter(s[at + n]) || strchr("_-", s[at + n]) ||
                        isdigit((unsigned char)s[at + n]));
        /* Chinese follows without a blank. */
        goes_on = goes_on && (unsigned char)s[at + n] < 0xE0;
        if (!goes_on) {
            *ret = secret_nouns[i].strength;
            return n;
        }
    }
    return 0;
}

size_t secret_noun(const char *s, size_t len, size_t at) {
    enum strength strength;
    size_t n = noun_at(s, len, at, &strength);
    bool said = n && (strength == STRONG || (strength == WEAK && n > 3));
    return said && strncasecmp(s + at, "clave", 5) != 0 ? n : 0;
}

/* --- values --- */

struct said {
    size_t start, end;
    char mark; /* the quote around it, or 0 */
    bool ends; /* a sentence or line ends behind it */
};

static size_t mark_at(const char *s, size_t len, size_t at) {
    size_t slashes = 0; /* in JSON */
    while (at + slashes < len && s[at + slashes] == '\\' && slashes < 8) {
        slashes++;
    }
    for (size_t i = 0; secret_marks[i]; i++) {
        if (secret_starts(s, len, at + slashes, secret_marks[i])) {
            size_t n = slashes + strlen(secret_marks[i]);
            return n + (secret_starts(s, len, at + n, "\xc2\xa0") ? 2 : 0);
        }
    }
    return 0;
}

/* A quote, a blank, or what only sentences hold: secret_signs of three bytes, as in
 * Chinese. */
static bool ends_said(const char *s, size_t len, size_t i, bool marked) {
    unsigned char c = (unsigned char)s[i];
    if (c >= 0x80) {
        return c >= 0xe1 || secret_starts(s, len, i, "\xc2\xbb");
    }
    return !c || isspace(c) || strchr(marked ? "\"'`(" : "\"'`<>()|\\;", c) ||
           (c == '*' && secret_starts(s, len, i, "**"));
}

static bool value_at(const char *s, size_t len, size_t at, struct said *ret) {
    size_t n = mark_at(s, len, at), i = at + n;
    size_t stop = len - i < MAX_WORD ? len : i + MAX_WORD;
    while (i < stop && !ends_said(s, len, i, n > 0)) {
        i++;
    }
    *ret = (struct said){at + n, i, n ? s[at] : 0, false};
    while (n && ret->end > ret->start && s[ret->end - 1] == '\\') {
        ret->end--; /* of the quote */
    }
    while (!n && ret->end > ret->start && strchr(".,:?", s[ret->end - 1])) {
        ret->end--; /* of the sentence */
    }
    ret->ends = ret->end < i || i >= len || secret_newline(s, len, i) || n;
    return ret->end > ret->start;
}

/* Plain words end so that say how something is: "hashed", "missing", "required". */
static bool is_state(const char *s, size_t n) {
    for (size_t i = 0; state_ends[i]; i++) {
        size_t tail = strlen(state_ends[i]);
        if (n > tail + 1 && strncasecmp(s + n - tail, state_ends[i], tail) == 0) {
            return true;
        }
    }
    return secret_is_any(s, n, secret_states);
}

static bool is_number(const char *s, size_t n) {
    return all_of(i, 0, n, isdigit((unsigned char)s[i])) && n > 0;
}

/* user.password, MAX_TOKENS, sha256: names of code. */
static bool is_name(const char *s, size_t n) {
    bool joined = memchr(s, '_', n) || memchr(s, '.', n) || memchr(s, '/', n);
    return !any_of(i, 0, n, !isalnum((unsigned char)s[i]) && !strchr("_./", s[i])) &&
           (joined || (n > 3 && strncasecmp(s, "sha", 3) == 0) ||
            (n > 2 && (strncasecmp(s, "md", 2) == 0 || strncasecmp(s, "v", 1) == 0) &&
             is_number(s + (tolower((unsigned char)s[0]) == 'v' ? 1 : 2),
                       n - (tolower((unsigned char)s[0]) == 'v' ? 1 : 2))));
}

static bool has_brackets(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i] && !strchr("()[]{}*", s[i])) {
        i++;
    }
    return i < n;
}

static bool is_value(const char *s, size_t len, const struct said *v,
                     enum strength strength, bool linked) {
    const char *word = s + v->start;
    size_t n = v->end - v->start;
    bool called = v->end < len && s[v->end] == '(';
    if (n < 3 || called || secret_is_example(word, n) || memmem(word, n, "://", 3)) {
        return false;
    }
    struct secret_mix m = secret_mix(word, n);
    bool odd = secret_is_odd(word, n) && !is_name(word, n);
    if (strength <= WEAK) {
        return odd && m.digit && n >= 8 && (linked || n >= 16) &&
               !has_brackets(word, n) && (strength == WEAK || !secret_is_words(word, n));
    }
    if (!linked) {
        return odd && n >= 6 && (m.digit || m.other);
    }
    bool plain = !m.digit && !m.other && !memchr(word, '-', n) && !memchr(word, '/', n);
    return odd || (is_number(word, n) && n >= 4 && v->ends) ||
           (plain && v->ends && n >= 4 && !is_state(word, n)) ||
           (v->mark && !is_state(word, n) && !is_name(word, n));
}

/* --- the sentence --- */

/* The length of a link at s[at], with what may stand behind it. */
static size_t link_at(const char *s, size_t len, size_t at, bool word) {
    for (size_t i = 0; secret_signs[i]; i++) {
        size_t n = strlen(secret_signs[i]);
        if (secret_starts(s, len, at, secret_signs[i])) {
            bool blank = at + n < len && s[at + n] && strchr(" \t\"'`*", s[at + n]);
            return word || blank || n > 1 ? n : 0;
        }
    }
    size_t i = at;
    while (i < len && i - at < 12 && is_letter(s[i])) {
        i++;
    }
    bool found = word && i < len && (isspace((unsigned char)s[i]) || s[i] == ':') &&
                 secret_is_any(s + at, i - at, secret_links);
    return found ? i - at + (s[i] == ':') : 0;
}

static size_t skip_markup(const char *s, size_t len, size_t at) {
    while (at < len && s[at] && strchr(" \t*_", s[at])) {
        at += secret_starts(s, len, at, "**") && at + 2 < len &&
                      !isspace((unsigned char)s[at + 2]) && s[at + 2] != ':'
                  ? 2
                  : 1;
    }
    return at;
}

/* "ann / hunter2", "ann:hunter2", "ann and hunter2": the second of two. */
static bool pair_at(const char *s, size_t len, const struct said *first,
                    struct secret *ret) {
    const char *sign = NULL;
    for (size_t i = first->start + 1; i < first->end && !sign; i++) {
        sign = s[i] == ':' || s[i] == '/' ? s + i : NULL;
    }
    struct said v = *first;
    if (sign) {
        v.start = (size_t)(sign + 1 - s);
    } else {
        size_t at = secret_blanks(s, len, first->end + (first->mark != 0));
        static const char *const between[] = {"/",   ":",  "and ", "und ",
                                              "et ", "y ", ", "};
        size_t n = 0;
        for (size_t i = 0; !n && i < ARRAY_LEN(between); i++) {
            n = secret_starts(s, len, at, between[i]) ? strlen(between[i]) : 0;
        }
        if (!n || !value_at(s, len, secret_blanks(s, len, at + n), &v)) {
            return false;
        }
    }
    *ret = (struct secret){v.start, v.end, "<secret>", false};
    struct secret_mix m = secret_mix(s + v.start, v.end - v.start);
    return v.end > v.start && (m.digit || m.other) &&
           !memmem(s + first->start, v.end - first->start, "//", 2) &&
           secret_is_odd(s + v.start, v.end - v.start) &&
           is_value(s, len, &v, STRONG, true);
}

static bool said_behind(const char *s, size_t len, size_t at, enum strength strength,
                        struct secret *ret) {
    size_t stop = len - at < MAX_FILLER ? len : at + MAX_FILLER;
    bool begins = true, linked = false;
    struct said v;
    for (size_t i = at;
         i < stop && !secret_newline(s, len, i) && !strchr("!?;,{}", s[i]);) {
        size_t n = link_at(s, len, i, begins);
        n = strength == WORDY && n && !is_letter(s[i]) ? 0 : n;
        bool again = linked && strength == STRONG;
        bool gap = !n && (again ? begins : !linked && i == at && s[i] == ' ');
        size_t value = n || gap ? skip_markup(s, len, i + n) : i;
        if ((n || gap) && value < len && s[value] != '\n' &&
            value_at(s, len, value, &v)) {
            linked = linked || n;
            *ret = (struct secret){v.start, v.end, "<secret>", false};
            if (strength == PAIR ? n && pair_at(s, len, &v, ret)
                                 : is_value(s, len, &v, strength, n > 0)) {
                return true;
            }
        }
        begins = s[i] == ' ' || s[i] == '"' || s[i] == '*';
        if (s[i] == '.' && (i + 1 >= stop || s[i + 1] == ' ')) {
            return false;
        }
        i += n > 0 ? n : 1;
        begins = begins || n > 0;
    }
    return false;
}

/* "use hunter2 as the password": looks back over at most three words and the link. */
static bool said_before(const char *s, size_t len, size_t at, size_t low,
                        enum strength strength, struct secret *ret) {
    size_t end = at;
    for (size_t words = 0; words < 4; words++) {
        while (end > low && (s[end - 1] == ' ' || s[end - 1] == ',')) {
            end--;
        }
        size_t start = end;
        while (start > low && end - start < 40 && !secret_begins_line(s, start) &&
               s[start - 1] != ' ') {
            start--;
        }
        if (start == end) {
            return false;
        }
        if (words > 0) {
            struct said v;
            const char *gap = memchr(s + end + 1, ' ', at - end - 1);
            size_t link = gap ? (size_t)(gap - (s + end + 1)) : 0;
            bool linked = secret_is_any(s + end + 1, link, secret_links_before);
            if (linked && value_at(s, len, start, &v) && v.end <= end &&
                secret_is_odd(s + v.start, v.end - v.start)) {
                *ret = (struct secret){v.start, v.end, "<secret>", false};
                return is_value(s, len, &v, strength, true);
            }
        }
        end = start;
    }
    return false;
}

/* "$PWD", "$(pwd)": the working folder, not a password. */
static bool is_folder(const char *s, size_t at, size_t n) {
    return n == 3 && strncasecmp(s + at, "pwd", n) == 0 && at &&
           (s[at - 1] == '$' || (at > 1 && s[at - 2] == '$' && strchr("({", s[at - 1])));
}

bool secret_said(const char *s, size_t len, size_t at, size_t low, struct secret *ret) {
    enum strength strength;
    size_t n = noun_at(s, len, at, &strength);
    return n && !is_folder(s, at, n) &&
           (said_behind(s, len, at + n, strength, ret) ||
            (strength == STRONG && said_before(s, len, at, low, strength, ret)));
}
