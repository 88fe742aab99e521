/* One declaration: its head, token by token, to its end. */
#include "gpu/source/host_parser.h"

struct head {
    size_t index;    /* of the declaration */
    size_t previous; /* token before p->i */
    bool ctor_init, trailing, try_block, named_otherwise, class_key, is_operator;
};

static bool is_template_end(enum code_word w) {
    return w == WORD_GREATER || w == WORD_SHIFT_RIGHT || w == WORD_LAUNCH_CLOSE;
}

/* Whether a macro at the end of a head, such as BODY in "int f() BODY", is all the body
 * there is: the next line begins a declaration. */
static bool macro_ends_head(const struct parser *p, const struct declaration *d) {
    if (!d->params_end || d->has_assign || p->parens > 0 ||
        !code_token_is_capital(p->t, p->i) || !p->t->list[p->i + 1].line_start) {
        return false;
    }
    switch (parser_word(p, p->i + 1)) {
    case WORD_NAME:
    case WORD_TYPE:
    case WORD_STATIC:
    case WORD_TEMPLATE:
    case WORD_INLINE:
    case WORD_EXTERN:
    case WORD_GLOBAL:
    case WORD_DEVICE:
    case WORD_HOST:
    case WORD_NAMESPACE:
    case WORD_CONST:
    case WORD_CONSTEXPR:
    case WORD_CLASS:
    case WORD_STRUCT:
    case WORD_ENUM:
    case WORD_USING:
    case WORD_TYPEDEF:
        return true;
    default:
        return false;
    }
}

static void note_name(struct parser *p, struct head *h, struct declaration *d) {
    bool outside = p->parens == 0 && !h->ctor_init;
    struct space_of_name space = space_of(p->macros, p->t, p->i);
    d->has_global |= space.global && outside;
    d->has_device |= space.device && outside;
    d->has_host |= space.host && outside;
    d->has_const |= space.constant && outside;
    if (p->parens == 0 && !d->has_assign && !d->params && !h->is_operator && !d->body) {
        d->name = p->i;
    }
}

static void note_specifier(struct parser *p, struct head *h, struct declaration *d,
                           enum code_word w) {
    bool outside = p->parens == 0;
    switch (w) {
    case WORD_GLOBAL:
        d->has_global = true;
        break;
    case WORD_DEVICE:
        d->has_device = true;
        break;
    case WORD_HOST:
        d->has_host = true;
        break;
    case WORD_CONSTEXPR:
        d->has_constexpr |= outside;
        break;
    case WORD_CONST:
        d->has_const |= outside && !d->params && !d->has_assign;
        d->const_pointer &= !(outside && !d->params && !d->has_assign);
        break;
    case WORD_STAR:
        d->const_pointer |= outside && !d->params && !d->has_assign;
        break;
    case WORD_STATIC:
        d->has_static |= outside;
        break;
    case WORD_VIRTUAL:
        d->has_virtual = true;
        break;
    case WORD_FRIEND:
        d->has_friend = true;
        break;
    case WORD_DEFAULT:
    case WORD_DELETE:
        d->has_default |= d->has_assign;
        break;
    case WORD_USING:
    case WORD_TYPEDEF:
    case WORD_STATIC_ASSERT:
    case WORD_CONCEPT:
    case WORD_ASM:
    case WORD_NAMESPACE:
        h->named_otherwise |= outside;
        break;
    case WORD_TRY:
        h->try_block = true;
        break;
    case WORD_ARROW:
        h->trailing |= outside;
        break;
    default:
        break;
    }
}

/* '(' outside brackets: does the parameter list begin here? The last one before the body
 * wins over one that belongs to a macro in capitals. */
static void note_paren(struct parser *p, const struct head *h, struct declaration *d) {
    enum code_word before = parser_word(p, h->previous);
    bool callable = before == WORD_NAME || is_template_end(before) || h->is_operator;
    if (p->parens != 0 || d->has_assign || h->ctor_init || h->trailing || !callable) {
        return;
    }
    if (parser_word(p, p->i + 1) == WORD_NUMBER &&
        !code_token_is_capital(p->t, h->previous)) {
        return; /* int x(3) */
    }
    if (!d->params || (d->name && code_token_is_capital(p->t, d->name) &&
                       before == WORD_NAME && d->name < h->previous)) {
        if (before == WORD_NAME && !h->is_operator) {
            d->name = h->previous;
        }
        d->params = p->i;
        d->params_end = 0;
    }
}

/* Behind `operator` and its symbol or type, before the '(' of its parameters. */
static void pass_operator(struct parser *p, struct head *h, struct declaration *d) {
    d->name = p->i;
    h->is_operator = true;
    if (parser_word(p, p->i + 1) == WORD_PAREN_OPEN &&
        parser_word(p, p->i + 2) == WORD_PAREN_CLOSE) {
        p->i += 2;
    } else {
        for (int n = 0; n < 32 && p->i + 1 < p->t->count &&
                        parser_word(p, p->i + 1) != WORD_PAREN_OPEN &&
                        parser_word(p, p->i + 1) != WORD_SEMICOLON;
             n++) {
            p->i++;
        }
    }
    h->previous = p->i++;
}

