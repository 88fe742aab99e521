/* The launches of the file that is checked: kernel<<<grid, block, bytes>>> whose block is
 * a constant. */
#include "gpu/lint/source_launches.h"

#include "base/buf.h"
#include "base/lines.h"
#include "base/mem.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/host_bindings.h"
#include "gpu/source/host_blanker.h"
#include "gpu/spec/integer_expression.h"

#include <string.h>

#define LAUNCHES_MAX 64       /* of a file */
#define LOOKED_MAX (1u << 24) /* tokens, for all of them */
#define NESTED_MAX 16         /* names that stand for names */
#define ARGUMENT_MAX 256      /* tokens of an argument */

struct reading {
    struct host_blanker b;
    struct bindings macros; /* "\n": not known */
    const struct declaration *in;
    size_t looked;
};

static enum code_word word_at(const struct code_tokens *t, size_t i) {
    return t->list[i < t->count ? i : t->count].word;
}

/* The ',', ';' or >>> that ends an argument or an initialiser; 0: there is none. */
static size_t argument_end(const struct code_tokens *t, size_t i) {
    int depth = 0;
    for (size_t n = 0; n < ARGUMENT_MAX && i < t->count; n++, i++) {
        enum code_word w = word_at(t, i);
        depth += w == WORD_PAREN_OPEN || w == WORD_BRACE_OPEN;
        depth -= w == WORD_PAREN_CLOSE || w == WORD_BRACE_CLOSE;
        if (w == WORD_LAUNCH_CLOSE || w == WORD_SEMICOLON || depth < 0 ||
            (w == WORD_COMMA && depth == 0)) {
            return i;
        }
    }
    return 0;
}

/* ---- names ---- */

/* ++ and --. */
static bool is_step(const struct code_tokens *t, size_t i) {
    return code_token_is(t, i, "++") || code_token_is(t, i, "--");
}

/* =, +=, <<= and their like, and a step. */
static bool is_write(const struct code_tokens *t, size_t i) {
    size_t len = i < t->count ? t->list[i].end - t->list[i].start : 0;
    const char *s = len ? t->text + t->list[i].start : "";
    return is_step(t, i) ||
           (len && s[len - 1] == '=' && !(len == 2 && strchr("=!<>", s[0])));
}

static bool is_typed(const struct code_tokens *t, size_t i) {
    enum code_word before = word_at(t, i - 1);
    return before == WORD_TYPE || before == WORD_CONST ||
           (before == WORD_NAME && !code_token_is(t, i - 1, "return"));
}

/* Whether "int n = 4", "dim3 b(4)" or ", m = 4" is at the name at token i. */
static bool has_initialiser(const struct code_tokens *t, size_t i) {
    enum code_word after = word_at(t, i + 1);
    return (after == WORD_ASSIGN || after == WORD_PAREN_OPEN ||
            after == WORD_BRACE_OPEN) &&
           (is_typed(t, i) || word_at(t, i - 1) == WORD_COMMA);
}

/* The only token in [from, to) where a variable of this name gets a value; 0: the name is
 * not there, SIZE_MAX: it is not known when it has which. */
static size_t find_variable(struct reading *r, uint64_t name, size_t from, size_t to) {
    const struct code_tokens *t = &r->b.tokens;
    size_t found = 0;
    for (size_t i = from; i < to; i++, r->looked++) {
        enum code_word before = word_at(t, i - 1);
        if (word_at(t, i) != WORD_NAME || before == WORD_DOT || before == WORD_ARROW ||
            code_token_hash(t, i) != name) {
            continue;
        }
        bool value = has_initialiser(t, i) && !(r->in && i < r->in->body);
        if (value ? found != 0
                  : is_typed(t, i) || before == WORD_AMPERSAND || is_write(t, i + 1) ||
                        is_step(t, i - 1) ||
                        (word_at(t, i + 1) == WORD_DOT && is_write(t, i + 3))) {
            return SIZE_MAX;
        }
        found = value ? i : found;
    }
    return r->looked < LOOKED_MAX ? found : SIZE_MAX;
}

