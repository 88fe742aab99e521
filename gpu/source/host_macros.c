#include "gpu/source/host_macros.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/host_guesses.h"

enum {
    BODY_MAX = 4096,      /* bytes */
    EXPANDED_MAX = 16384, /* bytes: a body may hold its arguments many times */
};

/* ---- definitions ---- */

static bool may_be_macro(const struct host_macros *m, uint64_t name) {
    return m->named[name / 64 % 64] >> name % 64 & 1;
}

static void add_macro(struct host_macros *m, struct host_macro macro) {
    m->named[macro.name / 64 % 64] |= UINT64_C(1) << macro.name % 64;
    m->list[m->count++] = macro;
}

static uint64_t token_hash(const struct cuda_lexer *l, const struct cuda_token *t) {
    return code_hash(l->text + t->start, t->end - t->start);
}

/* With the lexer behind the '(' of a definition. False when it is no parameter list, or
 * too long a one. */
static bool read_parameters(struct cuda_lexer *l, struct host_macro *ret) {
    for (struct cuda_token t = cuda_lexer_next(l); t.kind != CUDA_END;
         t = cuda_lexer_next(l)) {
        if (cuda_token_is(l, &t, ")")) {
            return true;
        }
        bool named = t.kind == CUDA_IDENTIFIER, dots = cuda_token_is(l, &t, "...");
        if (dots && ret->variadic) {
            return false;
        }
        ret->variadic |= dots;
        const char *last = l->text + t.start - 1;
        if (dots && ret->parameter_count && *last != ',' && *last != ' ' &&
            *last != '(') {
            continue; /* "rest...": its name was counted */
        }
        if (named || dots) {
            if (ret->parameter_count == HOST_MACRO_PARAMETERS_MAX) {
                return false;
            }
            ret->parameters[ret->parameter_count++] =
                named ? token_hash(l, &t) : code_hash("__VA_ARGS__", 11);
        }
    }
    return false;
}

/* NULL when there is none so far. */
static const struct host_macro *macro_named(const struct host_macros *m, uint64_t name) {
    for (size_t i = may_be_macro(m, name) ? m->count : 0; i-- > 0;) {
        if (m->list[i].name == name) {
            return &m->list[i];
        }
    }
    return NULL;
}

static bool is_parameter(const struct host_macro *m, uint64_t name) {
    return any_of(p, 0, m->parameter_count, m->parameters[p] == name);
}

/* Reads the body from the lexer on. False when no declaration and no launch can come of
 * it: it holds no block, no list in angles and calls neither another such macro nor what
 * it is given. */
static bool read_body(const struct host_macros *m, struct cuda_lexer *l,
                      struct host_macro *ret) {
    size_t from = l->at;
    if (l->len - from > BODY_MAX || host_guess_spoils(l->text + from, l->len - from)) {
        return false;
    }
    bool brings = false, named = false;
    for (struct cuda_token t = cuda_lexer_next(l); t.kind != CUDA_END;
         t = cuda_lexer_next(l)) {
        uint64_t name = t.kind == CUDA_IDENTIFIER ? token_hash(l, &t) : 0;
        const struct host_macro *known = name ? macro_named(m, name) : NULL;
        ret->launches |= cuda_token_is(l, &t, "<<<") || (known && known->launches);
        brings |= cuda_token_is(l, &t, "{") || cuda_token_is(l, &t, "<") ||
                  cuda_token_is(l, &t, "__VA_ARGS__") || known ||
                  (named && cuda_token_is(l, &t, "("));
        named = name && is_parameter(ret, name);
    }
    ret->body = xstrndup(l->text + from, l->len - from);
    return ret->launches || brings;
}

static void read_define(struct host_macros *m, const char *text,
                        const struct cuda_directive *d) {
    struct cuda_lexer l;
    cuda_lexer_init_argument(&l, text, d);
    struct cuda_token name = cuda_lexer_next(&l);
    if (name.kind != CUDA_IDENTIFIER || name.end >= d->argument_end ||
        text[name.end] != '(') {
        return;
    }
    struct host_macro macro = {.name = token_hash(&l, &name), .offset = name.start};
    cuda_lexer_next(&l);
    if (read_parameters(&l, &macro) && read_body(m, &l, &macro)) {
        add_macro(m, macro);
    } else {
        free(macro.body);
    }
}

