#include "gpu/source/host_bindings.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_parameters.h"

#define EXPRESSION_MAX 2048 /* bytes */

void bindings_add(struct bindings *s, uint64_t name, char *text) {
    if (s->count < BINDINGS_MAX) {
        s->list[s->count++] = (struct binding){name, text ? text : xstrdup("\n")};
    } else {
        free(text);
    }
}

void bindings_finish(struct bindings *s) {
    for (size_t i = 0; i < s->count; i++) {
        free(s->list[i].text);
    }
    s->count = 0;
}

const char *bindings_text(const struct bindings *s, uint64_t name) {
    for (size_t i = s->count; i-- > 0;) {
        if (s->list[i].name == name) {
            return s->list[i].text;
        }
    }
    return NULL;
}

char *bindings_expand(const struct code_tokens *t, size_t from, size_t to,
                      const struct bindings *names) {
    autobuf out = BUF_INIT(EXPRESSION_MAX);
    for (size_t i = from; i < to; i++) {
        const struct code_token *token = &t->list[i];
        if (token->word == WORD_DIRECTIVE) {
            return NULL;
        }
        enum code_word before = i > from ? code_word(t, i - 1) : WORD_NONE;
        const char *text = token->word == WORD_NAME && before != WORD_SCOPE
                               ? bindings_text(names, code_token_hash(t, i))
                               : NULL;
        if (i > from && token->start > t->list[i - 1].end) {
            buf_addc(&out, ' ');
        }
        if (text) {
            buf_adds(&out, text);
        } else {
            buf_add(&out, t->text + token->start, token->end - token->start);
        }
    }
    if (out.full || memchr(out.data, '\n', out.len) || memchr(out.data, '\r', out.len)) {
        return NULL;
    }
    return buf_detach(&out);
}

char *bindings_expand_text(const char *text, const struct bindings *names) {
    struct code_tokens t;
    if (code_tokens_read(&t, text, strlen(text)) < 0) {
        return NULL;
    }
    char *ret = bindings_expand(&t, 0, t.count, names);
    code_tokens_finish(&t);
    return ret;
}

/* ---- local constants and aliases ---- */

/* The end of an initialiser or type from i on: its ';' or ',' outside brackets. */
static size_t value_end(const struct code_tokens *t, size_t i, size_t limit) {
    int depth = 0;
    for (size_t n = 0; i < limit && n < 64; i++, n++) {
        enum code_word w = code_word(t, i);
        depth += w == WORD_PAREN_OPEN || w == WORD_BRACKET_OPEN || w == WORD_BRACE_OPEN ||
                 w == WORD_LESS;
        depth -= w == WORD_PAREN_CLOSE || w == WORD_BRACKET_CLOSE ||
                 w == WORD_BRACE_CLOSE || w == WORD_GREATER;
        if (depth <= 0 && (w == WORD_SEMICOLON || w == WORD_COMMA)) {
            return i;
        }
    }
    return 0;
}

char *bindings_in_parens(char *text) {
    if (!text || text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_")] == '\0') {
        return text;
    }
    char *ret = xasprintf("(%s)", text);
    free(text);
    return ret;
}

/* constexpr int A = 1, B = 2; or constexpr int (*A)(int) = f; from its specifier on, at
 * i. */
static void bind_constants(const struct code_tokens *t, size_t i, size_t limit,
                           struct bindings *names) {
    size_t at = i + 1, pointer = 0;
    for (; at < limit && at < i + 24 && code_word(t, at + 1) != WORD_ASSIGN; at++) {
        pointer = points_to_function(t, at) ? at : pointer;
    }
    if (pointer && code_word(t, at + 1) == WORD_ASSIGN) {
        size_t end = value_end(t, at + 2, limit);
        bindings_add(names, code_token_hash(t, pointer),
                     end ? bindings_expand(t, at + 2, end, names) : NULL);
        return;
    }
    while (at < limit && code_word(t, at) == WORD_NAME &&
           code_word(t, at + 1) == WORD_ASSIGN) {
        size_t end = value_end(t, at + 2, limit);
        if (!end) {
            return;
        }
        bindings_add(names, code_token_hash(t, at),
                     bindings_in_parens(bindings_expand(t, at + 2, end, names)));
        at = code_word(t, end) == WORD_COMMA ? end + 1 : limit;
    }
}

/* "using Config = Config<4>;" in a function names two things alike: what stands for which
 * is not told apart here, so what uses the name is left. */
static bool names_itself(const struct code_tokens *t, size_t name, size_t from,
                         size_t to) {
    return any_of(i, from, to,
                  code_word(t, i) == WORD_NAME &&
                      code_token_hash(t, i) == code_token_hash(t, name));
}

static void bind_alias(const struct code_tokens *t, size_t i, size_t limit,
                       struct bindings *names) {
    if (code_word(t, i) == WORD_USING && code_word(t, i + 1) == WORD_NAME &&
        code_word(t, i + 2) == WORD_ASSIGN) {
        size_t end = value_end(t, i + 3, limit);
        if (end) {
            bool twice = names_itself(t, i + 1, i + 3, end);
            bindings_add(names, code_token_hash(t, i + 1),
                         twice ? NULL : bindings_expand(t, i + 3, end, names));
        }
    } else if (code_word(t, i) == WORD_TYPEDEF) {
        size_t end = value_end(t, i + 1, limit);
        if (end > i + 2 && code_word(t, end - 1) == WORD_NAME) {
            bindings_add(names, code_token_hash(t, end - 1),
                         bindings_expand(t, i + 1, end - 1, names));
        }
    }
}

