#include "base/find.h"
#include "gpu/spec/value_tree.h"

#include "base/buf.h"
#include "base/err.h"
#include "gpu/spec/spec_words.h"

#include <ctype.h>

enum { MAX_TEXT = 4096, MAX_DEPTH = 64 };

struct reader {
    const char *at;
    struct value_expression *e;
    const struct size_values *sizes;
    const struct value_inputs *inputs;
    struct {
        const char *name;
        size_t len;
    } variables[VALUE_MAX_VARIABLES];
    unsigned variable_count, depth;
    const char *why;
    char name[64];  /* the error is about this */
    char hint[256]; /* and what to write instead, or "" */
};

static uint16_t read_choice(struct reader *r);

static uint16_t fail(struct reader *r, const char *why) {
    if (!r->why) {
        r->why = why;
    }
    return 0;
}

static uint16_t fail_name(struct reader *r, const char *why, const char *name,
                          size_t len) {
    if (!r->why) {
        r->why = why;
        size_t n = len < sizeof r->name ? len : sizeof r->name - 1;
        memcpy(r->name, name, n);
        r->name[n] = '\0';
    }
    return 0;
}

static uint16_t add_node(struct reader *r, struct value_node node) {
    if (r->e->count == VALUE_MAX_NODES) {
        return fail(r, "it is too long");
    }
    r->e->nodes[r->e->count] = node;
    return (uint16_t)r->e->count++;
}

static uint8_t uses(const struct reader *r, uint16_t node) {
    return r->e->nodes[node].uses;
}

static const struct size_value *size_named(const struct reader *r, const char *name,
                                           size_t len) {
    return r->sizes ? list_find(one, r->sizes->list, r->sizes->count,
                                expression_word_is(name, len, one->name))
                    : NULL;
}

static bool is_whole(const struct reader *r, uint16_t node) {
    return r->e->nodes[node].whole;
}

static bool next_is(struct reader *r, const char *word) {
    r->at += strspn(r->at, " \t\r\n");
    size_t len = strlen(word);
    if (strncmp(r->at, word, len) != 0) {
        return false;
    }
    r->at += len;
    return true;
}

static void expect(struct reader *r, const char *word, const char *why) {
    if (!next_is(r, word)) {
        fail(r, why);
    }
}

/* --- names --- */

static unsigned arg_count(const struct value_node *n) {
    switch (n->kind) {
    case NODE_ELEMENT:
        return 1;
    case NODE_FUNCTION:
        return n->function->args;
    case NODE_AND:
    case NODE_OR:
        return 2;
    case NODE_CHOICE:
    case NODE_FOLD:
        return 3;
    default:
        return 0;
    }
}

static bool reads_elements(const struct reader *r, uint16_t at) {
    const struct value_node *n = &r->e->nodes[at];
    return n->kind == NODE_ELEMENT || n->kind == NODE_FOLD ||
           any_of(k, 0, arg_count(n), reads_elements(r, n->args[k]));
}

/* The largest parts below `at` that hang on variables outside the fold alone: equal ones
 * give the fold an equal value. Parts that could fail are no keys, their indices are. */
static void find_keys(const struct reader *r, struct value_node *fold, uint16_t at,
                      unsigned inner) {
    const struct value_node *n = &r->e->nodes[at];
    if (!n->uses || fold->key_count > VALUE_MAX_KEYS) {
        return;
    }
    if (!(n->uses & inner) && !reads_elements(r, at)) {
        if (fold->key_count < VALUE_MAX_KEYS) {
            fold->keys[fold->key_count] = at;
        }
        fold->key_count++;
        return;
    }
    unsigned own = n->kind == NODE_FOLD ? 1u << n->slot : 0;
    for (unsigned k = 0; k < arg_count(n); k++) {
        find_keys(r, fold, n->args[k], inner | (k == 2 ? own : 0));
    }
}

