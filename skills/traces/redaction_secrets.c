#include "skills/traces/redaction_secrets.h"

#include "base/mem.h"
#include "skills/traces/redaction_shapes.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 64
#define MAX_VALUE 2048

/* --- names --- */

enum naming {
    NAMES_NOTHING,
    NAMES_KEY,    /* any key: only what is surely random */
    NAMES_TOKEN,  /* api key, token …: what has letters and digits */
    NAMES_SECRET, /* password …: whatever is no code */
    NAMES_HEADER, /* the rest of the line */
    NAMES_COOKIE,
};

struct name {
    size_t end;
    enum naming kind;
    bool is_upper, is_flag, is_header; /* NAME, --name, x-name */
};

static bool ends_with(const char *s, size_t len, const char *tail) {
    size_t n = strlen(tail);
    return len >= n && strncasecmp(s + len - n, tail, n) == 0;
}

/* By the end of the name: MAX_TOKENS and tokenizer name no secret. */
static enum naming naming_of(const char *name, size_t len) {
    static const char *const secret[] = {
        "password",  "passwd",     "passphrase",  "secret",        "_pwd",
        "-pwd",      "_pass",      "dbpass",      "client_secret", "secret_key",
        "secretkey", "secret-key", "private_key", "privatekey"};
    static const char *const token[] = {
        "token",       "apikey",           "api_key",    "api-key",
        "access_key",  "accesskey",        "access-key", "auth_key",
        "authkey",     "auth-key",         "credential", "credentials",
        "signing_key", "encryption_key",   "master_key", "account_key",
        "accountkey",  "subscription_key", "signature",  "access_key_id",
        "webhook_url", "session_id_token", "bearer",     "license_key",
        "deploy_key"};
    if (len == 13 && strncasecmp(name, "authorization", len) == 0) {
        return NAMES_HEADER;
    }
    if ((len == 6 && strncasecmp(name, "cookie", 6) == 0) ||
        (len == 10 && strncasecmp(name, "set-cookie", 10) == 0)) {
        return NAMES_COOKIE;
    }
    for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
        if (ends_with(name, len, secret[i])) {
            return NAMES_SECRET;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(token); i++) {
        if (ends_with(name, len, token[i])) {
            return NAMES_TOKEN;
        }
    }
    return ends_with(name, len, "_key") || ends_with(name, len, "-key") ? NAMES_KEY
                                                                        : NAMES_NOTHING;
}

static bool name_at(const char *s, size_t len, size_t at, struct name *ret) {
    size_t most = len - at > MAX_NAME + 1 ? at + MAX_NAME + 1 : len;
    size_t n = secret_run(SECRET_WORD, s, most, at);
    size_t begin = at;
    ret->is_flag = n > 2 && s[at] == '-' && s[at + 1] == '-';
    begin += ret->is_flag ? 2 : 0;
    if (n < 3 || n > MAX_NAME) {
        return false;
    }
    ret->end = at + n;
    ret->kind = naming_of(s + begin, ret->end - begin);
    ret->is_upper = true;
    ret->is_header = memchr(s + begin, '-', ret->end - begin) != NULL;
    for (size_t i = begin; i < ret->end; i++) {
        ret->is_upper = ret->is_upper && !islower((unsigned char)s[i]);
    }
    return ret->kind != NAMES_NOTHING;
}

/* --- values --- */

struct value {
    size_t start, end;
    char quote; /* or 0 */
    bool tight; /* NAME=value: no blank around the sign */
    char sign;  /* '=', ':' or ' ' */
    bool ends_line;
};

static size_t skip_blanks(const char *s, size_t len, size_t at) {
    while (at < len && (s[at] == ' ' || s[at] == '\t')) {
        at++;
    }
    return at;
}

/* Behind backslashes and a quote, if there is one. */
static size_t skip_quote(const char *s, size_t len, size_t at, char *ret_quote) {
    size_t i = at;
    while (i < len && s[i] == '\\' && i - at < 8) {
        i++;
    }
    bool quote = i < len && (s[i] == '"' || s[i] == '\'' || s[i] == '`');
    *ret_quote = quote ? s[i] : 0;
    return quote ? i + 1 : at;
}

static size_t value_end(const char *s, size_t len, size_t at, char quote, bool escaped) {
    size_t i = at, stop = len - at < MAX_VALUE ? len : at + MAX_VALUE;
    for (; i < stop && s[i] != '\n'; i++) {
        if (quote && (s[i] == quote || (escaped && s[i] == '\\'))) {
            break;
        }
        if (quote && s[i] == '\\' && i + 1 < stop) {
            i++;
        } else if (!quote && (isspace((unsigned char)s[i]) || !s[i] ||
                              strchr("\"'`,;&|()[]{}<>\\", s[i]))) {
            break;
        }
    }
    return i < len ? i : len;
}

