/* Host code searched for launches, and for calls of templates that launch. */
#include "base/find.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_walk.h"

/* Macros whose bodies name the host template that is looked for are looked into. */
static void note_callers(struct collector *c, const struct code_token *name) {
    size_t len = name->end - name->start;
    list_each(i, m, c->macros.list, c->macros.count) {
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
        enum code_word after = code_word(t, i + 1);
        if (code_word(t, i) != WORD_NAME ||
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
        launches_add(c->ready, guess);
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
        list_each(k, d, b->declarations.list, b->declarations.count) {
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

/* Macros whose bodies name a kernel, as in tables of them, are looked into. */
static void note_kernel_macros(struct collector *c) {
    uint64_t named[64] = {0}; /* a bit for each name's low bits */
    for (size_t k = 0; k < c->kernel_count; k++) {
        uint64_t name = c->kernels[k].name;
        named[name / 64 % 64] |= UINT64_C(1) << name % 64;
    }
    list_each(i, m, c->macros.list, c->macros.count) {
        struct code_tokens body;
        if (m->launches || code_tokens_read(&body, m->body, strlen(m->body)) < 0) {
            continue;
        }
        for (size_t k = 0; k < body.count && !m->launches; k++) {
            uint64_t name =
                body.list[k].word == WORD_NAME ? code_token_hash(&body, k) : 0;
            m->launches = (named[name / 64 % 64] >> name % 64 & 1) &&
                          collector_kernel(c, name) != NULL;
        }
        code_tokens_finish(&body);
    }
}

/* Host functions, macros' uses, and tables of kernels. */
static bool may_launch(const struct declaration *d) {
    return d->body ? d->kind != DECLARATION_CLASS
                   : d->kind == DECLARATION_MACRO ||
                         (d->kind == DECLARATION_VARIABLE && d->has_assign);
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
        note_kernel_macros(&c);
    }
    for (size_t i = 0; c.kernel_count > 0 && i < b->declarations.count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (b->goes[i] && may_launch(d)) {
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
