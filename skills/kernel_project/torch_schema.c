#include "skills/kernel_project/torch_schema.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_NESTING 8

struct parser {
    const char *text;
    size_t at;
    int depth;
    struct torch_schema *schema;
    struct torch_schema_error *error;
};

static bool fail(struct parser *p, size_t start, size_t end, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static bool fail(struct parser *p, size_t start, size_t end, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(p->error->msg, sizeof p->error->msg, fmt, args);
    va_end(args);
    p->error->start = start;
    p->error->end = end;
    return false;
}

static char peek(struct parser *p) {
    while (p->text[p->at] && strchr(" \t\r\n", p->text[p->at])) {
        p->at++;
    }
    return p->text[p->at];
}

static bool eat(struct parser *p, const char *token) {
    peek(p);
    size_t n = strlen(token);
    bool there = strncmp(p->text + p->at, token, n) == 0;
    p->at += there ? n : 0;
    return there;
}

static bool expect(struct parser *p, const char *token, const char *where) {
    return eat(p, token) ||
           fail(p, p->at, p->at + !!p->text[p->at], "%s is missing %s", token, where);
}

/* Length of the identifier that comes next, 0 when none does. */
static size_t word(struct parser *p) {
    peek(p);
    const char *s = p->text + p->at;
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_') {
        n++;
    }
    return n && !isdigit((unsigned char)s[0]) ? n : 0;
}

/* --- types --- */

static const char *const types[] = {
    "Tensor",     "int",       "float",        "bool",
    "str",        "Scalar",    "SymInt",       "Device",
    "ScalarType", "Layout",    "MemoryFormat", "Generator",
    "Stream",     "complex",   "Storage",      "QScheme",
    "Dimname",    "DimVector", "SymBool",      "SymFloat",
    "number",     "Future",    "Any",          "AnyClassType",
    "NoneType",   "Dict",      "Optional",     "List",
    "t",          "Union",     "DeviceIndex",  "RRef",
    "Await",
};
static const struct {
    const char *wrong, *right;
} likely[] = {
    {"double", "float"},
    {"int64_t", "int"},
    {"int32_t", "int"},
    {"long", "int"},
    {"size_t", "int"},
    {"string", "str"},
    {"std::string", "str"},
    {"tensor", "Tensor"},
    {"torch::Tensor", "Tensor"},
    {"at::Tensor", "Tensor"},
    {"boolean", "bool"},
    {"half", "float"},
    {"c10::ScalarType", "ScalarType"},
    {"dtype", "ScalarType"},
    {"Int", "int"},
    {"Float", "float"},
    {"Bool", "bool"},
    {"void", "()"},
};

static bool is_type(const char *s, size_t n) {
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strlen(types[i]) == n && memcmp(types[i], s, n) == 0) {
            return true;
        }
    }
    return false;
}

/* "a::b::c" or "__torch__.torch.classes.x.Y": its length. */
static size_t long_word(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.' ||
           (s[n] == ':' && (s[n + 1] == ':' || (n && s[n - 1] == ':')))) {
        n++;
    }
    return n;
}

static bool base_type(struct parser *p) {
    size_t n = word(p), start = p->at;
    if (!n) {
        return fail(p, start, start + !!p->text[start], "a type is missing here");
    }
    size_t whole = long_word(p->text + start);
    const char *s = p->text + start;
    p->at += whole;
    if (is_type(s, whole) || strncmp(s, "__torch__.", 10) == 0) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(likely); i++) {
        if (strlen(likely[i].wrong) == whole && memcmp(likely[i].wrong, s, whole) == 0) {
            p->error->instead = likely[i].right;
            return fail(p, start, p->at, "%.*s is not a type of a schema; write %s",
                        (int)whole, s, likely[i].right);
        }
    }
    return fail(p, start, p->at, "%.*s is not a type of a schema", (int)whole, s);
}

static bool type(struct parser *p);

static bool type_list(struct parser *p, const char *close) {
    if (eat(p, close)) {
        return true;
    }
    do {
        if (!type(p)) {
            return false;
        }
    } while (eat(p, ","));
    return expect(p, close, "after the types");
}

/* "(a!)", "(a -> *)", "(a|b)" */
static bool alias(struct parser *p) {
    size_t start = p->at;
    while (peek(p) && (isalnum((unsigned char)peek(p)) || strchr("!|*->_ ", peek(p)))) {
        p->at++;
    }
    return eat(p, ")") || fail(p, start, p->at, "an alias such as (a!) is not closed");
}

static bool suffixes(struct parser *p) {
    for (;;) {
        if (eat(p, "?") || eat(p, "!")) {
            continue;
        }
        if (!eat(p, "[")) {
            return true;
        }
        peek(p);
        while (isdigit((unsigned char)p->text[p->at])) {
            p->at++;
        }
        if (!expect(p, "]", "after [")) {
            return false;
        }
        if (eat(p, "(") && !alias(p)) {
            return false;
        }
    }
}