/* requires-expressions have braces that are no body. */
static void pass_requires(struct parser *p, struct head *h) {
    enum code_word before = parser_word(p, h->previous);
    size_t at = code_token_after(p->t, p->i);
    if (parser_word(p, at) == WORD_PAREN_OPEN &&
        (before == WORD_REQUIRES || before == WORD_ASSIGN || before == WORD_AND_AND ||
         before == WORD_OR_OR || before == WORD_NOT)) {
        size_t end = parser_group_end(p, at, 4096);
        at = end ? code_token_after(p->t, end) : at;
    }
    h->previous = p->i++;
    if (parser_word(p, at) == WORD_BRACE_OPEN) {
        size_t close;
        p->i = at;
        if (parser_pass_braces(p, &close)) {
            h->previous = close;
        }
    }
}

static void finish_declaration(struct parser *p, const struct head *h, size_t last) {
    struct declaration *d = parser_declaration(p, h->index);
    d->last = last;
    if (d->kind == DECLARATION_CLASS || d->kind == DECLARATION_ENUM) {
        return;
    }
    bool only_named = h->class_key && d->name && d->name > 0 && !d->params &&
                      !d->has_assign && parser_word(p, d->name - 1) >= WORD_CLASS &&
                      parser_word(p, d->name - 1) <= WORD_ENUM;
    bool guide = h->trailing && !d->body && d->params && d->params == d->name + 1 &&
                 (d->name == d->first || is_template_end(parser_word(p, d->name - 1)));
    enum code_word argument = d->params ? parser_word(p, d->params + 1) : WORD_NONE;
    bool value = !d->body && (argument == WORD_NUMBER || argument == WORD_NONE);
    if (h->named_otherwise || only_named || guide) {
        d->kind = DECLARATION_OTHER;
    } else if (d->body || (d->params && !value)) {
        d->kind = DECLARATION_FUNCTION;
    } else {
        d->kind = DECLARATION_VARIABLE;
    }
}

static void pass_catches(struct parser *p, size_t *close) {
    while (p->i < p->t->count && parser_word(p, p->i) == WORD_CATCH) {
        size_t at = p->i + 1, end = parser_word(p, at) == WORD_PAREN_OPEN
                                        ? parser_group_end(p, at, 4096)
                                        : 0;
        if (!end || parser_word(p, end + 1) != WORD_BRACE_OPEN) {
            return;
        }
        p->i = end + 1;
        if (!parser_pass_braces(p, close)) {
            return;
        }
    }
}

/* '{' in a head. True when the declaration is over. */
static bool pass_head_brace(struct parser *p, struct head *h) {
    struct declaration *d = parser_declaration(p, h->index);
    enum code_word before = parser_word(p, h->previous);
    bool is_class = d->kind == DECLARATION_CLASS || d->kind == DECLARATION_ENUM;
    bool element = h->ctor_init && (before == WORD_NAME || is_template_end(before));
    bool body = p->parens == 0 && !d->has_assign && !element && !is_class &&
                !h->named_otherwise && (d->params || h->is_operator);
    size_t open = p->i, close = 0;
    bool closed = parser_pass_braces(p, &close);
    if (!closed) {
        d->params = 0;
        h->ctor_init = false;
        h->previous = p->i - 1;
        return false;
    }
    h->previous = close;
    if (body) {
        bool global = p->saw_global;
        if (h->try_block) {
            pass_catches(p, &close);
        }
        d->body = open;
        d->body_end = close;
        d->body_has_global = global;
        finish_declaration(p, h, p->i - 1);
        return true;
    }
    size_t after = p->i;
    while (parser_word(p, after) == WORD_DIRECTIVE) {
        after++;
    }
    bool over =
        parser_word(p, after) != WORD_SEMICOLON && parser_word(p, after) != WORD_COMMA;
    if (p->parens == 0 && !d->has_assign && !element && !is_class && !d->params && over) {
        d->body = open;
        d->body_end = close;
        finish_declaration(p, h, p->i - 1);
        return true;
    }
    return false;
}

/* "struct alignas(N) NAME<T> : B": the last name outside of brackets before what follows
 * it; 0 when there is none. */
static size_t class_name(const struct parser *p, size_t from, size_t body) {
    size_t name = 0, depth = 0;
    for (size_t at = from; at < body; at++) {
        enum code_word w = parser_word(p, at);
        depth += w == WORD_PAREN_OPEN || w == WORD_BRACKET_OPEN;
        depth -= depth && (w == WORD_PAREN_CLOSE || w == WORD_BRACKET_CLOSE);
        if (!depth && (w == WORD_COLON || w == WORD_LESS)) {
            break;
        }
        name = !depth && w == WORD_NAME ? at : name;
    }
    return name;
}

