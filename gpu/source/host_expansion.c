#include "gpu/source/host_expansion.h"

#include "base/buf.h"
#include "base/find.h"

/* ---- expanding ---- */

struct expander {
    struct host_macros macros;
    struct host_expansion *ret;
    unsigned uses;
    size_t added; /* bytes of expansions, outer ones too */
};

static size_t count_newlines(const char *text, size_t from, size_t to) {
    size_t n = 0;
    while (from < to) {
        n += text[from++] == '\n';
    }
    return n;
}

static char *expand_inner(struct expander *x, const char *text, size_t at,
                          unsigned depth);

/* What the use with its name at token i becomes, up to its ')' at token `close`; NULL: it
 * stays as it is. at: its offset in the source. */
static char *expand_use(struct expander *x, const struct code_tokens *t, size_t i,
                        size_t close, size_t at, unsigned depth) {
    const struct host_macro *macro =
        x->uses < EXPANSION_USES_MAX && x->added < EXPANSION_BYTES
            ? host_macros_find(&x->macros, code_token_hash(t, i), at)
            : NULL;
    char *text = macro ? host_macro_expand(macro, t, i + 1, close) : NULL;
    if (!text) {
        return NULL;
    }
    x->uses++;
    x->added += strlen(text);
    char *inner =
        depth + 1 < EXPANSION_DEPTH_MAX ? expand_inner(x, text, at, depth + 1) : NULL;
    if (inner) {
        free(text);
        text = inner;
    }
    return text;
}

/* What stands before a use, then what it became. */
static void add_use(const struct code_tokens *t, size_t i, size_t close,
                    const char *became, size_t *done, struct buf *out) {
    buf_add(out, t->text + *done, t->list[i].start - *done);
    buf_adds(out, became);
    *done = t->list[close].end;
}

/* The ')' of the '(' at token i; the text's end when it has none. */
static size_t group_end(const struct code_tokens *t, size_t i) {
    int depth = 0;
    for (; i < t->count; i++) {
        depth += t->list[i].word == WORD_PAREN_OPEN;
        depth -= t->list[i].word == WORD_PAREN_CLOSE;
        if (depth == 0) {
            break;
        }
    }
    return i;
}

/* The uses outside of braces and parentheses in an expansion, expanded in turn; NULL when
 * there are none. */
static char *expand_inner(struct expander *x, const char *text, size_t at,
                          unsigned depth) {
    struct code_tokens t;
    if (code_tokens_read(&t, text, strlen(text)) < 0) {
        return NULL;
    }
    autobuf out = BUF_INIT(EXPANSION_BYTES);
    size_t done = 0, braces = 0;
    for (size_t i = 0; i < t.count; i++) {
        enum code_word word = t.list[i].word;
        braces += word == WORD_BRACE_OPEN;
        braces -= word == WORD_BRACE_CLOSE && braces;
        if (t.list[i + 1 < t.count ? i + 1 : t.count].word != WORD_PAREN_OPEN || braces) {
            continue;
        }
        size_t close = group_end(&t, i + 1);
        autofree char *became = word == WORD_NAME && close < t.count
                                    ? expand_use(x, &t, i, close, at, depth)
                                    : NULL;
        if (became) {
            add_use(&t, i, close, became, &done, &out);
        }
        i = close;
    }
    buf_adds(&out, text + done);
    code_tokens_finish(&t);
    return done && !out.full ? buf_detach(&out) : NULL;
}

/* With newlines as in the use; false when it has more. */
static bool keep_lines(char **became, size_t lines) {
    size_t own = count_newlines(*became, 0, strlen(*became));
    if (own > lines) {
        return false;
    }
    size_t len = strlen(*became);
    *became = xrealloc(*became, len + lines - own + 1);
    memset(*became + len, '\n', lines - own);
    (*became)[len + lines - own] = '\0';
    return true;
}

static bool is_use(const struct declaration *d) {
    return d->kind == DECLARATION_MACRO && d->params && d->parent == SIZE_MAX && !d->open;
}

static void expand_all(struct expander *x, const struct host_blanker *b,
                       struct buf *out) {
    const struct code_tokens *t = &b->tokens;
    size_t done = 0;
    list_each(i, d, b->declarations.list, b->declarations.count) {
        size_t from = t->list[d->name].start;
        autofree char *became =
            is_use(d) ? expand_use(x, t, d->name, d->params_end, from, 0) : NULL;
        size_t to = became ? t->list[d->params_end].end : 0;
        if (!became || !keep_lines(&became, count_newlines(t->text, from, to))) {
            continue;
        }
        add_use(t, d->name, d->params_end, became, &done, out);
        x->ret->list =
            xreallocarray(x->ret->list, x->ret->count + 1, sizeof *x->ret->list);
        x->ret->list[x->ret->count++] = (struct expanded_use){
            .from = from, .to = to, .at = out->len - strlen(became), .end = out->len};
    }
    buf_add(out, t->text + done, t->len - done);
}