static uint16_t read_fold(struct reader *r, const struct value_fold *fold) {
    r->at += strspn(r->at, " \t\r\n");
    const char *name = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_') {
        r->at++;
    }
    struct value_node node = {.kind = NODE_FOLD, .fold = fold, .slot = r->variable_count};
    size_t len = (size_t)(r->at - name);
    if (!len || isdigit((unsigned char)*name)) {
        return fail(r, "an index name must come first, as in sum(k, 0, n, x[k])");
    }
    if (r->variable_count == VALUE_MAX_VARIABLES) {
        return fail(r, "sums nest too deeply");
    }
    expect(r, ",", "a comma is missing");
    node.args[0] = read_choice(r);
    expect(r, ",", "a comma is missing");
    node.args[1] = read_choice(r);
    expect(r, ",", "a comma is missing");
    r->variables[r->variable_count].name = name;
    r->variables[r->variable_count++].len = len;
    node.args[2] = read_choice(r);
    r->variable_count--;
    expect(r, ")", "a closing parenthesis is missing");
    node.whole = is_whole(r, node.args[2]);
    if (r->why) {
        return 0;
    }
    node.uses = (uint8_t)(uses(r, node.args[0]) | uses(r, node.args[1]) |
                          (uses(r, node.args[2]) & ~(1u << node.slot)));
    for (unsigned k = 0; k < 3; k++) {
        find_keys(r, &node, node.args[k], k == 2 ? 1u << node.slot : 0);
    }
    return add_node(r, node);
}

static uint16_t read_function(struct reader *r, const char *name, size_t len) {
    const struct value_fold *fold = value_fold_find(name, len);
    if (fold) {
        return read_fold(r, fold);
    }
    const struct value_function *function = value_function_find(name, len);
    if (!function) {
        fail_name(r, "unknown function", name, len);
        spec_words_expression(r->name, r->hint, sizeof r->hint);
        return 0;
    }
    struct value_node node = {.kind = NODE_FUNCTION, .function = function, .whole = true};
    for (unsigned i = 0; i < function->args && !r->why; i++) {
        if (i) {
            expect(r, ",", "a function has too few arguments");
        }
        node.args[i] = read_choice(r);
        node.whole = node.whole && is_whole(r, node.args[i]);
        node.uses |= uses(r, node.args[i]);
    }
    expect(r, ")", "a function has too many arguments, or a parenthesis is missing");
    node.whole = function->makes_whole || (function->keeps_whole && node.whole);
    return add_node(r, node);
}

/* "; known are i, n, scale, x[…]": what may stand where an unknown name does. */
static uint16_t fail_unknown(struct reader *r, const char *why, const char *name,
                             size_t len) {
    autobuf known = BUF_INIT(sizeof r->hint - 16);
    for (unsigned i = 0; i < r->variable_count; i++) {
        buf_addf(&known, "%s%.*s", i ? ", " : "", (int)r->variables[i].len,
                 r->variables[i].name);
    }
    for (size_t i = 0; r->sizes && i < r->sizes->count; i++) {
        buf_addf(&known, ", %s", r->sizes->list[i].name);
    }
    list_each(i, scalar, r->inputs->scalars, r->inputs->scalar_count) {
        if (!size_named(r, scalar->name, strlen(scalar->name))) {
            buf_addf(&known, ", %s", scalar->name);
        }
    }
    list_each(i, input, r->inputs->list, r->inputs->count) {
        buf_addf(&known, ", %s[…]", input->name);
    }
    if (!r->why) {
        snprintf(r->hint, sizeof r->hint, "; known are %s%s", known.data,
                 known.full ? " …" : "");
    }
    return fail_name(r, why, name, len);
}

static uint16_t read_element(struct reader *r, const char *name, size_t len) {
    struct value_node node = {.kind = NODE_ELEMENT};
    for (size_t i = 0; i < r->inputs->count; i++) {
        if (expression_word_is(name, len, r->inputs->list[i].name)) {
            node.input = &r->inputs->list[i];
        }
    }
    if (!node.input) {
        return fail_unknown(r, "there is no buffer", name, len);
    }
    node.whole = !tensor_type_float(node.input->type);
    node.args[0] = read_choice(r);
    node.uses = uses(r, node.args[0]);
    expect(r, "]", "a closing bracket is missing");
    return add_node(r, node);
}

