#include "skills/traces/redaction.h"

#include "base/buf.h"
#include "base/text.h"
#include "skills/redaction_values_table.h"
#include "skills/traces/redaction_commands.h"

#include <pwd.h>
#include <unistd.h>

#define MAX_LITERALS 1024
#define MIN_EXTRA 6
#define MIN_NAME 3
#define MIN_LEARNT 8 /* a secret to be hidden where it stands alone too */
#define MAX_LEARNT 256
#define MAX_TOLD 120 /* bytes behind a noun that it speaks of */

struct literal {
    char *text;
    size_t len;
    const char *placeholder;
    bool word;     /* only where no word goes on at either end */
    bool personal; /* a name or a folder, no secret */
};

struct redaction {
    struct literal literals[MAX_LITERALS];
    size_t count;
    uint8_t pairs[8192]; /* a bit for each two bytes that a literal begins with */
};

/* --- what is known --- */

static unsigned pair_of(const char *s) {
    return (unsigned)(unsigned char)s[0] << 8 | (unsigned char)s[1];
}

static void add_literal(struct redaction *r, const char *text, size_t len,
                        const char *placeholder, bool personal) {
    for (size_t i = 0; i < r->count; i++) {
        if (r->literals[i].len == len && memcmp(r->literals[i].text, text, len) == 0) {
            return;
        }
    }
    if (r->count < MAX_LITERALS) {
        r->literals[r->count++] =
            (struct literal){xstrndup(text, len), len, placeholder, personal, personal};
        r->pairs[pair_of(text) >> 3] |= (uint8_t)(1u << (pair_of(text) & 7));
    }
}

