/* Secrets that a name gives away: password=…, "api_key": "…", --token …. */
#include "base/find.h"
#include "skills/traces/redaction_secrets.h"

#include "skills/redaction_names_table.h"

#include <ctype.h>

#define MAX_NAME 64
#define MAX_VALUE 2048

/* --- names --- */

struct name {
    size_t start, end;
    enum naming kind;
    bool is_upper, is_flag, is_header; /* NAME, --name, x-name */
    bool is_element, begins_line;      /* <name> */
};

bool secret_has_end(const char *s, size_t len, const char *tail) {
    size_t n = strlen(tail);
    return len >= n && strncasecmp(s + len - n, tail, n) == 0;
}

static bool ends_with_any(const char *s, size_t len, const char *const *tails) {
    while (*tails && !secret_has_end(s, len, *tails)) {
        tails++;
    }
    return *tails;
}

/* SECRET_KEY_BASE, TOKEN_2, db-password-prod: without the last word. */
static size_t without_neutral(const char *name, size_t len) {
    size_t n = len;
    while (n && isdigit((unsigned char)name[n - 1])) {
        n--;
    }
    for (size_t i = 0; n == len && neutral_ends[i]; i++) {
        size_t tail = strlen(neutral_ends[i]);
        n -= secret_has_end(name, len, neutral_ends[i]) && len > tail + 1 &&
                     strchr("_-", name[len - tail - 1])
                 ? tail
                 : 0;
    }
    return n < len && n > 1 && strchr("_-", name[n - 1]) ? n - 1 : n;
}

static enum naming naming_of(const char *name, size_t len) {
    if (secret_is_any(name, len, header_words)) {
        return NAMES_HEADER;
    }
    if (secret_is_any(name, len, cookie_words)) {
        return NAMES_COOKIE;
    }
    if (ends_with_any(name, len, secret_ends) || secret_is_any(name, len, secret_words)) {
        return NAMES_SECRET;
    }
    if (ends_with_any(name, len, token_ends) || secret_is_any(name, len, token_words)) {
        return NAMES_TOKEN;
    }
    if (secret_is_any(name, len, code_words)) {
        return NAMES_CODE;
    }
    return secret_has_end(name, len, "_key") || secret_has_end(name, len, "-key") ? NAMES_KEY
                                                                        : NAMES_NOTHING;
}

enum naming secret_naming(const char *name, size_t len) {
    enum naming kind = naming_of(name, len);
    size_t bare = kind ? 0 : without_neutral(name, len);
    return bare && bare < len ? naming_of(name, bare) : kind;
}

static bool begins_line(const char *s, size_t at) {
    size_t i = at;
    while (i > 0 && at - i < 24 && (s[i - 1] == ' ' || s[i - 1] == '\t')) {
        i--;
    }
    return secret_begins_line(s, i) || (i >= 6 && memcmp(s + i - 6, "export", 6) == 0);
}

/* #define NAME */
static bool is_defined(const char *s, size_t len, const struct name *name) {
    return name->start >= 7 && secret_starts(s, len, name->start - 7, "define ");
}

/* Most words have no sign behind them, and need not be looked up. */
static bool may_name(const char *s, size_t len, const struct name *name) {
    size_t i = name->end;
    while (i < len && s[i] && strchr("\\\"'`] \t", s[i]) && i - name->end < 12) {
        i++;
    }
    bool quoted = i > name->end && s[name->end] != ' ' && s[name->end] != '\t';
    bool line = secret_newline(s, len, name->end) > 0;
    return name->is_flag || quoted || line || is_defined(s, len, name) ||
           (i < len && s[i] && strchr("=:>,%", s[i]));
}

static bool is_key(const char *s, size_t start, size_t end) {
    return end - start == 3 && strncasecmp(s + start, "key", 3) == 0;
}

