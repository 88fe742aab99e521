#include "gpu/source/host_blanker.h"

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

#define LAUNCHES_MAX 256
#define EXPRESSION_MAX 2048 /* bytes */
#define BINDINGS_MAX 256

/* A name that stands for a text: a local constant or alias, or a template parameter. */
struct binding {
    uint64_t name;
    char *text;
};
struct bindings {
    struct binding list[BINDINGS_MAX];
    size_t count;
};

static void bind(struct bindings *s, uint64_t name, char *text) {
    if (text && s->count < BINDINGS_MAX) {
        s->list[s->count++] = (struct binding){name, text};
    } else {
        free(text);
    }
}

static void bindings_finish(struct bindings *s) {
    for (size_t i = 0; i < s->count; i++) {
        free(s->list[i].text);
    }
    s->count = 0;
}

static const char *bound(const struct bindings *s, uint64_t name) {
    for (size_t i = s->count; i-- > 0;) {
        if (s->list[i].name == name) {
            return s->list[i].text;
        }
    }
    return NULL;
}

static enum code_word word_at(const struct code_tokens *t, size_t i) {
    return t->list[i < t->count ? i : t->count].word;
}

/* The tokens [from, to) as text with single blanks, bound names replaced; NULL when it
 * grows too long. */
static char *expand(const struct code_tokens *t, size_t from, size_t to,
                    const struct bindings *names) {
    autobuf out = BUF_INIT(EXPRESSION_MAX);
    for (size_t i = from; i < to; i++) {
        const struct code_token *token = &t->list[i];
        if (token->word == WORD_DIRECTIVE) {
            return NULL;
        }
        enum code_word before = i > from ? word_at(t, i - 1) : WORD_NONE;
        const char *text = token->word == WORD_NAME && before != WORD_SCOPE
                               ? bound(names, code_token_hash(t, i))
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

static char *expand_text(const char *text, const struct bindings *names) {
    struct code_tokens t;
    if (code_tokens_read(&t, text, strlen(text)) < 0) {
        return NULL;
    }
    char *ret = expand(&t, 0, t.count, names);
    code_tokens_finish(&t);
    return ret;
}

/* ---- local constants and aliases ---- */

/* The end of an initialiser or type from i on: its ';' or ',' outside brackets. */
static size_t value_end(const struct code_tokens *t, size_t i, size_t limit) {
    int depth = 0;
    for (size_t n = 0; i < limit && n < 64; i++, n++) {
        enum code_word w = word_at(t, i);
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

static char *in_parens(char *text) {
    char *ret = text ? xasprintf("(%s)", text) : NULL;
    free(text);
    return ret;
}

/* constexpr int A = 1, B = 2; from its specifier at i on. */
static void bind_constants(const struct code_tokens *t, size_t i, size_t limit,
                           struct bindings *names) {
    size_t at = i + 1;
    for (; at < limit && at < i + 12 && word_at(t, at + 1) != WORD_ASSIGN; at++) {}
    while (at < limit && word_at(t, at) == WORD_NAME &&
           word_at(t, at + 1) == WORD_ASSIGN) {
        size_t end = value_end(t, at + 2, limit);
        if (!end) {
            return;
        }
        bind(names, code_token_hash(t, at), in_parens(expand(t, at + 2, end, names)));
        at = word_at(t, end) == WORD_COMMA ? end + 1 : limit;
    }
}

static void bind_alias(const struct code_tokens *t, size_t i, size_t limit,
                       struct bindings *names) {
    if (word_at(t, i) == WORD_USING && word_at(t, i + 1) == WORD_NAME &&
        word_at(t, i + 2) == WORD_ASSIGN) {
        size_t end = value_end(t, i + 3, limit);
        if (end) {
            bind(names, code_token_hash(t, i + 1), expand(t, i + 3, end, names));
        }
    } else if (word_at(t, i) == WORD_TYPEDEF) {
        size_t end = value_end(t, i + 1, limit);
        if (end > i + 2 && word_at(t, end - 1) == WORD_NAME) {
            bind(names, code_token_hash(t, end - 1), expand(t, i + 1, end - 1, names));
        }
    }
}

static void bind_locals(const struct code_tokens *t, const struct declaration *d,
                        struct bindings *names) {
    for (size_t i = d->body; i < d->body_end; i++) {
        enum code_word w = word_at(t, i);
        if (w == WORD_CONSTEXPR || w == WORD_CONST) {
            bind_constants(t, i, d->body_end, names);
        } else if (w == WORD_USING || w == WORD_TYPEDEF) {
            bind_alias(t, i, d->body_end, names);
        } else if (w == WORD_NAME && code_token_is(t, i, "scalar_t") &&
                   !bound(names, code_token_hash(t, i))) {
            /* AT_DISPATCH_FLOATING_TYPES and its like name the type so: one of them will
             * do */
            bind(names, code_token_hash(t, i), xstrdup("float"));
        }
    }
}

/* A variable or parameter of the host function: what depends on it is no constant. */
static bool is_local(const struct code_tokens *t, const struct declaration *d,
                     uint64_t name) {
    for (size_t i = d->params ? d->params : d->body; i + 1 < d->body_end; i++) {
        enum code_word before = word_at(t, i - 1), after = word_at(t, i + 1);
        bool typed = before == WORD_TYPE || before == WORD_STAR ||
                     before == WORD_AMPERSAND || before == WORD_GREATER ||
                     (before == WORD_NAME && !code_token_is(t, i - 1, "return"));
        bool declares = after == WORD_ASSIGN || after == WORD_SEMICOLON ||
                        after == WORD_COMMA || after == WORD_PAREN_CLOSE ||
                        after == WORD_BRACE_OPEN;
        if (word_at(t, i) == WORD_NAME && typed && declares &&
            code_token_hash(t, i) == name) {
            return true;
        }
    }
    return false;
}

/* ---- template parameters ---- */

#define PARAMETERS_MAX 32

struct parameter {
    uint64_t name;
    bool is_type;
    size_t fallback, fallback_end; /* tokens of its default, 0 when none */
};
struct parameters {
    struct parameter list[PARAMETERS_MAX];
    size_t count;
    bool bad; /* a pack, too many, or no list */
};

static void read_parameter(const struct code_tokens *t, size_t from, size_t to,
                           struct parameters *ret) {
    struct parameter p = {.is_type = word_at(t, from) == WORD_TYPENAME ||
                                     word_at(t, from) == WORD_CLASS};
    size_t end = from;
    for (; end < to && word_at(t, end) != WORD_ASSIGN; end++) {
        ret->bad |= code_token_is(t, end, "...");
        if (word_at(t, end) == WORD_NAME) {
            p.name = code_token_hash(t, end);
        }
    }
    if (end < to) {
        p.fallback = end + 1;
        p.fallback_end = to;
    }
    if (ret->count == PARAMETERS_MAX) {
        ret->bad = true;
        return;
    }
    ret->list[ret->count++] = p;
}

/* Calls `take` for each part of the list in the angles at `open`, split at its commas. */
static void split_angles(const struct code_tokens *t, size_t open, size_t close,
                         void (*part)(const struct code_tokens *t, size_t from, size_t to,
                                      void *data),
                         void *data) {
    int depth = 0;
    size_t from = open + 1;
    for (size_t i = open + 1; i <= close; i++) {
        enum code_word w = word_at(t, i);
        if (i == close || (w == WORD_COMMA && depth == 0)) {
            if (i > from) {
                part(t, from, i, data);
            }
            from = i + 1;
        }
        depth += w == WORD_PAREN_OPEN || w == WORD_LESS || w == WORD_BRACE_OPEN;
        depth -= w == WORD_PAREN_CLOSE || w == WORD_GREATER || w == WORD_BRACE_CLOSE;
        depth -= w == WORD_SHIFT_RIGHT && i < close ? 2 : 0;
    }
}

static void add_parameter(const struct code_tokens *t, size_t from, size_t to,
                          void *data) {
    read_parameter(t, from, to, data);
}

static void parameters_read(const struct code_tokens *t, const struct declaration *d,
                            struct parameters *ret) {
    *ret = (struct parameters){0};
    size_t i = d->first;
    while (i < d->name && word_at(t, i) != WORD_TEMPLATE) {
        i++;
    }
    size_t open = i + 1, close = code_angles_end(t, open);
    if (i >= d->name || word_at(t, open) != WORD_LESS || close == open) {
        ret->bad = word_at(t, open) == WORD_LESS; /* else an explicit instantiation */
        return;
    }
    split_angles(t, open, close, add_parameter, ret);
}

static bool mentions(const char *text, const struct parameters *p) {
    struct code_tokens t;
    bool found = false;
    if (code_tokens_read(&t, text, strlen(text)) < 0) {
        return true;
    }
    for (size_t i = 0; i < t.count; i++) {
        for (size_t k = 0; k < p->count && t.list[i].word == WORD_NAME; k++) {
            found |= p->list[k].name == code_token_hash(&t, i);
        }
    }
    code_tokens_finish(&t);
    return found;
}

/* ---- collecting ---- */

struct collector {
    const struct host_blanker *b;
    struct host_launches *ready;
    struct host_launches waiting; /* expressions in a host template's own parameters */
};

static void add_launch(struct host_launches *l, char *expression, size_t declaration,
                       size_t offset) {
    if (l->count >= LAUNCHES_MAX) {
        free(expression);
        return;
    }
    l->list = xreallocarray(l->list, l->count + 1, sizeof *l->list);
    l->list[l->count++] = (struct host_launch){expression, declaration, offset};
}

/* An expression found in a host function goes out, waits for that function's callers, or
 * is dropped because it depends on what only runs. */
static void place(struct collector *c, char *expression, size_t index, size_t offset) {
    const struct code_tokens *t = &c->b->tokens;
    const struct declaration *d = &c->b->declarations.list[index];
    struct parameters own;
    parameters_read(t, d, &own);
    struct code_tokens words;
    bool usable = code_tokens_read(&words, expression, strlen(expression)) == 0;
    for (size_t i = 0; usable && i < words.count; i++) {
        usable = words.list[i].word != WORD_NAME ||
                 !is_local(t, d, code_token_hash(&words, i));
    }
    code_tokens_finish(&words);
    if (!usable || own.bad) {
        free(expression);
    } else {
        add_launch(mentions(expression, &own) ? &c->waiting : c->ready, expression, index,
                   offset);
    }
}

static const struct declaration *kernel_template(const struct host_blanker *b, size_t i) {
    uint64_t name = code_token_hash(&b->tokens, i);
    for (size_t k = 0; k < b->declarations.count; k++) {
        const struct declaration *d = &b->declarations.list[k];
        if (d->kind == DECLARATION_FUNCTION && d->has_global && d->has_template &&
            d->name && code_token_hash(&b->tokens, d->name) == name) {
            return d;
        }
    }
    return NULL;
}

/* The kernels<arguments> in one host function. */
static void collect_from(struct collector *c, size_t index, const uint64_t *kernels,
                         size_t kernel_count) {
    const struct host_blanker *b = c->b;
    const struct code_tokens *t = &b->tokens;
    const struct declaration *d = &b->declarations.list[index];
    struct bindings names = {.count = 0};
    bind_locals(t, d, &names);
    for (size_t i = d->body; i < d->body_end; i++) {
        if (word_at(t, i) != WORD_NAME || word_at(t, i + 1) != WORD_LESS) {
            continue;
        }
        uint64_t name = code_token_hash(t, i);
        bool known = false;
        for (size_t k = 0; k < kernel_count && !known; k++) {
            known = kernels[k] == name;
        }
        size_t close = known ? code_angles_end(t, i + 1) : i + 1;
        const struct declaration *kernel = close > i + 1 ? kernel_template(b, i) : NULL;
        autofree char *arguments = kernel ? expand(t, i + 1, close + 1, &names) : NULL;
        if (!arguments) {
            continue;
        }
        autofree char *qualified = host_qualified_name(b, kernel);
        place(c, xasprintf("%s%s", qualified, arguments), index, t->list[i].start);
    }
    bindings_finish(&names);
}

struct call {
    const struct bindings *locals;
    const struct parameters *parameters;
    struct bindings *ret;
    size_t at;
};

static void bind_argument(const struct code_tokens *t, size_t from, size_t to,
                          void *data) {
    struct call *call = data;
    if (call->at < call->parameters->count) {
        const struct parameter *p = &call->parameters->list[call->at++];
        char *text = expand(t, from, to, call->locals);
        bind(call->ret, p->name, p->is_type ? text : in_parens(text));
    }
}

/* host_template<arguments> at token i of a host function: what waits for it, with the
 * arguments in place. */
static void answer_call(struct collector *c, size_t index, size_t i,
                        const struct host_launch *waiting) {
    const struct code_tokens *t = &c->b->tokens;
    const struct declaration *callee = &c->b->declarations.list[waiting->declaration];
    size_t open = i + 1, close = code_angles_end(t, open);
    struct parameters parameters;
    parameters_read(t, callee, &parameters);
    if (close == open || parameters.bad) {
        return;
    }
    struct bindings locals = {.count = 0}, arguments = {.count = 0};
    bind_locals(t, &c->b->declarations.list[index], &locals);
    struct call call = {&locals, &parameters, &arguments, 0};
    split_angles(t, open, close, bind_argument, &call);
    while (call.at < parameters.count && parameters.list[call.at].fallback) {
        const struct parameter *p = &parameters.list[call.at];
        bind_argument(t, p->fallback, p->fallback_end, &call);
    }
    char *expression = expand_text(waiting->expression, &arguments);
    if (expression && !mentions(expression, &parameters)) {
        place(c, expression, index, t->list[i].start);
    } else {
        free(expression);
    }
    bindings_finish(&locals);
    bindings_finish(&arguments);
}

/* Find who calls the host templates that expressions wait for; what they answer may wait
 * in turn, so the list grows while it is walked. */
static void collect_calls(struct collector *c) {
    const struct host_blanker *b = c->b;
    for (size_t w = 0; w < c->waiting.count && w < 64; w++) {
        struct host_launch waiting = c->waiting.list[w];
        uint64_t name =
            code_token_hash(&b->tokens, b->declarations.list[waiting.declaration].name);
        for (size_t k = 0; k < b->declarations.count; k++) {
            const struct declaration *d = &b->declarations.list[k];
            size_t from = d->body ? d->body : d->first;
            size_t to = d->body ? d->body_end : d->last;
            bool calls =
                b->goes[k] && d->kind != DECLARATION_CLASS && k != waiting.declaration;
            for (size_t i = from; calls && i < to; i++) {
                if (word_at(&b->tokens, i) == WORD_NAME &&
                    word_at(&b->tokens, i + 1) == WORD_LESS &&
                    code_token_hash(&b->tokens, i) == name) {
                    answer_call(c, k, i, &waiting);
                }
            }
        }
    }
}

void host_launches_collect(struct host_launches *ret, const struct host_blanker *b) {
    *ret = (struct host_launches){0};
    struct collector c = {.b = b, .ready = ret};
    autofree uint64_t *kernels = NULL;
    size_t count = 0;
    for (size_t i = 0; i < b->declarations.count && count < 1024; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (d->kind == DECLARATION_FUNCTION && d->has_global && d->has_template &&
            d->name) {
            kernels = xreallocarray(kernels, count + 1, sizeof *kernels);
            kernels[count++] = code_token_hash(&b->tokens, d->name);
        }
    }
    for (size_t i = 0; count > 0 && i < b->declarations.count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (b->goes[i] && d->body && d->kind != DECLARATION_CLASS) {
            collect_from(&c, i, kernels, count);
        }
    }
    collect_calls(&c);
    host_launches_finish(&c.waiting);
}

/* ---- writing ---- */

static bool is_duplicate(const struct host_launches *l, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (strcmp(l->list[k].expression, l->list[i].expression) == 0) {
            return true;
        }
    }
    return false;
}

/* Lay the tokens out over the blanks and newlines from `at` on. Returns 0 when they found
 * room, else the offset that was in the way. */
static size_t lay_out(const struct code_tokens *statement, char *text, size_t at,
                      size_t to, bool write) {
    for (size_t i = 0; i < statement->count; i++) {
        const struct code_token *token = &statement->list[i];
        size_t gap = i > 0 && token->start > statement->list[i - 1].end;
        size_t need = token->end - token->start + gap, run = 0;
        for (; run < need; at++) {
            if (at >= to || !strchr(" \n\r", text[at])) {
                return at < to ? at : to;
            }
            run = text[at] == ' ' ? run + 1 : 0;
        }
        if (write) {
            memcpy(text + at - need + gap, statement->text + token->start, need - gap);
        }
    }
    return 0;
}

static bool write_between(const struct code_tokens *statement, char *text, size_t from,
                          size_t to) {
    while (from < to) {
        size_t blocked = lay_out(statement, text, from, to, false);
        if (blocked == 0) {
            lay_out(statement, text, from, to, true);
            return true;
        }
        from = blocked + 1;
    }
    return false;
}

/* On the launch's own line where it fits, else from there on, else anywhere in what went.
 */
static void write_launch(const struct host_launch *launch, const struct host_blanker *b,
                         char *text) {
    const struct declaration *d = &b->declarations.list[launch->declaration];
    size_t from = b->tokens.list[d->first].start, to = b->tokens.list[d->last].end;
    autofree char *statement = xasprintf("static_assert(&%s,\"\");", launch->expression);
    struct code_tokens tokens;
    size_t line = launch->offset;
    while (line > from && text[line - 1] != '\n') {
        line--;
    }
    if (code_tokens_read(&tokens, statement, strlen(statement)) == 0) {
        if (!write_between(&tokens, text, line, to)) {
            write_between(&tokens, text, from, to);
        }
        code_tokens_finish(&tokens);
    }
}

void host_launches_write(const struct host_launches *launches,
                         const struct host_blanker *b, char *text) {
    for (size_t i = 0; i < launches->count; i++) {
        if (!is_duplicate(launches, i)) {
            write_launch(&launches->list[i], b, text);
        }
    }
}

void host_launches_finish(struct host_launches *launches) {
    for (size_t i = 0; i < launches->count; i++) {
        free(launches->list[i].expression);
    }
    free(launches->list);
    *launches = (struct host_launches){0};
}
