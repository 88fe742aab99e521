#include "gpu/source/host_parser.h"

#include "gpu/source/cuda_lexer.h"

#define CONDITIONALS_MAX 4096

enum code_word parser_word(const struct parser *p, size_t i) {
    return p->t->list[i < p->t->count ? i : p->t->count].word;
}

enum code_word parser_next_word(const struct parser *p, size_t i) {
    return parser_word(p, code_token_after(p->t, i));
}

struct declaration *parser_declaration(const struct parser *p, size_t index) {
    return &p->ret->list[index];
}

/* ---- #if, #else, #endif ---- */

static void push_conditional(struct parser *p) {
    list_room(p->conditionals, p->conditional_count, p->conditional_cap, 32);
    p->conditionals[p->conditional_count++] = (struct conditional){p->braces, p->parens};
}

void parser_drop_scopes(struct parser *p) {
    while (p->open_count > 0 && p->open[p->open_count - 1].braces > p->braces) {
        struct open_scope *f = &p->open[--p->open_count];
        if (f->is_class) {
            parser_declaration(p, f->declaration)->open = true;
        }
        p->scope = f->outer_scope;
    }
}

bool parser_pass_directive(struct parser *p) {
    struct cuda_directive d;
    code_token_directive(p->t, p->i, &d);
    int nests = cuda_directive_nests(&d);
    bool branches = strncmp(d.name, "el", 2) == 0;
    cuda_directive_finish(&d);
    if (nests > 0 && p->conditional_count < CONDITIONALS_MAX) {
        push_conditional(p);
    } else if (nests < 0 && p->conditional_count > 0) {
        p->conditional_count--;
    } else if (branches && p->conditional_count > 0) {
        p->braces = p->conditionals[p->conditional_count - 1].braces;
        p->parens = p->conditionals[p->conditional_count - 1].parens;
        return true;
    }
    return false;
}

/* ---- brackets ---- */

bool parser_pass_braces(struct parser *p, size_t *ret_close) {
    unsigned base = p->braces++;
    size_t conditionals = p->conditional_count, close = 0;
    p->saw_global = false;
    for (p->i++; p->i < p->t->count; p->i++) {
        switch (parser_word(p, p->i)) {
        case WORD_DIRECTIVE:
            if (parser_pass_directive(p) &&
                (p->braces < base || (p->braces == base && !close))) {
                p->i++;
                return false;
            }
            if (conditionals > p->conditional_count) {
                conditionals = p->conditional_count;
            }
            break;
        case WORD_BRACE_OPEN:
            p->braces++;
            break;
        case WORD_BRACE_CLOSE:
            p->braces -= p->braces > base;
            close = p->braces == base ? p->i : close;
            break;
        case WORD_GLOBAL:
            p->saw_global = true;
            break;
        default:
            break;
        }
        if (close && p->braces == base && p->conditional_count <= conditionals) {
            *ret_close = p->i++;
            return true;
        }
    }
    return false;
}

size_t parser_angles_end(struct parser *p, size_t i) {
    if (i < p->angles_failed) {
        return i;
    }
    size_t end = code_angles_end(p->t, i);
    if (end == i) {
        while (i < p->t->count && parser_word(p, i) != WORD_SEMICOLON &&
               parser_word(p, i) != WORD_BRACE_OPEN &&
               parser_word(p, i) != WORD_BRACE_CLOSE) {
            i++;
        }
        p->angles_failed = i;
        return end;
    }
    return end;
}

size_t parser_group_end(const struct parser *p, size_t i, size_t max) {
    size_t depth = 0;
    for (size_t at = i; at < p->t->count && at - i < max; at++) {
        enum code_word w = parser_word(p, at);
        depth += w == WORD_PAREN_OPEN || w == WORD_BRACKET_OPEN;
        depth -= w == WORD_PAREN_CLOSE || w == WORD_BRACKET_CLOSE;
        if (depth == 0) {
            return at;
        }
    }
    return 0;
}

/* ---- classes ---- */

size_t parser_class_body(struct parser *p, size_t i) {
    bool bases = false;
    enum code_word after = parser_next_word(p, i);
    if (parser_word(p, i) == WORD_ENUM && (after == WORD_CLASS || after == WORD_STRUCT)) {
        i = code_token_after(p->t, i);
    }
    for (i++; i < p->t->count; i++) {
        size_t end = i;
        switch (parser_word(p, i)) {
        case WORD_BRACE_OPEN:
            return i;
        case WORD_COLON:
            bases = true;
            break;
        case WORD_LESS:
            end = parser_angles_end(p, i);
            if (end == i) {
                return 0;
            }
            i = end;
            break;
        case WORD_PAREN_OPEN: /* alignas(16), __align__(16), MACRO(…) */
            if (parser_word(p, i - 1) != WORD_ATTRIBUTE &&
                !code_token_is_capital(p->t, i - 1)) {
                return 0;
            }
            __attribute__((fallthrough));
        case WORD_BRACKET_OPEN:
            end = parser_group_end(p, i, 512);
            if (end == 0) {
                return 0;
            }
            i = end;
            break;
        case WORD_NAME:
        case WORD_SCOPE:
        case WORD_FINAL:
        case WORD_ATTRIBUTE:
        case WORD_DIRECTIVE:
            break;
        case WORD_TYPE:
        case WORD_ACCESS:
        case WORD_VIRTUAL:
        case WORD_COMMA:
        case WORD_TYPENAME:
        case WORD_NUMBER:
        case WORD_TEMPLATE:
            if (!bases) {
                return 0;
            }
            break;
        default:
            return 0;
        }
    }
    return 0;
}

void parser_push_scope(struct parser *p, struct open_scope s) {
    list_room(p->open, p->open_count, p->open_cap, 16);
    s.outer_scope = p->scope;
    s.braces = ++p->braces;
    p->open[p->open_count++] = s;
}

size_t parser_enclosing_class(const struct parser *p) {
    const struct open_scope *f = p->open_count ? &p->open[p->open_count - 1] : NULL;
    return f && f->is_class ? f->declaration : SIZE_MAX;
}
