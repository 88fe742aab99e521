#include "gpu/source/host_bindings.h"
#include "gpu/source/host_blanker.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_launch_text.h"
#include "gpu/source/host_macros.h"
#include "gpu/source/host_parameters.h"

#include "base/mem.h"

#include <string.h>

#define LAUNCHES_MAX 256
#define USES_MAX 8            /* of one macro, in one file */
#define EXPANSIONS_MAX 256    /* of all macros in one file */
#define ANSWERS_MAX 4096      /* calls of host templates that are looked into */
#define NESTED_MAX 6          /* macros that expand to macros */
#define GROUPS_MAX (1u << 22) /* tokens that the arguments of macros may have in all */

static enum code_word word_at(const struct code_tokens *t, size_t i) {
    return t->list[i < t->count ? i : t->count].word;
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

/* ---- collecting ---- */

struct template_kernel {
    uint64_t name;
    const struct declaration *declaration;
};

struct collector {
    const struct host_blanker *b;
    struct host_launches *ready;
    struct host_launches waiting; /* expressions in a host template's own parameters */
    struct host_macros macros;
    unsigned expansions; /* made so far */
    unsigned answers;    /* calls looked into so far */
    size_t groups;       /* tokens of macros' arguments looked at so far */
    struct template_kernel *kernels;
    size_t kernel_count;
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
    struct template_parameters own;
    template_parameters_read(t, d, &own);
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
        add_launch(template_parameters_mentioned(expression, &own) ? &c->waiting
                                                                   : c->ready,
                   expression, index, offset);
    }
}

/* The first of this name; NULL when there is none. */
static const struct declaration *kernel_template(const struct collector *c,
                                                 uint64_t name) {
    for (size_t k = 0; k < c->kernel_count; k++) {
        if (c->kernels[k].name == name) {
            return c->kernels[k].declaration;
        }
    }
    return NULL;
}

/* ---- walking host functions ---- */

/* A walk over a host function, or over what a macro in it expands to. */
struct walk {
    struct collector *c;
    const struct code_tokens *t;
    size_t from, to;
    size_t index;  /* of the declaration it is in */
    size_t offset; /* of the macro's use in the source; SIZE_MAX in the source itself */
    unsigned depth;
    const struct walk *outer; /* that the macro's use was met in, NULL at depth 0 */
    struct bindings *names;
    const struct host_launch *waiting; /* whose callers are looked for; NULL: kernels */
};

static void walk(struct walk *w);

static size_t walk_offset(const struct walk *w, size_t i) {
    return w->offset != SIZE_MAX ? w->offset : w->t->list[i].start;
}

/* The ')' of a macro's arguments at `open`; 0 when it has none, or too much was looked at
 * by now. */
static size_t arguments_end(struct walk *w, size_t open, bool *code) {
    int depth = 0;
    *code = false;
    for (size_t i = open; i < w->to && w->c->groups < GROUPS_MAX; i++, w->c->groups++) {
        enum code_word word = word_at(w->t, i);
        *code |= word == WORD_BRACE_OPEN;
        depth += word == WORD_PAREN_OPEN;
        depth -= word == WORD_PAREN_CLOSE;
        if (depth == 0) {
            return i;
        }
    }
    return 0;
}

static void walk_expansion(const struct walk *w, const struct host_macro *macro, size_t i,
                           size_t close) {
    autofree char *text = host_macro_expand(macro, w->t, i + 1, close);
    struct code_tokens tokens;
    if (!text || code_tokens_read(&tokens, text, strlen(text)) < 0) {
        return;
    }
    struct walk inner = *w;
    inner.t = &tokens;
    inner.from = 0;
    inner.to = tokens.count;
    inner.offset = walk_offset(w, i);
    inner.depth++;
    inner.outer = w;
    walk(&inner);
    code_tokens_finish(&tokens);
}

/* NAME( at token i: a macro of the files' own that holds launches, or takes code that
 * may, is looked into. Returns the last token of what was dealt with. */
