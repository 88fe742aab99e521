#include "gpu/source/cuda_lexer.h"

#include "base/find.h"

/* ---- characters ---- */

static size_t newline_len(const char *text, size_t len, size_t at) {
    if (at >= len || (text[at] != '\n' && text[at] != '\r')) {
        return 0;
    }
    return text[at] == '\r' && at + 1 < len && text[at + 1] == '\n' ? 2 : 1;
}

static bool is_blank(int c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\0';
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_identifier_start(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           c >= 0x80;
}

static bool is_identifier_part(int c) {
    return is_identifier_start(c) || is_digit(c);
}

/* The offset after any run of line splices at `at`. Blanks between the backslash and the
 * newline are allowed, as gcc does. */
static size_t past_splices(const struct cuda_lexer *l, size_t at) {
    while (at < l->len && l->text[at] == '\\') {
        size_t end = at + 1;
        while (end < l->len && is_blank((unsigned char)l->text[end])) {
            end++;
        }
        size_t newline = newline_len(l->text, l->len, end);
        if (newline == 0) {
            break;
        }
        if (l->tighten && end > at + 1) {
            l->tighten[at] = ' ';
            l->tighten[end - 1] = '\\';
        }
        at = end + newline;
    }
    return at;
}

/* The byte at `at` behind any splices, -1 at the end of the text. Nearly all bytes are no
 * backslash: that case is short enough to be inlined, here and in step(). */
static inline int peek(const struct cuda_lexer *l, size_t at) {
    if (at < l->len && l->text[at] != '\\') {
        return (unsigned char)l->text[at];
    }
    at = past_splices(l, at);
    return at < l->len ? (unsigned char)l->text[at] : -1;
}

/* The offset behind that byte. */
static inline size_t step(const struct cuda_lexer *l, size_t at) {
    if (at < l->len && l->text[at] != '\\') {
        return at + 1;
    }
    at = past_splices(l, at);
    return at < l->len ? at + 1 : at;
}

static bool at_newline(const struct cuda_lexer *l, size_t at) {
    int c = peek(l, at);
    return c == '\n' || c == '\r';
}

/* Bytes of the token's spelling, splices left out, up to max - 1; always NUL-ended.
 * Returns the whole length. */
static size_t spell(const struct cuda_lexer *l, size_t start, size_t end, char *out,
                    size_t max) {
    size_t n = 0;
    for (size_t at = past_splices(l, start); at < end; at = past_splices(l, at + 1)) {
        if (n + 1 < max) {
            out[n] = l->text[at];
        }
        n++;
    }
    out[n < max ? n : max - 1] = '\0';
    return n;
}

/* ---- white space and comments ---- */

static size_t line_comment_end(const struct cuda_lexer *l, size_t at) {
    for (int c; (c = peek(l, at)) >= 0 && c != '\n' && c != '\r';) {
        at = step(l, at);
    }
    return at;
}

static size_t block_comment_end(const struct cuda_lexer *l, size_t at) {
    int before = 0;
    for (int c; (c = peek(l, at)) >= 0; before = c) {
        at = step(l, at);
        if (before == '*' && c == '/') {
            break;
        }
    }
    return at;
}

/* The end of the comment that begins at `at`, or `at` when none does. */
static size_t past_comment(const struct cuda_lexer *l, size_t at) {
    if (peek(l, at) != '/') {
        return at;
    }
    size_t second = step(l, at);
    switch (peek(l, second)) {
    case '/':
        return line_comment_end(l, step(l, second));
    case '*':
        return block_comment_end(l, step(l, second));
    default:
        return at;
    }
}

/* Blanks and comments, but not a newline outside a comment. */
static size_t past_blanks(const struct cuda_lexer *l, size_t at) {
    for (;;) {
        while (is_blank(peek(l, at))) {
            at = step(l, at);
        }
        size_t before = at;
        at = past_comment(l, at);
        if (at == before) {
            return at;
        }
    }
}

/* ---- tokens ---- */

static size_t identifier_end(const struct cuda_lexer *l, size_t at) {
    while (is_identifier_part(peek(l, at))) {
        at = step(l, at);
    }
    return at;
}

static size_t number_end(const struct cuda_lexer *l, size_t at) {
    for (;;) {
        int c = peek(l, at);
        size_t after = step(l, at);
        if (c == '\'' && is_identifier_part(peek(l, after))) {
            at = step(l, after);
        } else if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') &&
                   (peek(l, after) == '+' || peek(l, after) == '-')) {
            at = step(l, after);
        } else if (is_identifier_part(c) || c == '.') {
            at = after;
        } else {
            return at;
        }
    }
}

