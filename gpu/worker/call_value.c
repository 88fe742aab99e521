#include "gpu/worker/call_value.h"

#include "base/find.h"
#include "gpu/fixes/fix_text.h"

#include <limits.h>

enum {
    MAX_MACROS = 4,       /* one in another's arguments */
    MAX_STATEMENT = 4096, /* tokens; what is longer is not understood */
};

struct reading {
    const struct source_set *sources;
    const struct fix_text *t;
};

struct span { /* of tokens */
    size_t from, to;
};

static bool is_kind(const struct fix_text *t, size_t i, enum cuda_token_kind kind) {
    return i < t->count && t->tokens[i].kind == kind;
}

/* --- brackets --- */

/* Behind the bracket that closes the one at i. */
static size_t behind_closing(const struct fix_text *t, size_t i) {
    size_t end = t->count - i < MAX_STATEMENT ? t->count : i + MAX_STATEMENT;
    int depth = 0;
    do {
        depth += fix_text_is(t, i, "(") - fix_text_is(t, i, ")");
    } while (++i < end && depth > 0);
    return i;
}

/* The bracket that the one at i closes; 0: none. */
static size_t opening(const struct fix_text *t, size_t i) {
    size_t end = i < MAX_STATEMENT ? 0 : i - MAX_STATEMENT;
    int depth = 0;
    do {
        depth += fix_text_is(t, i, ")") - fix_text_is(t, i, "(");
    } while (depth > 0 && i-- > end);
    return depth ? 0 : i;
}

static bool ends_statement(const struct fix_text *t, size_t i) {
    static const char *const ends[] = {";", "{", "}", NULL};
    return is_kind(t, i, CUDA_DIRECTIVE) || fix_text_is_any(t, i, ends);
}

/* The token in front of i in which its statement or the brackets around it begin. */
static bool find_front(const struct fix_text *t, size_t i, size_t *ret) {
    size_t end = i < MAX_STATEMENT ? 0 : i - MAX_STATEMENT;
    while (i-- > end) {
        if (fix_text_is(t, i, ")")) {
            i = opening(t, i);
        } else if (ends_statement(t, i) || fix_text_is(t, i, "(")) {
            *ret = i;
            return true;
        }
    }
    return false;
}

/* --- statements --- */

static bool is_label(const struct fix_text *t, size_t colon) {
    size_t i = colon, end = colon < MAX_STATEMENT ? 0 : colon - MAX_STATEMENT;
    while (i-- > end && !ends_statement(t, i)) {
        if (fix_text_is(t, i, "?")) {
            return false;
        }
    }
    return true;
}

static bool begins_statement(const struct fix_text *t, size_t i) {
    static const char *const words[] = {"else", "do", NULL};
    static const char *const heads[] = {"if", "for", "while", "switch", "constexpr", NULL};
    if (i == 0 || ends_statement(t, i - 1) || fix_text_is_any(t, i - 1, words)) {
        return true;
    }
    if (fix_text_is(t, i - 1, ")")) {
        size_t open = opening(t, i - 1);
        return open > 0 && fix_text_is_any(t, open - 1, heads);
    }
    return fix_text_is(t, i - 1, ":") && is_label(t, i - 1);
}

/* With what may stand around a value without using it: ::, (void), brackets. start: of
 * the code. */
static struct span widened(const struct fix_text *t, struct span s, size_t start) {
    for (;;) {
        size_t i = s.from;
        if (i >= 1 && fix_text_is(t, i - 1, "::") && !is_kind(t, i - 2, CUDA_IDENTIFIER)) {
            s.from--;
        } else if (i >= 3 && fix_text_is(t, i - 1, ")") && fix_text_is(t, i - 2, "void") &&
                   fix_text_is(t, i - 3, "(")) {
            s.from -= 3;
        } else if (i >= 1 && fix_text_is(t, i - 1, "(") && fix_text_is(t, s.to, ")") &&
                   (i - 1 == start || begins_statement(t, i - 1) || fix_text_is(t, i - 2, "(") ||
                    fix_text_is(t, i - 2, "="))) {
            s.from--;
            s.to++;
        } else {
            return s;
        }
    }
}

static bool token_same(const struct fix_text *t, size_t i, size_t k) {
    const struct cuda_token *name = &t->tokens[k];
    return fix_text_has(t, i, t->text + name->start, name->end - name->start);
}

/* A variable that the text declares and sets, and that it reads nowhere. */
static bool is_never_read(const struct fix_text *t, size_t name) {
    bool declared = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct cuda_token *token = &t->tokens[i], *n = &t->tokens[name];
        if (token->kind == CUDA_DIRECTIVE &&
            memmem(t->text + token->start, token->end - token->start, t->text + n->start,
                   n->end - n->start)) {
            return false; /* a macro may read it */
        }
        if (token_same(t, i, name)) {
            bool declares = i > 0 && is_kind(t, i - 1, CUDA_IDENTIFIER) &&
                            !fix_text_is(t, i - 1, "return");
            declared |= declares;
            if (!fix_text_is(t, i + 1, "=") && !(declares && fix_text_is(t, i + 1, ";"))) {
                return false;
            }
        }
    }
    return declared;
}