static size_t walk_macro(struct walk *w, size_t i) {
    struct host_macro *macro =
        w->depth < NESTED_MAX
            ? host_macros_find(&w->c->macros, code_token_hash(w->t, i), walk_offset(w, i))
            : NULL;
    bool code = false;
    size_t close = macro ? arguments_end(w, i + 1, &code) : 0;
    if (!close || !(macro->launches || code)) {
        bindings_read_dispatch(w->t, i, w->names);
        return i;
    }
    if (macro->uses < USES_MAX && w->c->expansions < EXPANSIONS_MAX) {
        macro->uses++;
        w->c->expansions++;
        walk_expansion(w, macro, i, close);
    }
    return close;
}

struct call {
    const struct bindings *locals;
    const struct template_parameters *parameters;
    struct bindings *ret;
    size_t at;
};

static void bind_argument(const struct code_tokens *t, size_t from, size_t to,
                          void *data) {
    struct call *call = data;
    if (call->at < call->parameters->count) {
        const struct template_parameter *p = &call->parameters->list[call->at++];
        char *text = bindings_expand(t, from, to, call->locals);
        bindings_add(call->ret, p->name, p->is_type ? text : bindings_in_parens(text));
    }
}

/* Whether an expression depends on a variable that a macro's body declares. */
static bool is_running(const struct walk *w, const char *expression) {
    struct code_tokens words;
    bool ret = code_tokens_read(&words, expression, strlen(expression)) < 0;
    for (; w->depth && !ret; w = w->outer) {
        const struct declaration all = {.body = 1, .body_end = w->to};
        for (size_t i = 0; i < words.count && !ret; i++) {
            ret = words.list[i].word == WORD_NAME &&
                  is_local(w->t, &all, code_token_hash(&words, i));
        }
    }
    code_tokens_finish(&words);
    return ret;
}

/* What waits for a host template, when that is called with arguments at token i. */
static void answer_call(struct walk *w, size_t i) {
    const struct code_tokens *t = w->t, *own = &w->c->b->tokens;
    const struct declaration *callee =
        &w->c->b->declarations.list[w->waiting->declaration];
    size_t open = i + 1;
    if (code_token_hash(t, i) != code_token_hash(own, callee->name) ||
        w->c->answers++ >= ANSWERS_MAX) {
        return;
    }
    size_t close = code_angles_end(t, open);
    struct template_parameters parameters;
    template_parameters_read(own, callee, &parameters);
    if (close == open || parameters.bad) {
        return;
    }
    struct bindings arguments = {.count = 0};
    struct call call = {w->names, &parameters, &arguments, 0};
    template_list_split(t, open, close, bind_argument, &call);
    while (call.at < parameters.count && parameters.list[call.at].fallback) {
        const struct template_parameter *p = &parameters.list[call.at];
        bind_argument(own, p->fallback, p->fallback_end, &call);
    }
    char *expression = bindings_expand_text(w->waiting->expression, &arguments);
    if (expression && !template_parameters_mentioned(expression, &parameters) &&
        !is_running(w, expression)) {
        place(w->c, expression, w->index, walk_offset(w, i));
    } else {
        free(expression);
    }
    bindings_finish(&arguments);
}

static void count_argument(const struct code_tokens *t, size_t from, size_t to,
                           void *data) {
    (void)t, (void)from, (void)to;
    ++*(size_t *)data;
}

/* "k<4><<<1, 1>>>(x)" of a template <int N, class T>: what is missing is found from the
 * call's arguments, whose types are not known here. */
static bool is_deduced(struct walk *w, const struct declaration *kernel, size_t open,
                       size_t close) {
    struct template_parameters parameters;
    size_t given = 0;
    template_parameters_read(&w->c->b->tokens, kernel, &parameters);
    template_list_split(w->t, open, close, count_argument, &given);
    return !parameters.bad && given < parameters.count &&
           !parameters.list[given].fallback;
}

