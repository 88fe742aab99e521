#include "gpu/source/host_tokens.h"

#include "base/find.h"
#include "gpu/source/cuda_lexer.h"

#include <ctype.h>

struct token_spelling {
    const char *text;
    enum code_word word;
};

static const struct token_spelling punctuators[] = {
    {"{", WORD_BRACE_OPEN},
    {"}", WORD_BRACE_CLOSE},
    {"(", WORD_PAREN_OPEN},
    {")", WORD_PAREN_CLOSE},
    {"[", WORD_BRACKET_OPEN},
    {"]", WORD_BRACKET_CLOSE},
    {"<%", WORD_BRACE_OPEN},
    {"%>", WORD_BRACE_CLOSE},
    {"<:", WORD_BRACKET_OPEN},
    {":>", WORD_BRACKET_CLOSE},
    {"<", WORD_LESS},
    {">", WORD_GREATER},
    {">>", WORD_SHIFT_RIGHT},
    {"<<<", WORD_LAUNCH_OPEN},
    {">>>", WORD_LAUNCH_CLOSE},
    {";", WORD_SEMICOLON},
    {",", WORD_COMMA},
    {"=", WORD_ASSIGN},
    {":", WORD_COLON},
    {"::", WORD_SCOPE},
    {"*", WORD_STAR},
    {"&", WORD_AMPERSAND},
    {"~", WORD_TILDE},
    {"->", WORD_ARROW},
    {".", WORD_DOT},
    {"&&", WORD_AND_AND},
    {"||", WORD_OR_OR},
    {"!", WORD_NOT},
};

#include "gpu/keywords_table.h"

static size_t spell_token(const struct code_tokens *t, const struct code_token *token,
                          char *out, size_t max) {
    size_t n = 0;
    for (size_t at = token->start; at < token->end && n + 1 < max; at++) {
        char c = t->text[at];
        if (c == '\\' || c == '\n' || c == '\r') {
            continue; /* a splice; names hold no backslash otherwise */
        }
        out[n++] = c;
    }
    out[n] = '\0';
    return n;
}

static enum code_word punctuator_word(const char *s) {
    size_t at =
        first_of(i, 0, ARRAY_LEN(punctuators),
                 punctuators[i].text[0] == s[0] && strcmp(punctuators[i].text, s) == 0);
    return at < ARRAY_LEN(punctuators) ? punctuators[at].word : WORD_NONE;
}

static int compare_spelling(const void *key, const void *spelling) {
    return strcmp(key, ((const struct token_spelling *)spelling)->text);
}

/* "__launch_bounds__" and its like, "__restrict", and what compilers have as keywords;
 * libraries have names with two underscores of their own. */
static bool is_reserved_word(const char *s) {
    static const char *const words[] = {"asm",      "attribute", "builtin", "const",
                                        "declspec", "extension", "inline",  "restrict",
                                        "signed",   "typeof",    "volatile"};
    size_t len = strlen(s);
    if (len < 5 || s[0] != '_' || s[1] != '_') {
        return false;
    }
    return any_of(i, 0, ARRAY_LEN(words), strcmp(s + 2, words[i]) == 0) ||
           (s[len - 1] == '_' && s[len - 2] == '_');
}

/* No keyword: a name; reserved words take arguments as attributes do. */
static enum code_word identifier_word(const char *s) {
    const struct token_spelling *found =
        bsearch(s, keywords, ARRAY_LEN(keywords) - 1, sizeof *keywords, compare_spelling);
    return found ? found->word : is_reserved_word(s) ? WORD_ATTRIBUTE : WORD_NAME;
}

static enum code_word word_of(const struct code_tokens *t,
                              const struct cuda_token *token) {
    switch (token->kind) {
    case CUDA_DIRECTIVE:
        return WORD_DIRECTIVE;
    case CUDA_NUMBER:
        return WORD_NUMBER;
    case CUDA_IDENTIFIER:
    case CUDA_PUNCTUATOR:
        break;
    default:
        return WORD_NONE;
    }
    char s[24];
    struct code_token small = {.start = (uint32_t)token->start,
                               .end = (uint32_t)token->end};
    spell_token(t, &small, s, sizeof s);
    return token->kind == CUDA_IDENTIFIER ? identifier_word(s) : punctuator_word(s);
}

static void add_token(struct code_tokens *t, size_t *cap, struct code_token token) {
    list_room(t->list, t->count, *cap, 1024);
    t->list[t->count++] = token;
}

/* ---- #if 0 ---- */

