#include "gpu/source/host_walk.h"

#include "base/find.h"

#define LAUNCHES_MAX 256
#define USES_MAX 16           /* of one macro, in one file: four nested BOOL_SWITCHes */
#define EXPANSIONS_MAX 256    /* of all macros in one file */
#define ANSWERS_MAX 4096      /* calls of host templates that are looked into */
#define GROUPS_MAX (1u << 22) /* tokens that the arguments of macros may have in all */

/* A variable or parameter of the host function: what depends on it is no constant. In the
 * body "(T * N)" is a product; a pointer there would be no constant's part anyway. */
static bool is_local(const struct code_tokens *t, const struct declaration *d,
                     uint64_t name) {
    for (size_t i = d->params ? d->params : d->body; i + 1 < d->body_end; i++) {
        enum code_word before = code_word(t, i - 1), after = code_word(t, i + 1);
        bool points = before == WORD_STAR || before == WORD_AMPERSAND;
        bool listed = after == WORD_COMMA || after == WORD_PAREN_CLOSE;
        bool typed = before == WORD_TYPE || (points && !(listed && i > d->body)) ||
                     before == WORD_GREATER ||
                     (before == WORD_NAME && !code_token_is(t, i - 1, "return"));
        bool declares = listed || after == WORD_ASSIGN || after == WORD_SEMICOLON ||
                        after == WORD_BRACE_OPEN;
        if (code_word(t, i) == WORD_NAME && typed && declares &&
            code_token_hash(t, i) == name) {
            return true;
        }
    }
    return false;
}

/* ---- expressions that were found ---- */

/* Takes the expression. */
void launches_add(struct host_launches *l, struct host_launch launch) {
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
 * is dropped because it depends on what only runs. within: one of a namespace inside the
 * function's, in whose place it goes out, since that has the names of both; or NULL. */
static void place(struct collector *c, struct host_launch launch,
                  const struct host_launch *within) {
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
        return;
    }
    if (within && !waits) {
        launch.declaration = within->declaration;
        launch.offset = within->offset;
        launch.scope = within->scope;
    }
    launches_add(waits ? &c->waiting : c->ready, launch);
}

const struct declaration *collector_kernel(const struct collector *c, uint64_t name) {
    size_t at = first_of(k, 0, c->kernel_count, c->kernels[k].name == name);
    return at < c->kernel_count ? c->kernels[at].declaration : NULL;
}

/* ---- walking ---- */

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
        enum code_word word = code_word(w->t, i);
        *code |=
            word == WORD_BRACE_OPEN || word == WORD_SEMICOLON || word == WORD_LAUNCH_OPEN;
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
        w->depth < WALK_NESTED_MAX
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
    autofree char *a = host_scope_name(&b->tokens, &b->declarations, one),
                  *c = host_scope_name(&b->tokens, &b->declarations, *other);
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
    autofree char *text = walk_template_arguments(w, callee, i, false);
    if (!text || parameters.bad) {
        return;
    }
    struct bindings arguments = {.count = 0};
    walk_bind_answers(w->c, text, &parameters, &arguments);
    char *expression = bindings_expand_text(w->waiting->expression, &arguments);
    bool borrowed = w->waiting->borrowed || is_before(w->c, callee);
    size_t scope = w->c->b->declarations.list[w->index].scope;
    if (expression && !needs_more(w->waiting->expression, &parameters, &arguments) &&
        !is_running(w, expression) &&
        (!borrowed || inner_scope(w->c->b, w->waiting->scope, &scope))) {
        struct host_launch launch = {.expression = expression,
                                     .declaration = w->index,
                                     .offset = walk_offset(w, i),
                                     .borrowed = borrowed,
                                     .scope = scope};
        size_t inner = scope;
        bool within = !borrowed && inner_scope(w->c->b, w->waiting->scope, &inner) &&
                      inner != scope;
        place(w->c, launch, within ? w->waiting : NULL);
    } else {
        free(expression);
    }
    bindings_finish(&arguments);
}

static uint64_t scope_hash(const struct host_blanker *b, const struct name_scope *s) {
    return s->name_end > s->name ? code_token_hash(&b->tokens, s->name_end - 1) : 0;
}

/* "device::gemm<T>" that nobody launches, when the kernel gemm is in another namespace:
 * something else of that name. */
static bool names_another(const struct walk *w, size_t i,
                          const struct declaration *kernel) {
    const struct host_blanker *b = w->c->b;
    const struct name_scope *scopes = b->declarations.scopes;
    if (i < 2 || code_word(w->t, i - 1) != WORD_SCOPE ||
        code_word(w->t, i - 2) != WORD_NAME || code_word(w->t, i + 1) != WORD_LESS ||
        code_word(w->t, code_angles_end(w->t, i + 1) + 1) == WORD_LAUNCH_OPEN) {
        return false;
    }
    uint64_t outer = code_token_hash(w->t, i - 2);
    bool is_scope =
        any_of(k, 0, b->declarations.scope_count, scope_hash(b, &scopes[k]) == outer);
    return is_scope &&
           (kernel->scope == SIZE_MAX || scope_hash(b, &scopes[kernel->scope]) != outer);
}

static void take_kernel(struct walk *w, size_t i) {
    const struct host_blanker *b = w->c->b;
    const struct declaration *kernel = collector_kernel(w->c, code_token_hash(w->t, i));
    if (kernel && names_another(w, i, kernel)) {
        return;
    }
    autofree char *arguments =
        kernel ? walk_template_arguments(w, kernel, i, true) : NULL;
    if (arguments && !is_running(w, arguments)) {
        autofree char *qualified =
            host_qualified_name(&b->tokens, &b->declarations, kernel);
        place(w->c,
              (struct host_launch){.expression = xasprintf("%s%s", qualified, arguments),
                                   .declaration = w->index,
                                   .offset = walk_offset(w, i),
                                   .borrowed = is_before(w->c, kernel),
                                   .scope = b->declarations.list[w->index].scope},
              NULL);
    }
}

static void walk(struct walk *w) {
    for (size_t i = w->from; i < w->to; i++) {
        bindings_read_at(w->t, i, w->to, w->names);
        if (code_word(w->t, i) != WORD_NAME) {
            continue;
        }
        enum code_word after = code_word(w->t, i + 1);
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

void walk_declaration(struct collector *c, size_t index,
                      const struct host_launch *waiting) {
    const struct declaration *d = &c->b->declarations.list[index];
    struct bindings names = {.count = 0};
    bindings_read_own(&c->b->tokens, d, &names);
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