static uint16_t read_variable(struct reader *r, const char *name, size_t len) {
    for (unsigned i = r->variable_count; i-- > 0;) {
        if (r->variables[i].len == len && !memcmp(r->variables[i].name, name, len)) {
            return add_node(r, (struct value_node){.kind = NODE_VARIABLE,
                                                   .slot = i,
                                                   .whole = true,
                                                   .uses = (uint8_t)(1u << i)});
        }
    }
    const struct size_value *size = size_named(r, name, len);
    if (size) {
        return add_node(r, (struct value_node){.kind = NODE_NUMBER,
                                               .number = (double)size->value,
                                               .whole = true});
    }
    const struct value_scalar *scalar =
        list_find(one, r->inputs->scalars, r->inputs->scalar_count,
                  expression_word_is(name, len, one->name));
    if (scalar) {
        return add_node(r, (struct value_node){.kind = NODE_NUMBER,
                                               .number = scalar->value,
                                               .whole = scalar->whole});
    }
    double constant;
    if (value_constant_find(name, len, &constant)) {
        return add_node(r, (struct value_node){.kind = NODE_NUMBER, .number = constant});
    }
    for (size_t i = 0; i < r->inputs->count && !r->why; i++) {
        if (expression_word_is(name, len, r->inputs->list[i].name)) {
            snprintf(r->hint, sizeof r->hint, ": an element of the buffer is %.40s[i]",
                     r->inputs->list[i].name);
            return fail_name(r, "one number is expected, not the buffer", name, len);
        }
    }
    return fail_unknown(r, "unknown name", name, len);
}

static uint16_t read_name(struct reader *r) {
    const char *name = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_') {
        r->at++;
    }
    size_t len = (size_t)(r->at - name);
    if (next_is(r, "(")) {
        return read_function(r, name, len);
    }
    return next_is(r, "[") ? read_element(r, name, len) : read_variable(r, name, len);
}

/* --- precedence --- */

static uint16_t read_number(struct reader *r) {
    char *end;
    double value = strtod(r->at, &end);
    bool whole = true;
    for (const char *c = r->at; c < end; c++) {
        whole = whole && isdigit((unsigned char)*c);
    }
    r->at = end + (!whole && (*end == 'f' || *end == 'F')); /* as in C */
    return add_node(
        r, (struct value_node){.kind = NODE_NUMBER, .number = value, .whole = whole});
}

static uint16_t call_node(struct reader *r, const char *function, uint16_t a,
                          uint16_t b) {
    bool whole = is_whole(r, a) && is_whole(r, b);
    if (whole && !strcmp(function, "/")) {
        function = "quotient";
    }
    const struct value_function *f = value_function_find(function, strlen(function));
    return add_node(
        r, (struct value_node){.kind = NODE_FUNCTION,
                               .function = f,
                               .whole = f->makes_whole || (f->keeps_whole && whole),
                               .uses = uses(r, a) | uses(r, b),
                               .args = {a, b}});
}

/* The second star of Python's operator is where a number should be. */
static bool is_power(const struct reader *r) {
    return *r->at == '*' && r->at > r->e->text && r->at[-1] == '*';
}

static uint16_t read_atom(struct reader *r) {
    r->at += strspn(r->at, " \t\r\n");
    uint16_t node;
    if (isdigit((unsigned char)*r->at) || *r->at == '.') {
        node = read_number(r);
    } else if (isalpha((unsigned char)*r->at) || *r->at == '_') {
        node = read_name(r);
    } else if (next_is(r, "(")) {
        node = read_choice(r);
        expect(r, ")", "a closing parenthesis is missing");
    } else {
        node = fail(r, is_power(r) ? "there is no '**': write pow(a, b)"
                       : *r->at    ? "a number or a name is expected"
                                   : "it ends too early");
    }
    return node;
}

static uint16_t read_unary(struct reader *r) {
    if (++r->depth > MAX_DEPTH) {
        return fail(r, "it nests too deeply");
    }
    uint16_t node;
    if (next_is(r, "-")) {
        uint16_t zero = add_node(
            r, (struct value_node){.kind = NODE_NUMBER, .number = -0.0, .whole = true});
        node = read_unary(r);
        node = call_node(r, "-", zero, node);
    } else if (next_is(r, "!")) {
        node = read_unary(r);
        node = call_node(r, "not", node, node);
    } else {
        node = read_atom(r);
    }
    r->depth--;
    return node;
}