static bool name_at(const char *s, size_t len, size_t at, struct name *ret) {
    size_t most = len - at > MAX_NAME + 1 ? at + MAX_NAME + 1 : len;
    size_t n = secret_run(SECRET_WORD, s, most, at);
    size_t begin = at;
    ret->is_flag = n > 2 && s[at] == '-' && s[at + 1] == '-' && s[at + 2] != '-';
    begin += ret->is_flag ? 2 : 0;
    if (n < 2 || n > MAX_NAME) {
        return false;
    }
    ret->start = begin;
    ret->end = at + n;
    if (!may_name(s, len, ret)) {
        return false;
    }
    ret->is_upper = !any_of(i, begin, ret->end, islower((unsigned char)s[i]));
    ret->kind = secret_naming(s + begin, ret->end - begin);
    ret->is_element = at > 0 && s[at - 1] == '<';
    ret->is_header = memchr(s + begin, '-', ret->end - begin) != NULL;
    if (!ret->kind && n > 4 && ret->is_upper && secret_has_end(s + begin, n, "pass")) {
        ret->kind = NAMES_TOKEN; /* SSHPASS */
    }
    bool query = begin > 0 && (s[begin - 1] == '?' || s[begin - 1] == '&');
    if (!ret->kind && query && secret_is_any(s + begin, n, query_words)) {
        ret->kind = NAMES_TOKEN;
    } else if (!ret->kind && is_key(s, begin, ret->end)) {
        size_t from = at > 160 ? at - 160 : 0; /* {"username": …, "key": …} */
        ret->kind = memmem(s + from, at - from, "username", 8) ? NAMES_TOKEN : NAMES_KEY;
    }
    ret->begins_line = ret->kind && begins_line(s, at);
    return ret->kind != NAMES_NOTHING;
}

/* --- values --- */

struct named_value {
    size_t start, end;
    char quote; /* or 0 */
    bool tight; /* NAME=value: no blank around the sign */
    bool bytes; /* b"value" */
    char sign;  /* '=', ':' or ' ' */
    bool ends_line, in_pairs;
};

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