/* What stands beneath #if 0 is no code and need not even look like it. */
struct dead_region {
    size_t depth; /* of #ifs inside it; 0 = not inside one */
};

/* True when this token is dead. The directives that begin and end the region are not. */
static bool is_dead(struct dead_region *r, const struct cuda_lexer *l,
                    const struct cuda_token *t) {
    if (t->kind != CUDA_DIRECTIVE) {
        return r->depth > 0;
    }
    struct cuda_directive d;
    cuda_directive_read(l, t, &d);
    const char *argument = l->text + d.argument;
    size_t len = d.argument_end - d.argument;
    bool opens = strncmp(d.name, "if", 2) == 0, branches = strncmp(d.name, "el", 2) == 0;
    bool closes = strcmp(d.name, "endif") == 0;
    bool zero =
        strcmp(d.name, "if") == 0 && ((len == 1 && *argument == '0') ||
                                      (len == 5 && memcmp(argument, "false", 5) == 0));
    cuda_directive_finish(&d);
    if (r->depth == 0) {
        r->depth = zero;
        return false;
    }
    r->depth += opens;
    if (r->depth == 1 && (branches || closes)) {
        r->depth = 0;
        return false;
    }
    r->depth -= closes;
    return true;
}

/* "__attribute__((global))", of which CUDA's headers make __global__: one token, that
 * word. */
static void join_attribute(struct code_tokens *t) {
    struct code_token *last = t->list + t->count;
    char s[24] = "__";
    if (t->count < 6 || last[-1].word != WORD_PAREN_CLOSE ||
        last[-2].word != WORD_PAREN_CLOSE || last[-4].word != WORD_PAREN_OPEN ||
        last[-5].word != WORD_PAREN_OPEN || last[-6].word != WORD_ATTRIBUTE) {
        return;
    }
    size_t n = spell_token(t, &last[-3], s + 2, sizeof s - 5);
    memcpy(s + 2 + n, "__", 3);
    enum code_word word = s[2] == '_' ? last[-3].word : identifier_word(s);
    if (word == WORD_GLOBAL || word == WORD_DEVICE || word == WORD_HOST) {
        last[-6].word = (uint8_t)word;
        last[-6].end = last[-1].end;
        t->count -= 5;
    }
}

int code_tokens_read(struct code_tokens *ret, const char *text, size_t len) {
    return code_tokens_read_up_to(ret, text, len, HOST_TOKENS_MAX);
}

int code_tokens_read_up_to(struct code_tokens *ret, const char *text, size_t len,
                           size_t max) {
    *ret = (struct code_tokens){.text = text, .len = len};
    if (len >= UINT32_MAX) {
        return -E2BIG;
    }
    size_t cap = 0;
    struct dead_region dead = {0};
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, len);
    for (;;) {
        struct cuda_token t = cuda_lexer_next(&l);
        struct code_token small = {(uint32_t)t.start, (uint32_t)t.end, WORD_END,
                                   t.line_start};
        if (t.kind == CUDA_END) {
            add_token(ret, &cap, small);
            ret->count--;
            return 0;
        }
        if (is_dead(&dead, &l, &t)) {
            continue;
        }
        if (ret->count >= max) {
            code_tokens_finish(ret);
            return -E2BIG;
        }
        small.word = (uint8_t)word_of(ret, &t);
        add_token(ret, &cap, small);
        if (small.word == WORD_PAREN_CLOSE) {
            join_attribute(ret);
        }
    }
}

/* Whether w begins, or ends, one of the words that make a function the device's. */
static unsigned space_ends(const char *w, size_t len) {
    static const char *const words[] = {"__global__", "__device__"};
    unsigned ends = 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i]);
        ends |= len && len < n && memcmp(words[i], w, len) == 0 ? 1u : 0;
        ends |= len && len < n && memcmp(words[i] + n - len, w, len) == 0 ? 2u : 0;
    }
    return ends;
}

bool code_may_paste_space(const char *text, size_t len) {
    unsigned ends = 0;
    if (!memmem(text, len, "##", 2)) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        size_t end = i;
        while (end < len && (isalnum((unsigned char)text[end]) || text[end] == '_')) {
            end++;
        }
        ends |= space_ends(text + i, end - i);
        i = end;
    }
    return ends == 3;
}

void code_tokens_finish(struct code_tokens *t) {
    free(t->list);
    t->list = NULL;
    t->count = 0;
}