static void take_kernel(struct walk *w, size_t i) {
    const struct host_blanker *b = w->c->b;
    const struct declaration *kernel = kernel_template(w->c, code_token_hash(w->t, i));
    size_t close = kernel ? code_angles_end(w->t, i + 1) : i + 1;
    if (close == i + 1 || is_deduced(w, kernel, i + 1, close)) {
        return;
    }
    autofree char *arguments = bindings_expand(w->t, i + 1, close + 1, w->names);
    if (arguments && !is_running(w, arguments)) {
        autofree char *qualified = host_qualified_name(b, kernel);
        place(w->c, xasprintf("%s%s", qualified, arguments), w->index, walk_offset(w, i));
    }
}

static void walk(struct walk *w) {
    for (size_t i = w->from; i < w->to; i++) {
        if (w->depth) {
            bindings_read_at(w->t, i, w->to, w->names);
        }
        if (word_at(w->t, i) != WORD_NAME) {
            continue;
        }
        if (word_at(w->t, i + 1) == WORD_PAREN_OPEN) {
            i = walk_macro(w, i);
        } else if (word_at(w->t, i + 1) == WORD_LESS && w->waiting) {
            answer_call(w, i);
        } else if (word_at(w->t, i + 1) == WORD_LESS) {
            take_kernel(w, i);
        }
    }
}

static void walk_declaration(struct collector *c, size_t index,
                             const struct host_launch *waiting) {
    const struct declaration *d = &c->b->declarations.list[index];
    struct bindings names = {.count = 0};
    bindings_read_locals(&c->b->tokens, d, &names);
    struct walk w = {.c = c,
                     .t = &c->b->tokens,
                     .from = d->body ? d->body : d->first,
                     .to = d->body ? d->body_end : d->last + 1,
                     .index = index,
                     .offset = SIZE_MAX,
                     .names = &names,
                     .waiting = waiting};
    walk(&w);
    bindings_finish(&names);
}

/* ---- collecting from all ---- */

/* Macros whose bodies name the host template that is looked for are looked into. */
static void note_callers(struct collector *c, const struct code_token *name) {
    size_t len = name->end - name->start;
    for (size_t i = 0; i < c->macros.count; i++) {
        struct host_macro *m = &c->macros.list[i];
        m->uses = 0;
        m->launches |= memmem(m->body, strlen(m->body), c->b->tokens.text + name->start,
                              len) != NULL;
    }
}

/* Whether a call of the host template may be in a declaration. */
static bool may_call(struct collector *c, const struct declaration *d, uint64_t name) {
    const struct code_tokens *t = &c->b->tokens;
    size_t from = d->body ? d->body : d->first, to = d->body ? d->body_end : d->last;
    for (size_t i = from; i < to; i++) {
        enum code_word after = word_at(t, i + 1);
        if (word_at(t, i) != WORD_NAME ||
            (after != WORD_LESS && after != WORD_PAREN_OPEN)) {
            continue;
        }
        uint64_t hash = code_token_hash(t, i);
        const struct host_macro *m =
            after == WORD_PAREN_OPEN
                ? host_macros_find(&c->macros, hash, t->list[i].start)
                : NULL;
        if ((after == WORD_LESS && hash == name) || (m && m->launches)) {
            return true;
        }
    }
    return false;
}

/* Find who calls the host templates that expressions wait for; what they answer may wait
 * in turn, so the list grows while it is walked. */
static void collect_calls(struct collector *c) {
    const struct host_blanker *b = c->b;
    for (size_t w = 0; w < c->waiting.count && w < 64; w++) {
        struct host_launch waiting = c->waiting.list[w];
        size_t name = b->declarations.list[waiting.declaration].name;
        note_callers(c, &b->tokens.list[name]);
        for (size_t k = 0; k < b->declarations.count; k++) {
            const struct declaration *d = &b->declarations.list[k];
            if (b->goes[k] && d->kind != DECLARATION_CLASS && k != waiting.declaration &&
                may_call(c, d, code_token_hash(&b->tokens, name))) {
                walk_declaration(c, k, &waiting);
            }
        }
    }
}