/* A literal's end from its opening quote on: the closing quote and a suffix, or its
 * line's end. */
static size_t quoted_end(const struct cuda_lexer *l, size_t at, int quote) {
    at = step(l, at);
    for (int c; (c = peek(l, at)) >= 0 && !at_newline(l, at);) {
        at = step(l, at);
        if (c == quote) {
            return is_identifier_start(peek(l, at)) ? identifier_end(l, at) : at;
        }
        if (c == '\\' && peek(l, at) >= 0 && !at_newline(l, at)) {
            at = step(l, at);
        }
    }
    return at;
}

/* A raw string's end from its opening quote on; 0 when what follows is not R"delimiter(.
 * Splices mean nothing inside. */
static size_t raw_end(const struct cuda_lexer *l, size_t quote) {
    size_t from = quote + 1, n = 0;
    while (from + n < l->len && n <= 16 && l->text[from + n] != '(') {
        if (strchr(" )\\\t\v\f\r\n\"", l->text[from + n])) { /* matches NUL too */
            return 0;
        }
        n++;
    }
    if (n > 16 || from + n >= l->len) {
        return 0;
    }
    const char *delimiter = l->text + from;
    size_t at = from + n + 1;
    for (; at < l->len; at++) {
        const char *close = memchr(l->text + at, ')', l->len - at);
        if (!close) {
            return l->len;
        }
        at = (size_t)(close - l->text);
        if (l->len - at >= n + 2 && memcmp(close + 1, delimiter, n) == 0 &&
            close[n + 1] == '"') {
            at += n + 2;
            return is_identifier_start(peek(l, at)) ? identifier_end(l, at) : at;
        }
    }
    return l->len;
}

/* An identifier, or the literal that it is the prefix of. */
static struct cuda_token word(const struct cuda_lexer *l, size_t start) {
    struct cuda_token t = {
        .kind = CUDA_IDENTIFIER, .start = start, .end = identifier_end(l, start)};
    int quote = peek(l, t.end);
    char prefix[5];
    if ((quote != '"' && quote != '\'') ||
        spell(l, t.start, t.end, prefix, sizeof prefix) >= sizeof prefix - 1) {
        return t;
    }
    size_t n = strlen(prefix);
    bool raw = prefix[n - 1] == 'R' && quote == '"';
    if (raw) {
        prefix[n - 1] = '\0';
    }
    if (strcmp(prefix, "u8") != 0 && strcmp(prefix, "u") != 0 &&
        strcmp(prefix, "U") != 0 && strcmp(prefix, "L") != 0 && !(raw && n == 1)) {
        return t;
    }
    size_t end = raw ? raw_end(l, past_splices(l, t.end)) : 0;
    t.kind = quote == '"' ? CUDA_STRING : CUDA_CHARACTER;
    t.end = end ? end : quoted_end(l, t.end, quote);
    return t;
}

/* Of more than one character: longest first. */
static const char *const punctuators[] = {
    "%:%:", "<<<", ">>>", "<<=", ">>=", "<=>", "...", "->*", "::", "->", "++", "--",
    "<<",   ">>",  "<=",  ">=",  "==",  "!=",  "&&",  "||",  "+=", "-=", "*=", "/=",
    "%=",   "&=",  "|=",  "^=",  "##",  ".*",  "<:",  ":>",  "<%", "%>", "%:",
};

/* Whether any of them goes on with this character. */
static bool goes_on(int c) {
    return c > 0 && strchr("=:<>&|+-*.#%", c);
}

static size_t punctuator_end(const struct cuda_lexer *l, size_t start) {
    size_t second = step(l, start);
    if (!goes_on(peek(l, second))) {
        return second;
    }
    char next[5] = "";
    size_t ends[4] = {0}, n = 0;
    for (size_t at = start; n < 4 && peek(l, at) >= 0; n++) {
        next[n] = (char)peek(l, at);
        at = step(l, at);
        ends[n] = at;
    }
    next[n] = '\0';
    if (strncmp(next, "<::", 3) == 0 && next[3] != ':' && next[3] != '>') {
        return ends[0]; /* "<::x" is '<' and '::', by the standard */
    }
    for (size_t i = 0; i < ARRAY_LEN(punctuators); i++) {
        size_t len = punctuators[i][0] == next[0] ? strlen(punctuators[i]) : 0;
        if (len && strncmp(next, punctuators[i], len) == 0) {
            return ends[len - 1];
        }
    }
    return n > 0 ? ends[0] : start;
}