static bool has_uses(const struct host_blanker *b) {
    return any_of(i, 0, b->declarations.count, is_use(&b->declarations.list[i]));
}

bool host_expansion_read(struct host_expansion *ret, const struct host_blanker *b,
                         const struct host_macros *known,
                         const struct space_macros *spaces) {
    *ret = (struct host_expansion){.text = NULL};
    if (!has_uses(b)) {
        return false;
    }
    struct expander x = {.ret = ret};
    if (known) {
        host_macros_copy(&x.macros, known);
    }
    host_macros_read(&x.macros, &b->tokens);
    /* an inner use may still add what was allowed before it */
    struct buf out = BUF_INIT(b->tokens.len + 2 * EXPANSION_BYTES);
    expand_all(&x, b, &out);
    host_macros_finish(&x.macros);
    bool fits = ret->count && !out.full;
    size_t len = out.len;
    ret->text = buf_detach(&out);
    if (!fits ||
        host_blanker_init(&ret->b, ret->text, len, HOST_TOKENS_MAX, spaces) < 0) {
        host_expansion_finish(ret);
        return false;
    }
    host_blanker_judge(&ret->b);
    return true;
}

void host_expansion_finish(struct host_expansion *e) {
    host_blanker_finish(&e->b);
    free(e->text);
    free(e->list);
    *e = (struct host_expansion){.text = NULL};
}

/* ---- places ---- */

size_t host_expansion_place(const struct host_expansion *e, size_t offset) {
    size_t place = offset;
    for (size_t i = 0; i < e->count && e->list[i].from < offset; i++) {
        const struct expanded_use *u = &e->list[i];
        place = offset < u->to ? u->at : u->end + (offset - u->to);
    }
    return place;
}

static size_t host_expansion_source(const struct host_expansion *e, size_t offset) {
    size_t source = offset;
    for (size_t i = 0; i < e->count && e->list[i].at < offset; i++) {
        const struct expanded_use *u = &e->list[i];
        source = offset < u->end ? u->from : u->to + (offset - u->end);
    }
    return source;
}

/* ---- judging ---- */

/* Whether all that [from, to) of the copy declares goes, and nothing reaches out of it.
 * *next: the first declaration that may be of interest, moved on. */
static bool all_goes(const struct host_blanker *b, size_t from, size_t to, size_t *next) {
    size_t i = *next;
    bool any = false;
    for (; i < b->declarations.count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        *next = any ? *next : i;
        if (b->tokens.list[d->last].end <= from) {
            continue;
        }
        size_t start = b->tokens.list[d->first].start;
        if (start >= to) {
            break;
        }
        any = true;
        if (d->parent == SIZE_MAX &&
            (!b->goes[i] || start < from || b->tokens.list[d->last].end > to)) {
            return false;
        }
    }
    return any;
}

void host_expansion_judge(const struct host_expansion *e, struct host_blanker *b) {
    size_t use = 0, next = 0;
    for (size_t i = 0; i < b->declarations.count && use < e->count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        if (!d->name || b->tokens.list[d->name].start != e->list[use].from) {
            continue;
        }
        struct space_of_name space = space_of(&b->macros, &b->tokens, d->name);
        size_t end = b->tokens.list[d->last].end;
        if (!b->goes[i] && !space.global && !space.device && !d->body_has_global) {
            b->goes[i] =
                all_goes(&e->b, e->list[use].at, host_expansion_place(e, end), &next);
        }
        use++;
    }
    b->needs_default_device |= e->b.needs_default_device;
}

/* ---- launches ---- */

/* The outermost declaration of b that goes and holds the offset; SIZE_MAX when none. */
static size_t gone_at(const struct host_blanker *b, size_t offset) {
    list_each(i, d, b->declarations.list, b->declarations.count) {
        if (b->goes[i] && b->tokens.list[d->first].start <= offset &&
            offset < b->tokens.list[d->last].end) {
            return i;
        }
    }
    return SIZE_MAX;
}

void host_expansion_settle(const struct host_expansion *e, const struct host_blanker *b,
                           struct host_launches *launches) {
    size_t kept = 0;
    list_each(i, l, launches->list, launches->count) {
        l->offset = host_expansion_source(e, l->offset);
        l->declaration = gone_at(b, l->offset);
        if (l->declaration == SIZE_MAX) {
            free(l->expression);
        } else {
            l->scope = b->declarations.list[l->declaration].scope;
            launches->list[kept++] = *l;
        }
    }
    launches->count = kept;
}
