#include "gpu/source/launch_types.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/source/host_bindings.h"

#define TYPE_TOKENS_MAX 24       /* of a declaration, before its name */
#define STATEMENT_TOKENS_MAX 256 /* that declares several variables */

/* "const float *": tokens [from, to) name the base type, without const. */
struct plain_type {
    const struct code_tokens *t;
    size_t from, to;
    int stars;
    bool is_const;
    const char *literal; /* "float" of 1.0f, instead of tokens */
};

/* ---- reading types ---- */

static bool is_qualifier(const struct code_tokens *t, size_t i) {
    return code_word(t, i) == WORD_CONST || code_word(t, i) == WORD_STATIC ||
           code_word(t, i) == WORD_CONSTEXPR ||
           code_token_in(t, i, "volatile __restrict__ __restrict restrict register");
}

static bool is_statement_word(const struct code_tokens *t, size_t i) {
    return code_token_in(t, i, "return goto else do throw case new auto void delete");
}

/* "unsigned long", "at::Half": behind it, or `i` when there is none. */
static size_t base_end(const struct code_tokens *t, size_t i, size_t limit) {
    size_t end = i;
    if (i < limit && is_statement_word(t, i)) {
        return i;
    }
    while (end < limit && code_word(t, end) == WORD_TYPE) {
        end++;
    }
    if (end > i) {
        return end;
    }
    end += code_word(t, end) == WORD_SCOPE;
    while (end < limit && code_word(t, end) == WORD_NAME) {
        if (code_word(t, end + 1) != WORD_SCOPE) {
            return end + 1;
        }
        end += 2;
    }
    return i;
}

/* The type that begins at i; behind it, or 0 when there is none. */
static size_t type_read(const struct code_tokens *t, size_t i, size_t limit,
                        struct plain_type *ret) {
    *ret = (struct plain_type){.t = t};
    for (; i < limit && is_qualifier(t, i); i++) {
        ret->is_const |= code_word(t, i) == WORD_CONST;
    }
    ret->from = i;
    ret->to = base_end(t, i, limit);
    if (ret->to == ret->from) {
        return 0;
    }
    for (i = ret->to; i < limit; i++) {
        if (code_word(t, i) == WORD_STAR) {
            ret->stars++;
        } else if (code_word(t, i) == WORD_CONST && !ret->stars) {
            ret->is_const = true;
        } else if (code_word(t, i) != WORD_AMPERSAND && !is_qualifier(t, i)) {
            break;
        }
    }
    return i;
}

/* ---- declarations of variables ---- */

/* Where the statement or parameter that token i is in begins. */
static size_t statement_start(const struct launch_scope *s, size_t i) {
    int depth = 0;
    for (size_t n = 0; i > s->from && n < STATEMENT_TOKENS_MAX; i--, n++) {
        enum code_word w = code_word(s->t, i - 1);
        depth += w == WORD_PAREN_CLOSE || w == WORD_BRACKET_CLOSE;
        depth -= w == WORD_PAREN_OPEN || w == WORD_BRACKET_OPEN;
        if (depth < 0 || w == WORD_SEMICOLON || w == WORD_BRACE_OPEN ||
            w == WORD_BRACE_CLOSE || w == WORD_DIRECTIVE) {
            break;
        }
    }
    return i;
}

/* "float *a, *b": the stars of the declarator whose name is token i; -1 when it is none.
 */
static int declarator_stars(const struct code_tokens *t, size_t i) {
    int stars = 0;
    for (i--; code_word(t, i) == WORD_STAR || is_qualifier(t, i); i--) {
        stars += code_word(t, i) == WORD_STAR;
    }
    return code_word(t, i) == WORD_COMMA ? stars : -1;
}

static bool ends_declarator(enum code_word w) {
    return w == WORD_ASSIGN || w == WORD_SEMICOLON || w == WORD_COMMA ||
           w == WORD_BRACKET_OPEN || w == WORD_BRACE_OPEN || w == WORD_PAREN_CLOSE;
}

/* Whether token i is the name that the declaration from `start` on declares. */
static bool declares(const struct launch_scope *s, size_t start, size_t i,
                     struct plain_type *ret) {
    size_t first = type_read(s->t, start, i + 1, ret);
    if (!first || code_word(s->t, first) != WORD_NAME ||
        !ends_declarator(code_word(s->t, i + 1))) {
        return false;
    }
    if (first != i) {
        ret->stars = declarator_stars(s->t, i);
    }
    ret->stars += ret->stars >= 0 && code_word(s->t, i + 1) == WORD_BRACKET_OPEN;
    return ret->stars >= 0;
}

