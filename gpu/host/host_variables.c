#include "gpu/host/host_variables.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "gpu/source/cuda_lexer.h"

#define EXPANDED_MAX 512
#define CONSTANT_TOKENS_MAX 256 /* of a declaration, before its name */

/* --- names --- */

static bool begins_statement(enum code_word before) {
    return before == WORD_SEMICOLON || before == WORD_BRACE_OPEN ||
           before == WORD_BRACE_CLOSE || before == WORD_PAREN_OPEN ||
           before == WORD_DIRECTIVE || before == WORD_CONST || before == WORD_STATIC ||
           before == WORD_SCOPE || before == WORD_GREATER;
}

/* Whether the comma at token i is one of "float *a, *b": its statement begins with a type
 * and has no brackets before it. */
static bool declares(const struct code_tokens *t, size_t i) {
    size_t at = i;
    while (at > 0 && i - at < 64) {
        enum code_word w = code_word(t, at - 1);
        if (w == WORD_SEMICOLON || w == WORD_BRACE_OPEN || w == WORD_BRACE_CLOSE ||
            w == WORD_DIRECTIVE) {
            break;
        }
        if (w == WORD_PAREN_OPEN) {
            return false;
        }
        at--;
    }
    enum code_word first = code_word(t, at), second = code_word(t, at + 1);
    return first == WORD_TYPE || first == WORD_CONST || first == WORD_STATIC ||
           (first == WORD_NAME &&
            (second == WORD_STAR || second == WORD_NAME || second == WORD_LESS));
}

/* "float *x" and "T &x", not "n * x". */
static bool is_declarator(const struct code_tokens *t, size_t i) {
    while (code_word(t, i - 1) == WORD_STAR || code_word(t, i - 1) == WORD_AMPERSAND) {
        i--;
    }
    enum code_word word = code_word(t, i - 1);
    return word == WORD_TYPE || word == WORD_CONST || word == WORD_GREATER ||
           (word == WORD_NAME && begins_statement(code_word(t, i - 2))) ||
           (word == WORD_COMMA && declares(t, i - 1));
}

/* "int n", "float *x", "Vec<int> v", ", m": a name may be declared here. */
static bool is_declared(const struct code_tokens *t, size_t i) {
    enum code_word before = code_word(t, i - 1);
    if (before == WORD_STAR || before == WORD_AMPERSAND) {
        return is_declarator(t, i);
    }
    return before == WORD_TYPE || before == WORD_CONST || before == WORD_GREATER ||
           (before == WORD_NAME && !code_token_is(t, i - 1, "return") &&
            !code_token_is(t, i - 1, "else")) ||
           before == WORD_COMMA;
}

/* What is behind the name at token i: "= a", "(a)", "{a}" or "[n] = {a}". */
static bool read_value(const struct host_program *p, size_t i, size_t end,
                       struct place *ret) {
    const struct code_tokens *t = &p->b.tokens;
    size_t at = i + 1;
    while (code_word(t, at) == WORD_BRACKET_OPEN) {
        at = host_close(t, at) + 1;
    }
    enum code_word w = code_word(t, at);
    ret->t = t;
    if (w == WORD_PAREN_OPEN || w == WORD_BRACE_OPEN) {
        ret->from = at + 1;
        ret->to = host_close(t, at);
        return ret->to > ret->from;
    }
    if (w != WORD_ASSIGN) {
        return false;
    }
    const struct place rest = {.t = t, .from = at + 1, .to = end};
    size_t to = at + 1;
    for (int depth = 0; to < end; to++) {
        depth += code_word_nests(code_word(t, to));
        if (depth < 0 || (depth == 0 && (code_word(t, to) == WORD_SEMICOLON ||
                                         code_word(t, to) == WORD_COMMA))) {
            break;
        }
    }
    ret->from = rest.from;
    ret->to = to;
    return to > rest.from;
}

enum setting { SETS_NOT, SETS, SETS_UNKNOWN };

/* What the occurrence of a variable at token i does to it. depth: of closed blocks around
 * it; parens: of brackets that end before the place that asks. */