static struct cuda_token plain_token(const struct cuda_lexer *l, size_t start) {
    int c = peek(l, start);
    if (is_identifier_start(c)) {
        return word(l, start);
    }
    struct cuda_token t = {.kind = CUDA_PUNCTUATOR, .start = start};
    if (is_digit(c) || (c == '.' && is_digit(peek(l, step(l, start))))) {
        t.kind = CUDA_NUMBER;
        t.end = number_end(l, step(l, start));
    } else if (c == '"' || c == '\'') {
        t.kind = c == '"' ? CUDA_STRING : CUDA_CHARACTER;
        t.end = quoted_end(l, start, c);
    } else {
        t.end = punctuator_end(l, start);
    }
    return t;
}

/* ---- directives ---- */

static bool names_a_header(const char *directive) {
    return strcmp(directive, "include") == 0 || strcmp(directive, "include_next") == 0 ||
           strcmp(directive, "import") == 0 || strcmp(directive, "embed") == 0;
}

/* A header name's end: behind the closing quote or bracket, or `at` when it has none. */
static size_t header_name_end(const struct cuda_lexer *l, size_t at) {
    int open = peek(l, at), close = open == '<' ? '>' : '"';
    if (open != '<' && open != '"') {
        return at;
    }
    for (size_t end = step(l, at); peek(l, end) >= 0 && !at_newline(l, end);) {
        int c = peek(l, end);
        end = step(l, end);
        if (c == close) {
            return end;
        }
    }
    return at;
}

/* The offset of the directive's name, from its '#' (or '%:'). */
static size_t directive_name_start(const struct cuda_lexer *l, size_t hash) {
    size_t at = peek(l, hash) == '%' ? step(l, step(l, hash)) : step(l, hash);
    return past_blanks(l, at);
}

static size_t directive_end(const struct cuda_lexer *l, size_t hash) {
    size_t at = directive_name_start(l, hash);
    size_t name_end = identifier_end(l, at);
    char name[32];
    spell(l, at, name_end, name, sizeof name);
    bool header_next = names_a_header(name);
    size_t end = name_end;
    for (at = past_blanks(l, name_end); peek(l, at) >= 0 && !at_newline(l, at);
         at = past_blanks(l, at)) {
        size_t header = header_next ? header_name_end(l, at) : at;
        if (header > at) {
            at = end = header;
            header_next = false;
            continue;
        }
        struct cuda_token t = plain_token(l, past_splices(l, at));
        bool has_include = cuda_token_is(l, &t, "__has_include") ||
                           cuda_token_is(l, &t, "__has_include_next") ||
                           cuda_token_is(l, &t, "__has_embed");
        header_next = has_include || (header_next && cuda_token_is(l, &t, "("));
        at = end = t.end;
    }
    return end;
}

static bool begins_directive(const struct cuda_lexer *l, size_t at) {
    int c = peek(l, at);
    return c == '#' || (c == '%' && peek(l, step(l, at)) == ':');
}

/* ---- the interface ---- */

void cuda_lexer_init(struct cuda_lexer *l, const char *text, size_t len) {
    *l = (struct cuda_lexer){.text = text, .len = len, .line_start = true};
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        l->at = 3;
    }
}

void cuda_splices_tighten(char *text, size_t len) {
    struct cuda_lexer l;
    if (!memchr(text, '\\', len)) {
        return; /* there is no splice */
    }
    cuda_lexer_init(&l, text, len);
    l.tighten = text;
    while (cuda_lexer_next(&l).kind != CUDA_END) {}
}

struct cuda_token cuda_lexer_next(struct cuda_lexer *l) {
    for (;;) {
        l->at = past_blanks(l, l->at);
        if (!at_newline(l, l->at)) {
            break;
        }
        l->at = step(l, l->at);
        l->line_start = true;
    }
    l->at = past_splices(l, l->at);
    struct cuda_token t = {
        .kind = CUDA_END, .start = l->at, .end = l->at, .line_start = l->line_start};
    if (l->at >= l->len) {
        return t;
    }
    if (l->line_start && begins_directive(l, l->at)) {
        t.kind = CUDA_DIRECTIVE;
        t.end = directive_end(l, l->at);
    } else {
        t = plain_token(l, l->at);
        t.line_start = l->line_start;
    }
    l->line_start = false;
    l->at = t.end;
    return t;
}