/* What stands behind a name: "= value", "\": \"value\"", " value" of a flag. */
static bool value_behind(const char *s, size_t len, const struct name *name,
                         struct value *ret) {
    char quote;
    size_t at = skip_quote(s, len, name->end, &quote);
    at += at < len && s[at] == ']'; /* environ["KEY"] = … */
    size_t sign = skip_blanks(s, len, at);
    if (sign < len && (s[sign] == '=' || s[sign] == ':')) {
        ret->sign = s[sign];
        at = sign + 1;
        at += at < len && (s[at] == '>' || (s[sign] == ':' && s[at] == '='));
        if (at < len && s[at] == '=') {
            return false; /* a comparison */
        }
    } else if (name->is_flag && sign > name->end) {
        ret->sign = ' ';
        at = sign;
    } else {
        return false;
    }
    size_t from = skip_blanks(s, len, at);
    ret->tight = from == at && sign == name->end;
    ret->start = skip_quote(s, len, from, &ret->quote);
    ret->end = value_end(s, len, ret->start, ret->quote, ret->start > from + 1);
    size_t behind = skip_blanks(s, len, ret->end);
    ret->ends_line = behind >= len || s[behind] == '\n' || s[behind] == '\r';
    return ret->end > ret->start;
}

/* A variable, a call, a type, an example. */
static bool is_no_value(const char *s, size_t n) {
    static const char *const words[] = {
        "none",    "null",     "true",     "false", "undefined", "str",     "string",
        "int",     "bool",     "optional", "self",  "process",   "os",      "input",
        "getpass", "required", "nil",      "any",   "bytes",     "redacted"};
    size_t word = 0, stars = 0;
    while (word < n && (isalnum((unsigned char)s[word]) || s[word] == '_')) {
        word++;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (word == strlen(words[i]) && strncasecmp(s, words[i], word) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < n; i++) {
        stars += s[i] == '*' || s[i] == 'x' || s[i] == 'X' || s[i] == '.' || s[i] == '-';
    }
    return strchr("$<{%@/~", s[0]) || stars == n || memmem(s, n, "...", 3) ||
           memmem(s, n, "${", 2) || memmem(s, n, "{{", 2);
}

struct mix {
    bool lower, upper, digit, other;
};

static struct mix mix_of(const char *s, size_t n) {
    struct mix m = {0};
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

/* connect(password=password): an argument's name and a variable. */
static bool is_variable(const char *s, size_t len, const struct value *v) {
    for (size_t i = v->start; i < v->end; i++) {
        if (!islower((unsigned char)s[i]) && s[i] != '_' && s[i] != '.') {
            return false;
        }
    }
    return !v->quote && v->end < len && strchr("),(", s[v->end]);
}

static bool is_secret_value(const char *s, size_t len, const struct name *name,
                            const struct value *v) {
    const char *value = s + v->start;
    size_t n = v->end - v->start;
    struct mix m = mix_of(value, n);
    bool called = !v->quote && v->end < len && s[v->end] == '(';
    bool close = v->quote || v->tight || v->sign == ' ' || name->is_header;
    if (is_no_value(value, n) || called) {
        return false;
    }
    switch (name->kind) {
    case NAMES_SECRET:
        if (close) {
            return n >= 3 && !is_variable(s, len, v);
        }
        /* "password: hunter2" in YAML, not "password: must be long" or code */
        return n >= 6 && (m.digit || (v->ends_line && v->sign == ':')) &&
               !memchr(value, '.', n);
    case NAMES_TOKEN:
        return n >= (close ? 8 : 16) && (m.lower || m.upper) &&
               (m.digit || (n >= 20 && m.lower && m.upper)) && !memchr(value, ' ', n);
    case NAMES_KEY:
        return (name->is_upper && n >= 12 && m.digit && (m.lower || m.upper) &&
                !m.other) ||
               (n >= 20 && m.lower && m.upper && m.digit && !m.other);
    default:
        return n > 0;
    }
}

/* "Authorization: Bearer …": the scheme stays. */
static void take_header(const char *s, size_t len, const struct value *v,
                        struct secret *ret) {
    size_t stop = v->start, scheme = secret_run(SECRET_ALNUM, s, len, v->start);
    size_t at = v->start + scheme;
    while (stop < len && s[stop] != '\n' && s[stop] != '"' && s[stop] != '\'' &&
           s[stop] != '\\' && s[stop] != '`' && stop - v->start < MAX_VALUE) {
        stop++;
    }
    bool has_scheme = scheme && at < stop && s[at] == ' ' && at + 1 < stop;
    *ret = (struct secret){has_scheme ? at + 1 : v->start, stop, "<token>"};
}

static bool named_at(const char *s, size_t len, size_t at, struct secret *ret) {
    struct name name;
    struct value v;
    if (!name_at(s, len, at, &name) || !value_behind(s, len, &name, &v)) {
        return false;
    }
    if (name.kind == NAMES_HEADER || name.kind == NAMES_COOKIE) {
        bool header = v.sign == ':' || v.quote;
        take_header(s, len, &v, ret);
        if (name.kind == NAMES_COOKIE) {
            ret->start = v.start;
            ret->placeholder = "<cookie>";
            header = header && memchr(s + v.start, '=', ret->end - v.start);
        }
        size_t n = ret->end - ret->start;
        return header && n >= 6 && !is_no_value(s + ret->start, n);
    }
    *ret = (struct secret){v.start, v.end, "<secret>"};
    return is_secret_value(s, len, &name, &v);
}

/* "curl -u ann:pa55", "sshpass -p pa55". */
static bool login_at(const char *s, size_t len, size_t at, struct secret *ret) {
    static const char *const heads[] = {"-u ", "--user ", "sshpass -p "};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        if (s[at] != heads[i][0] || !secret_starts(s, len, at, heads[i])) {
            continue;
        }
        char quote;
        size_t from = skip_quote(s, len, at + strlen(heads[i]), &quote);
        size_t end = value_end(s, len, from, quote, false);
        bool pair = end > from && memchr(s + from, ':', end - from);
        bool number = end > from && isdigit((unsigned char)s[from]);
        *ret = (struct secret){from, end, "<credentials>"};
        if (end - from >= 3 && s[from] != '$' && (i == 2 || (pair && !number))) {
            return true;
        }
    }
    return false;
}

/* "Bearer abc…" outside of a header's line. */
static bool bearer_at(const char *s, size_t len, size_t at, struct secret *ret) {
    if (!secret_starts(s, len, at, "Bearer ") && !secret_starts(s, len, at, "bearer ")) {
        return false;
    }
    size_t n = secret_run(SECRET_DOTTED, s, len, at + 7);
    struct mix m = mix_of(s + at + 7, n);
    *ret = (struct secret){at + 7, at + 7 + n, "<token>"};
    return n >= 16 && m.digit && (m.lower || m.upper);
}

/* An address whose path is the secret. */
static bool webhook_at(const char *s, size_t len, size_t at, struct secret *ret) {
    static const char *const heads[] = {
        "hooks.slack.com/services/", "hooks.slack.com/workflows/",
        "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        if (s[at] == heads[i][0] && secret_starts(s, len, at, heads[i])) {
            size_t from = at + strlen(heads[i]);
            size_t n = secret_run(SECRET_DOTTED, s, len, from);
            *ret = (struct secret){from, from + n, "<token>"};
            return n >= 20;
        }
    }
    return false;
}