static enum setting setting_at(const struct code_tokens *t, size_t i, int depth,
                               int parens) {
    enum code_word before = code_word(t, i - 1), after = code_word(t, i + 1);
    if (before == WORD_AMPERSAND &&
        (code_word(t, i - 2) == WORD_PAREN_OPEN || code_word(t, i - 2) == WORD_COMMA)) {
        return parens > 0 || depth > 0 ? SETS_UNKNOWN : SETS_NOT;
    }
    if (code_token_steps(t, i - 1) ||
        (code_token_writes(t, i + 1) && after != WORD_ASSIGN)) {
        return parens > 0 && depth == 0 ? SETS_NOT : SETS_UNKNOWN;
    }
    if (depth > 0) {
        return SETS_NOT; /* in an if, or a loop that is over */
    }
    bool begins = before == WORD_SEMICOLON || before == WORD_BRACE_OPEN ||
                  before == WORD_BRACE_CLOSE || before == WORD_COLON;
    bool value = after == WORD_ASSIGN || after == WORD_PAREN_OPEN ||
                 after == WORD_BRACE_OPEN || after == WORD_BRACKET_OPEN;
    return (after == WORD_ASSIGN && begins) ||
                   ((value || after == WORD_SEMICOLON || after == WORD_COMMA) &&
                    is_declared(t, i) && parens == 0) ||
                   (after == WORD_ASSIGN && parens > 0 && is_declared(t, i))
               ? SETS
               : SETS_NOT;
}

/* Backwards from `before`: the token that sets the variable; 0: none does, SIZE_MAX: it
 * is not known. */
static size_t find_local(struct host_program *p, uint64_t name, size_t from,
                         size_t before) {
    const struct code_tokens *t = &p->b.tokens;
    int depth = 0, parens = 0;
    for (size_t i = before; i-- > from; p->looked++) {
        enum code_word w = code_word(t, i);
        depth += w == WORD_BRACE_CLOSE;
        depth -= w == WORD_BRACE_OPEN && depth > 0;
        parens += w == WORD_PAREN_CLOSE;
        parens -= w == WORD_PAREN_OPEN && parens > 0;
        if (w != WORD_NAME || code_token_hash(t, i) != name ||
            code_word(t, i - 1) == WORD_DOT || code_word(t, i - 1) == WORD_ARROW) {
            continue;
        }
        enum setting s = setting_at(t, i, depth, parens);
        if (s != SETS_NOT) {
            return s == SETS ? i : SIZE_MAX;
        }
    }
    return p->looked < HOST_LOOKED_MAX ? 0 : SIZE_MAX;
}

/* --- for certain --- */

/* Whether "int n = 4", "dim3 b(4)" or ", m = 4" is at the name at token i. */
static bool is_initialised(const struct code_tokens *t, size_t i, bool typed) {
    enum code_word after = code_word(t, i + 1);
    return (after == WORD_ASSIGN || after == WORD_PAREN_OPEN ||
            after == WORD_BRACE_OPEN) &&
           (typed || code_word(t, i - 1) == WORD_COMMA);
}

/* The only token in [from, to) where a variable of this name gets a value, which is
 * behind `body`; 0: the name is not there, SIZE_MAX: it is not known when it has which.
 */
static size_t find_only(struct host_program *p, uint64_t name, size_t from, size_t body,
                        size_t to) {
    const struct code_tokens *t = &p->b.tokens;
    size_t found = 0;
    for (size_t i = from; i < to; i++, p->looked++) {
        enum code_word before = code_word(t, i - 1);
        if (code_word(t, i) != WORD_NAME || before == WORD_DOT || before == WORD_ARROW ||
            code_token_hash(t, i) != name) {
            continue;
        }
        bool typed = before == WORD_TYPE || before == WORD_CONST ||
                     (before == WORD_NAME && !code_token_is(t, i - 1, "return"));
        bool member = code_word(t, i + 1) == WORD_DOT && code_token_writes(t, i + 3);
        bool value = i > body && is_initialised(t, i, typed);
        if (value ? found != 0
                  : typed || before == WORD_AMPERSAND || code_token_writes(t, i + 1) ||
                        code_token_steps(t, i - 1) || member) {
            return SIZE_MAX;
        }
        found = value ? i : found;
    }
    return p->looked < HOST_LOOKED_MAX ? found : SIZE_MAX;
}