static bool plain_type(struct parser *p) {
    if (eat(p, "(")) {
        return type_list(p, ")") && suffixes(p);
    }
    size_t start = p->at;
    if (!base_type(p)) {
        return false;
    }
    while (p->text[start] == ' ') {
        start++;
    }
    bool generic = strncmp(p->text + start, "Dict", 4) == 0 ||
                   strncmp(p->text + start, "Future", 6) == 0 ||
                   strncmp(p->text + start, "Union", 5) == 0;
    if (p->text[p->at] == '(') {
        p->at++;
        if (!(generic ? type_list(p, ")") : alias(p))) {
            return false;
        }
    } else if (eat(p, "[")) {
        p->at--;
    }
    return suffixes(p);
}

static bool type(struct parser *p) {
    if (p->depth == MAX_NESTING) {
        return fail(p, p->at, p->at, "types nested too deeply");
    }
    p->depth++;
    bool good = plain_type(p);
    p->depth--;
    return good;
}

/* --- arguments --- */

static bool default_value(struct parser *p) {
    int depth = 0;
    char quote = 0;
    peek(p);
    size_t start = p->at;
    for (char c; (c = p->text[p->at]); p->at++) {
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[') {
            depth++;
        } else if (c == ']') {
            depth--;
        } else if (depth <= 0 && (c == ',' || c == ')')) {
            break;
        }
    }
    size_t n = p->at - start;
    const char *s = p->text + start;
    if (!n) {
        return fail(p, start, start, "a default value is missing after =");
    }
    bool word_like = isalpha((unsigned char)s[0]) || s[0] == '_';
    bool number = strspn(s, "+-.0123456789eEj ") >= n && strpbrk(s, "0123456789");
    bool listed = (s[0] == '[' && depth == 0) || s[0] == '"' || s[0] == '\'';
    if (n == 4 && memcmp(s, "true", 4) == 0) {
        p->error->instead = "True";
    } else if (n == 5 && memcmp(s, "false", 5) == 0) {
        p->error->instead = "False";
    } else if (word_like || number || listed) {
        return true;
    }
    return fail(p, start, p->at, "%.*s is not a default value%s%s",
                (int)(n < 40 ? n : 40), s, p->error->instead ? "; write " : "",
                p->error->instead ? p->error->instead : "");
}

static bool argument(struct parser *p) {
    if (eat(p, "...") || eat(p, "*")) {
        return true;
    }
    if (!type(p)) {
        return false;
    }
    size_t n = word(p);
    if (!n) {
        return fail(p, p->at, p->at + !!p->text[p->at], "an argument's name is missing");
    }
    p->at += n;
    p->schema->arguments++;
    return !eat(p, "=") || default_value(p);
}

static bool arguments(struct parser *p) {
    if (!expect(p, "(", "after the name")) {
        return false;
    }
    if (eat(p, ")")) {
        return true;
    }
    do {
        if (!argument(p)) {
            return false;
        }
    } while (eat(p, ","));
    return expect(p, ")", "after the arguments");
}

static bool returned(struct parser *p) {
    if (!type(p)) {
        return false;
    }
    p->at += word(p); /* results may have names */
    p->schema->returns++;
    return true;
}

static bool returns(struct parser *p) {
    if (eat(p, "...")) {
        return true;
    }
    if (!eat(p, "(")) {
        return returned(p);
    }
    if (eat(p, ")")) {
        return true;
    }
    do {
        if (!returned(p)) {
            return false;
        }
    } while (eat(p, ","));
    return expect(p, ")", "after the results");
}

static bool name(struct parser *p) {
    size_t n = word(p);
    if (n && strncmp(p->text + p->at + n, "::", 2) == 0) {
        p->at += n + 2;
        n = word(p);
    }
    if (!n) {
        return fail(p, p->at, p->at + !!p->text[p->at], "an operator's name is missing");
    }
    snprintf(p->schema->name, sizeof p->schema->name, "%.*s", (int)(n < 127 ? n : 127),
             p->text + p->at);
    p->at += n;
    if (p->text[p->at] == '.') {
        p->at++;
        p->at += word(p);
    }
    return true;
}

bool torch_schema_parse(const char *text, struct torch_schema *ret,
                        struct torch_schema_error *error) {
    struct parser p = {.text = text, .schema = ret, .error = error};
    *ret = (struct torch_schema){.name = ""};
    *error = (struct torch_schema_error){.msg = ""};
    if (!name(&p) || !arguments(&p) || !expect(&p, "->", "before the results") ||
        !returns(&p)) {
        return false;
    }
    peek(&p);
    return !text[p.at] || fail(&p, p.at, strlen(text), "nothing may follow the results");
}