/* Operators of one level, left to right; longer ones first. */
static const char *const levels[][5] = {
    {"*", "/", "%"}, {"+", "-"}, {"<<", ">>"}, {"<=", ">=", "<", ">"},
    {"==", "!="},    {"&"},      {"^"},        {"|"}};

/* Not the first half of && or ||. */
static bool next_operator(struct reader *r, const char *op) {
    r->at += strspn(r->at, " \t\r\n");
    bool half = (*op == '&' || *op == '|') && r->at[0] == *op && r->at[1] == *op;
    return !half && next_is(r, op);
}

static uint16_t operation(struct reader *r, const char *op, uint16_t a, uint16_t b) {
    bool of_bits = strpbrk(op, "&|^") || !strcmp(op, "<<") || !strcmp(op, ">>");
    return of_bits && !(is_whole(r, a) && is_whole(r, b))
               ? fail(r, "bits are of whole numbers: floor(a) makes one")
               : call_node(r, op, a, b);
}

static uint16_t read_level(struct reader *r, int level) {
    if (level < 0) {
        return read_unary(r);
    }
    uint16_t left = read_level(r, level - 1);
    for (const char *const *op = levels[level]; *op && !r->why;) {
        if (next_operator(r, *op)) {
            left = operation(r, *op, left, read_level(r, level - 1));
            op = levels[level];
        } else {
            op++;
        }
    }
    return left;
}

static uint16_t read_logic(struct reader *r, bool any) {
    uint16_t left =
        any ? read_logic(r, false) : read_level(r, (int)ARRAY_LEN(levels) - 1);
    while (!r->why && next_is(r, any ? "||" : "&&")) {
        uint16_t right =
            any ? read_logic(r, false) : read_level(r, (int)ARRAY_LEN(levels) - 1);
        left = add_node(r, (struct value_node){.kind = any ? NODE_OR : NODE_AND,
                                               .whole = true,
                                               .uses = uses(r, left) | uses(r, right),
                                               .args = {left, right}});
    }
    return left;
}

static uint16_t read_choice(struct reader *r) {
    if (++r->depth > MAX_DEPTH) {
        return fail(r, "it nests too deeply");
    }
    uint16_t node = read_logic(r, true);
    if (!r->why && next_is(r, "?")) {
        uint16_t yes = read_choice(r);
        expect(r, ":", "a colon is missing");
        uint16_t no = read_choice(r);
        node = add_node(
            r, (struct value_node){.kind = NODE_CHOICE,
                                   .whole = is_whole(r, yes) && is_whole(r, no),
                                   .uses = uses(r, node) | uses(r, yes) | uses(r, no),
                                   .args = {node, yes, no}});
    }
    r->depth--;
    return node;
}

int value_expression_new(struct value_expression **ret, const char *text,
                         const struct size_values *sizes,
                         const struct value_inputs *inputs, struct err *err) {
    if (strlen(text) > MAX_TEXT) {
        return err_set(err, -EINVAL, "an expression is longer than %d bytes", MAX_TEXT);
    }
    struct value_expression *e = xcalloc(1, sizeof *e);
    e->text = xstrdup(text);
    struct reader r = {.at = e->text, .e = e, .sizes = sizes, .inputs = inputs};
    r.variables[0].name = "i";
    r.variables[0].len = 1;
    r.variable_count = 1;
    e->root = read_choice(&r);
    r.at += strspn(r.at, " \t\r\n");
    if (!r.why && *r.at) {
        fail(&r, "an operator is missing or unknown");
    }
    if (r.why) {
        err_set(err, -EINVAL, "cannot read '%s': %s%s%s%s", text, r.why,
                *r.name ? " " : "", r.name, r.hint);
        value_expression_free(e);
        return -EINVAL;
    }
    *ret = e;
    return 0;
}

void value_expression_free(struct value_expression *e) {
    if (e) {
        free(e->text);
        free(e);
    }
}