/* Outside functions only a constant keeps its value. */
static size_t find_only_constant(struct host_program *p, uint64_t name) {
    const struct code_tokens *t = &p->b.tokens;
    size_t found = find_only(p, name, 1, 0, t->count), i = found;
    for (; found && found != SIZE_MAX && i-- > 0 && found - i < CONSTANT_TOKENS_MAX;) {
        enum code_word w = code_word(t, i);
        if (w == WORD_CONST || w == WORD_CONSTEXPR) {
            return found;
        }
        if (w == WORD_SEMICOLON || w == WORD_BRACE_OPEN || w == WORD_BRACE_CLOSE) {
            break;
        }
    }
    return SIZE_MAX;
}

/* --- parameters --- */

/* The number of a parameter in a list, and the token of its name. */
static bool find_parameter(const struct host_program *p, const struct place *list,
                           uint64_t name, size_t *ret, size_t *token,
                           struct place *part) {
    for (size_t n = 0; n < 64 && host_part(list, n, part); n++) {
        for (size_t i = part->from; i < part->to && code_word(list->t, i) != WORD_ASSIGN;
             i++) {
            if (code_word(list->t, i) == WORD_NAME && i > part->from &&
                code_token_hash(&p->b.tokens, i) == name) {
                *ret = n;
                *token = i;
                return true;
            }
        }
    }
    return false;
}

/* A parameter's default value. */
static enum host_found fallback_of(const struct place *part, size_t token,
                                   struct place *ret) {
    if (code_word(part->t, token + 1) != WORD_ASSIGN) {
        return HOST_NOTHING;
    }
    *ret = *part;
    ret->from = token + 2;
    return HOST_VALUE;
}

static enum host_found look_up_parameter(struct host_program *p,
                                         const struct host_frame *f, uint64_t name,
                                         struct place *ret, size_t *token) {
    const struct code_tokens *t = &p->b.tokens;
    size_t n, open = 0;
    struct place part, list = {f, t, f->in->params + 1, f->in->params_end, 0};
    bool plain = f->in->params && find_parameter(p, &list, name, &n, token, &part);
    if (!plain && f->in->has_template) {
        size_t angle = f->in->first;
        while (angle < f->in->name && code_word(t, angle) != WORD_LESS) {
            angle++;
        }
        list.from = angle + 1;
        list.to = angle < f->in->name ? code_angles_end(t, angle) : list.from;
        if (!find_parameter(p, &list, name, &n, token, &part)) {
            return HOST_NOTHING;
        }
    } else if (!plain) {
        return HOST_NOTHING;
    }
    if (!f->called) { /* a type is no number that somebody gives */
        bool type = !plain && (code_token_is(part.t, part.from, "typename") ||
                               code_token_is(part.t, part.from, "class"));
        return type ? HOST_NOTHING : HOST_PARAMETER;
    }
    struct place given = f->at;
    open = plain ? host_call_paren(given.t, given.from) : given.from + 1;
    given.from = open + 1;
    given.to = plain                                   ? host_close(given.t, open)
               : code_word(given.t, open) == WORD_LESS ? code_angles_end(given.t, open)
                                                       : given.from;
    return host_part(&given, n, ret) ? HOST_VALUE : fallback_of(&part, *token, ret);
}

bool host_type_argument(struct host_program *p, const struct host_frame *frame,
                        uint64_t name, struct place *ret) {
    size_t token;
    return frame && frame->in && frame->in->has_template &&
           look_up_parameter(p, frame, name, ret, &token) == HOST_VALUE;
}

/* --- macros and constants --- */

static struct code_tokens *expanded_add(struct host_program *p, char *text) {
    struct code_tokens t;
    if (p->expanded_count >= EXPANDED_MAX || !text) {
        free(text);
        return NULL;
    }
    if (!p->expanded) { /* never moved: places point into it */
        p->expanded = xcalloc(EXPANDED_MAX, sizeof *p->expanded);
    }
    if (code_tokens_read(&t, text, strlen(text)) < 0) {
        code_tokens_finish(&t);
        free(text);
        return NULL;
    }
    p->expanded[p->expanded_count] = t;
    return &p->expanded[p->expanded_count++];
}

/* The one #define of a name, as the text from the name on; NULL: none, "": several, or it
 * is not certain. */