/* A parameter begins behind the '(' or a ','. */
static size_t parameter_start(const struct launch_scope *s, size_t i) {
    size_t n = 0;
    for (; i > s->params + 1 && code_word(s->t, i - 1) != WORD_COMMA; i--) {
        if (n++ >= TYPE_TOKENS_MAX) {
            return s->from;
        }
    }
    return i;
}

static bool same_type(const struct plain_type *a, const struct plain_type *b) {
    if (a->stars != b->stars || a->is_const != b->is_const ||
        a->to - a->from != b->to - b->from) {
        return false;
    }
    return !any_of(i, 0, a->to - a->from,
                   code_token_hash(a->t, a->from + i) !=
                       code_token_hash(b->t, b->from + i));
}

/* As declared before the call; false when it is not, or differently in two places. */
static bool declared_in(const struct launch_scope *s, uint64_t name, size_t *looked,
                        struct plain_type *ret) {
    bool found = false;
    size_t first = s->params ? s->params : s->from;
    for (size_t i = first + 1; i < s->to && *looked < LAUNCH_TYPES_LOOKED_MAX; i++) {
        ++*looked;
        if (code_word(s->t, i) != WORD_NAME || code_token_hash(s->t, i) != name) {
            continue;
        }
        bool parameter = s->params && i < s->from;
        size_t start = parameter ? parameter_start(s, i) : statement_start(s, i);
        struct plain_type type;
        /* in brackets of a call "a * x" is a product */
        bool open = !parameter && start > first && start < i &&
                    code_word(s->t, start - 1) == WORD_PAREN_OPEN &&
                    !code_token_is(s->t, start - 2, "for");
        *looked += i - start;
        if (open || start >= i || !declares(s, start, i, &type)) {
            continue;
        }
        if (found && !same_type(&type, ret)) {
            return false;
        }
        *ret = type;
        found = true;
    }
    return found;
}

static bool declared(const struct launch_scope *s, uint64_t name, size_t *looked,
                     struct plain_type *ret) {
    for (; s; s = s->outer) {
        if (declared_in(s, name, looked, ret)) {
            return true;
        }
    }
    return false;
}

/* ---- arguments ---- */

static bool literal_type(const struct code_tokens *t, size_t i, struct plain_type *ret) {
    const struct code_token *token = &t->list[i];
    const char *s = t->text + token->start;
    size_t len = token->end - token->start;
    bool hex = len > 1 && (s[1] == 'x' || s[1] == 'X');
    bool suffixed = strchr("fFuUlL", s[len - 1]) != NULL && !hex;
    bool real = !hex && (memchr(s, '.', len) || memchr(s, 'e', len));
    *ret = (struct plain_type){.t = t};
    if (real && suffixed) {
        ret->literal = strchr("fF", s[len - 1]) ? "float" : NULL;
    } else if (!suffixed && !hex) {
        ret->literal = real ? "double" : "int";
    }
    return ret->literal != NULL;
}

/* (float *)x, static_cast<float *>(x), x.data_ptr<float>() */
static bool cast_type(const struct code_tokens *t, size_t from, size_t to,
                      struct plain_type *ret) {
    if (code_word(t, from) == WORD_PAREN_OPEN) {
        size_t end = type_read(t, from + 1, to, ret);
        return end && end + 1 < to && code_word(t, end) == WORD_PAREN_CLOSE && ret->stars;
    }
    if (code_token_is(t, from, "static_cast") ||
        code_token_is(t, from, "reinterpret_cast")) {
        size_t end = type_read(t, from + 2, to, ret);
        return end && code_word(t, end) == WORD_GREATER;
    }
    for (size_t i = from; i + 2 < to && i < from + TYPE_TOKENS_MAX; i++) {
        if (code_token_is(t, i, "data_ptr") && code_word(t, i + 1) == WORD_LESS) {
            size_t end = type_read(t, i + 2, to, ret);
            ret->stars++;
            return end && code_word(t, end) == WORD_GREATER &&
                   code_word(t, end + 1) == WORD_PAREN_OPEN && end + 3 == to;
        }
    }
    return false;
}

static bool argument_type(const struct launch_scope *s, size_t from, size_t to,
                          size_t *looked, struct plain_type *ret) {
    if (to == from + 1 && code_word(s->t, from) == WORD_NUMBER) {
        return literal_type(s->t, from, ret);
    }
    bool offset = to > from + 2 && code_token_is(s->t, from + 1, "+");
    if (code_word(s->t, from) == WORD_NAME && (to == from + 1 || offset)) {
        return declared(s, code_token_hash(s->t, from), looked, ret) &&
               (!offset || ret->stars > 0);
    }
    return cast_type(s->t, from, to, ret);
}