/* Behind the letters of b"…", rf"…". */
static size_t skip_prefix(const char *s, size_t len, size_t at) {
    size_t i = at;
    char quote;
    while (i < len && i - at < 2 && s[i] && strchr("bBrRuUfF", s[i])) {
        i++;
    }
    (void)skip_quote(s, len, i, &quote);
    return quote == '"' || quote == '\'' ? i : at;
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

/* "NAME", "value"; name: NAME, value: …; name="NAME" value="…": the place of the sign
 * before the value, or of the value when *ret_quoted. 0: none. */
static size_t pair_behind(const char *s, size_t len, size_t at, bool *ret_quoted) {
    size_t i = at, stop = len - at < 64 ? len : at + 64;
    char quote;
    while (i < stop && s[i] && (strchr(" \t,", s[i]) || secret_newline(s, stop, i))) {
        i += secret_newline(s, stop, i) ? secret_newline(s, stop, i) : 1;
    }
    size_t word = skip_quote(s, stop, i, &quote);
    *ret_quoted = quote && memchr(s + at, ',', i - at);
    if (stop - word > 6 && strncasecmp(s + word, "value", 5) == 0) {
        size_t sign = secret_blanks(s, stop, skip_quote(s, stop, word + 5, &quote));
        if (sign < stop && (s[sign] == ':' || s[sign] == '=')) {
            *ret_quoted = false;
            return sign;
        }
    }
    return *ret_quoted ? i : 0;
}

/* The sign between a name and its value; the place behind it, or 0. */
static size_t sign_behind(const char *s, size_t len, const struct name *name,
                          char *ret_sign) {
    char quote;
    size_t at = skip_quote(s, len, name->end, &quote);
    at += at < len && s[at] == ']'; /* environ["KEY"] = … */
    size_t sign = secret_blanks(s, len, at);
    bool quoted;
    size_t pair = pair_behind(s, len, at, &quoted);
    *ret_sign = sign < len ? s[sign] : 0;
    if (*ret_sign == '=' || *ret_sign == ':') {
        sign++;
        sign += sign < len && (s[sign] == '>' || (*ret_sign == ':' && s[sign] == '='));
        return sign < len && s[sign] == '=' ? 0 : sign; /* no comparison */
    }
    if (secret_starts(s, len, sign, "%3D") || secret_starts(s, len, sign, "%3d")) {
        *ret_sign = '='; /* of an address within an address */
        return sign + 3;
    }
    bool attribute = quote && sign == at; /* <property name="….password">value</ */
    if (*ret_sign == '>' && ((sign == name->end && name->is_element) || attribute)) {
        return sign + 1;
    }
    size_t open = name->start;
    while (open > 0 && name->start - open < 8 && s[open - 1] &&
           strchr("\\\"'", s[open - 1])) {
        open--;
    }
    bool argument = quote && open > 0 && s[open - 1] == '(';
    if (pair && (quoted ? argument : quote || secret_newline(s, len, sign))) {
        *ret_sign = ',';
        return quoted ? pair : pair + 1;
    }
    bool flag = name->is_flag && sign > name->end;
    (void)skip_quote(s, len, sign, &quote);
    bool defined = quote && sign > name->end && is_defined(s, len, name);
    *ret_sign = ' ';
    return flag || defined ? sign : 0;
}

/* password: |
 *   the value */
static size_t block_behind(const char *s, size_t len, size_t at) {
    size_t i = at + (at < len && (s[at] == '|' || s[at] == '>'));
    i += i > at && i < len && (s[i] == '-' || s[i] == '+');
    return i > at && secret_newline(s, len, i)
               ? secret_blanks(s, len, i + secret_newline(s, len, i))
               : at;
}

/* token: !!str value */
static size_t tag_behind(const char *s, size_t len, size_t at) {
    size_t i = at;
    while (i < len && s[at] == '!' && !isspace((unsigned char)s[i]) && i - at < MAX_NAME) {
        i++;
    }
    return i < len && s[i] == ' ' ? secret_blanks(s, len, i) : at;
}

/* Behind the rest of an unquoted value that stands alone on its line: NAME=a,b;c */
static size_t whole_value(const char *s, size_t len, const struct named_value *v) {
    size_t i = v->end, stop = len - v->start < MAX_VALUE ? len : v->start + MAX_VALUE;
    while (i < stop && !isspace((unsigned char)s[i]) && !strchr("\"'`\\", s[i])) {
        i++;
    }
    size_t behind = secret_blanks(s, len, i);
    bool alone = behind >= len || secret_newline(s, len, behind);
    return alone && i - v->end > 1 ? i : v->end;
}

/* pass = value, user = ann: another pair follows. */
static bool begins_pair(const char *s, size_t len, size_t at) {
    size_t name = at < len && strchr(",;", s[at]) ? secret_blanks(s, len, at + 1) : len;
    size_t n = name < len ? secret_run(SECRET_WORD, s, len, name) : 0;
    size_t sign = secret_blanks(s, len, name + n);
    return n && sign + 1 < len && s[sign] == '=' && s[sign + 1] != '=';
}

static bool value_behind(const char *s, size_t len, const struct name *name,
                         struct named_value *ret) {
    size_t at = sign_behind(s, len, name, &ret->sign);
    if (!at) {
        return false;
    }
    bool upper = name->is_upper && ret->sign == ':';
    if (upper && name->kind == NAMES_TOKEN && len - name->end > 1 &&
        s[name->end] == ':' && s[name->end + 1] == ' ') {
        return false; /* PASS: what a test says */
    }
    size_t from = tag_behind(s, len, secret_blanks(s, len, at));
    from = block_behind(s, len, from);
    bool encoded = s[at - 1] != ret->sign && tolower((unsigned char)s[at - 1]) == 'd';
    ret->tight = from == at && ret->sign != ' ' && (s[at - 1] == ret->sign || encoded) &&
                 !isspace((unsigned char)s[at - 2]);
    size_t literal = skip_prefix(s, len, from);
    ret->bytes = literal > from && tolower((unsigned char)s[from]) == 'b';
    from = literal;
    ret->start = skip_quote(s, len, from, &ret->quote);
    ret->end = value_end(s, len, ret->start, ret->quote, ret->start > from + 1);
    if (!ret->quote && name->begins_line && ret->end > ret->start && ret->end < len &&
        s[ret->end] != '(') {
        ret->end = whole_value(s, len, ret);
    }
    size_t behind = secret_blanks(s, len, ret->end);
    ret->ends_line = behind >= len || secret_newline(s, len, behind);
    ret->in_pairs = ret->sign == '=' && begins_pair(s, len, behind);
    bool element = ret->sign != '>' || secret_starts(s, len, ret->end, "</");
    bool closes =
        ret->quote && s[ret->start] && strchr(" \t\n,)", s[ret->start]); /* 'NAME=' … */
    return ret->end > ret->start && element && !closes;
}

/* connect(password=password): an argument's name and a variable. */
static bool is_variable(const char *s, size_t len, const struct named_value *v) {
    return !any_of(i, v->start, v->end,
                   !islower((unsigned char)s[i]) && s[i] != '_' && s[i] != '.') &&
           !v->quote && v->end < len && strchr("),(", s[v->end]);
}

/* user.password, default_password: a variable too. */
static bool is_dotted(const char *s, size_t n) {
    return !any_of(i, 0, n,
                   !isalpha((unsigned char)s[i]) && s[i] != '_' && s[i] != '.') &&
           (memchr(s, '.', n) || memchr(s, '_', n));
}

/* 482917, JBSWY3DPEHPK3PXP */
static bool is_code(const char *s, size_t n) {
    struct secret_mix m = secret_mix(s, n);
    bool same = secret_run(SECRET_UPPER, s, n, 0) == n;
    return same && (m.upper ? n >= 16 && m.digit : n >= 4 && n <= 10);
}

static bool is_secret_value(const char *s, size_t len, const struct name *name,
                            const struct named_value *v) {
    const char *value = s + v->start;
    size_t n = v->end - v->start;
    struct secret_mix m = secret_mix(value, n);
    bool called = !v->quote && v->end < len && s[v->end] == '(';
    bool close =
        v->quote || v->tight || (v->sign && strchr(" ,>", v->sign)) || name->is_header;
    bool code = v->quote == '`' && memchr(value, '(', n);
    bool ends = v->ends_line || (v->in_pairs && !secret_is_words(value, n));
    if (secret_is_example(value, n) || called || code) {
        return false;
    }
    switch (name->kind) {
    case NAMES_SECRET:
        if (close) {
            return n >= 3 && !is_variable(s, len, v);
        }
        /* "password: hunter2" in YAML, not "password: must be long" or code */
        return (n >= 6 && v->ends_line && (v->sign == ':' || name->begins_line) &&
                !is_dotted(value, n)) ||
               (secret_is_odd(value, n) && n >= 6 && !is_dotted(value, n));
    case NAMES_TOKEN:
        return n >= (close || (ends && secret_is_odd(value, n)) ? 8 : 16) &&
               !is_dotted(value, n) && (m.lower || m.upper) &&
               (m.digit ||
                (n >= 20 && m.lower && m.upper && !secret_is_words(value, n))) &&
               !memchr(value, ' ', n);
    case NAMES_CODE:
        return (close || v->ends_line) && is_code(value, n);
    case NAMES_KEY:
        if (is_key(s, name->start, name->end)) { /* too common a word for more */
            return v->bytes && n >= 16 && m.digit && (m.lower || m.upper) && !m.other;
        }
        return (name->is_upper && n >= 12 && m.digit && (m.lower || m.upper) &&
                !m.other) ||
               (n >= 20 && m.lower && m.upper && m.digit && !m.other &&
                !secret_is_words(value, n));
    default:
        return n > 0;
    }
}

/* "Authorization: Bearer …": the scheme stays. */
static void take_header(const char *s, size_t len, const struct named_value *v,
                        struct secret *ret) {
    size_t stop = v->start, scheme = secret_run(SECRET_ALNUM, s, len, v->start);
    size_t at = v->start + scheme;
    while (stop < len && s[stop] != '\n' && s[stop] != '"' && s[stop] != '\'' &&
           s[stop] != '\\' && s[stop] != '`' && stop - v->start < MAX_VALUE) {
        stop++;
    }
    bool has_scheme = scheme && at < stop && s[at] == ' ' && at + 1 < stop;
    *ret = (struct secret){has_scheme ? at + 1 : v->start, stop, "<token>", false};
}

/* Behind the literal that begins at s[at], a quote or the backslashes before one. */
static struct named_value literal_at(const char *s, size_t len, size_t at) {
    struct named_value v = {.tight = true, .sign = '='};
    v.start = skip_quote(s, len, at, &v.quote);
    v.end = v.quote ? value_end(s, len, v.start, v.quote, v.start > at + 1) : v.start;
    return v;
}

/* get("P", "SECRET"), X || "SECRET", X or "SECRET", ${P:-SECRET}: what a name holds when
 * nothing was given. Within the expression that begins where v does. */
static bool fallback_at(const char *s, size_t len, const struct name *name,
                        const struct named_value *v, struct secret *ret) {
    size_t stop = v->quote                         ? v->end
                  : len - v->start < MAX_NAME * 4u ? len
                                                   : v->start + MAX_NAME * 4u;
    size_t depth = 0;
    char before = 0, second = 0; /* the last two that are no blanks */
    for (size_t i = v->start; i < stop && s[i] != '\n' && s[i] != ';'; i++) {
        struct named_value other = literal_at(s, stop, i);
        bool shell = before == ':' && s[i] == '-';
        if (shell || other.quote) {
            other.start += shell && !other.quote;
            other.end = shell ? value_end(s, stop, other.start, 0, false) : other.end;
            bool otherwise = shell || (before && strchr(",|?", before)) ||
                             (before == '=' && isalnum((unsigned char)second)) ||
                             (before == 'r' && second == 'o');
            *ret = (struct secret){other.start, other.end, "<secret>", false};
            if (otherwise && other.end > other.start &&
                secret_is_odd(s + other.start, other.end - other.start) &&
                is_secret_value(s, len, name, &other)) {
                return true;
            }
            i = other.end;
            i += i < stop && s[i] == '\\';
        } else if (strchr("([{", s[i])) {
            depth++;
        } else if (strchr(")]}", s[i]) || (s[i] == ',' && !depth)) {
            if (!depth) {
                return false;
            }
            depth--;
        }
        if (i < stop && !isspace((unsigned char)s[i])) {
            second = before;
            before = s[i];
        }
    }
    return false;
}

bool secret_named(const char *s, size_t len, size_t at, struct secret *ret) {
    struct name name;
    struct named_value v;
    if (!name_at(s, len, at, &name)) {
        return false;
    }
    if (!value_behind(s, len, &name, &v)) {
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
        return header && n >= 6 && !isspace((unsigned char)s[ret->end - 1]) &&
               !secret_is_example(s + ret->start, n);
    }
    *ret = (struct secret){v.start, v.end, "<secret>", false};
    return is_secret_value(s, len, &name, &v) ||
           ((name.kind == NAMES_SECRET || name.kind == NAMES_TOKEN) && v.sign != ' ' &&
            fallback_at(s, len, &name, &v, ret));
}

/* --- options --- */

static bool is_glued(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t n = secret_run(SECRET_ALNUM, s, len, at + 2);
    size_t end = at + 2 + n;
    struct secret_mix m = secret_mix(s + at + 2, n);
    bool ends = end == len || !s[end] || strchr(" \t\n\r\"'\\`;|&)", s[end]);
    *ret = (struct secret){at + 2, end, "<secret>", false};
    return s[at + 1] == 'p' && n >= 8 && m.lower && m.upper && m.digit && ends;
}

bool secret_option(const char *s, size_t len, size_t at, struct secret *ret) {
    char quote;
    size_t n = s[at] == '-' ? secret_run(SECRET_WORD, s, len, at) : 0;
    if (n < 2 || (s[at + 1] != '-' && is_glued(s, len, at, ret))) {
        return n >= 2;
    }
    size_t i = at + n;
    bool signs = i < len && (s[i] == '=' || s[i] == ' ');
    if (!signs || !secret_is_any(s + at, n, login_options)) {
        return false;
    }
    size_t user = skip_quote(s, len, secret_blanks(s, len, i + 1), &quote);
    size_t sign = user + secret_run(SECRET_WORD, s, len, user);
    if (sign == user || sign >= len || (s[sign] != ':' && s[sign] != '%')) {
        return false;
    }
    *ret = (struct secret){sign + 1, value_end(s, len, sign + 1, quote, false),
                           "<secret>", false};
    size_t size = ret->end - ret->start;
    return size >= 6 && secret_is_odd(s + ret->start, size) &&
           !secret_is_example(s + ret->start, size);
}

/* host:5432:database:user:secret, as .pgpass holds it; s[at] begins a line. */
bool secret_line(const char *s, size_t len, size_t at, struct secret *ret) {
    size_t colon[5] = {0}, count = 0, i = at, stop = len - at < 512 ? len : at + 512;
    for (; i < stop && !isspace((unsigned char)s[i]) && s[i]; i++) {
        if (s[i] == '\\' && i + 1 < stop) {
            i++;
        } else if (s[i] == ':' && count < 5) {
            colon[count++] = i;
        } else if (strchr("/()[]{}\"'`,;=<>", s[i]) && count < 4) {
            return false;
        }
    }
    if (count != 4 || colon[0] == at || colon[2] == colon[1] + 1 || i - colon[3] < 4) {
        return false;
    }
    size_t digits = colon[0] + 1;
    while (digits < colon[1] && isdigit((unsigned char)s[digits])) {
        digits++;
    }
    bool any = s[colon[0] + 1] == '*' && colon[1] == colon[0] + 2;
    bool port = digits == colon[1] && colon[1] - colon[0] > 3;
    bool number = isdigit((unsigned char)s[colon[1] + 1]); /* file:120:7:error:text */
    *ret = (struct secret){colon[3] + 1, i, "<secret>", false};
    return (any || port) && !number && !secret_is_example(s + ret->start, i - ret->start);
}