/* Outside functions only a constant keeps its value for sure. */
static size_t find_constant(struct reading *r, uint64_t name) {
    const struct code_tokens *t = &r->b.tokens;
    size_t found = find_variable(r, name, 1, t->count), i = found;
    for (; found && found != SIZE_MAX && i-- > 0 && found - i < ARGUMENT_MAX;) {
        enum code_word w = word_at(t, i);
        if (w == WORD_CONST || w == WORD_CONSTEXPR) {
            return found;
        }
        if (w == WORD_SEMICOLON || w == WORD_BRACE_OPEN || w == WORD_BRACE_CLOSE) {
            break;
        }
    }
    return SIZE_MAX;
}

/* ---- constants, as text that integer_expression reads ---- */

static bool expand(struct reading *r, const struct code_tokens *t, size_t from, size_t to,
                   unsigned nested, struct buf *out);

static bool expand_macro(struct reading *r, const char *text, unsigned nested,
                         struct buf *out) {
    struct code_tokens t;
    bool good = code_tokens_read(&t, text, strlen(text)) == 0 &&
                expand(r, &t, 0, t.count, nested, out);
    code_tokens_finish(&t);
    return good;
}

static bool expand_name(struct reading *r, uint64_t name, unsigned nested,
                        struct buf *out) {
    const struct code_tokens *t = &r->b.tokens;
    const char *macro = bindings_text(&r->macros, name);
    if (macro) {
        return expand_macro(r, macro, nested, out);
    }
    const struct declaration *in = r->in;
    size_t at = in ? find_variable(r, name, in->first + 1, in->body_end) : 0;
    if (!at) {
        r->in = NULL;
        at = find_constant(r, name);
    }
    size_t from = at + 1 + (word_at(t, at + 1) == WORD_ASSIGN);
    bool good = at != SIZE_MAX && expand(r, t, from, argument_end(t, from), nested, out);
    r->in = in;
    return good;
}

static bool expand_number(const char *text, const char *end, struct buf *out) {
    char *rest;
    buf_addf(out, "%llu", strtoull(text, &rest, 0));
    return rest + strspn(rest, "uUlL") == end;
}

static bool expand(struct reading *r, const struct code_tokens *t, size_t from, size_t to,
                   unsigned nested, struct buf *out) {
    bool good = from < to && nested < NESTED_MAX && buf_addc(out, '(') == 0;
    for (size_t i = from; good && i < to; i++) {
        const struct code_token *token = &t->list[i];
        const char *s = t->text + token->start;
        if (token->word == WORD_NUMBER) {
            good = expand_number(s, t->text + token->end, out);
        } else if (token->word == WORD_NAME && !code_token_is(t, i, "dim3")) {
            good = expand_name(r, code_token_hash(t, i), nested + 1, out);
        } else if (token->word != WORD_NAME && token->word != WORD_TYPE) {
            char c = *s == '{' ? '(' : *s == '}' ? ')' : *s;
            good = token->end == token->start + 1 && strchr("()+-*/%,", c);
            buf_addc(out, c);
        }
    }
    return buf_addc(out, ')') == 0 && good;
}

/* "((16,(8)))", or one number; the text is changed. */
static bool extents_read(char *text, int64_t ret[3]) {
    char *rest = NULL, *part = strtok_r(text, ",", &rest);
    size_t n = 0;
    for (; part && n < 3; part = strtok_r(NULL, ",", &rest)) {
        int open = 0; /* brackets around all of the parts */
        for (const char *at = part; *at; at++) {
            open += (*at == '(') - (*at == ')');
        }
        part[strlen(part) - (size_t)(open < 0 ? -open : 0)] = '\0';
        if (integer_expression(part + (open > 0 ? open : 0), &(struct size_values){0},
                               &ret[n], NULL) < 0 ||
            ret[n] <= 0 || ret[n++] > INT32_MAX) {
            return false;
        }
    }
    return n > 0 && !part;
}