static char *macro_text(const struct host_program *p, uint64_t name) {
    const struct code_tokens *t = &p->b.tokens;
    char *found = NULL;
    for (size_t i = 0; i < t->count; i++) {
        struct cuda_directive d;
        if (code_word(t, i) != WORD_DIRECTIVE || !code_token_define(t, i, &d)) {
            continue;
        }
        const char *s = t->text + d.argument;
        size_t len = d.argument_end - d.argument, word = 0;
        while (word < len && text_is_word(s[word])) {
            word++;
        }
        if (word && code_hash(s, word) == name && (p->active[i] || p->certain)) {
            bool again = found != NULL || !p->active[i];
            free(found);
            found = again ? xstrdup("") : xstrndup(s, len);
            if (again) {
                cuda_directive_finish(&d);
                break;
            }
        }
        cuda_directive_finish(&d);
    }
    return found;
}

static enum host_found look_up_constant(struct host_program *p, uint64_t name,
                                        const struct place *at, struct place *ret,
                                        size_t *variable) {
    const struct code_tokens *t = &p->b.tokens;
    p->looked += t->count;
    char *macro = macro_text(p, name);
    if (macro) {
        struct code_tokens *own = expanded_add(p, macro);
        if (!own || own->count < 2 || own->list[1].start == own->list[0].end) {
            return HOST_NOTHING;
        }
        *ret = (struct place){at->frame, own, 1, own->count, at->before};
        return HOST_CONSTANT;
    }
    if (p->certain) {
        size_t only = find_only_constant(p, name);
        *ret = (struct place){at->frame, t, 0, 0, 0};
        return only != SIZE_MAX && read_value(p, only, t->count, ret) ? HOST_CONSTANT
                                                                      : HOST_NOTHING;
    }
    list_each(n, d, p->b.declarations.list, p->b.declarations.count) {
        for (size_t i = d->first + 1; d->kind == DECLARATION_VARIABLE && i <= d->last;
             i++) {
            if (code_word(t, i) != WORD_NAME || code_token_hash(t, i) != name ||
                !is_declared(t, i)) {
                continue;
            }
            *variable = i;
            *ret = (struct place){at->frame, t, 0, 0, d->last};
            return read_value(p, i, d->last + 1, ret) ? HOST_CONSTANT : HOST_NOTHING;
        }
    }
    return HOST_NOTHING;
}

size_t host_variable(struct host_program *p, const struct place *at) {
    const struct code_tokens *t = &p->b.tokens;
    const struct host_frame *f = at->frame;
    uint64_t name = code_token_hash(at->t, at->from);
    struct place value;
    size_t variable = 0;
    for (size_t i = f && f->in ? at->before : 0; f && f->in && i-- > f->in->body;) {
        enum code_word after = code_word(t, i + 1);
        bool ends = after == WORD_SEMICOLON || after == WORD_COMMA ||
                    after == WORD_ASSIGN || after == WORD_PAREN_OPEN ||
                    after == WORD_BRACE_OPEN || after == WORD_BRACKET_OPEN;
        if (code_word(t, i) == WORD_NAME && code_token_hash(t, i) == name && ends &&
            is_declarator(t, i)) {
            return i;
        }
    }
    look_up_constant(p, name, at, &value, &variable);
    return variable;
}

enum host_found host_look_up(struct host_program *p, const struct place *at,
                             struct place *ret, size_t *variable) {
    const struct host_frame *f = at->frame;
    uint64_t name = code_token_hash(at->t, at->from);
    *variable = 0;
    if (!f || p->looked > HOST_LOOKED_MAX) {
        return HOST_NOTHING;
    }
    if (!f->in) {
        return look_up_constant(p, name, at, ret, variable);
    }
    size_t token =
        p->certain ? find_only(p, name, f->in->first + 1, f->in->body, f->in->body_end)
                   : find_local(p, name, f->in->body + 1, at->before);
    if (token == SIZE_MAX) {
        return HOST_NOTHING;
    }
    if (token) {
        *variable = token;
        *ret = (struct place){f, NULL, 0, 0, token};
        return read_value(p, token, f->in->body_end, ret) ? HOST_VALUE : HOST_NOTHING;
    }
    enum host_found found =
        p->certain ? HOST_NOTHING : look_up_parameter(p, f, name, ret, &token);
    if (found != HOST_NOTHING) {
        *variable = found == HOST_PARAMETER ? token : 0;
        return found;
    }
    return look_up_constant(p, name, at, ret, variable);
}