/* A bot's token of Telegram: "123456789:AA…", in addresses with "bot" before it. */
static bool bot_at(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t from = at + (secret_starts(s, len, at, "bot") ? 3 : 0), i = from;
    while (i < len && isdigit((unsigned char)s[i]) && i - from < 11) {
        i++;
    }
    if (i - from < 8 || !secret_starts(s, len, i, ":AA")) {
        return false;
    }
    size_t n = secret_run(SECRET_WORD, s, len, i + 1);
    *ret = (struct secret){from, i + 1 + n, "<token>"};
    return n >= 33;
}

bool secret_at(const char *s, size_t len, size_t at, struct secret *ret) {
    return secret_shape_at(s, len, at, ret) || bearer_at(s, len, at, ret) ||
           webhook_at(s, len, at, ret) || bot_at(s, len, at, ret) ||
           login_at(s, len, at, ret) || named_at(s, len, at, ret);
}

bool secret_in_url(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t from = at + 3, colon = 0, i = from;
    size_t stop = len - at < 512 ? len : at + 512;
    for (; i < stop && s[i] != '@'; i++) {
        if (isspace((unsigned char)s[i]) || !s[i] || strchr("/\"'<>`\\)]}", s[i])) {
            return false;
        }
        colon = s[i] == ':' && !colon ? i : colon;
    }
    if (i == stop || i == from) {
        return false;
    }
    bool variable = s[colon ? colon + 1 : from] == '$' || (colon && colon + 1 == i);
    *ret = (struct secret){from, i, "<credentials>"};
    return !variable && (colon || i - from >= 16);
}