/* A class key in a head. True when its body was entered: the main loop goes on. */
static bool enter_class(struct parser *p, struct head *h) {
    struct declaration *d = parser_declaration(p, h->index);
    bool is_enum = parser_word(p, p->i) == WORD_ENUM;
    h->class_key = true;
    size_t body = p->parens == 0 && !d->params && !d->has_assign && !d->body
                      ? parser_class_body(p, p->i)
                      : 0;
    if (!body) {
        h->previous = p->i++;
        return false;
    }
    size_t name = class_name(p, p->i, body);
    d->name = name ? name : d->name;
    d->body = body;
    p->i = body;
    if (is_enum) {
        d->kind = DECLARATION_ENUM;
        parser_pass_braces(p, &d->body_end);
        h->previous = p->i - 1;
        return false;
    }
    d->kind = DECLARATION_CLASS;
    parser_push_scope(p, (struct open_scope){.is_class = true, .declaration = h->index});
    p->i++;
    return true;
}

/* One token of a head that is no brace, directive or end. */
static void pass_head_token(struct parser *p, struct head *h) {
    struct declaration *d = parser_declaration(p, h->index);
    enum code_word w = parser_word(p, p->i);
    size_t end = p->i;
    switch (w) {
    case WORD_TEMPLATE:
        d->has_template = true;
        if (parser_next_word(p, p->i) == WORD_LESS) {
            end = parser_angles_end(p, code_token_after(p->t, p->i));
        }
        break;
    case WORD_LESS:
        if (p->parens == 0 && !d->has_assign &&
            parser_word(p, h->previous) == WORD_NAME) {
            end = parser_angles_end(p, p->i);
        }
        break;
    case WORD_PAREN_OPEN:
        note_paren(p, h, d);
        p->parens++;
        break;
    case WORD_BRACKET_OPEN:
        p->parens++;
        break;
    case WORD_PAREN_CLOSE:
    case WORD_BRACKET_CLOSE:
        p->parens -= p->parens > 0;
        d->params_end =
            p->parens == 0 && d->params && !d->params_end ? p->i : d->params_end;
        break;
    case WORD_ASSIGN:
        d->has_assign |= p->parens == 0;
        break;
    case WORD_COLON:
        h->ctor_init |= p->parens == 0 && d->params && !d->has_assign;
        break;
    case WORD_NAME:
        note_name(p, h, d);
        break;
    default:
        note_specifier(p, h, d, w);
    }
    h->previous = end;
    p->i = end + 1;
}

/* The rest of declaration `index` from p->i on. `tail`: behind its class body. */
void parser_read_declaration(struct parser *p, size_t index) {
    struct head h = {.index = index, .previous = p->i};
    size_t scopes = p->open_count;
    p->parens = 0;
    while (p->i < p->t->count) {
        struct declaration *d = parser_declaration(p, index);
        switch (parser_word(p, p->i)) {
        case WORD_DIRECTIVE:
            parser_pass_directive(p);
            parser_drop_scopes(p);
            p->i++;
            if (p->open_count < scopes) {
                d->open = true;
                return;
            }
            break;
        case WORD_CLASS:
        case WORD_STRUCT:
        case WORD_UNION:
        case WORD_ENUM:
            if (enter_class(p, &h)) {
                return;
            }
            break;
        case WORD_OPERATOR:
            pass_operator(p, &h, d);
            break;
        case WORD_REQUIRES:
            pass_requires(p, &h);
            break;
        case WORD_BRACE_OPEN:
            if (pass_head_brace(p, &h)) {
                return;
            }
            parser_drop_scopes(p);
            break;
        case WORD_BRACE_CLOSE:
            d->open = true;
            finish_declaration(p, &h, p->i > d->first ? p->i - 1 : d->first);
            return;
        case WORD_SEMICOLON:
            d->open |= p->parens > 0;
            finish_declaration(p, &h, p->i++);
            return;
        case WORD_NAME:
            if (macro_ends_head(p, d)) {
                note_name(p, &h, d);
                finish_declaration(p, &h, p->i++);
                return;
            }
            pass_head_token(p, &h);
            break;
        default:
            pass_head_token(p, &h);
        }
    }
    struct declaration *d = parser_declaration(p, index);
    d->open = true;
    finish_declaration(p, &h, p->t->count - 1);
}

size_t parser_new_declaration(struct parser *p, enum declaration_kind kind) {
    struct declarations *r = p->ret;
    list_room(r->list, r->count, p->declaration_cap, 64);
    r->list[r->count] = (struct declaration){.first = p->i,
                                             .last = p->i,
                                             .kind = kind,
                                             .parent = parser_enclosing_class(p),
                                             .scope = p->scope};
    return r->count++;
}
