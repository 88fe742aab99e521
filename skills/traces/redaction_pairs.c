/* Secrets that something beside them gives away: the second part of a login, the word
 * that a password's command prints, the part of an address behind "token". */
#include "skills/traces/redaction_secrets.h"

#include <ctype.h>

#define MAX_NAME 64u
#define MAX_PAIR 160u
#define MAX_ADDRESS 256u

size_t secret_name(const char *s, size_t len, size_t at) {
    size_t n = secret_run(SECRET_WORD, s, len - at > MAX_NAME ? at + MAX_NAME + 1 : len, at);
    return n <= MAX_NAME ? n : 0;
}

static bool names_secret(const char *s, size_t n) {
    enum naming kind = n ? secret_naming(s, n) : NAMES_NOTHING;
    return kind == NAMES_SECRET || kind == NAMES_TOKEN;
}

/* --- basicAuth("ann", "hunter2"), auth=("ann", "hunter2") --- */

/* The second of two literals, "a", "b", between brackets; s[at] is the open one. */
static bool second_literal(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t marks = 0, open = 0, i = at + 1, stop = len - at < MAX_PAIR ? len : at + MAX_PAIR;
    for (; i < stop && s[i] != ')' && s[i] != '\n' && marks < 4; i++) {
        if (s[i] == '"' || s[i] == '\'') {
            open = ++marks == 3 ? i + 1 : open;
        } else if (marks % 2 == 0 && s[i] && !strchr(" \t,\\", s[i])) {
            return false; /* a name, a call */
        }
    }
    size_t end = i - 1;
    while (end > open && s[end - 1] == '\\') {
        end--;
    }
    *ret = (struct secret){open, end, "<secret>", false};
    return marks == 4 && end > open && !secret_is_example(s + open, end - open);
}

bool secret_of_login(const char *s, size_t len, size_t at, size_t n, struct secret *ret) {
    size_t i = secret_blanks(s, len, at + n);
    bool assigns = n && i < len && s[i] == '=';
    size_t open = assigns ? secret_blanks(s, len, i + 1) : at + n;
    if (!n || open >= len || s[open] != '(') {
        return false;
    }
    bool basic = secret_has_end(s + at, n, "basic") || secret_has_end(s + at, n, "basicauth") ||
                 secret_has_end(s + at, n, "basic_auth");
    bool login = basic || secret_has_end(s + at, n, "auth") || secret_has_end(s + at, n, "login") ||
                 secret_has_end(s + at, n, "credential") || secret_has_end(s + at, n, "credentials");
    if (assigns ? !secret_naming(s + at, n) : !login) {
        return false;
    }
    return second_literal(s, len, open, ret) &&
           (assigns || basic || secret_is_odd(s + ret->start, ret->end - ret->start));
}

/* --- --password-command "echo hunter2" --- */

/* The name without "-command", "Command", "_cmd"; 0: it does not end so. */
static size_t without_command(const char *s, size_t n) {
    size_t tail = secret_has_end(s, n, "command") ? 7 : secret_has_end(s, n, "cmd") ? 3 : 0;
    size_t bare = tail ? n - tail : 0;
    return bare && strchr("-_", s[bare - 1]) ? bare - 1 : bare;
}

bool secret_of_command(const char *s, size_t len, size_t at, size_t n,
                       struct secret *ret) {
    size_t dashes = 0;
    while (dashes < n && s[at + dashes] == '-') {
        dashes++;
    }
    if (!names_secret(s + at + dashes, without_command(s + at + dashes, n - dashes))) {
        return false;
    }
    size_t i = at + n, stop = len - i < MAX_PAIR ? len : i + MAX_PAIR;
    while (i < stop && s[i] && strchr(" \t=:\"'\\", s[i])) {
        i++;
    }
    if (!secret_starts(s, stop, i, "echo ") && !secret_starts(s, stop, i, "printf ")) {
        return false;
    }
    size_t end = i, word = i; /* the last word of what is printed */
    for (; end < stop && s[end] && !strchr("\"'\\\n;|&", s[end]); end++) {
        word = s[end] == ' ' ? end + 1 : word;
    }
    *ret = (struct secret){word, end, "<secret>", false};
    return end > word + 2 && !secret_is_example(s + word, end - word);
}

/* --- https://host/t/TOKEN/path --- */

static bool is_address(const char *s, size_t at) {
    size_t i = at;
    while (i > 2 && at - i < MAX_ADDRESS && isgraph((unsigned char)s[i - 1]) &&
           !strchr("\"'`<>()", s[i - 1])) {
        i--;
        if (s[i] == ':' && s[i + 1] == '/' && s[i + 2] == '/') {
            return true;
        }
    }
    return false;
}

bool secret_in_path(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t n = secret_run(SECRET_WORD, s, len, at + 1), end = at + 1 + n, from = at;
    if (n < 8) {
        return false;
    }
    while (from > 0 && at - from < MAX_NAME && secret_is_of(SECRET_WORD, s[from - 1])) {
        from--;
    }
    struct secret_mix m = secret_mix(s + at + 1, n);
    bool random = m.digit && (m.lower || m.upper) && !secret_is_words(s + at + 1, n);
    bool named = (at - from == 1 && s[from] == 't') || names_secret(s + from, at - from);
    *ret = (struct secret){at + 1, end, "<token>", false};
    return random && named && from > 0 && s[from - 1] == '/' &&
           !(end < len && s[end] == '.') && is_address(s, from);
}