/* --- macros --- */

static enum call_value value_of(const struct reading *r, struct span s, int depth);

/* The name of a macro's parameter; NULL: it has no such one. */
static char *parameter_new(const struct fix_text *macro, size_t number) {
    size_t i = 2;
    for (; !fix_text_is(macro, i, ")") && i < macro->count; i++) {
        if (fix_text_is(macro, i, "...")) {
            return xstrdup("__VA_ARGS__");
        }
        if (is_kind(macro, i, CUDA_IDENTIFIER) && number-- == 0) {
            const struct cuda_token *name = &macro->tokens[i];
            return xstrndup(macro->text + name->start, name->end - name->start);
        }
    }
    return NULL;
}

static enum call_value both(enum call_value a, enum call_value b) {
    return a == b ? a : CALL_VALUE_UNKNOWN;
}

/* What a macro's text does with its parameter; `outside`: what becomes of its own value. */
static enum call_value value_in(const struct fix_text *macro, const char *parameter,
                                enum call_value outside) {
    size_t body = behind_closing(macro, 1);
    enum call_value value = CALL_VALUE_UNKNOWN;
    for (size_t i = body; i < macro->count; i++) {
        if (!fix_text_is(macro, i, parameter) || fix_text_is(macro, i - 1, "#")) {
            continue;
        }
        struct span s = widened(macro, (struct span){i, i + 1}, body);
        bool first = s.from == body || begins_statement(macro, s.from);
        bool last = s.to == macro->count;
        if (s.from == body && last) {
            value = outside;
        } else if (!first || !(last || fix_text_is(macro, s.to, ";"))) {
            return CALL_VALUE_USED;
        } else {
            value = CALL_VALUE_DROPPED;
        }
    }
    return value;
}

/* Adds what the macro of a directive does, if it has the name of the token at `name`. */
static bool directive_value(const struct reading *r, const struct fix_text *t, size_t at,
                            size_t name, size_t number, enum call_value outside,
                            enum call_value *ret) {
    struct cuda_lexer lexer;
    struct cuda_directive d;
    struct fix_text macro;
    cuda_lexer_init(&lexer, t->text, t->len);
    cuda_directive_read(&lexer, &t->tokens[at], &d);
    bool defines = !strcmp(d.name, "define");
    autofree char *text =
        xstrndup(t->text + d.argument, defines ? d.argument_end - d.argument : 0);
    cuda_directive_finish(&d);
    const struct source_file file = {.text = text, .len = strlen(text)};
    fix_text_init(&macro, &file);
    const struct cuda_token *of = &r->t->tokens[name];
    bool is_it = fix_text_has(&macro, 0, r->t->text + of->start, of->end - of->start) &&
                 fix_text_is(&macro, 1, "(");
    autofree char *parameter = is_it ? parameter_new(&macro, number) : NULL;
    if (parameter) {
        *ret = value_in(&macro, parameter, outside);
    }
    fix_text_finish(&macro);
    return parameter != NULL;
}

/* The value is an argument of what the token at `name` calls: a function uses it. */
static enum call_value argument_value(const struct reading *r, size_t name, size_t number,
                                      int depth) {
    size_t end = behind_closing(r->t, name + 1);
    enum call_value outside =
        depth < MAX_MACROS ? value_of(r, (struct span){name, end}, depth + 1)
                           : CALL_VALUE_UNKNOWN;
    enum call_value value = CALL_VALUE_USED;
    bool any = false;
    for (size_t n = 0; n < r->sources->count; n++) {
        struct fix_text t;
        fix_text_init(&t, &r->sources->files[n]);
        for (size_t i = 0; i < t.count; i++) {
            enum call_value one = CALL_VALUE_UNKNOWN;
            if (t.tokens[i].kind == CUDA_DIRECTIVE &&
                directive_value(r, &t, i, name, number, outside, &one)) {
                value = any ? both(value, one) : one;
                any = true;
            }
        }
        fix_text_finish(&t);
    }
    return value;
}

static size_t commas_between(const struct fix_text *t, size_t open, size_t end) {
    size_t commas = 0;
    for (size_t i = open + 1; i < end; i++) {
        if (fix_text_is(t, i, "(")) {
            i = behind_closing(t, i) - 1;
        } else {
            commas += fix_text_is(t, i, ",");
        }
    }
    return commas;
}

