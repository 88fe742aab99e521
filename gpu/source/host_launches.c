#include "gpu/source/host_bindings.h"
#include "gpu/source/host_blanker.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_launch_text.h"
#include "gpu/source/host_macros.h"
#include "gpu/source/host_parameters.h"
#include "gpu/source/launch_types.h"

#include "base/mem.h"

#include <string.h>

#define LAUNCHES_MAX 256
#define USES_MAX 16            /* of one macro, in one file: four nested BOOL_SWITCHes */
#define EXPANSIONS_MAX 256     /* of all macros in one file */
#define ANSWERS_MAX 4096       /* calls of host templates that are looked into */
#define NESTED_MAX 6           /* macros that expand to macros */
#define LAUNCH_TOKENS_MAX 1024 /* between <<< and >>> */
#define GROUPS_MAX (1u << 22)  /* tokens that the arguments of macros may have in all */

static enum code_word word_at(const struct code_tokens *t, size_t i) {
    return t->list[i < t->count ? i : t->count].word;
}

/* A variable or parameter of the host function: what depends on it is no constant. In the
 * body "(T * N)" is a product; a pointer there would be no constant's part anyway. */
static bool is_local(const struct code_tokens *t, const struct declaration *d,
                     uint64_t name) {
    for (size_t i = d->params ? d->params : d->body; i + 1 < d->body_end; i++) {
        enum code_word before = word_at(t, i - 1), after = word_at(t, i + 1);
        bool points = before == WORD_STAR || before == WORD_AMPERSAND;
        bool listed = after == WORD_COMMA || after == WORD_PAREN_CLOSE;
        bool typed = before == WORD_TYPE || (points && !(listed && i > d->body)) ||
                     before == WORD_GREATER ||
                     (before == WORD_NAME && !code_token_is(t, i - 1, "return"));
        bool declares = listed || after == WORD_ASSIGN || after == WORD_SEMICOLON ||
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
    size_t base;                  /* what stands before it is other files' */
    struct host_macros macros;
    unsigned expansions; /* made so far */
    unsigned answers;    /* calls looked into so far */
    size_t groups;       /* tokens of macros' arguments looked at so far */
    size_t looked;       /* tokens looked at for the types of calls' arguments */
    struct template_kernel *kernels;
    size_t kernel_count;
};

/* Takes the expression. */
static void add_launch(struct host_launches *l, struct host_launch launch) {
    if (l->count >= LAUNCHES_MAX) {
        free(launch.expression);
        return;
    }
    l->list = xreallocarray(l->list, l->count + 1, sizeof *l->list);
    l->list[l->count++] = launch;
}

static bool is_before(const struct collector *c, const struct declaration *d) {
    return c->b->tokens.list[d->first].start < c->base;
}

/* An expression found in a host function goes out, waits for that function's callers, or
 * is dropped because it depends on what only runs. */
static void place(struct collector *c, struct host_launch launch) {
    const struct code_tokens *t = &c->b->tokens;
    const struct declaration *d = &c->b->declarations.list[launch.declaration];
    char *expression = launch.expression;
    struct template_parameters own;
    template_parameters_read(t, d, &own);
    struct code_tokens words;
    bool usable = code_tokens_read(&words, expression, strlen(expression)) == 0;
    for (size_t i = 0; usable && i < words.count; i++) {
        usable = words.list[i].word != WORD_NAME ||
                 !is_local(t, d, code_token_hash(&words, i));
    }
    code_tokens_finish(&words);
    bool waits = usable && template_parameters_mentioned(expression, &own);
    if (!usable || own.bad || (!waits && is_before(c, d))) {
        free(expression);
    } else {
        add_launch(waits ? &c->waiting : c->ready, launch);
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

static void count_argument(const struct code_tokens *t, size_t from, size_t to,
                           void *data) {
    (void)t, (void)from, (void)to;
    ++*(size_t *)data;
}

/* What a call at token i leaves to be deduced, given those in the angles up to `close`;
 * open: the '(' of its arguments. */
static char *deduce(struct walk *w, const struct declaration *callee, size_t given,
                    size_t i, size_t open) {
    struct launch_scope scopes[NESTED_MAX + 2];
    size_t n = 0;
    for (const struct walk *at = w; at && n < ARRAY_LEN(scopes); at = at->outer, n++) {
        const struct declaration *d = &w->c->b->declarations.list[at->index];
        scopes[n] = (struct launch_scope){.t = at->t,
                                          .params = at->depth ? 0 : d->params,
                                          .from = at->from,
                                          .to = n ? at->to : i,
                                          .outer = NULL};
        if (n) {
            scopes[n - 1].outer = &scopes[n];
        }
    }
    return launch_types_deduce(&w->c->b->tokens, callee, given, scopes, open, w->names,
                               &w->c->looked);
}

/* "<float, 4>" of a call of a template at token i: what it says and what its arguments
 * tell; NULL when that is not all. launches: it is a kernel's. */
static char *template_arguments(struct walk *w, const struct declaration *callee,
                                size_t i, bool launches) {
    struct template_parameters parameters;
    size_t given = 0, close = i;
    w->c->looked += callee->params_end - callee->first;
    if (w->c->looked >= LAUNCH_TYPES_LOOKED_MAX) {
        return NULL;
    }
    template_parameters_read(&w->c->b->tokens, callee, &parameters);
    if (word_at(w->t, i + 1) == WORD_LESS) {
        close = code_angles_end(w->t, i + 1);
        if (close == i + 1) {
            return NULL;
        }
        template_list_split(w->t, i + 1, close, count_argument, &given);
    }
    char *said =
        close > i ? bindings_expand(w->t, i + 1, close + 1, w->names) : xstrdup("<>");
    bool lacks = !parameters.bad && given < parameters.count;
    if (!said || (close > i && !(lacks && !parameters.list[given].fallback))) {
        return said;
    }
    size_t open = close + 1;
    size_t limit = open + LAUNCH_TOKENS_MAX < w->to ? open + LAUNCH_TOKENS_MAX : w->to;
    while (launches && open < limit && word_at(w->t, open - 1) != WORD_LAUNCH_CLOSE) {
        open++;
    }
    autofree char *rest = word_at(w->t, open) == WORD_PAREN_OPEN && lacks
                              ? deduce(w, callee, given, i, open)
                              : NULL;
    char *ret = rest ? xasprintf("%.*s%s%s>", (int)strlen(said) - 1, said,
                                 given && *rest ? ", " : "", rest)
                     : NULL;
    free(said);
    return ret;
}

static void bind_answers(struct collector *c, const char *text,
                         const struct template_parameters *parameters,
                         struct bindings *ret) {
    const struct bindings none = {.count = 0};
    struct call call = {&none, parameters, ret, 0};
    struct code_tokens t;
    /* the blank keeps the last '>' a token of its own */
    autofree char *list = xasprintf("%.*s >", (int)strlen(text) - 1, text);
    if (code_tokens_read(&t, list, strlen(list)) == 0) {
        template_list_split(&t, 0, t.count - 1, bind_argument, &call);
        code_tokens_finish(&t);
    }
    while (call.at < parameters->count && parameters->list[call.at].fallback) {
        const struct template_parameter *p = &parameters->list[call.at];
        bind_argument(&c->b->tokens, p->fallback, p->fallback_end, &call);
    }
}

/* Whether an expression needs a parameter that has no argument. What the arguments say is
 * the caller's, where the same name may mean its own parameter. */
static bool needs_more(const char *expression,
                       const struct template_parameters *parameters,
                       const struct bindings *arguments) {
    struct template_parameters rest = {.count = 0};
    for (size_t i = 0; i < parameters->count; i++) {
        if (!bindings_text(arguments, parameters->list[i].name)) {
            rest.list[rest.count++] = parameters->list[i];
        }
    }
    return template_parameters_mentioned(expression, &rest);
}

/* The one of two namespaces that is in the other; false when neither is. */
static bool inner_scope(const struct host_blanker *b, size_t one, size_t *other) {
    autofree char *a = host_scope_name(b, one), *c = host_scope_name(b, *other);
    size_t alen = strlen(a), clen = strlen(c);
    if (strncmp(a, c, alen < clen ? alen : clen) != 0) {
        return false;
    }
    *other = alen > clen ? one : *other;
    return true;
}

/* What waits for a host template, when that is called at token i. */
static void answer_call(struct walk *w, size_t i) {
    const struct code_tokens *t = w->t, *own = &w->c->b->tokens;
    const struct declaration *callee =
        &w->c->b->declarations.list[w->waiting->declaration];
    if (code_token_hash(t, i) != code_token_hash(own, callee->name) ||
        w->c->answers++ >= ANSWERS_MAX) {
        return;
    }
    struct template_parameters parameters;
    template_parameters_read(own, callee, &parameters);
    autofree char *text = template_arguments(w, callee, i, false);
    if (!text || parameters.bad) {
        return;
    }
    struct bindings arguments = {.count = 0};
    bind_answers(w->c, text, &parameters, &arguments);
    char *expression = bindings_expand_text(w->waiting->expression, &arguments);
    bool borrowed = w->waiting->borrowed || is_before(w->c, callee);
    size_t scope = w->c->b->declarations.list[w->index].scope;
    if (expression && !needs_more(w->waiting->expression, &parameters, &arguments) &&
        !is_running(w, expression) &&
        (!borrowed || inner_scope(w->c->b, w->waiting->scope, &scope))) {
        place(w->c, (struct host_launch){.expression = expression,
                                         .declaration = w->index,
                                         .offset = walk_offset(w, i),
                                         .borrowed = borrowed,
                                         .scope = scope});
    } else {
        free(expression);
    }
    bindings_finish(&arguments);
}

static void take_kernel(struct walk *w, size_t i) {
    const struct host_blanker *b = w->c->b;
    const struct declaration *kernel = kernel_template(w->c, code_token_hash(w->t, i));
    autofree char *arguments = kernel ? template_arguments(w, kernel, i, true) : NULL;
    if (arguments && !is_running(w, arguments)) {
        autofree char *qualified = host_qualified_name(b, kernel);
        place(w->c,
              (struct host_launch){.expression = xasprintf("%s%s", qualified, arguments),
                                   .declaration = w->index,
                                   .offset = walk_offset(w, i),
                                   .borrowed = is_before(w->c, kernel),
                                   .scope = b->declarations.list[w->index].scope});
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
        enum code_word after = word_at(w->t, i + 1);
        if (w->waiting && (after == WORD_LESS || after == WORD_PAREN_OPEN)) {
            answer_call(w, i);
        }
        if (after == WORD_PAREN_OPEN) {
            i = walk_macro(w, i);
        } else if (!w->waiting && (after == WORD_LESS || after == WORD_LAUNCH_OPEN)) {
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
        if (hash == name || (m && m->launches)) {
            return true;
        }
    }
    return false;
}

/* Nobody says what a host template's own scalar_t is: one of the usual types will do. */
static void guess_scalar(struct collector *c, const struct host_launch *waiting) {
    const struct code_tokens *t = &c->b->tokens;
    struct template_parameters own;
    struct bindings names = {.count = 0};
    template_parameters_read(t, &c->b->declarations.list[waiting->declaration], &own);
    bindings_add_scalar(&names);
    char *expression = bindings_expand_text(waiting->expression, &names);
    if (expression && host_guess_is(expression) &&
        !template_parameters_mentioned(expression, &own)) {
        struct host_launch guess = *waiting;
        guess.expression = expression;
        add_launch(c->ready, guess);
    } else {
        free(expression);
    }
    bindings_finish(&names);
}

/* Find who calls the host templates that expressions wait for; what they answer may wait
 * in turn, so the list grows while it is walked. */
static void collect_calls(struct collector *c) {
    const struct host_blanker *b = c->b;
    for (size_t w = 0; w < c->waiting.count && w < 64; w++) {
        struct host_launch waiting = c->waiting.list[w];
        size_t name = b->declarations.list[waiting.declaration].name;
        size_t before = c->ready->count + c->waiting.count;
        note_callers(c, &b->tokens.list[name]);
        for (size_t k = 0; k < b->declarations.count; k++) {
            const struct declaration *d = &b->declarations.list[k];
            if (b->goes[k] && d->kind != DECLARATION_CLASS && k != waiting.declaration &&
                may_call(c, d, code_token_hash(&b->tokens, name))) {
                walk_declaration(c, k, &waiting);
            }
        }
        if (c->ready->count + c->waiting.count == before && c->base == 0) {
            guess_scalar(c, &waiting);
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
                           const struct host_macros *known, size_t base) {
    *ret = (struct host_launches){0};
    struct collector c = {.b = b, .ready = ret, .base = base};
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