#define KERNELS_MAX 1024

static void read_kernels(struct collector *c) {
    const struct host_blanker *b = c->b;
    for (size_t i = 0; i < b->declarations.count && c->kernel_count < KERNELS_MAX; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (d->kind == DECLARATION_FUNCTION && d->has_global && d->has_template &&
            d->name) {
            c->kernels =
                xreallocarray(c->kernels, c->kernel_count + 1, sizeof *c->kernels);
            c->kernels[c->kernel_count++] =
                (struct template_kernel){code_token_hash(&b->tokens, d->name), d};
        }
    }
}

void host_launches_collect(struct host_launches *ret, const struct host_blanker *b,
                           const struct host_macros *known) {
    *ret = (struct host_launches){0};
    struct collector c = {.b = b, .ready = ret};
    if (!host_guess_spoils(b->tokens.text, b->tokens.len)) {
        read_kernels(&c);
    }
    if (c.kernel_count > 0) {
        if (known) {
            host_macros_copy(&c.macros, known);
        }
        host_macros_read(&c.macros, &b->tokens);
    }
    for (size_t i = 0; c.kernel_count > 0 && i < b->declarations.count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (b->goes[i] && d->kind != DECLARATION_CLASS &&
            (d->body || d->kind == DECLARATION_MACRO)) {
            walk_declaration(&c, i, NULL);
        }
    }
    collect_calls(&c);
    host_launches_finish(&c.waiting);
    host_macros_finish(&c.macros);
    free(c.kernels);
}

void host_launches_finish(struct host_launches *launches) {
    for (size_t i = 0; i < launches->count; i++) {
        free(launches->list[i].expression);
    }
    free(launches->list);
    *launches = (struct host_launches){0};
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

/* template __global__ void k<half>(…); */
static bool is_instantiated(const struct host_blanker *b, const struct declaration *d) {
    size_t i = d->first;
    while (i < d->name && word_at(&b->tokens, i) != WORD_TEMPLATE) {
        i++;
    }
    return d->kind == DECLARATION_FUNCTION && d->has_global && d->has_template &&
           !d->body && i < d->name && word_at(&b->tokens, i + 1) != WORD_LESS;
}

/* Whether the source says elsewhere with which types the kernel is wanted. */
static bool is_told(const struct host_launches *l, const struct host_blanker *b,
                    const char *guess) {
    size_t len = strcspn(guess, "<");
    for (size_t i = 0; i < l->count; i++) {
        const char *other = l->list[i].expression;
        if (strncmp(other, guess, len + 1) == 0 && !host_guess_is(other)) {
            return true;
        }
    }
    for (size_t i = 0; i < b->declarations.count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (is_instantiated(b, d)) {
            autofree char *name = host_qualified_name(b, d);
            if (strlen(name) == len && memcmp(name, guess, len) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* On the launch's own line where it fits, else from there on, else anywhere in what went.
 */
static struct host_guess room_of(const struct host_launch *launch,
                                 const struct host_blanker *b, const char *text) {
    const struct declaration *d = &b->declarations.list[launch->declaration];
    struct host_guess ret = {.expression = launch->expression,
                             .offset = launch->offset,
                             .line = launch->offset,
                             .from = b->tokens.list[d->first].start,
                             .to = b->tokens.list[d->last].end};
    while (ret.line > ret.from && text[ret.line - 1] != '\n') {
        ret.line--;
    }
    return ret;
}

void host_launches_write(const struct host_launches *launches,
                         const struct host_blanker *b, char *text,
                         struct host_guesses *guesses) {
    for (size_t i = 0; i < launches->count; i++) {
        struct host_guess room = room_of(&launches->list[i], b, text);
        if (is_duplicate(launches, i)) {
            continue;
        }
        if (host_guess_is(room.expression)) {
            if (!is_told(launches, b, room.expression)) {
                host_guesses_add(guesses, &room);
            }
        } else {
            host_launch_text_write(text, room.expression, room.line, room.from, room.to);
        }
    }
}