static enum call_value value_of(const struct reading *r, struct span s, int depth) {
    static const char *const separators[] = {"(", ",", ")", NULL};
    const struct fix_text *t = r->t;
    s = widened(t, s, 0);
    size_t front;
    bool begins = begins_statement(t, s.from);
    bool between = fix_text_is_any(t, s.to, separators);
    bool behind = s.from && fix_text_is_any(t, s.from - 1, separators);
    if (begins || (behind && fix_text_is(t, s.to, ";"))) {
        bool alone = fix_text_is(t, s.to, ";");
        return alone && begins ? CALL_VALUE_DROPPED
               : alone || between ? CALL_VALUE_UNKNOWN
                                  : CALL_VALUE_USED;
    }
    if (fix_text_is(t, s.from - 1, "=") && fix_text_is(t, s.to, ";") && s.from > 2 &&
        is_kind(t, s.from - 2, CUDA_IDENTIFIER) &&
        !fix_text_is(t, s.from - 3, ".") && !fix_text_is(t, s.from - 3, "->")) {
        return is_never_read(t, s.from - 2) ? CALL_VALUE_DROPPED : CALL_VALUE_USED;
    }
    bool inside = find_front(t, s.from, &front) && fix_text_is(t, front, "(") && front;
    if (inside && fix_text_is(t, front - 1, ">") && fix_text_is(t, front - 2, "void")) {
        return CALL_VALUE_DROPPED;
    }
    return inside && behind && between && is_kind(t, front - 1, CUDA_IDENTIFIER)
               ? argument_value(r, front - 1, commas_between(t, front, s.from), depth)
               : CALL_VALUE_USED;
}

/* --- calls --- */

/* Some calls go by another name inside: cudaLaunchKernelExC, cuMemAlloc_v2. */
static bool names(const struct fix_text *t, size_t i, const char *function, bool exactly) {
    size_t len = t->tokens[i].end - t->tokens[i].start, full = strlen(function);
    return t->tokens[i].kind == CUDA_IDENTIFIER && len <= full &&
           len + (exactly ? 0 : 3) >= full &&
           memcmp(t->text + t->tokens[i].start, function, len) == 0;
}

/* The call whose name is at i; to is 0 if it is none. */
static struct span call_at(const struct fix_text *t, size_t i) {
    size_t open = i + 1;
    if (fix_text_is(t, open, "<")) { /* template arguments */
        while (open < t->count && !ends_statement(t, open) && !fix_text_is(t, open, "(")) {
            open++;
        }
    }
    size_t end = fix_text_is(t, open, "(") ? behind_closing(t, open) : 0;
    return (struct span){i, end && fix_text_is(t, end - 1, ")") ? end : 0};
}

/* The calls in a line, or, if `around`, in statements of which the line is a part. */
static bool calls_value(const struct reading *r, int line, const char *function,
                        bool exactly, bool around, enum call_value *ret) {
    const struct fix_text *t = r->t;
    size_t begin = fix_text_offset(t, line, 1), end = fix_text_offset(t, line, INT_MAX);
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        struct span s = names(t, i, function, exactly) ? call_at(t, i) : (struct span){0};
        size_t first = i, front;
        if (!s.to) {
            continue;
        }
        while (around && find_front(t, first, &front) && fix_text_is(t, front, "(")) {
            first = front;
        }
        bool here = around ? t->tokens[first].start < end &&
                                 t->tokens[s.to - 1].end > begin
                           : t->tokens[i].start >= begin && t->tokens[i].start < end;
        if (here) {
            enum call_value one = value_of(r, s, 0);
            *ret = any ? both(*ret, one) : one;
            any = true;
        }
    }
    return any;
}

/* A launch that does not name the function is <<<>>>, unless the name hides in a macro. */
static enum call_value launch_value(const struct fix_text *t, const char *function) {
    bool named = memmem(t->text, t->len, function, strlen(function)) != NULL;
    bool launches = memmem(t->text, t->len, "<<<", 3) != NULL;
    return launches && !named ? CALL_VALUE_DROPPED : CALL_VALUE_UNKNOWN;
}

static enum call_value call_value_in(const struct reading *r, int line,
                                     const char *function) {
    enum call_value value = CALL_VALUE_UNKNOWN;
    for (unsigned k = 0; k < 4; k++) {
        if (calls_value(r, line, function, k < 2, k % 2, &value)) {
            return value;
        }
    }
    return strcmp(function, "cudaLaunchKernel") ? CALL_VALUE_UNKNOWN
                                                : launch_value(r->t, function);
}

enum call_value call_value_of(const struct source_set *sources, const char *display,
                              int line, const char *function) {
    struct source_file *file =
        list_find(f, sources->files, sources->count, !strcmp(f->display, display));
    enum call_value value = CALL_VALUE_UNKNOWN;
    if (file) {
        struct fix_text t;
        fix_text_init(&t, file);
        value = call_value_in(&(struct reading){sources, &t}, line, function);
        fix_text_finish(&t);
    }
    return value;
}