/* The argument at token i; behind it, or 0. */
static size_t constant_read(struct reading *r, size_t i, int64_t ret[3]) {
    autobuf text = BUF_INIT(INTEGER_EXPRESSION_MAX);
    size_t end = argument_end(&r->b.tokens, i);
    ret[0] = ret[1] = ret[2] = 1;
    return expand(r, &r->b.tokens, i, end, 0, &text) && extents_read(text.data, ret) ? end
                                                                                     : 0;
}

/* ---- macros and conditions ---- */

/* #define NAME value; what is defined twice, or in an #if, is not known. */
static void read_macro(struct reading *r, size_t i, bool conditional) {
    const struct code_tokens *t = &r->b.tokens;
    struct cuda_directive d;
    struct code_tokens words;
    if (!code_token_define(t, i, &d)) {
        return;
    }
    autofree char *text = strndup(t->text + d.argument, d.argument_end - d.argument);
    if (text && code_tokens_read(&words, text, strlen(text)) == 0) {
        uint64_t name = words.count ? code_token_hash(&words, 0) : 0;
        bool known = words.count > 1 && words.list[1].start > words.list[0].end &&
                     !conditional && !bindings_text(&r->macros, name);
        bindings_add(&r->macros, name,
                     known ? xstrdup(text + words.list[1].start) : NULL);
        code_tokens_finish(&words);
    }
    cuda_directive_finish(&d);
}

/* By how much token i, a directive, opens or closes conditions. */
static int conditions_at(const struct code_tokens *t, size_t i) {
    const char *s = t->text + t->list[i].start;
    s += word_at(t, i) == WORD_DIRECTIVE;
    s += strspn(s, " \t");
    return word_at(t, i) != WORD_DIRECTIVE
               ? 0
               : (strncmp(s, "if", 2) == 0) - (strncmp(s, "endif", 5) == 0);
}

/* ---- launches ---- */

static const struct declaration *function_at(const struct reading *r, size_t i) {
    const struct declaration *found = NULL;
    for (size_t n = 0; n < r->b.declarations.count; n++) {
        const struct declaration *d = &r->b.declarations.list[n];
        if (d->kind != DECLARATION_CLASS && d->body && d->body < i && i < d->body_end) {
            found = d;
        }
    }
    return found;
}

/* The kernel's name, before the <<< at token i; 0: there is none. */
static size_t kernel_before(const struct code_tokens *t, size_t i) {
    size_t least = i > ARGUMENT_MAX ? i - ARGUMENT_MAX : 1;
    int depth = 0;
    do {
        enum code_word w = word_at(t, --i);
        depth += w == WORD_GREATER        ? 1
                 : w == WORD_SHIFT_RIGHT  ? 2
                 : w == WORD_LAUNCH_CLOSE ? 3
                                          : -(w == WORD_LESS);
    } while (depth > 0 && i > least);
    i -= word_at(t, i) == WORD_LESS && i > 0;
    return depth == 0 && word_at(t, i) == WORD_NAME ? i : 0;
}

/* As written, with its namespaces, without blanks. */
static json_t *kernel_text(const struct code_tokens *t, size_t name, size_t end) {
    autobuf text = BUF_INIT(4096);
    while (name >= 2 && word_at(t, name - 1) == WORD_SCOPE &&
           word_at(t, name - 2) == WORD_NAME) {
        name -= 2;
    }
    for (; name < end; name++) {
        buf_add(&text, t->text + t->list[name].start,
                t->list[name].end - t->list[name].start);
    }
    return json_text(text.data, text.len);
}