static bool has_word(const char *s, size_t len, uint64_t name) {
    struct cuda_lexer lexer;
    struct cuda_token t;
    cuda_lexer_init(&lexer, s, len);
    while ((t = cuda_lexer_next(&lexer)).kind != CUDA_END) {
        if (t.kind == CUDA_IDENTIFIER &&
            code_hash(s + t.start, t.end - t.start) == name) {
            return true;
        }
    }
    return false;
}

bool host_is_device_word(const struct host_program *p, uint64_t name) {
    const struct code_tokens *t = &p->b.tokens;
    for (size_t i = 0; i < t->count; i++) {
        struct cuda_directive d;
        if (code_word(t, i) == WORD_DIRECTIVE && code_token_define(t, i, &d)) {
            const char *s = t->text + d.argument;
            size_t len = d.argument_end - d.argument, own = 0;
            while (own < len && s[own] != ' ' && s[own] != '\t' && s[own] != '(') {
                own++;
            }
            bool other = has_word(s + own, len - own, name);
            cuda_directive_finish(&d);
            if (other) {
                return true;
            }
        }
    }
    list_each(n, d, p->b.declarations.list, p->b.declarations.count) {
        for (size_t i = d->first; !p->b.goes[n] && i <= d->last; i++) {
            if (code_word(t, i) == WORD_NAME && i != d->name &&
                code_token_hash(t, i) == name) {
                return true;
            }
        }
    }
    return false;
}

static void add_tokens(struct buf *out, const struct place *part) {
    for (size_t i = part->from; i < part->to; i++) {
        const struct code_token *token = &part->t->list[i];
        buf_addc(out, ' ');
        buf_add(out, part->t->text + token->start, token->end - token->start);
    }
}

bool host_expand(struct host_program *p, const struct place *at, struct place *ret) {
    char *macro = code_word(at->t, at->from + 1) == WORD_PAREN_OPEN
                      ? macro_text(p, code_token_hash(at->t, at->from))
                      : NULL;
    struct code_tokens *own = macro ? expanded_add(p, macro) : NULL;
    if (!own || own->count < 4 || own->list[1].start != own->list[0].end ||
        code_word(own, 1) != WORD_PAREN_OPEN) {
        return false;
    }
    const struct place given = host_inside(at, at->from + 1);
    const struct place names = host_inside(&(struct place){.t = own}, 1);
    autobuf text = BUF_INIT(1u << 16);
    for (size_t i = names.to + 1; i < own->count; i++) {
        struct place part, one = {.t = own, .from = i, .to = i + 1};
        for (size_t n = 0; n < 16 && host_part(&names, n, &part); n++) {
            if (code_token_hash(own, part.from) == code_token_hash(own, i)) {
                host_part(&given, n, &one);
                break;
            }
        }
        add_tokens(&text, &one);
    }
    struct code_tokens *made = expanded_add(p, buf_detach(&text));
    *ret = *at;
    ret->t = made;
    ret->from = 0;
    ret->to = made ? made->count : 0;
    return made != NULL;
}

bool host_alias(const struct host_program *p, uint64_t name, struct place *ret) {
    const struct code_tokens *own = &p->b.tokens;
    bool found = false;
    for (size_t k = 1; k + 1 < own->count; k++) {
        if (code_word(own, k) != WORD_NAME || code_token_hash(own, k) != name ||
            !p->active[k]) {
            continue;
        }
        size_t from = k;
        if (code_word(own, k - 1) == WORD_USING && code_word(own, k + 1) == WORD_ASSIGN) {
            size_t to = k + 2;
            while (to < own->count && code_word(own, to) != WORD_SEMICOLON) {
                to++;
            }
            *ret = (struct place){.t = own, .from = k + 2, .to = to, .before = k};
            found = true;
            continue;
        }
        while (code_word(own, k + 1) == WORD_SEMICOLON && k - from < 8 && from > 0 &&
               code_word(own, from) != WORD_TYPEDEF &&
               code_word(own, from) != WORD_SEMICOLON) {
            from--;
        }
        if (code_word(own, from) == WORD_TYPEDEF) {
            *ret = (struct place){.t = own, .from = from + 1, .to = k, .before = k};
            found = true;
        }
    }
    return found;
}
