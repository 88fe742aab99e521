#include "gpu/fixes/fix_conditions.h"

/* The bracket that the one at i closes; 0: none. */
static size_t opening(const struct fix_text *t, size_t i, const char *open,
                      const char *close) {
    int depth = 0;
    do {
        depth += fix_text_is(t, i, close) - fix_text_is(t, i, open);
    } while (depth > 0 && i-- > 0);
    return depth ? 0 : i;
}

/* Whether the text defines a macro of that name. */
static bool is_macro(const struct fix_text *t, const struct cuda_token *name) {
    for (size_t i = 0; i < t->count; i++) {
        struct cuda_lexer lexer;
        struct cuda_directive d;
        if (t->tokens[i].kind != CUDA_DIRECTIVE) {
            continue;
        }
        cuda_lexer_init(&lexer, t->text, t->len);
        cuda_directive_read(&lexer, &t->tokens[i], &d);
        size_t len = name->end - name->start, room = d.argument_end - d.argument;
        bool is_it = !strcmp(d.name, "define") && room >= len &&
                     memcmp(t->text + d.argument, t->text + name->start, len) == 0 &&
                     cuda_token_end(t->text, t->len, d.argument) == d.argument + len;
        cuda_directive_finish(&d);
        if (is_it) {
            return true;
        }
    }
    return false;
}

/* for (int o = 16; o > 0; o /= 2): every thread does the same rounds. */
static bool is_uniform_loop(const struct fix_text *t, size_t open, size_t close) {
    size_t sets = open;
    while (sets < close && !fix_text_is(t, sets, "=")) {
        sets++;
    }
    for (size_t i = sets; i < close; i++) {
        const struct cuda_token *token = &t->tokens[i], *own = &t->tokens[sets - 1];
        if (token->kind == CUDA_IDENTIFIER && !fix_text_is(t, i, "warpSize") &&
            !fix_text_has(t, i, t->text + own->start, own->end - own->start) &&
            !is_macro(t, token)) {
            return false;
        }
    }
    return sets < close;
}

/* The brackets in front of a statement: if (…), while (…), for (…), switch (…). */
static bool is_condition(const struct fix_text *t, size_t open, size_t close) {
    static const char *const heads[] = {"if", "while", "switch", NULL};
    return open > 0 &&
           (fix_text_is_any(t, open - 1, heads) ||
            (fix_text_is(t, open - 1, "for") && !is_uniform_loop(t, open, close)));
}

/* Goes back to where the statement begins that token *i is in. True: at a condition. */
static bool to_begin(const struct fix_text *t, size_t *i) {
    static const char *const words[] = {"?", "&&", "||", "else", "do", "while", "for",
                                        "switch", NULL};
    static const char *const ends[] = {";", "{", "}", NULL};
    while (*i > 0 && !fix_text_is_any(t, *i - 1, ends) &&
           t->tokens[*i - 1].kind != CUDA_DIRECTIVE) {
        size_t at = --*i;
        if (fix_text_is(t, at, ")")) {
            *i = opening(t, at, "(", ")");
            if (is_condition(t, *i, at)) {
                return true;
            }
            *i -= *i > 0 && fix_text_is(t, *i - 1, "for");
        } else if (fix_text_is(t, at, "(") && at > 0 && fix_text_is(t, at - 1, "if")) {
            --*i; /* it stands in the condition itself */
        } else if (fix_text_is_any(t, at, words)) {
            return true;
        }
    }
    return false;
}

/* Goes back to the { around a statement's begin; false: there is none. */
static bool to_block(const struct fix_text *t, size_t *i) {
    while (*i > 0) {
        size_t at = --*i;
        if (fix_text_is(t, at, "{")) {
            return true;
        }
        if (fix_text_is(t, at, "}")) {
            *i = opening(t, at, "{", "}");
        }
    }
    return false;
}

bool fix_is_conditional(const struct fix_text *t, size_t token) {
    do {
        if (to_begin(t, &token)) {
            return true;
        }
    } while (to_block(t, &token));
    return false;
}