/* Names that are no person's, or words of every text. */
static bool is_common(const char *name, size_t len) {
    return len < MIN_NAME || secret_is_any(name, len, common_names);
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

/* A word may begin at s[at]; in JSON the 'n' of "\n" is no part of one, nor in an address the "2F" of "%2F". */
static bool begins_word(const char *s, size_t at) {
    bool coded = at >= 3 && s[at - 3] == '%' && isxdigit((unsigned char)s[at - 2]) && isxdigit((unsigned char)s[at - 1]);
    if (at == 0 || !text_is_word(s[at - 1]) || coded) {
        return true;
    }
    return at >= 2 && s[at - 2] == '\\' && strchr("ntr", s[at - 1]);
}

static bool literal_at(const struct redaction *r, const char *s, size_t len, size_t at,
                       struct secret *ret) {
    bool may =
        len - at > 1 && (r->pairs[pair_of(s + at) >> 3] >> (pair_of(s + at) & 7) & 1);
    for (size_t i = 0; may && i < r->count; i++) {
        const struct literal *l = &r->literals[i];
        if (len - at < l->len || memcmp(s + at, l->text, l->len) != 0) {
            continue;
        }
        size_t end = at + l->len;
        if (!l->word || (begins_word(s, at) && (end == len || !text_is_word(s[end])))) {
            *ret = (struct secret){at, end, l->placeholder, l->personal};
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
    *ret = (struct secret){at, name + n, "<home>", true};
    return n > 0;
}

static bool is_local(char c) {
    return isalnum((unsigned char)c) || (c && strchr("._%+-", c));
}

/* "ann:hunter2@host" without a scheme: from its beginning. */
static size_t before_login(const char *s, size_t start, size_t low) {
    size_t i = start;
    if (start == low || s[start - 1] != ':') {
        return 0;
    }
    i--;
    while (i > low && start - i < 40 && is_name_char(s[i - 1])) {
        i--;
    }
    return start - i > 2 ? i : 0;
}

static bool login_around(const char *s, size_t len, size_t at, size_t low,
                         struct secret *ret) {
    size_t start = at, end = at + 1;
    while (start > low && at - start < 64 && !isspace((unsigned char)s[start - 1]) &&
           !strchr(":/\"'`<>()[]{},;=", s[start - 1])) {
        start--;
    }
    size_t name = before_login(s, start, low);
    while (end < len && is_name_char(s[end])) {
        end++;
    }
    *ret = (struct secret){name, at, "<credentials>", false};
    return name && end > at + 2 && end < len && s[end] && strchr(":/", s[end]) &&
           secret_is_odd(s + start, at - start) &&
           !secret_starts(s, len, at + 1, "sha") &&
           !secret_is_example(s + start, at - start);
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
    *ret = (struct secret){start, end, "<email>", true};
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

/* --- finding --- */

/* What is known while a text is gone through, from its beginning to its end. */
struct scan {
    const struct redaction *r;
    const char *s;
    size_t len, at, low;                    /* nothing before low is looked at any more */
    struct secret_quote quote;              /* that s[at] stands in, on its line */
    struct secret waiting[COMMAND_SECRETS]; /* of a command, further on */
    size_t waiting_count;
    size_t told; /* behind the last noun that speaks of a secret; 0: none */
};

/* Over s[at]: what quotes are open behind it. */
static void follow_quotes(struct scan *x) {
    char c = x->s[x->at];
    if (c == '\n') {
        x->quote = (struct secret_quote){0};
        return;
    }
    if (c != '"' && c != '\'' && c != '`') {
        return;
    }
    size_t slashes = 0;
    while (slashes < 8 && slashes < x->at && x->s[x->at - slashes - 1] == '\\') {
        slashes++;
    }
    bool apostrophe = c == '\'' && x->at > 0 && isalnum((unsigned char)x->s[x->at - 1]);
    if (x->quote.mark == c && x->quote.slashes == slashes) {
        x->quote = (struct secret_quote){0};
    } else if (!x->quote.mark && !apostrophe) {
        x->quote = (struct secret_quote){c, slashes};
    }
}

static void go_to(struct scan *x, size_t at) {
    for (; x->at < at; x->at++) {
        follow_quotes(x);
    }
}

static bool word_found(struct scan *x, struct secret *ret) {
    const char *s = x->s;
    size_t at = x->at;
    bool told = x->told && at - x->told < MAX_TOLD;
    if (x->waiting_count == 0 || at >= x->waiting[x->waiting_count - 1].end) {
        x->waiting_count = secrets_of_command(s, x->len, at, x->quote, x->waiting);
    }
    size_t name = secret_name(s, x->len, at), behind = at + name;
    bool may = name && behind < x->len;
    if (may && (s[behind] == '(' || s[behind] == '=' || s[behind] == ' ') &&
        x->waiting_count == 0 && secret_of_login(s, x->len, at, name, x->waiting)) {
        x->waiting_count = 1; /* the user's name stands before it */
    }
    size_t noun = secret_noun(s, x->len, at);
    x->told = noun ? at + noun : x->told;
    return secret_shape(s, x->len, at, ret) || secret_named(s, x->len, at, ret) ||
           (may && tolower((unsigned char)s[behind - 1]) == 'd' &&
            secret_of_command(s, x->len, at, name, ret)) ||
           secret_option(s, x->len, at, ret) || secret_said(s, x->len, at, x->low, ret) ||
           secret_random(s, x->len, at, told, ret);
}

/* What a command takes and has been reached. */
static bool waiting_found(struct scan *x, struct secret *ret) {
    for (size_t i = 0; i < x->waiting_count; i++) {
        if (x->waiting[i].end > x->at) {
            *ret = x->waiting[i];
            return ret->start <= x->at;
        }
    }
    x->waiting_count = 0;
    return false;
}

static bool sign_found(const struct scan *x, struct secret *ret) {
    const char *s = x->s;
    size_t at = x->at, len = x->len;
    switch (s[at]) {
    case '@':
        return login_around(s, len, at, x->low, ret) ||
               email_around(s, len, at, x->low, ret);
    case ':':
        return len - at > 3 && s[at + 1] == '/' && s[at + 2] == '/' &&
               secret_in_url(s, len, at, ret);
    case '/':
        return secret_in_path(s, len, at, ret);
    case '$':
        return secret_shape(s, len, at, ret);
    case '-':
        return secret_key_end(s, len, at, x->low, ret);
    default:
        return false;
    }
}

static bool is_word_begin(const struct scan *x) {
    const char *s = x->s;
    size_t at = x->at;
    char c = s[at];
    bool word = isalnum((unsigned char)c) || c == '-' || c == '_';
    bool inside = at > x->low && (s[at - 1] == '-' || s[at - 1] == '.') && c == '-';
    bool foreign = (unsigned char)c >= 0xC0;
    return (word && !inside && begins_word(s, at)) || foreign;
}

static bool found_here(struct scan *x, struct secret *ret) {
    const char *s = x->s;
    size_t at = x->at, len = x->len;
    char c = s[at];
    if (waiting_found(x, ret) || literal_at(x->r, s, len, at, ret) ||
        sign_found(x, ret)) {
        return true;
    }
    bool drive = isalpha((unsigned char)c) && at + 1 < len && s[at + 1] == ':';
    if ((c == '/' || drive) && home_found(s, len, at, ret)) {
        return true;
    }
    bool line = secret_begins_line(s, at) && secret_line(s, len, at, ret);
    return line || (is_word_begin(x) && word_found(x, ret));
}

/* The next thing that must not leave; goes behind it. */
static bool scan_next(struct scan *x, struct secret *ret) {
    while (x->at < x->len) {
        if (found_here(x, ret) && ret->end > x->low) {
            ret->start = ret->start > x->low ? ret->start : x->low;
            x->low = ret->end;
            go_to(x, ret->end > x->at ? ret->end : x->at + 1);
            return true;
        }
        go_to(x, x->at + 1);
    }
    return false;
}

/* --- what it is for --- */

/* A secret that is nobody's word is hidden wherever it stands. */
static void learn_secret(struct redaction *r, const char *s, size_t n) {
    if (n >= MIN_LEARNT && n <= MAX_LEARNT && !memchr(s, '\n', n) &&
        !memchr(s, '\0', n) && secret_is_odd(s, n)) {
        add_literal(r, s, n, "<secret>", false);
    }
}

/* A home folder has something in it: "/home/member" alone may be a page of a site. */
static bool goes_on(const char *s, size_t len, size_t at) {
    return at < len && (s[at] == '/' || s[at] == '\\');
}

void redaction_learn(struct redaction *r, const char *text, size_t len) {
    struct scan x = {.r = r, .s = text, .len = len};
    struct secret secret;
    for (size_t i = 0; i < len; i++) {
        size_t name, n;
        if (text[i] == '@') {
            learn_prompt(r, text, len, i);
        } else if ((text[i] == '/' || (i + 1 < len && text[i + 1] == ':')) &&
                   (n = home_at(text, len, i, &name)) && goes_on(text, len, name + n)) {
            add_name(r, text + name, n, "<user>");
        }
    }
    while (scan_next(&x, &secret)) {
        const char *value = text + secret.start, *end = text + secret.end;
        const char *colon = memchr(value, ':', (size_t)(end - value));
        if (!secret.personal) {
            learn_secret(r, value, (size_t)(end - value));
        }
        if (!secret.personal && colon &&
            strcmp(secret.placeholder, "<credentials>") == 0) {
            learn_secret(r, colon + 1, (size_t)(end - colon - 1));
        }
    }
}

size_t redaction_apply(const struct redaction *r, struct buf *out, const char *text,
                       size_t len) {
    struct scan x = {.r = r, .s = text, .len = len};
    struct secret secret;
    size_t from = 0, count = 0; /* text[from, …) is not yet written */
    while (scan_next(&x, &secret)) {
        buf_add(out, text + from, secret.start - from);
        buf_adds(out, secret.placeholder);
        from = secret.end;
        count++;
    }
    buf_add(out, text + from, len - from);
    return count;
}

void redaction_find(const struct redaction *r, const char *text, size_t len,
                    bool (*found)(size_t start, size_t end, void *data), void *data) {
    struct scan x = {.r = r, .s = text, .len = len};
    struct secret secret;
    while (scan_next(&x, &secret)) {
        if (!secret.personal && !found(secret.start, secret.end, data)) {
            return;
        }
    }
}