bool code_token_directive(const struct code_tokens *t, size_t i,
                          struct cuda_directive *ret) {
    if (t->list[i].word != WORD_DIRECTIVE) {
        return false;
    }
    struct cuda_lexer l;
    struct cuda_token token = {
        .kind = CUDA_DIRECTIVE, .start = t->list[i].start, .end = t->list[i].end};
    cuda_lexer_init(&l, t->text, t->len);
    cuda_directive_read(&l, &token, ret);
    return true;
}

bool code_token_define(const struct code_tokens *t, size_t i,
                       struct cuda_directive *ret) {
    bool is = code_token_directive(t, i, ret) && strcmp(ret->name, "define") == 0;
    if (!is && t->list[i].word == WORD_DIRECTIVE) {
        cuda_directive_finish(ret);
    }
    return is;
}

bool code_token_is(const struct code_tokens *t, size_t i, const char *text) {
    char s[64];
    return i < t->count && spell_token(t, &t->list[i], s, sizeof s) < sizeof s - 1 &&
           strcmp(s, text) == 0;
}

int code_word_nests(enum code_word w) {
    return (w == WORD_PAREN_OPEN || w == WORD_BRACE_OPEN || w == WORD_BRACKET_OPEN) -
           (w == WORD_PAREN_CLOSE || w == WORD_BRACE_CLOSE || w == WORD_BRACKET_CLOSE);
}

bool code_token_steps(const struct code_tokens *t, size_t i) {
    return code_token_in(t, i, "++ --");
}

bool code_token_writes(const struct code_tokens *t, size_t i) {
    size_t len = i < t->count ? t->list[i].end - t->list[i].start : 0;
    const char *s = len ? t->text + t->list[i].start : "";
    return code_token_steps(t, i) ||
           (len && s[len - 1] == '=' && !(len == 2 && strchr("=!<>", s[0])));
}

bool code_token_in(const struct code_tokens *t, size_t i, const char *words) {
    char s[64];
    size_t len = i < t->count ? spell_token(t, &t->list[i], s, sizeof s) : 0;
    for (size_t n; len && *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (n == len && memcmp(words, s, len) == 0) {
            return true;
        }
    }
    return false;
}

bool code_token_is_capital(const struct code_tokens *t, size_t i) {
    if (t->list[i].word != WORD_NAME) {
        return false;
    }
    bool capital = false;
    for (size_t at = t->list[i].start; at < t->list[i].end; at++) {
        if (t->text[at] >= 'a' && t->text[at] <= 'z') {
            return false;
        }
        capital |= t->text[at] >= 'A' && t->text[at] <= 'Z';
    }
    return capital;
}

uint64_t code_hash(const char *s, size_t len) {
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    }
    return h;
}

uint64_t code_token_hash(const struct code_tokens *t, size_t i) {
    char s[256];
    return code_hash(s, spell_token(t, &t->list[i], s, sizeof s));
}

size_t code_token_after(const struct code_tokens *t, size_t i) {
    while (i < t->count && t->list[++i].word == WORD_DIRECTIVE) {}
    return i;
}

static bool ends_value(enum code_word word) {
    return word == WORD_PAREN_CLOSE || word == WORD_NUMBER;
}

size_t code_angles_end(const struct code_tokens *t, size_t i) {
    int angles = 0, parens = 0, braces = 0;
    for (size_t at = i; at < t->count; at++) {
        switch (t->list[at].word) {
        case WORD_PAREN_OPEN:
        case WORD_BRACKET_OPEN:
            parens++;
            continue;
        case WORD_PAREN_CLOSE:
        case WORD_BRACKET_CLOSE:
            if (--parens < 0) {
                return i;
            }
            continue;
        case WORD_BRACE_OPEN:
            if (parens == 0) {
                return i;
            }
            braces++;
            continue;
        case WORD_BRACE_CLOSE:
            if (--braces < 0) {
                return i;
            }
            continue;
        case WORD_SEMICOLON:
            if (braces == 0) {
                return i;
            }
            continue;
        case WORD_LESS: /* behind f(x) and 2 it compares */
            angles += parens == 0 && (at == i || !ends_value(t->list[at - 1].word));
            continue;
        case WORD_GREATER:
            angles -= parens == 0;
            break;
        case WORD_SHIFT_RIGHT:
            angles -= parens == 0 ? 2 : 0;
            break;
        case WORD_LAUNCH_CLOSE:
            angles -= parens == 0 ? 3 : 0;
            break;
        case WORD_LAUNCH_OPEN:
            if (parens == 0) {
                return i;
            }
            continue;
        default:
            continue;
        }
        if (parens == 0 && angles <= 0) {
            return at;
        }
    }
    return i;
}