/* The launch whose <<< is at token i; NULL: its block is no constant. */
static json_t *launch_at(struct reading *r, size_t i, const struct lines *lines,
                         const char *file) {
    const struct code_tokens *t = &r->b.tokens;
    size_t grid_end = argument_end(t, i + 1), name = kernel_before(t, i);
    int64_t block[3], shared[3] = {0};
    r->in = function_at(r, i);
    size_t end = grid_end && name && r->in ? constant_read(r, grid_end + 1, block) : 0;
    if (!end) {
        return NULL;
    }
    size_t line = lines_at(lines, t->list[name].start);
    json_t *launch = json_pack("{s:o, s:[I,I,I], s:s, s:i, s:i}", "kernel",
                               kernel_text(t, name, i), "block", block[0], block[1],
                               block[2], "file", file, "line", (int)line + 1, "column",
                               (int)(t->list[name].start - lines->starts[line]) + 1);
    bool none = word_at(t, end) == WORD_LAUNCH_CLOSE || code_token_is(t, end + 1, "0");
    if (none || constant_read(r, end + 1, shared)) {
        json_object_set_new(launch, "dynamic_shared_bytes", json_integer(shared[0]));
    }
    return launch;
}

json_t *source_launches_read(const struct source_file *file) {
    const char *text = file->original ? file->original : file->text;
    struct reading r = {.looked = 0};
    json_t *ret = json_array();
    if (!strstr(text, "<<<") ||
        host_blanker_init(&r.b, text, file->len, HOST_TOKENS_MAX, NULL) < 0) {
        return ret;
    }
    struct lines lines;
    lines_init(&lines, text, file->len);
    for (size_t pass = 0; pass < 2; pass++) { /* macros first */
        int depth = 0;
        for (size_t i = 0, n = 0; i < r.b.tokens.count; i++) {
            depth += conditions_at(&r.b.tokens, i);
            if (pass == 0) {
                read_macro(&r, i, depth > 0);
            } else if (word_at(&r.b.tokens, i) == WORD_LAUNCH_OPEN && depth == 0 &&
                       n++ < LAUNCHES_MAX) {
                json_t *launch = launch_at(&r, i, &lines, file->display);
                json_array_append_new(ret, launch);
            }
        }
    }
    lines_finish(&lines);
    bindings_finish(&r.macros);
    host_blanker_finish(&r.b);
    return ret;
}

/* ---- whose they are ---- */

static bool same_but_blanks(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (!*a || *a != *b) {
            return *a == *b;
        }
    }
}

/* How well a launch's "k<float>" fits a kernel's "ns::k<float, 4>": by name alone 1, with
 * the arguments 2. */
static int fit_of(const char *written, const char *name) {
    size_t len = strcspn(written, "<"), have = strcspn(name, "<");
    const char *tail = name + (have < len ? 0 : have - len);
    bool named = have >= len && memcmp(tail, written, len) == 0 &&
                 (tail == name || tail[-1] == ':');
    return !named ? 0 : same_but_blanks(written + len, name + have) ? 2 : 1;
}

/* The only kernel that fits, or fits best. */
static json_t *kernel_of(const json_t *kernels, const char *written) {
    json_t *found[3] = {0}, *json;
    size_t i, count[3] = {0};
    json_array_foreach(kernels, i, json) {
        int fit = fit_of(written, json_get_string(json, "name", ""));
        found[fit] = json;
        count[fit]++;
    }
    return count[2] == 1 ? found[2] : count[2] == 0 && count[1] == 1 ? found[1] : NULL;
}

void source_launches_add(json_t *kernels, const struct source_set *sources) {
    autojson *launches = source_launches_read(&sources->files[source_set_unit(sources)]);
    json_t *launch;
    size_t i;
    json_array_foreach(launches, i, launch) {
        json_t *kernel = kernel_of(kernels, json_get_string(launch, "kernel", ""));
        json_t *list = kernel ? json_object_get(kernel, "source_launches") : NULL;
        if (kernel && !list) {
            list = json_array();
            json_object_set_new(kernel, "source_launches", list);
        }
        json_array_append(list, launch);
    }
}
