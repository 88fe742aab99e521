#include "gpu/source/host_parser.h"

#define GROUPS_FAILED_MAX 64

/* ---- macros, namespaces ---- */

/* "NAME(…)" that is a declaration by itself, by what follows it. True when passed. */
static bool pass_macro_call(struct parser *p) {
    size_t open = p->i + 1;
    struct space_of_name space = space_of(p->macros, p->t, p->i);
    if (parser_word(p, open) != WORD_PAREN_OPEN || p->groups_failed > GROUPS_FAILED_MAX ||
        (parser_enclosing_class(p) != SIZE_MAX && !space.known &&
         !code_token_is_capital(p->t, p->i))) {
        return false;
    }
    size_t end = parser_group_end(p, open, SIZE_MAX);
    if (!end) {
        p->groups_failed++;
        return false;
    }
    enum code_word next = parser_word(p, end + 1);
    bool fresh_line =
        p->t->list[end + 1].line_start && next != WORD_COLON && next != WORD_ATTRIBUTE;
    if (next == WORD_BRACE_OPEN && parser_enclosing_class(p) == SIZE_MAX) {
        struct declaration *d =
            parser_declaration(p, parser_new_declaration(p, DECLARATION_MACRO));
        d->name = p->i;
        d->params = open;
        d->params_end = end;
        d->body = p->i = end + 1;
        size_t close = 0;
        d->open = !parser_pass_braces(p, &close);
        d->body_end = close;
        d->body_has_global = p->saw_global;
        d->last = p->i - 1;
        return true;
    }
    if (next != WORD_SEMICOLON && next != WORD_END && next != WORD_BRACE_CLOSE &&
        !fresh_line) {
        return false;
    }
    struct declaration *d =
        parser_declaration(p, parser_new_declaration(p, DECLARATION_MACRO));
    d->name = p->i;
    d->params = open;
    d->params_end = end;
    d->last = next == WORD_SEMICOLON ? end + 1 : end;
    p->i = d->last + 1;
    return true;
}

/* "NAMESPACE_BEGIN" on a line of its own. */
static bool pass_bare_macro(struct parser *p) {
    if (!code_token_is_capital(p->t, p->i) || !p->t->list[p->i + 1].line_start) {
        return false;
    }
    const struct code_token *t = &p->t->list[p->i];
    const char *s = p->t->text + t->start;
    size_t len = t->end - t->start;
    if (!memmem(s, len, "BEGIN", 5) && !memmem(s, len, "END", 3) &&
        !memmem(s, len, "NAMESPACE", 9)) {
        return false;
    }
    parser_declaration(p, parser_new_declaration(p, DECLARATION_MACRO))->name = p->i;
    p->i++;
    return true;
}

static void enter_namespace(struct parser *p, size_t name, size_t name_end) {
    struct declarations *r = p->ret;
    size_t outer = p->scope;
    parser_push_scope(p, (struct open_scope){.is_class = false});
    if ((r->scope_count & (r->scope_count - 1)) == 0) {
        size_t cap = r->scope_count ? r->scope_count * 2 : 1;
        r->scopes = xreallocarray(r->scopes, cap, sizeof *r->scopes);
    }
    r->scopes[r->scope_count] = (struct name_scope){name, name_end, outer};
    p->scope = r->scope_count++;
}

/* namespace a::b {, inline namespace c {, extern "C" { at p->i. True when entered. */
static bool pass_namespace(struct parser *p) {
    size_t at = p->i;
    if (parser_word(p, at) == WORD_EXTERN && parser_word(p, at + 1) == WORD_NONE &&
        parser_word(p, at + 2) == WORD_BRACE_OPEN) {
        parser_push_scope(p, (struct open_scope){.is_class = false});
        p->i = at + 3;
        return true;
    }
    at += parser_word(p, at) == WORD_INLINE;
    if (parser_word(p, at) != WORD_NAMESPACE) {
        return false;
    }
    size_t name = 0, name_end = 0;
    for (at++; at < p->t->count && parser_word(p, at) != WORD_BRACE_OPEN; at++) {
        enum code_word w = parser_word(p, at);
        if (w == WORD_NAME || w == WORD_SCOPE || w == WORD_INLINE) {
            name = name ? name : at;
            name_end = at + 1;
        } else if (w == WORD_BRACKET_OPEN || w == WORD_PAREN_OPEN) {
            size_t end = parser_group_end(p, at, 512);
            at = end ? end : at;
        } else if (w != WORD_ATTRIBUTE && w != WORD_DIRECTIVE) {
            return false;
        }
    }
    if (at >= p->t->count) {
        return false;
    }
    enter_namespace(p, name, name_end);
    p->i = at + 1;
    return true;
}

