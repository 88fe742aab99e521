#include "skills/traces/redaction.h"

#include "base/buf.h"
#include "base/mem.h"
#include "skills/traces/redaction_secrets.h"

#include <ctype.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_LITERALS 128
#define MIN_EXTRA 6
#define MIN_NAME 3

struct literal {
    char *text;
    size_t len;
    const char *placeholder;
    bool word; /* only where no word goes on at either end */
};

struct redaction {
    struct literal literals[MAX_LITERALS];
    size_t count;
    bool first[256]; /* bytes that a literal begins with */
};

/* --- what is known --- */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void add_literal(struct redaction *r, const char *text, size_t len,
                        const char *placeholder, bool word) {
    for (size_t i = 0; i < r->count; i++) {
        if (r->literals[i].len == len && memcmp(r->literals[i].text, text, len) == 0) {
            return;
        }
    }
    if (r->count < MAX_LITERALS) {
        r->literals[r->count++] =
            (struct literal){xstrndup(text, len), len, placeholder, word};
        r->first[(unsigned char)text[0]] = true;
    }
}

/* Names that are no person's, or words of every text. */
static bool is_common(const char *name, size_t len) {
    static const char *const words[] = {
        "root",      "user",     "users",   "admin",     "ubuntu",    "debian",
        "runner",    "node",     "app",     "build",     "vscode",    "dev",
        "home",      "test",     "guest",   "shared",    "public",    "ec2-user",
        "jovyan",    "docker",   "default", "work",      "workspace", "agent",
        "localhost", "host",     "linux",   "git",       "data",      "name",
        "you",       "username", "me",      "linuxbrew", "container", "sandbox",
        "server",    "www-data", "nobody",  "postgres",  "jenkins",   "python",
        "cuda",      "nvidia",   "model",   "main"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (len == strlen(words[i]) && strncasecmp(name, words[i], len) == 0) {
            return true;
        }
    }
    return len < MIN_NAME;
}

static void add_name(struct redaction *r, const char *name, size_t len,
                     const char *placeholder) {
    if (!is_common(name, len)) {
        add_literal(r, name, len, placeholder, true);
    }
}

static void add_self(struct redaction *r) {
    char host[256] = "", buffer[4096];
    struct passwd entry, *found = NULL;
    const char *home = getenv("HOME"), *user = getenv("USER");
    if (home && strlen(home) > 4 && home[0] == '/') {
        add_literal(r, home, strlen(home), "<home>", true);
    }
    if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) == 0 && found) {
        add_name(r, found->pw_name, strlen(found->pw_name), "<user>");
    }
    if (user) {
        add_name(r, user, strlen(user), "<user>");
    }
    if (gethostname(host, sizeof host - 1) == 0) {
        add_name(r, host, strlen(host), "<host>");
    }
}

struct redaction *redaction_new(const char *const *extra) {
    struct redaction *r = xcalloc(1, sizeof *r);
    for (; extra && *extra; extra++) {
        if (strlen(*extra) >= MIN_EXTRA) {
            add_literal(r, *extra, strlen(*extra), "<secret>", false);
        }
    }
    add_self(r);
    return r;
}

void redaction_free(struct redaction *r) {
    for (size_t i = 0; r && i < r->count; i++) {
        free(r->literals[i].text);
    }
    free(r);
}

/* --- places in a text --- */

/* A word may begin at s[at]; in JSON the 'n' of "\n" is no part of one. */
static bool begins_word(const char *s, size_t at) {
    if (at == 0 || !is_word(s[at - 1])) {
        return true;
    }
    return at >= 2 && s[at - 2] == '\\' && strchr("ntr", s[at - 1]);
}

static bool literal_at(const struct redaction *r, const char *s, size_t len, size_t at,
                       struct secret *ret) {
    for (size_t i = 0; r->first[(unsigned char)s[at]] && i < r->count; i++) {
        const struct literal *l = &r->literals[i];
        if (len - at < l->len || memcmp(s + at, l->text, l->len) != 0) {
            continue;
        }
        size_t end = at + l->len;
        if (!l->word || (begins_word(s, at) && (end == len || !is_word(s[end])))) {
            *ret = (struct secret){at, end, l->placeholder};
            return true;
        }
    }
    return false;
}

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

static size_t name_run(const char *s, size_t len, size_t at) {
    size_t i = at;
    while (i < len && is_name_char(s[i]) && i - at < 64) {
        i++;
    }
    while (i > at && (s[i - 1] == '.' || s[i - 1] == '-')) {
        i--;
    }
    return i - at;
}

/* "/home/ann", "/Users/ann", "C:\Users\ann" (also with doubled backslashes): the folder
 * is [at, *ret_name + n), n the length of the name. 0: none. */