void bindings_read_at(const struct code_tokens *t, size_t i, size_t limit,
                      struct bindings *names) {
    enum code_word w = code_word(t, i);
    if (w == WORD_CONSTEXPR || w == WORD_CONST) {
        bind_constants(t, i, limit, names);
    } else if (w == WORD_USING || w == WORD_TYPEDEF) {
        bind_alias(t, i, limit, names);
    }
}

/* AT_DISPATCH_FLOATING_TYPES and its like name the type so: one of them will do, unless a
 * declaration says more. */
void bindings_add_scalar(struct bindings *names) {
    bindings_add(names, code_hash("scalar_t", 8), xstrdup(GUESS_FLOATING));
}

void bindings_read_own(const struct code_tokens *t, const struct declaration *d,
                       struct bindings *names) {
    struct template_parameters own;
    template_parameters_read(t, d, &own);
    if (!template_parameters_mentioned("scalar_t", &own)) {
        bindings_add_scalar(names);
    }
}

/* ---- dispatch macros ---- */

#define ARGUMENT_TOKENS_MAX 64 /* of a dispatch macro, before the code it takes */

/* The type of a dispatch case, "at::ScalarType::Half" or "at::kHalf", with its name at
 * token i; NULL when it is none of these. */
static const char *type_of_case(const struct code_tokens *t, size_t i) {
    static const char *const types[][3] = {
        {"Float", "kFloat", "float"},
        {"Double", "kDouble", "double"},
        {"Half", "kHalf", "at::Half"},
        {"BFloat16", "kBFloat16", "at::BFloat16"},
        {"Int", "kInt", "int"},
        {"Long", "kLong", "int64_t"},
        {"Short", "kShort", "short"},
        {"Char", "kChar", "signed char"},
        {"Byte", "kByte", "unsigned char"},
        {"Bool", "kBool", "bool"},
    };
    for (size_t k = 0; k < ARRAY_LEN(types); k++) {
        if (code_token_is(t, i, types[k][0]) || code_token_is(t, i, types[k][1])) {
            return types[k][2];
        }
    }
    return NULL;
}

/* What scalar_t is in a dispatch of this name: "\n" for what is not known, NULL when the
 * name tells nothing. PyTorch's own macros are documented; what others called alike do is
 * a guess. */
static const char *type_by_name(const char *name) {
    static const struct {
        const char *word, *torch, *other;
    } known[] = {
        {"REDUCED", "at::Half", "\n"},
        {"FP8", "\n", "\n"},
        {"FLOAT8", "\n", "\n"},
        {"FLOATING", "float", GUESS_FLOATING},
        {"ALL_TYPES", "float", GUESS_FLOATING},
        {"INTEGRAL", "int", GUESS_INTEGRAL},
        {"COMPLEX", "\n", "\n"},
        {"QINT", "\n", "\n"},
        {"HALF", "\n", "\n"},
        {"QUANT", "\n", "\n"},
    };
    bool torch = strncmp(name, "AT_", 3) == 0;
    for (size_t k = 0; k < ARRAY_LEN(known); k++) {
        if (strstr(name, known[k].word)) {
            return torch ? known[k].torch : known[k].other;
        }
    }
    return NULL;
}

static void bind_name(struct bindings *names, const char *name, const char *text) {
    if (text) {
        bindings_add(names, code_hash(name, strlen(name)), xstrdup(text));
    }
}

/* Bound to other than "" once a case of a switch was taken: one of them will do, and the
 * kernels take long to compile. */
static const char case_taken[] = "AT_DISPATCH_CASE";

static void bind_case(struct bindings *names, const char *type) {
    const char *taken = bindings_text(names, code_hash(case_taken, strlen(case_taken)));
    if (type && (!taken || !*taken)) {
        bind_name(names, "scalar_t", type);
        bind_name(names, case_taken, type);
    }
}

/* A bare name among the arguments is most often one that the macro declares. */
static void bind_bare_arguments(const struct code_tokens *t, size_t open,
                                struct bindings *names) {
    int depth = 0;
    for (size_t i = open; i < open + ARGUMENT_TOKENS_MAX; i++) {
        enum code_word w = code_word(t, i),
                       before = i > 0 ? code_word(t, i - 1) : WORD_NONE;
        depth += w == WORD_PAREN_OPEN;
        depth -= w == WORD_PAREN_CLOSE;
        if (depth <= 0 || w == WORD_BRACE_OPEN || w == WORD_BRACKET_OPEN) {
            return;
        }
        if (w == WORD_NAME && depth == 1 && code_word(t, i + 1) == WORD_COMMA &&
            (before == WORD_COMMA || before == WORD_PAREN_OPEN) &&
            !code_token_is(t, i, "scalar_t") &&
            !bindings_text(names, code_token_hash(t, i))) {
            bindings_add(names, code_token_hash(t, i), NULL);
        }
    }
}

void bindings_read_dispatch(const struct code_tokens *t, size_t i,
                            struct bindings *names) {
    char name[64];
    size_t len = t->list[i].end - t->list[i].start;
    if (len >= sizeof name) {
        return;
    }
    memcpy(name, t->text + t->list[i].start, len);
    name[len] = '\0';
    if (strcmp(name, "AT_DISPATCH_CASE") == 0) {
        size_t last = i + 2;
        for (; last < i + 8 && code_word(t, last + 1) != WORD_COMMA; last++) {}
        bind_name(names, "scalar_t", "\n");
        bind_case(names, type_of_case(t, last));
    } else if (strstr(name, "DISPATCH") || strstr(name, "SWITCH")) {
        bind_name(names, "scalar_t", type_by_name(name));
        bind_name(names, "index_t", strstr(name, "INDEX_TYPES") ? "int" : NULL);
        bind_bare_arguments(t, i + 1, names);
    }
    if (strcmp(name, "AT_DISPATCH_SWITCH") == 0) {
        bind_name(names, case_taken, "");
    }
}