/* '}' at p->i: the innermost namespace or class ends. */
static void close_scope(struct parser *p) {
    size_t at = p->i++;
    if (p->open_count == 0) {
        p->braces -= p->braces > 0;
        return;
    }
    struct open_scope f = p->open[--p->open_count];
    p->braces = f.braces - 1;
    p->scope = f.outer_scope;
    if (f.is_class) {
        parser_declaration(p, f.declaration)->body_end = at;
        parser_read_declaration(p, f.declaration);
    }
}

static void read_one(struct parser *p) {
    switch (parser_word(p, p->i)) {
    case WORD_DIRECTIVE:
        parser_pass_directive(p);
        parser_drop_scopes(p);
        p->i++;
        return;
    case WORD_BRACE_CLOSE:
        close_scope(p);
        return;
    case WORD_SEMICOLON:
        p->i++;
        return;
    case WORD_ACCESS:
        p->i += parser_word(p, p->i + 1) == WORD_COLON ? 2 : 1;
        return;
    case WORD_NAME:
        if (pass_macro_call(p) || pass_bare_macro(p)) {
            return;
        }
        break;
    case WORD_EXTERN:
    case WORD_INLINE:
    case WORD_NAMESPACE:
        if (pass_namespace(p)) {
            return;
        }
        break;
    default:
        break;
    }
    p->parens = 0;
    size_t index = parser_new_declaration(p, DECLARATION_OTHER);
    bool torn =
        parser_word(p, p->i) == WORD_BRACE_OPEN; /* a body whose head is in a branch */
    parser_read_declaration(p, index);
    parser_declaration(p, index)->open |= torn;
    p->parens = 0;
}

void declarations_read(struct declarations *ret, const struct code_tokens *t,
                       const struct space_macros *macros) {
    *ret = (struct declarations){0};
    struct parser p = {.t = t, .macros = macros, .ret = ret, .scope = SIZE_MAX};
    while (p.i < t->count) {
        size_t before = p.i;
        read_one(&p);
        if (p.i == before) {
            p.i++; /* whatever it is, it ends nothing and begins nothing */
        }
    }
    p.braces = 0;
    parser_drop_scopes(&p);
    free(p.conditionals);
    free(p.open);
}

void declarations_finish(struct declarations *d) {
    free(d->list);
    free(d->scopes);
    *d = (struct declarations){0};
}

/* ---- names with the scopes that they stand in ---- */

static void append(char **s, const char *bytes, size_t len) {
    size_t old = *s ? strlen(*s) : 0;
    *s = xrealloc(*s, old + len + 1);
    memcpy(*s + old, bytes, len);
    (*s)[old + len] = '\0';
}

static void append_scope(const struct code_tokens *t, const struct declarations *all,
                         size_t scope, char **s) {
    size_t path[64], n = 0;
    for (; scope != SIZE_MAX && n < ARRAY_LEN(path); scope = all->scopes[scope].parent) {
        path[n++] = scope;
    }
    while (n > 0) {
        const struct name_scope *sc = &all->scopes[path[--n]];
        for (size_t i = sc->name; i < sc->name_end; i++) {
            const struct code_token *one = &t->list[i];
            if (one->word == WORD_NAME || one->word == WORD_SCOPE) {
                append(s, t->text + one->start, one->end - one->start);
            }
        }
        if (sc->name_end > sc->name) {
            append(s, "::", 2);
        }
    }
}

char *host_scope_name(const struct code_tokens *t, const struct declarations *all,
                      size_t scope) {
    char *s = xstrdup("");
    append_scope(t, all, scope, &s);
    return s;
}

char *host_qualified_name(const struct code_tokens *t, const struct declarations *all,
                          const struct declaration *d) {
    char *s = host_scope_name(t, all, d->scope);
    size_t first = d->name;
    while (first >= 2 && first - 2 > d->first && t->list[first - 1].word == WORD_SCOPE &&
           t->list[first - 2].word == WORD_NAME) {
        first -= 2;
    }
    for (size_t i = first; i <= d->name; i++) {
        const struct code_token *one = &t->list[i];
        append(&s, t->text + one->start, one->end - one->start);
    }
    return s;
}