static size_t home_at(const char *s, size_t len, size_t at, size_t *ret_name) {
    static const char *const heads[] = {"/home/", "/Users/", "/export/home/"};
    if (at > 0 && (is_name_char(s[at - 1]) || s[at - 1] == '/') &&
        !(at >= 2 && s[at - 2] == '\\')) {
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        size_t n = strlen(heads[i]);
        if (len - at > n && memcmp(s + at, heads[i], n) == 0) {
            *ret_name = at + n;
            return name_run(s, len, at + n);
        }
    }
    if (len - at < 10 || !isalpha((unsigned char)s[at]) || s[at + 1] != ':') {
        return 0;
    }
    size_t i = at + 2;
    while (i < len && (s[i] == '\\' || s[i] == '/')) {
        i++;
    }
    if (i == at + 2 || len - i < 7 || strncasecmp(s + i, "Users", 5) != 0) {
        return 0;
    }
    size_t sep = i + 5;
    while (sep < len && (s[sep] == '\\' || s[sep] == '/')) {
        sep++;
    }
    *ret_name = sep;
    return sep > i + 5 ? name_run(s, len, sep) : 0;
}

static bool home_found(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t name, n = home_at(s, len, at, &name);
    *ret = (struct secret){at, name + n, "<home>"};
    return n > 0;
}

static bool is_local(char c) {
    return isalnum((unsigned char)c) || (c && strchr("._%+-", c));
}

/* An address around the '@' at s[at]; not before `low`. */
static bool email_around(const char *s, size_t len, size_t at, size_t low,
                         struct secret *ret) {
    size_t start = at, end = at + 1, dot = 0;
    while (start > low && at - start < 64 && is_local(s[start - 1])) {
        start--;
    }
    start += start < at && start > low && s[start - 1] == '\\'; /* "\n@decorator" */
    while (end < len && end - at < 254 &&
           (isalnum((unsigned char)s[end]) || s[end] == '.' || s[end] == '-')) {
        dot = s[end] == '.' ? end : dot;
        end++;
    }
    if (dot + 1 == end) { /* the end of a sentence */
        end--;
        dot = memrchr(s + at, '.', end - at)
                  ? (size_t)((char *)memrchr(s + at, '.', end - at) - s)
                  : 0;
    }
    size_t top = dot ? end - dot - 1 : 0;
    if (start == at || top < 2 || top > 24) {
        return false;
    }
    for (size_t i = dot + 1; i < end; i++) {
        if (!isalpha((unsigned char)s[i])) {
            return false;
        }
    }
    *ret = (struct secret){start, end, "<email>"};
    return !(at - start == 3 && memcmp(s + start, "git", 3) == 0);
}

/* --- learning --- */

/* "ann@box:~/x$ " around the '@' at s[at]. */
static void learn_prompt(struct redaction *r, const char *s, size_t len, size_t at) {
    size_t start = at, end = at + 1;
    while (start > 0 && at - start < 40 && is_name_char(s[start - 1])) {
        start--;
    }
    end += name_run(s, len, end);
    bool begins = start == 0 || strchr("\n([ ", s[start - 1]);
    bool path =
        end + 1 < len && s[end] == ':' && (s[end + 1] == '~' || s[end + 1] == '/');
    bool bracket = start > 0 && s[start - 1] == '[' && end < len && s[end] == ' ';
    if (begins && (path || bracket) && start < at && end > at + 1) {
        add_name(r, s + start, at - start, "<user>");
        add_name(r, s + at + 1, end - at - 1, "<host>");
    }
}

void redaction_learn(struct redaction *r, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        size_t name, n;
        if (text[i] == '@') {
            learn_prompt(r, text, len, i);
        } else if ((text[i] == '/' || (i + 1 < len && text[i + 1] == ':')) &&
                   (n = home_at(text, len, i, &name))) {
            add_name(r, text + name, n, "<user>");
        }
    }
}

/* --- applying --- */

static bool found_at(const struct redaction *r, const char *s, size_t len, size_t at,
                     size_t low, struct secret *ret) {
    char c = s[at];
    if (literal_at(r, s, len, at, ret)) {
        return true;
    }
    if (c == '@') {
        return email_around(s, len, at, low, ret);
    }
    if (c == ':' && len - at > 3 && s[at + 1] == '/' && s[at + 2] == '/') {
        return secret_in_url(s, len, at, ret);
    }
    if (c == '/' || (isalpha((unsigned char)c) && at + 1 < len && s[at + 1] == ':')) {
        if (home_found(s, len, at, ret)) {
            return true;
        }
    }
    bool word = isalnum((unsigned char)c) || c == '-' || c == '_';
    bool inside = at > low && (s[at - 1] == '-' || s[at - 1] == '.') && c == '-';
    return word && !inside && begins_word(s, at) && secret_at(s, len, at, ret);
}

size_t redaction_apply(const struct redaction *r, struct buf *out, const char *text,
                       size_t len) {
    size_t from = 0, count = 0; /* text[from, i) is good and not yet written */
    struct secret secret;
    for (size_t i = 0; i < len;) {
        if (!found_at(r, text, len, i, from, &secret)) {
            i++;
            continue;
        }
        buf_add(out, text + from, secret.start - from);
        buf_adds(out, secret.placeholder);
        from = secret.end;
        i = secret.end > i ? secret.end : i + 1;
        count++;
    }
    buf_add(out, text + from, len - from);
    return count;
}