/* ---- parameters ---- */

struct parts {
    struct list_part list[64];
    size_t count;
};

static void parts_read(const struct code_tokens *t, size_t open, size_t close,
                       struct parts *ret) {
    ret->count = 0;
    for (size_t at = open + 1;
         ret->count < ARRAY_LEN(ret->list) &&
         template_list_next(t, &at, close, &ret->list[ret->count]);) {
        ret->count++;
    }
}

static size_t call_end(const struct launch_scope *s, size_t open) {
    int depth = 0;
    for (size_t i = open; i < s->t->count && i < open + 1024; i++) {
        depth += code_word(s->t, i) == WORD_PAREN_OPEN;
        depth -= code_word(s->t, i) == WORD_PAREN_CLOSE;
        if (depth == 0) {
            return i;
        }
    }
    return open;
}

/* What a template's parameter T is when "const T *x" gets an argument of this type. */
static char *deduced(const struct plain_type *parameter, const struct plain_type *type,
                     const struct bindings *names) {
    int stars = type->stars - parameter->stars;
    if (stars < 0 || stars > 4) {
        return NULL;
    }
    autofree char *base = type->literal
                              ? xstrdup(type->literal)
                              : bindings_expand(type->t, type->from, type->to, names);
    bool keeps = type->is_const && type->stars > 0 && !(parameter->is_const && !stars);
    return base ? xasprintf("%s%s%.*s", keeps ? "const " : "", base, stars, "****")
                : NULL;
}

/* One argument's say, of the parameter at tokens [from, to) of the callee's list. */
static char *type_for(const struct code_tokens *own, const struct parts *parameters,
                      size_t k, uint64_t name, const struct plain_type *argument,
                      const struct bindings *names) {
    struct plain_type p;
    size_t from = parameters->list[k].from, to = parameters->list[k].to;
    size_t end = type_read(own, from, to, &p);
    bool plain = end && p.to == p.from + 1 && code_word(own, p.from) == WORD_NAME &&
                 code_token_hash(own, p.from) == name &&
                 (end == to || code_word(own, end) == WORD_NAME) && end + 1 >= to;
    return plain ? deduced(&p, argument, names) : NULL;
}

/* Whether a call with these arguments may mean a function with these parameters; a macro
 * may hold several arguments. */
static bool may_call_with(const struct code_tokens *own, const struct parts *wanted,
                          const struct code_tokens *t, const struct parts *told) {
    size_t needed = 0;
    for (size_t k = 0; k < wanted->count; k++) {
        bool fallback = any_of(i, wanted->list[k].from, wanted->list[k].to,
                               code_word(own, i) == WORD_ASSIGN);
        needed += !fallback;
    }
    return (told->count >= needed && told->count <= wanted->count) ||
           any_of(k, 0, told->count, code_token_is_capital(t, told->list[k].from));
}

char *launch_types_deduce(const struct code_tokens *own, const struct declaration *callee,
                          size_t given, const struct launch_scope *scope, size_t open,
                          const struct bindings *names, size_t *looked) {
    struct template_parameters parameters;
    template_parameters_read(own, callee, &parameters);
    struct parts wanted, told;
    size_t close = call_end(scope, open);
    if (parameters.bad || close == open || !callee->params) {
        return NULL;
    }
    parts_read(own, callee->params, callee->params_end, &wanted);
    parts_read(scope->t, open, close, &told);
    if (!may_call_with(own, &wanted, scope->t, &told)) {
        return NULL;
    }
    autobuf out = BUF_INIT(1024);
    for (size_t n = given; n < parameters.count; n++) {
        char *text = NULL;
        for (size_t k = 0; k < wanted.count && k < told.count && !text; k++) {
            struct plain_type type;
            if (parameters.list[n].is_type &&
                argument_type(scope, told.list[k].from, told.list[k].to, looked, &type)) {
                text = type_for(own, &wanted, k, parameters.list[n].name, &type, names);
            }
        }
        if (!text && parameters.list[n].fallback) {
            break;
        }
        buf_addf(&out, "%s%s", n > given ? ", " : "", text ? text : "");
        free(text);
        if (!text) {
            return NULL;
        }
    }
    return out.full ? NULL : buf_detach(&out);
}