void host_macros_read(struct host_macros *m, const struct code_tokens *t) {
    struct cuda_directive d;
    for (size_t i = 0; i < t->count && m->count < HOST_MACROS_MAX; i++) {
        if (code_token_define(t, i, &d)) {
            read_define(m, t->text, &d);
            cuda_directive_finish(&d);
        }
    }
}

void host_macros_copy(struct host_macros *m, const struct host_macros *from) {
    for (size_t i = 0; i < from->count && m->count < HOST_MACROS_MAX / 4 * 3; i++) {
        struct host_macro copy = from->list[i];
        copy.offset = 0;
        copy.body = xstrdup(copy.body);
        add_macro(m, copy);
    }
}

void host_macros_finish(struct host_macros *m) {
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].body);
    }
    *m = (struct host_macros){.count = 0};
}

struct host_macro *host_macros_find(struct host_macros *m, uint64_t name, size_t at) {
    for (size_t k = may_be_macro(m, name) ? m->count : 0; k-- > 0;) {
        if (m->list[k].name == name && m->list[k].offset <= at) {
            return &m->list[k];
        }
    }
    return NULL;
}

/* ---- uses ---- */

struct argument {
    size_t from, to; /* tokens */
};
struct arguments {
    struct argument list[HOST_MACRO_PARAMETERS_MAX];
    size_t count;
};

static void split_arguments(const struct host_macro *m, const struct code_tokens *t,
                            size_t open, size_t close, struct arguments *ret) {
    int depth = 0;
    *ret = (struct arguments){.list = {{open + 1, close}}, .count = 1};
    for (size_t i = open + 1; i < close; i++) {
        enum code_word w = t->list[i].word;
        bool rest = m->variadic && ret->count == m->parameter_count;
        depth += w == WORD_PAREN_OPEN;
        depth -= w == WORD_PAREN_CLOSE;
        if (w == WORD_COMMA && depth == 0 && !rest &&
            ret->count < HOST_MACRO_PARAMETERS_MAX) {
            ret->list[ret->count - 1].to = i;
            ret->list[ret->count++] = (struct argument){i + 1, close};
        }
    }
}

static void add_tokens(struct buf *out, const struct code_tokens *t, size_t from,
                       size_t to) {
    for (size_t i = from; i < to; i++) {
        const struct code_token *token = &t->list[i];
        if (token->word == WORD_DIRECTIVE) {
            continue; /* all branches count */
        }
        if (i > from && token->start > t->list[i - 1].end) {
            buf_addc(out, ' ');
        }
        buf_add(out, t->text + token->start, token->end - token->start);
    }
}

/* The parameter that token i of a body names; parameter_count when none. */
static size_t parameter_at(const struct host_macro *m, const struct code_tokens *body,
                           size_t i) {
    uint64_t name = code_token_hash(body, i);
    size_t p = 0;
    while (p < m->parameter_count && m->parameters[p] != name) {
        p++;
    }
    return p;
}

static void fill_body(const struct host_macro *m, const struct code_tokens *body,
                      const struct code_tokens *t, const struct arguments *arguments,
                      struct buf *out) {
    for (size_t i = 0; i < body->count && !out->full; i++) {
        const struct code_token *token = &body->list[i];
        if (code_token_is(body, i, "##")) {
            continue;
        }
        bool pasted = i > 0 && code_token_is(body, i - 1, "##");
        if (i > 0 && token->start > body->list[i - 1].end && !pasted) {
            buf_addc(out, ' ');
        }
        size_t p = parameter_at(m, body, i);
        if (code_token_is(body, i, "#") &&
            parameter_at(m, body, i + 1) < m->parameter_count) {
            buf_adds(out, "\"\"");
            i++;
        } else if (p < arguments->count && p < m->parameter_count) {
            add_tokens(out, t, arguments->list[p].from, arguments->list[p].to);
        } else {
            buf_add(out, body->text + token->start, token->end - token->start);
        }
    }
}

char *host_macro_expand(const struct host_macro *m, const struct code_tokens *t,
                        size_t open, size_t close) {
    struct arguments arguments;
    split_arguments(m, t, open, close, &arguments);
    struct code_tokens body;
    if (code_tokens_read(&body, m->body, strlen(m->body)) < 0) {
        return NULL;
    }
    autobuf out = BUF_INIT(EXPANDED_MAX);
    fill_body(m, &body, t, &arguments, &out);
    code_tokens_finish(&body);
    return out.full ? NULL : buf_detach(&out);
}
