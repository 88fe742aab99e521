#include "gpu/source/host_spelling.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/source/host_launch_text.h"

static const struct code_token *token_at(const struct host_blanker *b, size_t i) {
    return &b->tokens.list[i];
}

static bool says_host(const struct host_blanker *b, size_t i) {
    struct space_of_name space = {0};
    if (token_at(b, i)->word == WORD_NAME) {
        space = space_of(&b->macros, &b->tokens, i);
    }
    return token_at(b, i)->word == WORD_HOST ||
           (space.host && !space.device && !space.global);
}

static void drop_host(const struct host_blanker *b, const struct declaration *d,
                      char *text) {
    for (size_t i = d->first; i < d->name; i++) {
        if (says_host(b, i)) {
            host_blank_bytes(text, token_at(b, i)->start, token_at(b, i)->end);
        }
    }
}

/* ---- static twins ---- */

/* The '>' of "template <…>" before a declaration; 0 when it has none. */
static size_t template_end(const struct host_blanker *b, const struct declaration *d) {
    size_t open = d->first + 1, end = code_angles_end(&b->tokens, open);
    bool is = token_at(b, d->first)->word == WORD_TEMPLATE &&
              token_at(b, open)->word == WORD_LESS && end > open &&
              token_at(b, end)->word == WORD_GREATER;
    return is ? end : 0;
}

static bool same_parameters(const struct host_blanker *b, const struct declaration *a,
                            const struct declaration *c) {
    size_t n = a->params_end - a->params;
    if (c->params_end - c->params != n) {
        return false;
    }
    return !any_of(i, 0, n,
                   code_token_hash(&b->tokens, a->params + i) !=
                       code_token_hash(&b->tokens, c->params + i));
}

static bool may_be_twin(const struct declaration *d) {
    return d->kind == DECLARATION_FUNCTION && d->parent != SIZE_MAX && d->has_template &&
           d->name && d->params_end;
}

#define TWINS_APART 64 /* declarations between two of a name: bounds the work */

/* Whether a member template that is not static has its name and parameters. */
static bool has_twin(const struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    size_t from = index > TWINS_APART ? index - TWINS_APART : 0;
    for (size_t i = from; i < b->declarations.count && i < index + TWINS_APART; i++) {
        const struct declaration *other = &b->declarations.list[i];
        if (may_be_twin(other) && !other->has_static && other->parent == d->parent &&
            code_token_hash(&b->tokens, other->name) ==
                code_token_hash(&b->tokens, d->name) &&
            same_parameters(b, d, other)) {
            return true;
        }
    }
    return false;
}

/* Puts `more` at `at`; blanks before `end`, all but one of each run, give the room. */
static void insert(char *text, size_t at, size_t end, const char *more) {
    autobuf out = BUF_INIT(end - at + strlen(more));
    size_t excess = strlen(more);
    buf_adds(&out, more);
    for (size_t i = at; i < end; i++) {
        if (excess && text[i] == ' ' && text[i + 1] == ' ') {
            excess--;
        } else {
            buf_addc(&out, text[i]);
        }
    }
    if (!excess && !out.full) {
        memcpy(text + at, out.data, end - at);
    }
}

static void tell_twins_apart(const struct host_blanker *b, const struct declaration *d,
                             char *text) {
    size_t end = template_end(b, d);
    if (end) {
        drop_host(b, d, text);
        insert(text, token_at(b, end)->start, token_at(b, d->name)->start, ",int=0");
    }
}

/* Whether it was to be written otherwise. */
static bool settle_one(const struct host_blanker *b, size_t index, char *text) {
    const struct declaration *d = &b->declarations.list[index];
    /* "__device__ __host__ const int n = 1;" is not a function */
    bool host = d->has_host && (!d->has_device || d->kind == DECLARATION_VARIABLE);
    bool twin = may_be_twin(d) && d->has_static && d->has_device && has_twin(b, index);
    if (host && text) {
        drop_host(b, d, text);
    }
    if (twin && text) {
        tell_twins_apart(b, d, text);
    }
    return host || twin;
}

bool host_spelling_settle(const struct host_blanker *b, char *text) {
    bool any = false;
    list_each(i, d, b->declarations.list, b->declarations.count) {
        if (!b->goes[i] && !d->has_global &&
            (d->kind == DECLARATION_FUNCTION || d->kind == DECLARATION_VARIABLE)) {
            any |= settle_one(b, i, text);
        }
    }
    return any;
}

/* ---- lambdas ---- */

enum { PARAMETERS_MAX = 256 }; /* tokens that are looked at for one lambda */

static bool is_space(const struct code_tokens *t, size_t i) {
    return code_word(t, i) == WORD_HOST || code_token_is(t, i, "__device__");
}

/* With i at "]", the end of [ … ] < … >: the first token behind. */
static size_t after_introducer(const struct code_tokens *t, size_t i) {
    if (code_word(t, i + 1) != WORD_LESS) {
        return i + 1;
    }
    size_t end = code_angles_end(t, i + 1);
    return end > i + 1 ? end + 1 : i + 1;
}

/* A declaration with [[…]] in front has a type behind its execution space. */
bool host_lambdas_blank(const struct code_tokens *t, char *text) {
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        if (code_word(t, i) != WORD_BRACKET_CLOSE) {
            continue;
        }
        size_t first = after_introducer(t, i), end = first;
        while (is_space(t, end)) {
            end++;
        }
        enum code_word behind = code_word(t, end);
        if (end == first || (behind != WORD_PAREN_OPEN && behind != WORD_BRACE_OPEN)) {
            continue;
        }
        any = true;
        for (size_t k = first; text && k < end; k++) {
            host_blank_bytes(text, t->list[k].start, t->list[k].end);
        }
    }
    return any;
}

static bool has_auto_parameter(const struct code_tokens *t, size_t open) {
    int depth = 0;
    for (size_t i = open; i < t->count && i - open < PARAMETERS_MAX; i++) {
        enum code_word w = code_word(t, i);
        depth += (w == WORD_PAREN_OPEN) - (w == WORD_PAREN_CLOSE);
        if (depth == 0 || w == WORD_SEMICOLON || w == WORD_BRACE_OPEN) {
            return false;
        }
        if (w == WORD_TYPE && code_token_is(t, i, "auto")) {
            return true;
        }
    }
    return false;
}

bool host_lambdas_are_generic(const struct code_tokens *t) {
    for (size_t i = 0; i < t->count; i++) {
        if (code_word(t, i) != WORD_BRACKET_CLOSE) {
            continue;
        }
        size_t open = after_introducer(t, i);
        bool typed = open > i + 1; /* []<class T>(T x) */
        while (is_space(t, open)) {
            open++;
        }
        if (code_word(t, open) == WORD_PAREN_OPEN &&
            (typed || has_auto_parameter(t, open))) {
            return true;
        }
    }
    return false;
}
