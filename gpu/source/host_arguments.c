/* The template arguments of a call: those in its angles and those that are deduced. */
#include "gpu/source/host_walk.h"

#include "gpu/source/launch_types.h"

#define LAUNCH_TOKENS_MAX 1024 /* between <<< and >>> */

/* The arguments in [at, close) of a list stand for the parameters from *given on. */
static void bind_arguments(const struct code_tokens *t, size_t at, size_t close,
                           const struct bindings *locals,
                           const struct template_parameters *parameters, size_t *given,
                           struct bindings *ret) {
    struct list_part part;
    while (*given < parameters->count && template_list_next(t, &at, close, &part)) {
        const struct template_parameter *p = &parameters->list[(*given)++];
        char *text = bindings_expand(t, part.from, part.to, locals);
        bindings_add(ret, p->name, p->is_type ? text : bindings_in_parens(text));
    }
}

/* What a call at token i leaves to be deduced, given those in the angles up to `close`;
 * open: the '(' of its arguments. */
static char *deduce(struct walk *w, const struct declaration *callee, size_t given,
                    size_t i, size_t open) {
    struct launch_scope scopes[WALK_NESTED_MAX + 2];
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
char *walk_template_arguments(struct walk *w, const struct declaration *callee, size_t i,
                              bool launches) {
    struct template_parameters parameters;
    size_t given = 0, close = i;
    w->c->looked += callee->params_end - callee->first;
    if (w->c->looked >= LAUNCH_TYPES_LOOKED_MAX) {
        return NULL;
    }
    template_parameters_read(&w->c->b->tokens, callee, &parameters);
    if (code_word(w->t, i + 1) == WORD_LESS) {
        close = code_angles_end(w->t, i + 1);
        if (close == i + 1) {
            return NULL;
        }
        struct list_part part;
        for (size_t at = i + 2; template_list_next(w->t, &at, close, &part);) {
            given++;
        }
    }
    char *said =
        close > i ? bindings_expand(w->t, i + 1, close + 1, w->names) : xstrdup("<>");
    bool lacks = !parameters.bad && given < parameters.count;
    if (!said || (close > i && !(lacks && !parameters.list[given].fallback))) {
        return said;
    }
    size_t open = close + 1;
    size_t limit = open + LAUNCH_TOKENS_MAX < w->to ? open + LAUNCH_TOKENS_MAX : w->to;
    while (launches && open < limit && code_word(w->t, open - 1) != WORD_LAUNCH_CLOSE) {
        open++;
    }
    autofree char *rest = code_word(w->t, open) == WORD_PAREN_OPEN && lacks
                              ? deduce(w, callee, given, i, open)
                              : NULL;
    char *ret = rest ? xasprintf("%.*s%s%s>", (int)strlen(said) - 1, said,
                                 given && *rest ? ", " : "", rest)
                     : NULL;
    free(said);
    return ret;
}

void walk_bind_answers(struct collector *c, const char *text,
                       const struct template_parameters *parameters,
                       struct bindings *ret) {
    const struct bindings none = {.count = 0};
    struct code_tokens t;
    size_t given = 0;
    /* the blank keeps the last '>' a token of its own */
    autofree char *list = xasprintf("%.*s >", (int)strlen(text) - 1, text);
    if (code_tokens_read(&t, list, strlen(list)) == 0) {
        bind_arguments(&t, 1, t.count - 1, &none, parameters, &given, ret);
        code_tokens_finish(&t);
    }
    while (given < parameters->count && parameters->list[given].fallback) {
        const struct template_parameter *p = &parameters->list[given];
        bind_arguments(&c->b->tokens, p->fallback, p->fallback_end, &none, parameters,
                       &given, ret);
    }
}