/* The one spelling of a token that has two. */
static const char *primary_spelling(const char *s) {
    static const char *const digraphs[][2] = {{"<%", "{"}, {"%>", "}"}, {"<:", "["},
                                              {":>", "]"}, {"%:", "#"}, {"%:%:", "##"}};
    size_t at = first_of(i, 0, ARRAY_LEN(digraphs), strcmp(s, digraphs[i][0]) == 0);
    return at < ARRAY_LEN(digraphs) ? digraphs[at][1] : s;
}

bool cuda_token_is(const struct cuda_lexer *l, const struct cuda_token *t,
                   const char *text) {
    char got[40];
    if (t->end <= t->start || spell(l, t->start, t->end, got, sizeof got) >= sizeof got) {
        return false;
    }
    return strcmp(t->kind == CUDA_PUNCTUATOR ? primary_spelling(got) : got, text) == 0;
}

/* The same inside a directive: its tokens, a header name being one. */
static size_t directive_token_end(const struct cuda_lexer *l, const struct cuda_token *d,
                                  size_t offset) {
    size_t at = directive_name_start(l, d->start);
    bool header_next = false;
    if (offset < at) {
        return offset == d->start ? step(l, offset) : offset;
    }
    while (at <= offset && at < d->end) {
        size_t start = past_splices(l, at);
        struct cuda_token t = plain_token(l, start);
        size_t header = header_next ? header_name_end(l, start) : start;
        t.end = header > start ? header : t.end;
        if (offset >= start && offset < t.end) {
            return t.end;
        }
        char name[32];
        spell(l, t.start, t.end, name, sizeof name);
        header_next = names_a_header(name) || (header_next && strcmp(name, "(") == 0) ||
                      strncmp(name, "__has_include", 13) == 0;
        at = past_blanks(l, t.end);
    }
    return offset;
}

size_t cuda_token_end(const char *text, size_t len, size_t offset) {
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, len);
    for (;;) {
        struct cuda_token t = cuda_lexer_next(&l);
        if (t.kind == CUDA_END || t.start > offset) {
            return offset;
        }
        if (offset < t.end) {
            return t.kind == CUDA_DIRECTIVE ? directive_token_end(&l, &t, offset) : t.end;
        }
    }
}

/* The header name at `at`, without its quotes and splices. */
static void read_target(const struct cuda_lexer *l, size_t at,
                        struct cuda_directive *ret) {
    size_t end = header_name_end(l, at);
    if (end == at) {
        ret->form = INCLUDE_COMPUTED;
        return;
    }
    ret->form = peek(l, at) == '<' ? INCLUDE_ANGLED : INCLUDE_QUOTED;
    size_t from = step(l, at);
    ret->target = xmalloc(end - from + 1);
    size_t n = spell(l, from, end, ret->target, end - from + 1);
    ret->target[n > 0 ? n - 1 : 0] = '\0';
}

void cuda_directive_read(const struct cuda_lexer *l, const struct cuda_token *t,
                         struct cuda_directive *ret) {
    struct cuda_lexer inside = *l;
    inside.len = t->end;
    *ret = (struct cuda_directive){.form = INCLUDE_COMPUTED};
    size_t name = directive_name_start(&inside, t->start);
    size_t name_end = identifier_end(&inside, name);
    if (is_digit(peek(&inside, name))) {
        memcpy(ret->name, "line", sizeof "line");
        name_end = name;
    } else {
        spell(&inside, name, name_end, ret->name, sizeof ret->name);
    }
    ret->argument = past_splices(&inside, past_blanks(&inside, name_end));
    ret->argument_end = t->end;
    if (ret->argument > ret->argument_end) {
        ret->argument = ret->argument_end;
    }
    if (names_a_header(ret->name)) {
        read_target(&inside, ret->argument, ret);
    }
}

int cuda_directive_nests(const struct cuda_directive *d) {
    return (strncmp(d->name, "if", 2) == 0) - (strcmp(d->name, "endif") == 0);
}

void cuda_lexer_init_argument(struct cuda_lexer *l, const char *text,
                              const struct cuda_directive *d) {
    cuda_lexer_init(l, text, d->argument_end);
    l->at = d->argument;
    l->line_start = false;
}

void cuda_directive_finish(struct cuda_directive *d) {
    free(d->target);
    d->target = NULL;
}
